//! The handoff of a record: derived again, and where the mesh signed it, held against everything that it fixed.

use quorum_attest::{Envelope, PredicateType, Statement, TrustRoot, authenticate};
use quorum_policies::FactSheet;
use quorum_schemas::{Digest, Timestamp, Value, c1};

use super::{Files, Finding, differs, file};
use crate::documents::Documents;
use crate::record;

/// When the documents of a record were taken in, the time at which their keys had to be in force: that of the gate's run,
/// and on the mesh when the handoff was issued. Keys that were retired or revoked between then and a later revision are
/// no fault of the record; whoever signed the decision vouches for this handoff by its digest.
pub(super) fn issued_at(files: &Files, sheet: &FactSheet) -> Timestamp {
    let said = files.get(record::SIGNED_HANDOFF).and_then(|signed| {
        let statement = Statement::parse(Envelope::parse(signed).ok()?.payload()).ok()?;
        statement.predicate.get("issued_at").and_then(Value::as_str)?.parse().ok()
    });
    said.unwrap_or(sheet.now)
}

/// Checks `handoff.json`, or `handoff.dsse.json` where the record comes from the mesh.
pub(super) fn check(files: &Files, documents: &Documents, trust: &TrustRoot, sheet: &FactSheet) -> Finding<()> {
    let Some(signed) = files.get(record::SIGNED_HANDOFF) else {
        if file(files, record::HANDOFF)? != c1(documents.intake.handoff.value()) {
            return differs(record::HANDOFF, "it is not the handoff that follows from work unit and manifest");
        }
        return Ok(());
    };
    let name = record::SIGNED_HANDOFF;
    let authentic = Envelope::parse(signed)
        .and_then(|envelope| authenticate(&envelope, trust, PredicateType::Handoff, issued_at(files, sheet)))
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
