//! The trust root in use, and the highest one ever used, so that nobody can bring an older one back.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use quorum_attest::TrustRoot;
use quorum_schemas::{Digest, Timestamp};

use crate::config::read;
use crate::{VerifierdError, limits};

/// This machine's clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// The operator's trust root, held against the newest one that was used.
pub(crate) struct TrustStore {
    file: PathBuf,
    kept: PathBuf,
    pin: Option<Digest>,
    root: TrustRoot,
}

impl TrustStore {
    /// Reads the file and checks it; writes nothing.
    pub(crate) fn open(file: &Path, state_dir: &Path, pin: Option<Digest>) -> Result<Self, VerifierdError> {
        let kept = state_dir.join("trust.json");
        let root = load(file, &kept, pin)?;
        Ok(Self { file: file.to_owned(), kept, pin, root })
    }

    pub(crate) fn root(&self) -> &TrustRoot {
        &self.root
    }

    /// Reads the file again, so that a new version (a revocation above all) counts without a restart, and keeps it.
    pub(crate) fn refresh(&mut self) -> Result<(), VerifierdError> {
        self.root = load(&self.file, &self.kept, self.pin)?;
        self.keep()
    }

    /// Remembers the root in use.
    pub(crate) fn keep(&self) -> Result<(), VerifierdError> {
        if fs::read(&self.kept).is_ok_and(|bytes| bytes == self.root.bytes()) {
            return Ok(());
        }
        let failed = |error: std::io::Error| VerifierdError::StateUnwritable {
            path: self.kept.clone(),
            reason: error.to_string(),
        };
        write_synced(&self.kept, self.root.bytes()).map_err(failed)
    }
}

/// Writes a file so that a crash leaves the old one or the new one.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let draft = path.with_extension("draft");
    let mut file = fs::File::create(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    fs::File::open(folder)?.sync_all()
}

fn load(file: &Path, kept: &Path, pin: Option<Digest>) -> Result<TrustRoot, VerifierdError> {
    let root = TrustRoot::load(&read("trust root", file, limits::FILE_BYTES)?)?;
    root.check_current(now())?;
    if !kept.exists() {
        return match pin {
            Some(known) if root.version() == 1 && known != root.digest() => {
                Err(VerifierdError::TrustForked { version: 1, found: root.digest(), known })
            }
            // Its chain back to the pin is not here to be followed.
            Some(_) if root.version() > 1 => Err(VerifierdError::TrustGap { found: root.version(), known: 0 }),
            _ => Ok(root),
        };
    }
    let known = TrustRoot::load(&read("trust root", kept, limits::FILE_BYTES)?)?;
    let (found, version) = (root.version(), known.version());
    match found.checked_sub(version) {
        None => Err(VerifierdError::TrustRollback { found, known: version }),
        Some(0) if root.digest() == known.digest() => Ok(root),
        Some(0) => Err(VerifierdError::TrustForked { version, found: root.digest(), known: known.digest() }),
        Some(1) => Ok(known.accept_successor(root.bytes())?),
        Some(_) => Err(VerifierdError::TrustGap { found, known: version }),
    }
}
