//! Schemas that every run needs, made ready beside the run.

use std::thread;

use quorum_schemas::{SchemaName, prepare};

/// What a run needs last, in the order of need. What it needs first, it makes ready itself meanwhile.
const NEEDED: [SchemaName; 6] = [
    SchemaName::VerificationHandoff,
    SchemaName::QuorumPlan,
    SchemaName::VerificationResult,
    SchemaName::EvidencePredicate,
    SchemaName::TrustRoot,
    SchemaName::Decision,
];

/// Uses the time in which the run reads files and waits for its child. Only time depends on this: a run that comes to a
/// schema first makes it itself, as it does where no thread can be started.
pub(crate) fn schemas() {
    let _ = thread::Builder::new().name("schemas".to_owned()).spawn(|| NEEDED.into_iter().for_each(prepare));
}
