//! Trust roots on disk: the newest version in one file, the earlier ones beside it, and what a daemon remembers.
//!
//! Beside `trust.json` stand its earlier versions as `trust.1.json`, `trust.2.json` and so on: who was away for some
//! versions follows them one by one. Which root is taken is [`TrustHistory`]'s to decide; here are only the files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use quorum_attest::{AttestError, TrustHistory, TrustRoot, limits};
use quorum_schemas::{Digest, Timestamp};

use crate::control::read_disk;
use crate::{GateCode, GateError, write_atomically};

/// Name of the newest version in a directory of versions, and of what a daemon remembers in its state directory.
const NEWEST: &str = "trust.json";

/// The file of the newest version: `path` itself, or `trust.json` in it.
#[must_use]
pub fn newest_trust(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(NEWEST) } else { path.to_owned() }
}

/// The file of an earlier version: `trust.3.json` beside `trust.json`.
#[must_use]
pub fn earlier_trust(newest: &Path, version: u64) -> PathBuf {
    let name = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let stem = name(newest.file_stem());
    match newest.extension() {
        Some(extension) => newest.with_file_name(format!("{stem}.{version}.{}", name(Some(extension)))),
        None => newest.with_file_name(format!("{stem}.{version}")),
    }
}

/// Reads a trust root, current or not.
///
/// # Errors
/// `cannot_read`, `control_file_too_large`, and those of [`TrustRoot::load`] with the file's name.
pub fn load_trust(path: &Path) -> Result<TrustRoot, GateError> {
    TrustRoot::load(&read(path)?).map_err(|error| at(path, error))
}

/// Reads the newest version at `path` and follows it from what `history` knows, over the versions beside it. `now` is
/// one reading of the clock.
///
/// # Errors
/// Those of [`load_trust`] and [`TrustHistory::follow`].
pub fn follow_trust(path: &Path, history: &TrustHistory, now: Timestamp) -> Result<TrustRoot, GateError> {
    let newest = newest_trust(path);
    let offered = load_trust(&newest)?;
    history
        .follow(&offered, now, |version| earlier(&newest, version).map_err(Fault::File))
        .map_err(|fault| fault.at(&newest))
}

/// Whether `root` is the newest version at `path`, or one of the earlier versions beside it from which the newest follows.
/// That the newest follows from it would not be enough: anybody can write a root that lists somebody else's keys.
///
/// # Errors
/// Those of [`follow_trust`].
pub(crate) fn is_known(path: &Path, root: &[u8]) -> Result<bool, GateError> {
    let newest = newest_trust(path);
    if read(&newest)? == root {
        return Ok(true);
    }
    let Ok(root) = TrustRoot::load(root) else { return Ok(false) };
    if earlier(&newest, root.version())?.as_deref() != Some(root.bytes()) {
        return Ok(false);
    }
    let issued_at = load_trust(&newest)?.issued_at();
    follow_trust(path, &TrustHistory::new(None, Some(root)), issued_at).map(|_| true)
}

/// What stops following: a rule, or a file.
pub(crate) enum Fault {
    Rule(AttestError),
    File(GateError),
}

impl From<AttestError> for Fault {
    fn from(error: AttestError) -> Self {
        Self::Rule(error)
    }
}

impl Fault {
    pub(crate) fn at(self, path: &Path) -> GateError {
        match self {
            Self::Rule(error) => at(path, error),
            Self::File(error) => error,
        }
    }
}

fn at(path: &Path, error: AttestError) -> GateError {
    GateError::Trust { path: path.to_owned(), error }
}

fn read(path: &Path) -> Result<Vec<u8>, GateError> {
    read_disk(path, limits::TRUST_FILE.bytes as u64)
}

fn earlier(newest: &Path, version: u64) -> Result<Option<Vec<u8>>, GateError> {
    optional(&earlier_trust(newest, version))
}

