//! An offer, opened: only what a coordinator signed is acted upon.

use quorum_attest::{Envelope, PredicateType, TrustRoot, authenticate};
use quorum_handoff::{Handoff, ManifestBinding, WorkUnit, candidate_subject};
use quorum_mesh::{BlobRef, BlobRole, Offer, Place, Stored};
use quorum_schemas::{Digest, SchemaName, Timestamp, Value, validate};

use crate::VerifierdError;
use crate::answers::Question;

/// What a verifier needs to know of an offer. It has no room for the worker's words.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) question: Question,
    pub(crate) handoff: Handoff,
    pub(crate) binding: ManifestBinding,
    pub(crate) work_unit: WorkUnit,
    pub(crate) candidate: BlobRef,
    pub(crate) baseline: Option<BlobRef>,
    pub(crate) deadline: Timestamp,
}

fn refuse(reason: impl std::fmt::Display) -> VerifierdError {
    VerifierdError::OfferRefused(reason.to_string())
}

/// Opens an offer: the handoff must be signed by a coordinator and the work unit by an author, both must belong
/// together, and the blobs must be the ones that the handoff speaks of.
pub(crate) fn open(stored: &Stored, verifier: &str, trust: &TrustRoot) -> Result<Task, VerifierdError> {
    let Place::Offer { verifier: addressee, handoff, seat, try_no } = stored.place()? else {
        return Err(refuse(format!("{} is not an offer's subject", stored.subject)));
    };
    let offer = Offer::parse(&stored.body)?;
    if addressee != verifier || (offer.seat, offer.try_no) != (seat, try_no) {
        return Err(refuse("the body names another seat than the subject"));
    }
    let read = |bytes: &[u8], expected| authenticate(&Envelope::parse(bytes)?, trust, expected, stored.received_at);
    let signed = read(&offer.handoff, PredicateType::Handoff)?;
    let predicate = signed.predicate();
    validate(SchemaName::HandoffPredicate, predicate)
        .map_err(|violations| refuse(violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))?;
    let part = |key: &str| predicate.get(key).unwrap_or(&Value::Null);
    let digest = |key: &str| part(key).as_str().and_then(|text| text.parse::<Digest>().ok());
    let bound = Handoff::parse(part("handoff")).map_err(refuse)?;
    let binding = ManifestBinding::parse(part("manifest_binding")).map_err(refuse)?;
    if bound.id() != handoff || part("handoff_id") != &handoff.into() {
        return Err(refuse("the signed handoff is another one than the subject's"));
    }
    let deadline = part("deadline").as_str().and_then(|text| text.parse().ok());
    let authored = read(&offer.work_unit, PredicateType::WorkUnit)?;
    let work_unit = WorkUnit::from_value(authored.predicate().clone()).map_err(refuse)?;
    if digest("work_unit_envelope") != Some(authored.envelope()) || work_unit.digest() != bound.work_unit_digest() {
        return Err(refuse("the work unit is another one than the handoff's"));
    }
    check_blobs(&offer, &binding, &work_unit)?;
    Ok(Task {
        question: Question { handoff, seat, try_no },
        handoff: bound,
        binding,
        work_unit,
        candidate: offer.candidate,
        baseline: offer.baseline,
        deadline: deadline.ok_or_else(|| refuse("`deadline` is not a time"))?,
    })
}

/// The offer itself is not signed, the handoff is: what the offer points at must be what the handoff means.
fn check_blobs(offer: &Offer, binding: &ManifestBinding, work_unit: &WorkUnit) -> Result<(), VerifierdError> {
    let (blob, subject) = (&offer.candidate, candidate_subject(binding));
    if blob.role != BlobRole::Worker || blob.publisher != binding.worker_id() {
        return Err(refuse(format!("the candidate's blob is that of {} {}", blob.role.as_str(), blob.publisher)));
    }
    // The head of a pull request says nothing about the blob's bytes; its objects are hashed by the integrity check.
    if subject.algorithm() == "sha256" && subject.hex() != blob.sha256.hex() {
        return Err(refuse(format!("the blob is {}, the candidate sha256:{}", blob.sha256, subject.hex())));
    }
    match (&offer.baseline, work_unit.baseline_digest()) {
        (Some(blob), wanted) if blob.role != BlobRole::Author || Some(blob.sha256) != wanted => {
            Err(refuse("the baseline's blob is not the work unit's baseline"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "offer_tests.rs"]
mod tests;
