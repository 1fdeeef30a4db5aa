//! One shot: verify, decide, report, audit. Links no NATS.

mod answer;
mod audit;
mod candidate;
mod checks;
mod clock;
mod codes;
mod control;
mod decision;
mod documents;
mod error;
mod evidence;
mod exit_code;
mod export;
mod git;
mod init;
mod inputs;
mod keys;
pub mod limits;
mod manifest;
mod out_dir;
mod ready;
mod record;
mod report;
mod run;
mod scratch;
mod steps;
mod trust_file;
mod verify;

pub use audit::{
    AuditOutcome, Audited, Difference, audit, audit_files, audit_with_files, audited_decision, explain_record,
};
pub use candidate::{CandidateSource, GitSource};
pub use clock::{now, random};
pub use codes::{GateCode, errors};
pub use control::open_file;
pub use decision::Files;
pub use error::GateError;
pub use exit_code::{ExitCode, NotAnExitCode};
pub use export::{ExportRequest, Exported, export_run};
pub use init::{COMMAND as INIT_COMMAND, init};
pub use keys::private_key;
pub use manifest::{ManifestRequest, WorkerClaim, make_manifest};
pub use out_dir::write_atomically;
pub use record::Record;
pub use report::{
    Annotation, CheckLine, Format, Places as ReportPlaces, ReportTarget, Subject as ReportSubject, annotation_batches,
    check_lines, outside_candidate, workflow_commands,
};
pub use run::{GateOutcome, GateRequest, run};
pub use scratch::remove_scratch;
pub use steps::{DecideRequest, decide, derive_handoff};
pub use trust_file::{TrustStore, earlier_trust, follow_trust, load_trust, newest_trust, replace_trust};
pub use verify::{VerifyOutcome, VerifyRequest, verify};
