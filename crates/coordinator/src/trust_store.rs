//! The highest trust root seen, so that nobody can bring an older one back.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use quorum_attest::TrustRoot;
use quorum_schemas::Digest;

use crate::CoordinatorError;
use crate::config::read;
use crate::limits;

fn newest(state_dir: &Path) -> PathBuf {
    state_dir.join("trust.json")
}

/// Holds `trust` against the pin and against the newest one that was used before.
pub(crate) fn check(state_dir: &Path, pin: Option<Digest>, trust: &TrustRoot) -> Result<(), CoordinatorError> {
    let path = newest(state_dir);
    if !path.exists() {
        // Only version 1 can be held against the pin itself; a later one stands on its chain, which is not here.
        return match pin {
            Some(pin) if trust.version() == 1 && pin != trust.digest() => {
                Err(CoordinatorError::TrustForked { version: 1, found: trust.digest(), known: pin })
            }
            Some(_) if trust.version() > 1 => Err(CoordinatorError::TrustGap { found: trust.version(), known: 0 }),
            _ => Ok(()),
        };
    }
    let known = TrustRoot::load(&read("trust root", &path, limits::FILE_BYTES)?)?;
    let (found, version) = (trust.version(), known.version());
    match found.checked_sub(version) {
        None => Err(CoordinatorError::TrustRollback { found, known: version }),
        Some(0) if trust.digest() == known.digest() => Ok(()),
        Some(0) => Err(CoordinatorError::TrustForked { version, found: trust.digest(), known: known.digest() }),
        Some(1) => known.accept_successor(trust.bytes()).map(|_| ()).map_err(Into::into),
        Some(_) => Err(CoordinatorError::TrustGap { found, known: version }),
    }
}

/// Remembers `trust`; [`check`] has admitted it.
pub(crate) fn keep(state_dir: &Path, trust: &TrustRoot) -> Result<(), CoordinatorError> {
    let path = newest(state_dir);
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(state_dir)?;
        let draft = state_dir.join("trust.json.new");
        let mut file = fs::File::create(&draft)?;
        file.write_all(trust.bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        fs::File::open(state_dir)?.sync_all()
    };
    write().map_err(|error| CoordinatorError::Output { path: path.clone(), reason: error.to_string() })
}
