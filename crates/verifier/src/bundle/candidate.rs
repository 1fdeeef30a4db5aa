//! A candidate that is a directory, as a ZIP and back.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::Path;

use quorum_schemas::{Digest, Sha256};

use super::read::{entries, malformed};
use super::write::{Sink, Writer};
use crate::tree::{self, Listing, Mode};
use crate::{VerifierError, limits};

/// The deterministic ZIP of a directory: the bytes that a C6 `artifact_bundle` names and that travel as a blob.
///
/// # Errors
/// As [`tree::list`], and [`VerifierError::PathUnsafe`] for a symlink that leaves the directory.
pub fn zip_dir(root: &Path) -> Result<Vec<u8>, VerifierError> {
    write_dir(root, Vec::new())
}

/// The digest of [`zip_dir`] without holding the ZIP.
///
/// # Errors
/// As [`zip_dir`].
pub fn zip_dir_digest(root: &Path) -> Result<Digest, VerifierError> {
    Ok(write_dir(root, Sha256::default())?.finish())
}

/// [`zip_dir_digest`] of a tree that was listed, of the bytes that were listed.
pub(crate) fn zip_listing_digest(listing: &Listing) -> Result<Digest, VerifierError> {
    let mut writer = Writer::new(Sha256::default());
    for entry in listing.iter() {
        add(&mut writer, &entry.path, entry.mode, &listing.read(entry)?)?;
    }
    Ok(writer.finish().finish())
}

fn add<S: Sink>(writer: &mut Writer<S>, path: &str, mode: Mode, bytes: &[u8]) -> Result<(), VerifierError> {
    if mode == Mode::Symlink {
        check_link(path, bytes)?;
    }
    writer.add(path, mode, bytes);
    Ok(())
}

fn write_dir<S: Sink>(root: &Path, sink: S) -> Result<S, VerifierError> {
    let mut writer = Writer::new(sink);
    let mut left = limits::TREE_BYTES;
    for (path, mode) in tree::walk(root)? {
        let bytes = tree::read_entry(root, &path, mode, left)?;
        left -= bytes.len() as u64;
        add(&mut writer, &path, mode, &bytes)?;
    }
    Ok(writer.finish())
}

/// Unpacks what [`zip_dir`] packed into `dest`, which must be absent or empty.
///
/// # Errors
/// Everything that [`super::read()`] refuses except symlinks, which must stay inside; [`VerifierError::Io`].
pub fn unzip_candidate(bytes: &[u8], dest: &Path) -> Result<(), VerifierError> {
    super::write::bound("bytes", bytes.len() as u64, limits::TREE_BYTES + limits::TREE_BYTES / 4)?;
    let entries = entries(bytes, limits::TREE_FILES)?;
    for entry in entries.iter().filter(|entry| entry.mode == Mode::Symlink) {
        check_link(entry.path, entry.bytes)?;
    }
    fs::create_dir_all(dest).map_err(|error| VerifierError::io("creating", dest, &error))?;
    let mut inside = fs::read_dir(dest).map_err(|error| VerifierError::io("listing", dest, &error))?;
    if inside.next().is_some() {
        return Err(VerifierError::Io {
            doing: "unpacking into",
            path: dest.display().to_string(),
            error: "not empty".into(),
        });
    }
    for entry in entries {
        let target = dest.join(entry.path);
        let folder = target.parent().unwrap_or(dest);
        fs::create_dir_all(folder).map_err(|error| VerifierError::io("creating", folder, &error))?;
        let mode = match entry.mode {
            Mode::Symlink => {
                let link = std::ffi::OsStr::from_bytes(entry.bytes);
                symlink(link, &target).map_err(|error| VerifierError::io("linking", &target, &error))?;
                continue;
            }
            Mode::File | Mode::Submodule => 0o644,
            Mode::Executable => 0o755,
        };
        let mut options = fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(mode).open(&target);
        file.and_then(|mut file| file.write_all(entry.bytes))
            .map_err(|error| VerifierError::io("writing", &target, &error))?;
        let permissions = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode);
        fs::set_permissions(&target, permissions).map_err(|error| VerifierError::io("writing", &target, &error))?;
    }
    Ok(())
}

// A link may climb as far as the root, and only before it names anything: after a name, which may be a link itself, `..`
// would climb from somewhere else than the text says.
pub(crate) fn check_link(path: &str, target: &[u8]) -> Result<(), VerifierError> {
    let escapes = |why| VerifierError::PathUnsafe { path: path.to_owned(), why };
    let target =
        std::str::from_utf8(target).map_err(|_| malformed(format!("`{path}` links to a name that is not UTF-8")))?;
    if target.is_empty() || target.starts_with('/') || target.contains('\0') || target.len() > limits::PATH_BYTES {
        return Err(escapes("is a symlink with an absolute, empty or overlong target"));
    }
    let mut climb = path.split('/').count() - 1;
    let mut named = false;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if named => return Err(escapes("is a symlink that climbs after a name")),
            ".." => climb = climb.checked_sub(1).ok_or_else(|| escapes("is a symlink that leaves the tree"))?,
            _ => named = true,
        }
    }
    Ok(())
}
