//! The handoff of a record: derived again, and where the mesh signed it, held against everything that it fixed.

use quorum_attest::{Envelope, PredicateType, TrustRoot, authenticate};
use quorum_policies::FactSheet;
use quorum_schemas::{Digest, Value, c1};

use super::{Files, Finding, differs, file};
use crate::documents::Documents;
use crate::record;

/// Checks `handoff.json`, or `handoff.dsse.json` where the record comes from the mesh.
pub(super) fn check(files: &Files, documents: &Documents, trust: &TrustRoot, sheet: &FactSheet) -> Finding<()> {
    let Some(signed) = files.get(record::SIGNED_HANDOFF) else {
        if file(files, record::HANDOFF)? != c1(documents.intake.handoff.value()) {
            return differs(record::HANDOFF, "it is not the handoff that follows from work unit and manifest");
        }
        return Ok(());
    };
    let name = record::SIGNED_HANDOFF;
    // The time at which the mesh stored it is not in the record; the key had to be valid when the decision was made.
    let authentic = Envelope::parse(signed)
        .and_then(|envelope| authenticate(&envelope, trust, PredicateType::Handoff, sheet.now))
        .or_else(|error| differs(name, error))?;
    let predicate = authentic.predicate();
    let digest_of = |name: &str| file(files, name).map(|bytes| Value::from(Digest::of(bytes)));
    let expected = [
        ("handoff", documents.intake.handoff.value().clone()),
        ("handoff_id", documents.intake.handoff.id().into()),
        ("manifest_binding", documents.intake.binding.to_value()),
        ("work_unit_envelope", digest_of(&documents.work_unit.file_name(record::WORK_UNIT))?),
        ("policy_digest", digest_of(record::POLICY)?),
        ("panel", u64::from(sheet.panel).into()),
        ("deadline", sheet.deadline.into()),
    ];
    for (member, expected) in &expected {
        if predicate.get(member) != Some(expected) {
            return differs(name, format!("/predicate/{member}: it is not what the other files give"));
        }
    }
    // A trust root may have succeeded the one of the handoff, never the other way round.
    match predicate.get("trust_version").and_then(Value::as_u64) {
        Some(version) if version <= trust.version() => Ok(()),
        found => differs(
            name,
            format!("/predicate/trust_version: {found:?}, and {} is version {}", record::TRUST, trust.version()),
        ),
    }
}
