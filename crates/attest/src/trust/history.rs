//! What a holder of trust roots remembers, and which root it takes next: TUF's rules for roots.

use quorum_schemas::{Digest, Timestamp};

use super::root::TrustRoot;
use crate::{AttestError, limits};

/// The newest trust root that was used before, and the digest that version 1 must have. Both may be unknown: then the
/// first root that is offered is believed, and remembered.
#[derive(Debug, Clone, Default)]
pub struct TrustHistory {
    pin: Option<Digest>,
    newest: Option<TrustRoot>,
}

impl TrustHistory {
    /// `pin` counts where nothing was used before, and for version 1 always.
    #[must_use]
    pub fn new(pin: Option<Digest>, newest: Option<TrustRoot>) -> Self {
        Self { pin, newest }
    }

    /// The root that was used last.
    #[must_use]
    pub fn newest(&self) -> Option<&TrustRoot> {
        self.newest.as_ref()
    }

    /// The root to use from now on, where `offered` is the newest that its publisher has. `version` fetches a version in
    /// between, each of which must be the successor of the one before it; `at` is one reading of the clock, and only the
    /// last version must be current then. A version that was used before comes back as it was used, also when `offered`
    /// was signed by other root keys.
    ///
    /// # Errors
    /// [`AttestError::TrustRollback`], [`AttestError::TrustForked`], [`AttestError::TrustGap`],
    /// [`AttestError::TooMany`] (more than [`limits::TRUST_STEPS`] versions at once), those of
    /// [`TrustRoot::accept_successor`] and [`TrustRoot::check_current`], and whatever `version` fails with.
    pub fn follow<E: From<AttestError>>(
        &self,
        offered: &TrustRoot,
        at: Timestamp,
        mut version: impl FnMut(u64) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<TrustRoot, E> {
        let mut current = match (&self.newest, self.pin) {
            (Some(newest), _) => newest.clone(),
            (None, Some(_)) if offered.version() > 1 => {
                let first = version(1)?.ok_or_else(|| gap(offered, 0, 1))?;
                TrustRoot::load(&first)?
            }
            (None, _) => offered.clone(),
        };
        let known = current.version();
        self.check_pin(&current)?;
        if offered.version() < known {
            return Err(AttestError::TrustRollback { found: offered.version(), known }.into());
        }
        for steps in 1.. {
            let next = current.version() + 1;
            if next > offered.version() {
                break;
            }
            if steps > limits::TRUST_STEPS {
                let found = usize::try_from(offered.version() - known).unwrap_or(usize::MAX);
                let (what, limit) = ("versions of the trust root at once", limits::TRUST_STEPS as usize);
                return Err(AttestError::TooMany { what, found, limit }.into());
            }
            current = if next == offered.version() {
                current.accept_successor(offered.bytes())?
            } else {
                let bytes = version(next)?.ok_or_else(|| gap(offered, current.version(), next))?;
                current.accept_successor(&bytes)?
            };
        }
        if !current.says_the_same(offered) {
            let (version, found, known) = (current.version(), offered.digest(), current.digest());
            return Err(AttestError::TrustForked { version, found, known }.into());
        }
        current.check_current(at)?;
        Ok(current)
    }

    /// Version 1 is the pinned file, signatures and all.
    fn check_pin(&self, first: &TrustRoot) -> Result<(), AttestError> {
        match self.pin {
            Some(known) if self.newest.is_none() || first.version() == 1 => {
                if first.version() == 1 && first.digest() == known {
                    return Ok(());
                }
                Err(AttestError::TrustForked { version: first.version(), found: first.digest(), known })
            }
            _ => Ok(()),
        }
    }
}

fn gap(offered: &TrustRoot, known: u64, missing: u64) -> AttestError {
    AttestError::TrustGap { found: offered.version(), known, missing }
}
