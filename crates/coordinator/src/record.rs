//! The files of a decision's record, as the mesh holds them (design section 9).

use std::collections::BTreeMap;

use quorum_policies::{Decision, FactSheet};
use quorum_schemas::Digest;

use crate::case::Case;
use crate::context::Context;

pub(crate) const DECISION: &str = "decision.dsse.json";
pub(crate) const HANDOFF: &str = "handoff.dsse.json";
pub(crate) const WORK_UNIT: &str = "work-unit.dsse.json";
pub(crate) const RESULT_MANIFEST: &str = "result-manifest.dsse.json";
pub(crate) const POLICY: &str = "policy.toml";
pub(crate) const TRUST: &str = "trust.json";
pub(crate) const FACTS: &str = "facts.json";

/// The path of an evidence envelope.
pub(crate) fn evidence(envelope: &Digest) -> String {
    format!("evidence/{}.dsse.json", envelope.hex())
}

/// The path of a bundle.
pub(crate) fn bundle(bundle: &Digest) -> String {
    format!("bundles/bundle-{}.zip", bundle.hex())
}

/// Path and digest of every file of the record but the decision itself.
pub(crate) fn listing(context: &Context, case: &Case, sheet: &FactSheet) -> BTreeMap<String, Digest> {
    let mut files = BTreeMap::from([
        (HANDOFF.to_owned(), Digest::of(&case.doc.envelope)),
        (WORK_UNIT.to_owned(), Digest::of(&case.work_unit_envelope)),
        (RESULT_MANIFEST.to_owned(), Digest::of(&case.manifest_envelope)),
        (POLICY.to_owned(), case.policy.digest()),
        (TRUST.to_owned(), context.loaded.trust.digest()),
        (FACTS.to_owned(), Digest::c1(&sheet.to_value())),
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
