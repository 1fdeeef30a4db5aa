//! How a command fails.

use std::io;
use std::path::PathBuf;

use quorum_gate::{ExitCode, GateError};
use thiserror::Error;

use crate::codes::{CliCode, catalogue};

/// Everything that ends a command early, with its exit code.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum CliError {
    /// The gate's rooms failed.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A control file or an argument that cannot be used: exit 2.
    #[error("{message}")]
    Control {
        /// Stable snake_case code.
        code: &'static str,
        /// What is wrong, where, and what to do.
        message: String,
    },
    /// Something outside the command's inputs: exit 5.
    #[error("{message}")]
    Infrastructure {
        /// Stable snake_case code.
        code: &'static str,
        /// What is wrong, where, and what to do.
        message: String,
    },
    /// An input file that cannot be read: exit 2.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An output file that cannot be written: exit 5.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Stdout is closed or full: exit 5.
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
}

impl CliError {
    /// An argument or a control file that cannot be used.
    pub(crate) fn control(code: impl Into<&'static str>, message: impl ToString) -> Self {
        Self::Control { code: catalogued(code.into()), message: message.to_string() }
    }

    /// Something outside the command's inputs.
    pub(crate) fn infrastructure(code: impl Into<&'static str>, message: impl ToString) -> Self {
        Self::Infrastructure { code: catalogued(code.into()), message: message.to_string() }
    }

    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Gate(error) => error.code(),
            Self::Control { code, .. } | Self::Infrastructure { code, .. } => code,
            Self::Read { .. } => CliCode::CannotRead.code(),
            Self::Write { .. } => CliCode::CannotWrite.code(),
            Self::Stdout(_) => CliCode::CannotWriteStdout.code(),
        }
    }

    /// How the process ends.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Gate(error) => error.exit_code(),
            Self::Control { .. } | Self::Read { .. } => ExitCode::Usage,
            Self::Infrastructure { .. } | Self::Write { .. } | Self::Stdout(_) => ExitCode::Infrastructure,
        }
    }
}

/// A code with an entry in the catalogue. In a build with debug assertions another one stops the program, so that a test
/// finds it.
fn catalogued(code: &'static str) -> &'static str {
    debug_assert!(catalogue().iter().any(|entry| entry.code == code), "the error catalogue has no `{code}`");
    code
}
