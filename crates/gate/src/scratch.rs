//! Temporary directories, which go with the run even when it is interrupted.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use tempfile::TempDir;

use crate::{GateCode, GateError};

static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A directory in the system's place for temporary files.
///
/// # Errors
/// `no_scratch_space`.
pub(crate) fn scratch() -> Result<TempDir, GateError> {
    tempfile::Builder::new().prefix("quorum-gate-").tempdir().map(remember).map_err(|error| {
        GateError::infrastructure(
            GateCode::NoScratchSpace,
            format!("cannot make a temporary directory: {error}; set TMPDIR"),
        )
    })
}

/// A directory beside an output, so that the output can be moved into place.
pub(crate) fn beside(parent: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(".quorum-out-").tempdir_in(parent).map(remember).map_err(plain)
}

/// The system's own words: the library adds the random name of what it could not make, which says nothing to anybody.
fn plain(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((words, _)) => io::Error::new(error.kind(), words.to_owned()),
        None => error,
    }
}

fn remember(made: TempDir) -> TempDir {
    MADE.lock().unwrap_or_else(PoisonError::into_inner).push(made.path().to_owned());
    made
}

/// Removes what this process made and did not remove yet. For a process that is about to end.
pub fn remove_scratch() {
    for path in MADE.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // It is gone already, or nothing can be done about it now.
        let _ = fs::remove_dir_all(path);
    }
}
