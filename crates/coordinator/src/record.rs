//! The files of a decision's record, as the mesh holds them (design section 9).

use std::collections::BTreeMap;

use quorum_attest::{PAYLOAD_TYPE, Role, sign};
use quorum_policies::record::{RESULT_MANIFEST, WORK_UNIT, document};
use quorum_policies::{Decision, FactSheet, vsa};
use quorum_schemas::Digest;

use crate::CoordinatorError;
use crate::case::Case;
use crate::context::Context;

pub(crate) use quorum_policies::record::{
    FACTS, POLICY, SIGNED_DECISION, SIGNED_HANDOFF, SIGNED_VSA, TRUST, bundle, evidence,
};

/// The work unit; always signed on the mesh.
pub(crate) fn work_unit() -> String {
    document(WORK_UNIT, true)
}

/// The manifest; always signed on the mesh.
pub(crate) fn result_manifest() -> String {
    document(RESULT_MANIFEST, true)
}

/// Path and digest of every file of the record but the decision itself.
pub(crate) fn listing(context: &Context, case: &Case, sheet: &FactSheet) -> BTreeMap<String, Digest> {
    let mut files = BTreeMap::from([
        (SIGNED_HANDOFF.to_owned(), Digest::of(&case.doc.envelope)),
        (work_unit(), Digest::of(&case.work_unit_envelope)),
        (result_manifest(), Digest::of(&case.manifest_envelope)),
        (POLICY.to_owned(), case.policy.digest()),
        (TRUST.to_owned(), context.loaded.trust.digest()),
        (FACTS.to_owned(), Digest::c1(&sheet.to_value()).of_bytes()),
    ]);
    for digest in sheet.facts.received.keys() {
        files.insert(evidence(digest), *digest);
        if let Some(found) = case.items.get(digest).and_then(|item| item.bundle) {
            files.insert(bundle(&found), found);
        }
    }
    files
}

/// The decision, naming every other file of its record, and the signed verification summary of an accept or a reject.
pub(crate) fn with_files(
    context: &Context,
    case: &Case,
    decision: Decision,
) -> Result<(Decision, Option<Vec<u8>>), CoordinatorError> {
    let mut files = listing(context, case, &decision.facts);
    let decision = decision.with_files(&files);
    let loaded = &context.loaded;
    let summary = vsa(&decision, Some((Role::Coordinator, &loaded.id))).map_err(|error| {
        CoordinatorError::OwnDocument { place: "the summary to be signed".into(), reason: error.to_string() }
    })?;
    let Some(summary) = summary else { return Ok((decision, None)) };
    let summary = sign(PAYLOAD_TYPE, &summary.to_bytes(), &loaded.key);
    files.insert(SIGNED_VSA.to_owned(), Digest::of(&summary));
    Ok((decision.with_files(&files), Some(summary)))
}
