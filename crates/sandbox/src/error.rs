//! Why a command was not run, or cannot be said to have been run.

use std::io;
use std::path::PathBuf;

use quorum_schemas::{ErrorEntry, error_codes};
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
    /// The state of a root cannot be established, so that an observation could not be proved. Nothing ran.
    #[error("the root {path} cannot be observed: {why}; name smaller roots, or observe nothing")]
    Unobservable {
        /// The place.
        path: PathBuf,
        /// What is in the way.
        why: String,
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

error_codes! {
    impl SandboxError in "sandbox" {
        Self::IsolationUnavailable { .. } => "effect-mode-unenforceable",
            "This machine cannot enforce the isolation that is asked for, and nothing weaker runs under its name.",
            "Run where namespaces can be made, or name a weaker class in plan and policy.";
        Self::InvalidSpec { .. } => "sandbox_spec_invalid", "The description of a sandboxed run is unusable.",
            "Correct the field of the plan that the message names.";
        Self::UnknownIsolation(_) => "isolation_unknown", "The word is not an isolation class.",
            "Use none, process-sandbox, shared-kernel-container or hardware-vm.";
        Self::Path { .. } => "sandbox_path", "A path that the sandbox should show cannot be used.",
            "Correct the path in the plan.";
        Self::Unobservable { .. } => "observation_unprovable",
            "The state of the trees that are to stay as they are cannot be established within the bounds.",
            "Name smaller roots, which nothing else writes to meanwhile.";
        Self::Spawn { .. } => "spawn_failed", "The program does not exist or cannot be executed.",
            "Correct the first word of argv, or the plan's path.";
        Self::Setup { .. } => "sandbox_setup_failed",
            "A step of the preparation failed on a machine that otherwise can do it.",
            "Look at the step and the system's error; try again.";
        Self::Helper(_) => "sandbox_helper", "The helper program cannot be found or started.",
            "Install quorum whole; the helper is the same program.";
        Self::OutcomeUnknown { .. } => "outcome_unknown",
            "The helper ended without the proof that everything it started is gone.",
            "Do not read a verdict into it; find out what ended the helper.";
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    SandboxError::ENTRIES.to_vec()
}
