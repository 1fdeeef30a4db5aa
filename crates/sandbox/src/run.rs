//! The caller's side of one run.

use crate::{RunReport, SandboxError, Spec};

/// Runs one command to its end. Blocks; may be called from any thread of a multi-threaded program.
///
/// # Errors
/// See [`SandboxError`]: a refused isolation class, an unusable spec, a program that cannot be started, or an outcome
/// that cannot be proved.
pub fn run(_spec: &Spec) -> Result<RunReport, SandboxError> {
    todo!()
}
