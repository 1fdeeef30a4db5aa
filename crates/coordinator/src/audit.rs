//! Refusals as the coordinator publishes them: once each, whatever is replayed.

use quorum_mesh::{AuditRecord, Stored};
use quorum_schemas::{C1Digest, Digest};

use crate::documents::Refused;

/// The kind of a refused document's record.
pub(crate) const REFUSAL: &str = "refusal";

/// The record of a refused document. The pointer says where in the document; without one the subject is named.
pub(crate) fn refusal(stored: &Stored, publisher: &str, refused: &Refused, handoff: Option<C1Digest>) -> AuditRecord {
    record(REFUSAL, refused, &stored.subject, stored.digest(), publisher, handoff)
}

pub(crate) fn record(
    kind: &str,
    refused: &Refused,
    subject: &str,
    digest: Digest,
    publisher: &str,
    handoff: Option<C1Digest>,
) -> AuditRecord {
    let place = if refused.pointer.is_empty() { subject } else { &refused.pointer };
    AuditRecord {
        kind: kind.to_owned(),
        code: refused.code.to_owned(),
        place: place.to_owned(),
        digest,
        publisher: publisher.to_owned(),
        handoff,
    }
}
