//! How the gate fails.

use std::io;
use std::path::PathBuf;

use quorum_attest::AttestError;
use quorum_schemas::ErrorEntry;
use thiserror::Error;

use crate::codes::errors;
use crate::{ExitCode, GateCode};

/// Everything that ends a gate run without a decision.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GateError {
    /// A control file or an option that cannot be used: exit 2.
    #[error("{message}")]
    Control {
        /// Stable snake_case code.
        code: &'static str,
        /// What is wrong, where, and what to do.
        message: String,
    },
    /// The worker's document was refused: exit 6.
    #[error("{message}")]
    WorkerDocument {
        /// Stable snake_case code.
        code: &'static str,
        /// What is wrong and where in the document.
        message: String,
    },
    /// Something outside the inputs failed: exit 5.
    #[error("{message}")]
    Infrastructure {
        /// Stable snake_case code.
        code: &'static str,
        /// What is wrong, where, and what to do.
        message: String,
    },
    /// A trust root that cannot be used: exit 2.
    #[error("{}: {}", path.display(), error.words())]
    Trust {
        /// The file.
        path: PathBuf,
        /// Why.
        error: AttestError,
    },
    /// An input file that cannot be read: exit 2.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An output that cannot be written: exit 5.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl GateError {
    pub(crate) fn control(code: impl Into<&'static str>, message: impl ToString) -> Self {
        Self::Control { code: catalogued(code.into()), message: message.to_string() }
    }

    pub(crate) fn worker(code: impl Into<&'static str>, message: impl ToString) -> Self {
        Self::WorkerDocument { code: catalogued(code.into()), message: message.to_string() }
    }

    pub(crate) fn infrastructure(code: impl Into<&'static str>, message: impl ToString) -> Self {
        Self::Infrastructure { code: catalogued(code.into()), message: message.to_string() }
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Control { code, .. } | Self::WorkerDocument { code, .. } | Self::Infrastructure { code, .. } => code,
            Self::Trust { error, .. } => error.code(),
            Self::Read { .. } => GateCode::CannotRead.code(),
            Self::Write { .. } => GateCode::CannotWrite.code(),
        }
    }

    /// How the process ends.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Control { .. } | Self::Trust { .. } | Self::Read { .. } => ExitCode::Usage,
            Self::WorkerDocument { .. } => ExitCode::WorkerDocument,
            Self::Infrastructure { .. } | Self::Write { .. } => ExitCode::Infrastructure,
        }
    }
}

/// A code of this room or of one below. In a build with debug assertions one without an entry stops the program, so that
/// a test finds it.
fn catalogued(code: &'static str) -> &'static str {
    let below: [fn() -> Vec<ErrorEntry>; 7] = [
        errors,
        quorum_attest::errors,
        quorum_handoff::errors,
        quorum_policies::errors,
        quorum_sandbox::errors,
        quorum_schemas::errors,
        quorum_verifier::errors,
    ];
    let known = || below.iter().any(|room| room().iter().any(|entry| entry.code == code));
    debug_assert!(known(), "the error catalogue has no `{code}`");
    code
}
