//! The files of a decision that was made off the mesh.

use std::collections::BTreeMap;

use quorum_policies::{FactSheet, RecordFile};
use quorum_schemas::{Digest, c1};

use crate::documents::Documents;
use crate::evidence::EvidenceSet;

pub(crate) use quorum_policies::record::{
    FACTS, HANDOFF, PLAN, POLICY, RESULT_MANIFEST, SIGNED_DECISION, SIGNED_HANDOFF, SIGNED_VSA, TRUST,
    UNSIGNED_DECISION, UNSIGNED_VSA, WORK_UNIT, bundle, evidence,
};

/// What a decision was computed from.
pub(crate) struct Sources<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) policy: &'a [u8],
    pub(crate) trust: &'a [u8],
    pub(crate) evidence: &'a EvidenceSet,
    pub(crate) sheet: &'a FactSheet,
    pub(crate) plan: Option<&'a [u8]>,
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
        (HANDOFF.to_owned(), c1(documents.intake.handoff.value())),
    ]);
    for (digest, envelope) in &sources.evidence.envelopes {
        files.insert(evidence(digest), envelope.clone());
    }
    for (digest, bytes) in &sources.evidence.bundles {
        files.insert(bundle(digest), bytes.clone());
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
