//! What other systems read and write: upstream's run report and the record of a human's decision about it, for export,
//! and upstream's older evidence report, for import.
//!
//! Nothing here has authority: a report selects no candidate, a record of a decision executes none, and an imported
//! report is shown, never counted.

mod evidence_report;
mod human;
mod report;
mod run;

pub use evidence_report::{ImportedCheck, ImportedEvidence, import_evidence_report};
pub use human::{HumanDecision, record_human_decision, verify_human_decision};
pub use report::{check_run_report, run_evidence_report, verification_semantic_digest};
pub use run::{AttemptOutcome, Run, RunAttempt, run_record};

use quorum_schemas::Value;

use crate::read::object;
use crate::{Document, ExportRule, HandoffError};

/// The words of a recommendation.
const RECOMMENDATIONS: [&str; 4] = ["accept_candidate", "reject_candidate", "escalate", "insufficient_evidence"];

fn refused(rule: ExportRule, document: Document, pointer: &str, message: String) -> HandoffError {
    HandoffError::Export { rule, document, pointer: pointer.to_owned(), message }
}

/// What a run and its report may do.
fn no_authority() -> Value {
    object([
        ("canonical_state_write", false.into()),
        ("git_push", false.into()),
        ("merge", false.into()),
        ("automatic_candidate_selection", false.into()),
    ])
}
