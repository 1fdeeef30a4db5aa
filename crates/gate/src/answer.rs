//! From a report of checks to the statement that the verifier signs.

use quorum_attest::{Role, TrustRoot};
use quorum_policies::WorkerIdentity;
use quorum_verifier::{Answer, Assembly, SeatTry, VerifierIdentity};

use crate::GateError;
use crate::checks::{Checked, verifier_error};
use crate::documents::Documents;

/// Off the mesh every key has its own seat, and nobody hands out tries or leases.
const PLACE: SeatTry = SeatTry { seat: 0, try_no: 1, epoch: 0 };

/// The answer of the plan's verifier, as `trust` knows it and the worker.
///
/// # Errors
/// `own_result_invalid`: a defect of ours, nothing is signed.
pub(crate) fn assemble(
    checked: &Checked,
    documents: &Documents,
    trust: Option<&TrustRoot>,
) -> Result<Answer, GateError> {
    let id = checked.plan.verifier_id();
    let entry = trust.and_then(|trust| trust.by_id(Role::Verifier, id));
    // Who did not sign is unknown, whatever name stands in the manifest.
    let worker = match documents.worker {
        WorkerIdentity::Authenticated { key_id } => trust.and_then(|trust| trust.by_key_id(&key_id)),
        WorkerIdentity::Unauthenticated => None,
    };
    let intake = &documents.intake;
    quorum_verifier::assemble(&Assembly {
        report: &checked.report,
        handoff: &intake.handoff,
        binding: &intake.binding,
        work_unit: &intake.work_unit,
        plan: &checked.plan,
        identity: &VerifierIdentity::of(id, entry, worker),
        place: PLACE,
        started_at: checked.started_at,
        finished_at: checked.finished_at,
    })
    .map_err(|error| verifier_error("evidence", &error))
}
