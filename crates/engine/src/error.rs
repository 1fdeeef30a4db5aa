//! Why a descriptor or a request cannot be used.

use thiserror::Error;

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

impl EngineError {
    /// The stable code; `invalid_request` is also the envelope's.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Descriptor { .. } => "descriptor_invalid",
            Self::Argument { .. } => "invalid_request",
        }
    }
}
