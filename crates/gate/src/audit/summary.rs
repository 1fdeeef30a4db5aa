//! The verification summary in a record: recomputed from the decision, byte for byte.

use quorum_attest::{Entry, Envelope, PredicateType, TrustRoot, authenticate};
use quorum_policies::{Decision, vsa};

use super::{Finding, differs, file};
use crate::decision::Files;
use crate::record::{SIGNED_VSA, UNSIGNED_VSA};

/// An accept or a reject has a summary, in the form of the decision and by the same key; another decision has none.
pub(super) fn check(files: &Files, decision: &Decision, signer: Option<&Entry>, trust: &TrustRoot) -> Finding<()> {
    let (name, other) = if signer.is_some() { (SIGNED_VSA, UNSIGNED_VSA) } else { (UNSIGNED_VSA, SIGNED_VSA) };
    let by = signer.map(|signer| (signer.role, signer.id.as_str()));
    let summary = vsa(decision, by).or_else(|error| differs(name, error))?;
    for stray in [other].into_iter().chain(summary.is_none().then_some(name)) {
        if files.contains_key(stray) {
            return differs(stray, "this decision has no such summary");
        }
    }
    let Some(summary) = summary else { return Ok(()) };
    let found = file(files, name)?;
    let Some(signer) = signer else {
        return if found == summary.to_bytes() { Ok(()) } else { differs(name, "the decision gives another summary") };
    };
    let envelope = Envelope::parse(found).or_else(|error| differs(name, error))?;
    // As the decision itself: possibly by a key that came later than what is decided.
    let signed_at = decision.facts.now.max(signer.valid_from);
    let authentic =
        authenticate(&envelope, trust, PredicateType::Vsa, signed_at).or_else(|error| differs(name, error))?;
    if authentic.signer() != signer {
        return differs(name, format!("{} signed it, and {} the decision", authentic.signer().id, signer.id));
    }
    if envelope.payload() == summary.to_bytes() { Ok(()) } else { differs(name, "the decision gives another summary") }
}