fn optional(path: &Path) -> Result<Option<Vec<u8>>, GateError> {
    match read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(GateError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts `next` in the place of `present`, which is kept beside it under its version: first the copy, then the exchange,
/// so that a crash at any instant leaves either version whole.
///
/// # Errors
/// `trust_version_exists` where another file stands under that version; `cannot_write`.
pub fn replace_trust(file: &Path, present: &TrustRoot, next: &TrustRoot) -> Result<(), GateError> {
    let kept = earlier_trust(file, present.version());
    match optional(&kept)? {
        Some(bytes) if bytes == present.bytes() => {}
        Some(_) => {
            let message = format!(
                "{} is not version {} of {}; nothing was written. Find out whose it is and move it away",
                kept.display(),
                present.version(),
                file.display()
            );
            return Err(GateError::control(GateCode::TrustVersionExists, message));
        }
        None => write_atomically(&kept, present.bytes())?,
    }
    write_atomically(file, next.bytes())
}

/// A daemon's trust root: the operator's file, held against the newest version that was ever used here.
#[derive(Debug)]
pub struct TrustStore {
    given: PathBuf,
    kept: PathBuf,
    pin: Option<Digest>,
    root: TrustRoot,
}

impl TrustStore {
    /// Reads the operator's file (or directory) `given` and what was kept in `state_dir`; writes nothing.
    ///
    /// # Errors
    /// Those of [`follow_trust`]: above all `trust_rollback`, `trust_forked`, `trust_gap`, `trust_root_expired`.
    pub fn open(given: &Path, state_dir: &Path, pin: Option<Digest>, now: Timestamp) -> Result<Self, GateError> {
        let kept = state_dir.join(NEWEST);
        let root = follow_kept(given, &kept, pin, now)?;
        Ok(Self { given: given.to_owned(), kept, pin, root })
    }

    /// The root in use.
    #[must_use]
    pub fn root(&self) -> &TrustRoot {
        &self.root
    }

    /// Reads the operator's file again, so that a new version (a revocation above all) counts without a restart, and
    /// keeps it before it is used. Whether it is another one than before. What cannot be used changes nothing.
    ///
    /// # Errors
    /// As [`TrustStore::open`]; `cannot_write`.
    pub fn refresh(&mut self, now: Timestamp) -> Result<bool, GateError> {
        let root = self.keep_newer(follow_kept(&self.given, &self.kept, self.pin, now)?, now)?;
        let changed = root.digest() != self.root.digest();
        self.root = root;
        Ok(changed)
    }

    /// Keeps the root in use, so that none before it is ever taken again.
    ///
    /// # Errors
    /// As [`TrustStore::open`], where somebody else kept a newer one meanwhile; `cannot_write`.
    pub fn keep(&mut self, now: Timestamp) -> Result<(), GateError> {
        self.root = self.keep_newer(self.root.clone(), now)?;
        Ok(())
    }

    /// Two processes on one state directory never bring an older version back: the file is looked at again under a lock.
    fn keep_newer(&self, root: TrustRoot, now: Timestamp) -> Result<TrustRoot, GateError> {
        let folder = self.kept.parent().unwrap_or(Path::new("."));
        let wrong = |source| GateError::Write { path: self.kept.clone(), source };
        fs::create_dir_all(folder).map_err(wrong)?;
        let lock = File::open(folder).map_err(wrong)?;
        lock.lock().map_err(wrong)?;
        let (write, root) = match optional(&self.kept)? {
            Some(bytes) if bytes == root.bytes() => (false, root),
            None => (true, root),
            Some(_) => (true, follow_kept(&self.given, &self.kept, self.pin, now)?),
        };
        if write {
            write_atomically(&self.kept, root.bytes())?;
        }
        Ok(root)
    }
}

fn follow_kept(given: &Path, kept: &Path, pin: Option<Digest>, now: Timestamp) -> Result<TrustRoot, GateError> {
    // A memory that cannot be read is no empty memory.
    let newest = optional(kept)?.map(|bytes| TrustRoot::load(&bytes).map_err(|error| at(kept, error))).transpose()?;
    follow_trust(given, &TrustHistory::new(pin, newest), now)
}

#[cfg(test)]
#[path = "trust_file_tests.rs"]
mod tests;
