//! Control files: what decides over the candidate must not come from the candidate.
//!
//! A control file is read once, before any check runs. No part of its path, links included, may lead through the
//! candidate; with `--git` a file of the repository is read from the control ref and not from the working tree, which
//! may be the candidate's. `--pin` ties a file to its digest.

mod locate;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use quorum_schemas::Digest;
use tempfile::TempDir;

use self::locate::{Located, Places};
use crate::git::{ObjectId, Objects, Repository, file_at, materialise};
use crate::scratch::scratch;
use crate::{GateCode, GateError, limits};

/// Reads control files under the rules of this module.
pub(crate) struct ControlFiles {
    places: Places,
    reference: Option<(ObjectId, Objects)>,
    pins: BTreeMap<Located, Pin>,
}

struct Pin {
    path: PathBuf,
    digest: Digest,
    used: bool,
}

impl ControlFiles {
    /// Rules for a candidate on disk: a directory, or a single file.
    ///
    /// # Errors
    /// `cannot_read` when the candidate is not there.
    pub(crate) fn beside_candidate(candidate: &Path) -> Result<Self, GateError> {
        let root = candidate.canonicalize().map_err(|source| GateError::Read { path: candidate.to_owned(), source })?;
        Ok(Self {
            places: Places { candidate: Some(root), repository: Vec::new() },
            reference: None,
            pins: BTreeMap::new(),
        })
    }

    /// Rules for a candidate that is a commit of `repository`: its files come from `control`.
    ///
    /// # Errors
    /// `git_missing`.
    pub(crate) fn from_reference(repository: &Repository, control: ObjectId) -> Result<Self, GateError> {
        let places = Places { candidate: None, repository: repository.tops().to_vec() };
        Ok(Self { places, reference: Some((control, repository.objects()?)), pins: BTreeMap::new() })
    }

    /// Rules where no candidate is in sight (`decide`, `sign`): every file is read from disk.
    pub(crate) fn on_disk() -> Self {
        Self { places: Places { candidate: None, repository: Vec::new() }, reference: None, pins: BTreeMap::new() }
    }

    /// Adds `--pin FILE=sha256:...`.
    ///
    /// # Errors
    /// `pin_malformed`, `pin_twice`, `control_file_in_candidate`.
    pub(crate) fn pin(&mut self, text: &str) -> Result<(), GateError> {
        let parsed = text.rsplit_once('=').and_then(|(path, digest)| Some((path, digest.parse::<Digest>().ok()?)));
        let (path, digest) = parsed.filter(|(path, _)| !path.is_empty()).ok_or_else(|| {
            GateError::control(
                GateCode::PinMalformed,
                format!("--pin `{text}` is not FILE=sha256:<64 lower-case hex digits>"),
            )
        })?;
        let path = PathBuf::from(path);
        let located = self.places.locate("--pin", &path)?;
        let pin = Pin { path, digest, used: false };
        if let Some(other) = self.pins.insert(located, pin) {
            return Err(GateError::control(GateCode::PinTwice, format!("--pin names {} twice", other.path.display())));
        }
        Ok(())
    }

    /// Reads one control file; `option` is what named it.
    ///
    /// # Errors
    /// `control_file_in_candidate`, `control_file_not_in_ref`, `control_file_too_large`, `pin_mismatch`, `cannot_read`.
    pub(crate) fn read(&mut self, option: &'static str, path: &Path, limit: u64) -> Result<Vec<u8>, GateError> {
        let located = self.places.locate(option, path)?;
        let bytes = match (&located, &mut self.reference) {
            (Located::Repository(inside), Some((commit, objects))) => file_at(objects, commit, inside, limit)?,
            _ => read_disk(path, limit)?,
        };
        if let Some(pin) = self.pins.get_mut(&located) {
            pin.used = true;
            let found = Digest::of(&bytes);
            if found != pin.digest {
                return Err(GateError::control(
                    GateCode::PinMismatch,
                    format!("{option} {} has the digest {found}, the pin says {}", path.display(), pin.digest),
                ));
            }
        }
        Ok(bytes)
    }

