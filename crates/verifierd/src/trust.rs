//! The clock, and what of the operator's files may change while the daemon runs.

use std::time::{SystemTime, UNIX_EPOCH};

use quorum_attest::{Entry, Role, SigningKey, TrustRoot};
use quorum_schemas::Timestamp;

use crate::VerifierdError;
use crate::config::{Loaded, read_key};

/// This machine's clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// The entry of this verifier and key, which must be in force at `now`.
pub(crate) fn own_entry(
    trust: &TrustRoot,
    key: &SigningKey,
    verifier: &str,
    now: Timestamp,
) -> Result<Entry, VerifierdError> {
    let entry = trust.by_key(&key.public()).filter(|entry| entry.role == Role::Verifier && entry.id == verifier);
    let entry = entry.ok_or_else(|| VerifierdError::KeyNotVerifier {
        key_id: key.public().key_id().to_string(),
        verifier: verifier.to_owned(),
    })?;
    entry.check_valid(now).map_err(VerifierdError::OwnKey)?;
    Ok(entry.clone())
}

impl Loaded {
    /// Reads the trust root again, so that a new version (a revocation above all) counts without a restart; a file that
    /// cannot be used leaves the root in use. Where the key is no longer in force its file is read again too.
    ///
    /// # Errors
    /// The root in use has expired, or there is no key in force: the daemon is not ready.
    pub(crate) fn renew(&mut self) -> Result<(), VerifierdError> {
        let now = now();
        let in_use = self.trust.root().version();
        match self.trust.refresh(now) {
            Ok(true) => {
                tracing::info!(before = in_use, now = self.trust.root().version(), "a new trust root is in force");
            }
            Ok(false) => {}
            Err(error) => {
                let code = error.code();
                tracing::error!(%error, code, in_use, "the trust root is unusable, the one in use stays");
            }
        }
        let root = self.trust.root();
        root.check_current(now)?;
        if let Ok(entry) = own_entry(root, &self.key, &self.entry.id, now) {
            self.entry = entry;
            return Ok(());
        }
        let key = read_key(&self.key_file)?;
        let entry = own_entry(root, &key, &self.entry.id, now)?;
        tracing::info!(key_id = %key.public().key_id(), "a new key is in use");
        (self.key, self.entry) = (key, entry);
        Ok(())
    }
}
