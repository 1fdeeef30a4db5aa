//! The one function that daemon, gate and auditor call.

use quorum_attest::TrustRoot;
use quorum_handoff::{Handoff, ManifestBinding, WorkUnit};
use quorum_schemas::Timestamp;

use crate::{Facts, Outcome, PoliciesError, Policy, WorkerIdentity};

/// Everything that a decision is a function of, beside the time.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// What is to be verified.
    pub handoff: &'a Handoff,
    /// What was asked.
    pub work_unit: &'a WorkUnit,
    /// What may be known of the manifest.
    pub binding: &'a ManifestBinding,
    /// Who the worker is.
    pub worker: WorkerIdentity,
    /// Whose keys count.
    pub trust: &'a TrustRoot,
    /// The operator's rule.
    pub policy: &'a Policy,
    /// Seats: the signed handoff's on the mesh, the policy's off the mesh.
    pub panel: u32,
    /// From then on open seats are not waited for.
    pub deadline: Timestamp,
    /// Receptions and seats.
    pub facts: &'a Facts,
    /// The bytes of every envelope received as evidence, in any order.
    pub envelopes: &'a [Vec<u8>],
}

/// Weighs the evidence of `case` at `now` (design section 5).
///
/// # Errors
/// Only when the case itself cannot be judged: the policy is not admitted, its parts do not belong together, facts are
/// missing, the worker must be signed and is not. What is wrong with evidence is a refusal inside the decision.
pub fn decide(case: &Case<'_>, now: Timestamp) -> Result<Outcome, PoliciesError> {
    let _ = (case, now);
    todo!()
}
