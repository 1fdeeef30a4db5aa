//! Why a descriptor or a request cannot be used.

use quorum_schemas::{ErrorEntry, error_codes};
use thiserror::Error;

use crate::RunCode;

/// Reasons before anything ran.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The descriptor is not usable.
    #[error("engine descriptor{place}: {why}", place = if .pointer.is_empty() { String::new() } else { format!(" at {}", .pointer) })]
    Descriptor {
        /// JSON Pointer of the place.
        pointer: String,
        /// What is wrong.
        why: String,
    },
    /// The arguments do not satisfy the descriptor (loom_d2 to loom_d6).
    #[error("engine argument `{argument}`: {why}")]
    Argument {
        /// Its name.
        argument: String,
        /// What is wrong and what to do.
        why: String,
    },
}

error_codes! {
    impl EngineError in "engine" {
        Self::Descriptor { .. } => "descriptor_invalid", "The engine's descriptor is unusable.",
            "Correct the place of the descriptor that the message names.";
        Self::Argument { .. } => "invalid_request", "The arguments do not satisfy the engine's descriptor.",
            "Correct the argument in the plan.";
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    [EngineError::ENTRIES, RunCode::ENTRIES].concat()
}
