//! The directory that a decision is recorded in: all of it or nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::scratch::beside;
use crate::{GateCode, GateError};

/// An output directory that was absent or empty when the command started.
pub(crate) struct OutDir(PathBuf);

impl OutDir {
    /// Checks that `path` can become the record, before any work is done.
    ///
    /// # Errors
    /// `out_not_empty`, `cannot_write`.
    pub(crate) fn reserve(path: &Path) -> Result<Self, GateError> {
        let taken = |what: &str| {
            Err(GateError::control(
                GateCode::OutNotEmpty,
                format!("--out {} {what}; name a new directory", path.display()),
            ))
        };
        match fs::read_dir(path).map(Iterator::count) {
            Ok(0) => Ok(Self(path.to_owned())),
            Ok(_) => taken("is not empty"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => taken("is a file"),
            Err(source) => Err(GateError::Write { path: path.to_owned(), source }),
        }
    }

    /// Writes `files` (path with `/` -> bytes) beside the directory and moves them into place in one step.
    ///
    /// # Errors
    /// `cannot_write`; then nothing is left behind.
    pub(crate) fn write(&self, files: &BTreeMap<String, Vec<u8>>) -> Result<(), GateError> {
        let target = &self.0;
        let wrong = |source| GateError::Write { path: target.clone(), source };
        let absolute = std::path::absolute(target).map_err(wrong)?;
        let parent = absolute.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(wrong)?;
        let scratch = beside(parent).map_err(wrong)?;
        // Made by us and not by `tempfile`, so that it has the permissions that the caller's umask gives.
        let record = scratch.path().join("record");
        fs::create_dir(&record).map_err(wrong)?;
        for (name, bytes) in files {
            let path = record.join(name);
            write_file(&path, bytes).map_err(|source| GateError::Write { path: target.join(name), source })?;
        }
        sync_directory(&record).map_err(wrong)?;
        fs::rename(&record, &absolute).map_err(wrong)?;
        sync_directory(parent).map_err(wrong)
    }
}

/// Writes one file beside its place and moves it there: a reader sees the old one or the whole new one.
///
/// # Errors
/// `cannot_write`.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), GateError> {
    let wrong = |source| GateError::Write { path: path.to_owned(), source };
    // A pipe or a terminal cannot be replaced, only written.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes)).map_err(wrong);
    }
    let absolute = std::path::absolute(path).map_err(wrong)?;
    let parent = absolute.parent().unwrap_or(Path::new("/"));
    let scratch = beside(parent).map_err(wrong)?;
    let file = scratch.path().join("file");
    write_file(&file, bytes).map_err(wrong)?;
    fs::rename(&file, &absolute).map_err(wrong)?;
    sync_directory(parent).map_err(wrong)
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
