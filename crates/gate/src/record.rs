//! The files of a recorded decision (design section 9). One function for the gate, the mesh and the audit.

use std::collections::BTreeMap;

use quorum_policies::{FactSheet, RecordFile};
use quorum_schemas::{Digest, c1};

use crate::documents::Documents;
use crate::evidence::EvidenceSet;

/// The decision's own file.
pub(crate) const SIGNED_DECISION: &str = "decision.dsse.json";
/// The decision's own file when nobody signed it.
pub(crate) const UNSIGNED_DECISION: &str = "decision.json";
pub(crate) const WORK_UNIT: &str = "work-unit";
pub(crate) const RESULT_MANIFEST: &str = "result-manifest";
pub(crate) const HANDOFF: &str = "handoff.json";
pub(crate) const SIGNED_HANDOFF: &str = "handoff.dsse.json";
pub(crate) const POLICY: &str = "policy.toml";
pub(crate) const TRUST: &str = "trust.json";
pub(crate) const FACTS: &str = "facts.json";
pub(crate) const PLAN: &str = "plan.json";

/// What a decision was computed from.
pub(crate) struct Sources<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) policy: &'a [u8],
    pub(crate) trust: &'a [u8],
    pub(crate) evidence: &'a EvidenceSet,
    pub(crate) sheet: &'a FactSheet,
    pub(crate) plan: Option<&'a [u8]>,
    /// The coordinator's envelope, where the handoff came from the mesh.
    pub(crate) handoff: Option<&'a [u8]>,
}

/// Every file of the record but the decision's.
pub(crate) fn files(sources: &Sources<'_>) -> BTreeMap<String, Vec<u8>> {
    let documents = sources.documents;
    let mut files = BTreeMap::from([
        (documents.work_unit.file_name(WORK_UNIT), documents.work_unit.bytes.clone()),
        (documents.manifest.file_name(RESULT_MANIFEST), documents.manifest.bytes.clone()),
        (POLICY.to_owned(), sources.policy.to_vec()),
        (TRUST.to_owned(), sources.trust.to_vec()),
        (FACTS.to_owned(), c1(&sources.sheet.to_value())),
    ]);
    match sources.handoff {
        Some(envelope) => files.insert(SIGNED_HANDOFF.to_owned(), envelope.to_vec()),
        None => files.insert(HANDOFF.to_owned(), c1(documents.intake.handoff.value())),
    };
    for (digest, envelope) in &sources.evidence.envelopes {
        files.insert(evidence_name(digest), envelope.clone());
    }
    for (digest, bundle) in &sources.evidence.bundles {
        files.insert(bundle_name(digest), bundle.clone());
    }
    if let Some(plan) = sources.plan {
        files.insert(PLAN.to_owned(), plan.to_vec());
    }
    files
}

/// Path and digest of every file, as the decision lists them.
pub(crate) fn listing(files: &BTreeMap<String, Vec<u8>>) -> Vec<RecordFile> {
    files.iter().map(|(path, bytes)| RecordFile { path: path.clone(), sha256: Digest::of(bytes) }).collect()
}

pub(crate) fn evidence_name(digest: &Digest) -> String {
    format!("evidence/{}.dsse.json", digest.hex())
}

pub(crate) fn bundle_name(digest: &Digest) -> String {
    format!("bundles/bundle-{}.zip", digest.hex())
}

/// A recorded decision: the bytes of every file, by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Record {
    /// The files, by path.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }
}
