//! What the streams hold, as far as the coordinator has read them. Rebuilt from them at every start.

use std::collections::{BTreeMap, BTreeSet};

use quorum_mesh::{Stored, StreamName};
use quorum_policies::{EarlierAttempt, Recommendation};
use quorum_schemas::{C1Digest, Digest, Timestamp};

use crate::admission::Known;
use crate::case::Case;
use crate::documents::{ManifestDoc, WorkUnitDoc};

/// One worker's attempt at one version of a work unit.
pub(crate) type AttemptKey = (String, u64, String, u64);

/// A manifest that waits for its WorkUnit or its candidate.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) manifest: ManifestDoc,
    pub(crate) stored: Stored,
}

/// Everything known.
#[derive(Debug, Default)]
pub(crate) struct Board {
    /// WorkUnits by id and version.
    pub(crate) work: BTreeMap<String, BTreeMap<u64, WorkUnitDoc>>,
    /// The first manifest of each attempt, whether it was admitted or not.
    pub(crate) attempts: BTreeMap<AttemptKey, C1Digest>,
    /// Handoffs by id.
    pub(crate) cases: BTreeMap<C1Digest, Case>,
    /// Signed handoffs that stood on the stream when the coordinator started.
    pub(crate) handoffs: BTreeMap<C1Digest, Stored>,
    /// Decisions that stood on the stream, by handoff and revision.
    pub(crate) decisions: BTreeMap<C1Digest, BTreeMap<u32, Stored>>,
    /// Publisher and digest of what was refused before: a refusal stays, whatever came later. Somebody else who publishes
    /// the same bytes where they do not belong must not have them refused everywhere.
    pub(crate) refused: BTreeSet<(String, Digest)>,
    /// Manifests that wait.
    pub(crate) waiting: Vec<Waiting>,
    cursors: BTreeMap<StreamName, u64>,
}

impl Board {
    /// The last sequence of a stream that was read.
    pub(crate) fn cursor(&self, stream: StreamName) -> u64 {
        self.cursors.get(&stream).copied().unwrap_or(0)
    }

    pub(crate) fn advance(&mut self, stream: StreamName, sequence: u64) {
        let cursor = self.cursors.entry(stream).or_insert(0);
        *cursor = sequence.max(*cursor);
    }

    /// The WorkUnit that a manifest names, and what admission has to know beside.
    pub(crate) fn known<'a>(
        &'a self,
        manifest: &ManifestDoc,
        issued: &'a dyn Fn(&C1Digest) -> bool,
        rejected: &'a dyn Fn(&Digest) -> Option<Timestamp>,
    ) -> Known<'a> {
        let versions = self.work.get(&manifest.work);
        Known {
            work_unit: versions.and_then(|versions| versions.get(&manifest.version)),
            newest: versions.and_then(|versions| versions.last_key_value()).map(|(v, doc)| (*v, doc.received_at)),
            first: self.attempts.get(&attempt_key(manifest)).copied(),
            issued,
            rejected,
        }
    }

    /// When a candidate of this work unit was rejected: of any version, worker and attempt.
    pub(crate) fn rejected(&self, work: &str, candidate: &Digest) -> Option<Timestamp> {
        let cases = self.cases.values().filter(|case| {
            case.doc.binding.work_unit_id() == work && case.doc.binding.candidate_digest() == *candidate
        });
        let decided = cases.filter_map(|case| case.decisions.last());
        let rejected = decided.filter(|decided| decided.decision.recommendation == Recommendation::RejectCandidate);
        rejected.map(|decided| decided.stored_at).min()
    }

    /// The same worker's earlier attempts at the same version of the work unit.
    pub(crate) fn earlier_attempts(&self, case: &Case) -> Vec<EarlierAttempt> {
        let binding = &case.doc.binding;
        let mut earlier: Vec<EarlierAttempt> = self
            .cases
            .values()
            .filter(|other| {
                let other = &other.doc.binding;
                other.work_unit_id() == binding.work_unit_id()
                    && other.work_unit_version() == binding.work_unit_version()
                    && other.worker_id() == binding.worker_id()
                    && other.attempt() < binding.attempt()
            })
            .map(|other| EarlierAttempt {
                attempt: other.doc.binding.attempt(),
                handoff_id: other.doc.handoff.id(),
                recommendation: other.decisions.last().map(|decided| decided.decision.recommendation),
            })
            .collect();
        earlier.sort();
        earlier
    }
}

pub(crate) fn attempt_key(manifest: &ManifestDoc) -> AttemptKey {
    (manifest.work.clone(), manifest.version, manifest.worker.id.clone(), manifest.attempt)
}
