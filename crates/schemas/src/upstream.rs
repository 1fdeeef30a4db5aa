//! Where tests find the public data that they compare with. Not part of the API.

use std::path::{Path, PathBuf};

/// The folder, from `QUORUM_UPSTREAM` or beside the checkout. `None` outside CI when it is not there; says so.
///
/// # Panics
/// In CI (`CI` is set) when the folder is missing: a skipped comparison must not look green there.
#[must_use]
#[allow(clippy::print_stderr)]
pub fn path() -> Option<PathBuf> {
    let folder = std::env::var_os("QUORUM_UPSTREAM")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/upstream"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing, and CI compares with it", folder.display());
    eprintln!("skipped: {} is not here, so nothing is compared with upstream", folder.display());
    None
}

/// The bytes of one file below [`path`].
///
/// # Panics
/// When the folder is there and the file is not.
#[must_use]
pub fn read(relative: &str) -> Option<Vec<u8>> {
    let file = path()?.join(relative);
    Some(std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
}

/// The Python that has the packages of `tests/foreign/requirements.txt`: `QUORUM_FOREIGN_PYTHON`, or the one that
/// `./x setup` installs. `None` outside CI when it is not there; says so.
///
/// # Panics
/// In CI (`CI` is set) when it is missing: what nobody else has read must not look as if somebody had.
#[must_use]
#[allow(clippy::print_stderr)]
pub fn foreign_python() -> Option<PathBuf> {
    let python = std::env::var_os("QUORUM_FOREIGN_PYTHON")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/foreign/bin/python"), PathBuf::from);
    if python.is_file() {
        return Some(python);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing; `./x setup` installs it", python.display());
    eprintln!("skipped: {} is not here; `./x setup` installs it", python.display());
    None
}
