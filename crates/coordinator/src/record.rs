//! The files of a decision's record, as the mesh holds them (design section 9).

use std::collections::BTreeMap;

use quorum_policies::record::{RESULT_MANIFEST, WORK_UNIT, document};
use quorum_policies::{Decision, FactSheet};
use quorum_schemas::Digest;

use crate::case::Case;
use crate::context::Context;

pub(crate) use quorum_policies::record::{FACTS, POLICY, SIGNED_DECISION, SIGNED_HANDOFF, TRUST, bundle, evidence};

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

/// The decision, naming every other file of its record.
pub(crate) fn with_files(context: &Context, case: &Case, decision: Decision) -> Decision {
    let files = listing(context, case, &decision.facts);
    decision.with_files(&files)
}
