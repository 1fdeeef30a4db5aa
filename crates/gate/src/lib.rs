//! One shot: verify, decide, report, audit. Links no NATS.

mod control;
mod error;
mod exit_code;
mod git;
pub mod limits;
mod out_dir;

pub use error::GateError;
pub use exit_code::ExitCode;
pub use out_dir::write_atomically;
