//! Throwaway copies, so that a command can write what it likes and change nothing.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::{Context, number};
use crate::VerifierError;
use crate::tree::{self, Listing, Mode};

/// The folders of one check, gone when dropped.
pub(super) struct Workdir {
    root: PathBuf,
    /// The copy of the candidate, or of the baseline when that is timed.
    pub(super) candidate: PathBuf,
    /// Where a report may be written.
    pub(super) out: PathBuf,
}

impl Workdir {
    /// Copies `source` into a fresh folder below the scratch directory.
    pub(super) fn make(
        context: &Context<'_>,
        index: usize,
        name: &str,
        source: &Listing,
    ) -> Result<Self, VerifierError> {
        let root = context.request.scratch.join(format!("{}-{name}", number(index)));
        let made = Self { candidate: root.join("candidate"), out: root.join("out"), root };
        for folder in [&made.root, &made.candidate, &made.out] {
            create(folder)?;
        }
        copy(source, &made.candidate)?;
        Ok(made)
    }

    pub(super) fn report(&self) -> PathBuf {
        self.out.join("report.xml")
    }
}

impl Drop for Workdir {
    fn drop(&mut self) {
        // A command may leave folders that even their owner may not enter; what stays goes with the scratch directory.
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn create(folder: &Path) -> Result<(), VerifierError> {
    fs::DirBuilder::new().mode(0o755).create(folder).map_err(|error| VerifierError::io("creating", folder, &error))
}

/// Exactly what was listed: a file that came later is not copied, one that changed is an error.
fn copy(source: &Listing, dest: &Path) -> Result<(), VerifierError> {
    for entry in source.iter() {
        let (bytes, mode) = (source.read(entry)?, entry.mode);
        let target = dest.join(&entry.path);
        let writing = |error: std::io::Error| VerifierError::io("copying to", &target, &error);
        if let Some(folder) = target.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(writing)?;
        }
        if mode == Mode::Symlink {
            symlink(std::ffi::OsStr::from_bytes(&bytes), &target).map_err(writing)?;
            continue;
        }
        fs::write(&target, &bytes).map_err(writing)?;
        let bits = if mode == Mode::Executable { 0o755 } else { 0o644 };
        fs::set_permissions(&target, fs::Permissions::from_mode(bits)).map_err(writing)?;
    }
    Ok(())
}

/// The verifier's own folder of a check, absolute, with the digest of what is in it.
pub(super) fn harness(
    context: &Context<'_>,
    index: usize,
) -> Result<Option<(PathBuf, quorum_schemas::C1Digest)>, VerifierError> {
    let Some(check) = context.request.plan.checks().get(index) else { return Ok(None) };
    let Some(path) = context.request.harness_of(check)? else { return Ok(None) };
    let digest = tree::candidate_tree(&path)?;
    Ok(Some((path, digest)))
}
