//! Which program is started as the helper.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::SandboxError;

/// `argv[0]` by which a program knows that it is to be the helper.
pub(crate) const MARKER: &str = "quorum-sandbox-init";
/// `argv[0]` of the escape attempts of the probe.
pub(crate) const PROBE_MARKER: &str = "quorum-sandbox-probe";

static NAMED: OnceLock<PathBuf> = OnceLock::new();
static OURSELVES: AtomicBool = AtomicBool::new(false);

/// Names the program that [`crate::run`] starts as its helper: one whose `main` calls [`crate::init_main`] first.
///
/// The first call in a process counts. Programs that call [`crate::init_main`] themselves do not need it.
pub fn use_helper(program: &Path) {
    NAMED.get_or_init(|| program.to_owned());
}

/// Remembers that this program's `main` called [`crate::init_main`].
pub(crate) fn remember_ourselves() {
    OURSELVES.store(true, Ordering::Relaxed);
}

/// The named program, else this one, else a `quorum-sandbox-init` beside it or one folder up (where cargo puts it for
/// tests).
pub(crate) fn find() -> Result<PathBuf, SandboxError> {
    if let Some(named) = NAMED.get() {
        return Ok(named.clone());
    }
    if OURSELVES.load(Ordering::Relaxed) {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    let exe = std::env::current_exe().map_err(|error| SandboxError::Helper(error.to_string()))?;
    exe.ancestors().skip(1).take(2).map(|folder| folder.join(MARKER)).find(|candidate| candidate.is_file()).ok_or_else(
        || {
            SandboxError::Helper(format!(
                "{} did not call init_main first in its main, and no {MARKER} is beside it; call one or use_helper",
                exe.display()
            ))
        },
    )
}
