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

#[cfg(test)]
mod tests {
    use quorum_attest::{SigningKey, TrustDraft};

    use super::*;

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_seed(&[seed; 32])
    }

    /// Versions 1 to 3 of one root, and another version 2.
    fn versions() -> ([Vec<u8>; 3], Vec<u8>) {
        let (issued, expires) = (now().plus_seconds(-100), now().plus_seconds(1000));
        let one = TrustDraft::new(issued, expires, 1, vec![key(1).public()]).sign(&[&key(1)]).unwrap();
        let next = |bytes: &[u8], policy: &[u8]| {
            let mut draft = TrustDraft::from(&TrustRoot::load(bytes).unwrap());
            draft.next_version(issued, expires);
            draft.admit_policy(Digest::of(policy)).unwrap();
            draft.sign(&[&key(1)]).unwrap()
        };
        let two = next(&one, b"p");
        let fork = next(&one, b"q");
        let three = next(&two, b"r");
        ([one, two, three], fork)
    }

    #[test]
    fn design_4_a_daemon_pins_version_1_and_never_goes_back() {
        let ([one, two, three], fork) = versions();
        let dir = tempfile::tempdir().unwrap();
        let (file, state) = (dir.path().join("given.json"), dir.path().join("state"));
        fs::create_dir(&state).unwrap();
        let pin = TrustRoot::load(&one).unwrap().digest();
        let give = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            TrustStore::open(&file, &state, Some(pin))
        };
        let code = |bytes: &[u8]| give(bytes).err().map(|error| error.code());
        assert_eq!(code(&two), Some("trust_gap"));
        give(&one).unwrap().keep().unwrap();
        assert_eq!(code(&three), Some("trust_gap"));
        let mut store = give(&one).unwrap();
        fs::write(&file, &two).unwrap();
        store.refresh().unwrap();
        assert_eq!(store.root().version(), 2);
        assert_eq!(code(&one), Some("trust_rollback"));
        assert_eq!(code(&fork), Some("trust_forked"));
        give(&three).unwrap().keep().unwrap();
        assert_eq!(code(&two), Some("trust_rollback"));
    }

    #[test]
    fn design_4_an_expired_or_foreign_root_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("given.json");
        let expired = TrustDraft::new(now().plus_seconds(-100), now().plus_seconds(-1), 1, vec![key(1).public()]);
        fs::write(&file, expired.sign(&[&key(1)]).unwrap()).unwrap();
        let open = |pin| TrustStore::open(&file, dir.path(), pin).err().map(|error| error.code());
        assert_eq!(open(None), Some("trust_root_expired"));
        let ([one, ..], _) = versions();
        fs::write(&file, one).unwrap();
        assert_eq!(open(Some(Digest::of(b"another"))), Some("trust_forked"));
    }
}
