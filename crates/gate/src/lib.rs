//! One shot: verify, decide, report, audit. Links no NATS.

mod error;
mod exit_code;

pub use error::GateError;
pub use exit_code::ExitCode;
