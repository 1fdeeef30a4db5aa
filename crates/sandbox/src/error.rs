//! Why a command was not run, or cannot be said to have been run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::Isolation;

/// Reasons of [`crate::run`]. Before [`SandboxError::OutcomeUnknown`] nothing of the command ran.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The wanted class cannot be enforced on this host.
    #[error("isolation `{wanted}` cannot be enforced here: {why}; name a weaker class, or run where it can be")]
    IsolationUnavailable {
        /// The class of the spec.
        wanted: Isolation,
        /// The step that failed and its error.
        why: String,
    },
    /// The spec is not usable.
    #[error("sandbox spec: {field}: {why}")]
    InvalidSpec {
        /// Name of the field of [`crate::Spec`].
        field: &'static str,
        /// What is wrong with it and what to do.
        why: String,
    },
    /// Not a word for an isolation class.
    #[error("`{0}` is no isolation class; use none, process-sandbox, shared-kernel-container or hardware-vm")]
    UnknownIsolation(String),
    /// A path of the spec cannot be used.
    #[error("sandbox path {path}: {source}")]
    Path {
        /// As given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program does not exist or cannot be executed.
    #[error("cannot start `{program}`: {source}")]
    Spawn {
        /// `argv[0]`.
        program: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A step of the preparation failed on a host that otherwise can do it.
    #[error("sandbox step `{step}` failed: {source}")]
    Setup {
        /// The step.
        step: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The helper program cannot be found or started.
    #[error("sandbox helper: {0}")]
    Helper(String),
    /// The helper ended without the proof that the command's tree is gone.
    #[error("the outcome of `{program}` is unknown: {why}")]
    OutcomeUnknown {
        /// `argv[0]`.
        program: String,
        /// What is missing.
        why: String,
    },
}

impl SandboxError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::IsolationUnavailable { .. } => "effect-mode-unenforceable",
            Self::InvalidSpec { .. } => "sandbox_spec_invalid",
            Self::UnknownIsolation(_) => "isolation_unknown",
            Self::Path { .. } => "sandbox_path",
            Self::Spawn { .. } => "spawn_failed",
            Self::Setup { .. } => "sandbox_setup_failed",
            Self::Helper(_) => "sandbox_helper",
            Self::OutcomeUnknown { .. } => "outcome_unknown",
        }
    }
}
