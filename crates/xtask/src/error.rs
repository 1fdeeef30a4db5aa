//! Why a task could not run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Every error of the tasks.
#[derive(Debug, Error)]
pub(crate) enum XtaskError {
    /// A program that could not be started.
    #[error("cannot start {program}: {source}; `./x setup_mutants` installs cargo-mutants")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A program that ended badly.
    #[error("{program} ended with {status}: {words}")]
    Failed {
        /// The program.
        program: String,
        /// Its exit status.
        status: String,
        /// The end of what it said.
        words: String,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that is not what it should be.
    #[error("{what}: {reason}")]
    Malformed {
        /// Which file or output.
        what: String,
        /// What is wrong.
        reason: String,
    },
    /// Mutants that are not there.
    #[error("no mutant matches; {0}")]
    Nothing(&'static str),
}
