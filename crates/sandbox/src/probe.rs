//! What this host can really enforce.

use crate::{Isolation, SandboxError};

/// The answer of [`probe`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The strongest class that held while the probe tried to escape.
    pub isolation: Isolation,
    /// Layers that were established.
    pub enforced: Vec<String>,
    /// Escapes that were tried, and what came of each: `write-outside: EROFS`.
    pub attempts: Vec<String>,
    /// Why nothing stronger; empty with a process sandbox.
    pub why: String,
}

/// Tries, once per process, to escape from a process sandbox.
///
/// # Errors
/// Only when no helper can be started at all; a host without namespaces is an answer, not an error.
pub fn probe() -> Result<Probe, SandboxError> {
    todo!()
}
