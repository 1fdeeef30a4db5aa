//! How a command fails.

use std::io;
use std::path::PathBuf;

use quorum_gate::{ExitCode, GateError};
use thiserror::Error;

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
    pub(crate) fn control(code: &'static str, message: impl ToString) -> Self {
        Self::Control { code, message: message.to_string() }
    }

    /// Something outside the command's inputs.
    pub(crate) fn infrastructure(code: &'static str, message: impl ToString) -> Self {
        Self::Infrastructure { code, message: message.to_string() }
    }

    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Gate(error) => error.code(),
            Self::Control { code, .. } | Self::Infrastructure { code, .. } => code,
            Self::Read { .. } => "cannot_read",
            Self::Write { .. } => "cannot_write",
            Self::Stdout(_) => "cannot_write_stdout",
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