    /// Reads a file that must stay out of the candidate but needs no control ref (`--key`).
    ///
    /// # Errors
    /// As [`ControlFiles::read`].
    pub(crate) fn read_from_disk(
        &mut self,
        option: &'static str,
        path: &Path,
        limit: u64,
    ) -> Result<Vec<u8>, GateError> {
        self.output(option, path)?;
        let bytes = read_disk(path, limit)?;
        if let Some(pin) = self.pins.get_mut(&self.places.locate(option, path)?) {
            pin.used = true;
            let found = Digest::of(&bytes);
            if found != pin.digest {
                return Err(GateError::control(
                    GateCode::PinMismatch,
                    format!("{option} {} does not have the pinned digest", path.display()),
                ));
            }
        }
        Ok(bytes)
    }

    /// The folder of a control file, for the files that it names itself: the one on disk, or the control ref's, written
    /// to a directory that lives as long as the second value.
    ///
    /// # Errors
    /// As [`ControlFiles::read`]; `git_*`.
    pub(crate) fn folder_of(
        &mut self,
        option: &'static str,
        path: &Path,
    ) -> Result<(Option<PathBuf>, Option<TempDir>), GateError> {
        let wrong = |source| GateError::Read { path: path.to_owned(), source };
        match (self.places.locate(option, path)?, &mut self.reference) {
            (Located::Repository(inside), Some((commit, objects))) => {
                let scratch = scratch()?;
                materialise(objects, commit, scratch.path())?;
                let folder = scratch.path().join(inside.parent().unwrap_or(Path::new("")));
                Ok((Some(folder), Some(scratch)))
            }
            _ => {
                let absolute = std::path::absolute(path).map_err(wrong)?;
                Ok((absolute.parent().map(Path::to_owned), None))
            }
        }
    }

    /// Refuses a place inside the candidate; nothing is read.
    ///
    /// # Errors
    /// `control_file_in_candidate`.
    pub(crate) fn output(&self, option: &'static str, path: &Path) -> Result<(), GateError> {
        self.places.locate(option, path).map(|_| ())
    }

    /// Whether anything of `path` lies in the candidate, for files that are sought and may be left out.
    pub(crate) fn outside(&self, path: &Path) -> bool {
        self.places.locate("", path).is_ok()
    }

    /// Every pin was used: a pin on a file that nobody reads guards nothing.
    ///
    /// # Errors
    /// `pin_unused`.
    pub(crate) fn finish(&self) -> Result<(), GateError> {
        match self.pins.values().find(|pin| !pin.used) {
            None => Ok(()),
            Some(pin) => Err(GateError::control(
                GateCode::PinUnused,
                format!("--pin names {}, which no option of this command reads", pin.path.display()),
            )),
        }
    }
}

/// Opens a file for reading. A pipe that nobody writes to would be waited for without end, and a device never ends:
/// neither is opened. A directory is opened, and refuses to be read in the system's words.
///
/// # Errors
/// As the system says, or that it is not a regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let found = fs::metadata(path)?;
    if !found.is_file() && !found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// Reads at most `limit` bytes.
pub(crate) fn read_disk(path: &Path, limit: u64) -> Result<Vec<u8>, GateError> {
    let wrong = |source| GateError::Read { path: path.to_owned(), source };
    let file = open_file(path).map_err(wrong)?;
    // One call where the size is what the system says; it may say anything, and a file may grow.
    let size = file.metadata().map_err(wrong)?.len().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default().min(limits::READ_AHEAD) + 1);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() as u64 > limit {
        return Err(GateError::control(
            GateCode::ControlFileTooLarge,
            format!("{} has more than {limit} bytes", path.display()),
        ));
    }
    Ok(bytes)
}
