//! One shot: verify, decide, report, audit. Links no NATS.

mod audit;
mod candidate;
mod clock;
mod control;
mod decision;
mod documents;
mod error;
mod evidence;
mod exit_code;
mod git;
mod keys;
pub mod limits;
mod manifest;
mod out_dir;
mod record;

pub use audit::{AuditOutcome, Audited, Difference, audit, audit_files};
pub use candidate::{CandidateSource, GitSource};
pub use error::GateError;
pub use exit_code::ExitCode;
pub use manifest::{ManifestRequest, WorkerClaim, make_manifest};
pub use out_dir::write_atomically;
pub use record::Record;
