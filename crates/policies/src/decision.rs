//! The decision as data: what is recommended, by which rule, on which evidence, and what is missing.

use std::collections::BTreeMap;

use quorum_attest::KeyId;
use quorum_schemas::{Bytes, C1, C1Digest, Digest, SchemaName, Timestamp, Value, c1, validate};
use serde::{Deserialize, Serialize};

use crate::axes::{Axis, Channel, Isolation, words};
use crate::{Assurance, FactSheet, Fraction, Groups, PoliciesError, Refusal, text};

words! {
    /// What a decision recommends, in upstream's words. Integration is someone else's.
    Recommendation {
        /// Enough independent voices support, and no more objections than borne.
        AcceptCandidate => "accept_candidate",
        /// Objections, and nobody supports.
        RejectCandidate => "reject_candidate",
        /// People have to look.
        Escalate => "escalate",
        /// Not enough was heard.
        InsufficientEvidence => "insufficient_evidence",
    }
}

words! {
    /// The row of the table that fired (design section 5).
    Row {
        /// Row 2: s >= q, o <= tolerate, fraction and groups hold.
        QuorumMet => "quorum_met",
        /// The work unit asks for `threshold` or `custom` and the policy has no rule for it.
        NoOperatorRule => "no_operator_rule",
        /// Row 3: o >= 1 and s >= 1.
        SupportAndObjection => "support_and_objection",
        /// Row 4: o >= reject_quorum.
        RejectQuorumMet => "reject_quorum_met",
        /// Row 5: two keys timed out within limits that their baseline meets.
        ExhaustsVerifiers => "exhausts_verifiers",
        /// Row 6: nothing else holds.
        NotEnough => "not_enough",
        /// A revision takes an accept back and evidence now rejects: people have to look.
        WithdrawnAndRejected => "withdrawn_and_rejected",
    }
}

words! {
    /// What one key that was heard counts as.
    Standing {
        /// One of the voices: counts in s.
        Voice => "voice",
        /// Supports, but shares an axis with a voice: not counted.
        SharesWithVoice => "shares_with_voice",
        /// Supports, but shares an axis with the worker: not counted.
        SharesWithWorker => "shares_with_worker",
        /// Rejects: counts in o.
        Objector => "objector",
        /// Would support, but was refused its weight: counts in a.
        RefusedSupport => "refused_support",
        /// Said different things for one seat and try: counts in a.
        Equivocates => "equivocates",
        /// Could not tell: counts in a.
        Abstains => "abstains",
        /// Did not come to look: counts in a.
        Absent => "absent",
    }
}

/// The counts that the table reads. Never merged into one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Independent voices that support.
    pub s: u64,
    /// Keys that object.
    pub o: u64,
    /// Other keys heard.
    pub a: u64,
    /// The denominator: max(panel, s + o + a).
    pub n: u64,
    /// Voices needed.
    pub q: u64,
    /// Objections borne.
    pub tolerate: u64,
}

/// The conjunction of work unit, policy and floor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectiveRule {
    /// The work unit's strategy.
    pub strategy: String,
    /// Voices needed: the largest of all demands, at least 1.
    pub quorum: u64,
    /// Seats.
    pub panel: u32,
    /// Objections borne.
    pub tolerate: u64,
    /// Objections that reject when nobody supports.
    pub reject_quorum: u64,
    /// Share of n that must support.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fraction: Option<Fraction>,
    /// Operators that must be among the supporters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub groups: Option<Groups>,
    /// Axes of independence.
    pub independent_on: Vec<Axis>,
    /// Weakest isolation that may support.
    pub min_isolation: Isolation,
    /// Most forgeable channel that may support.
    pub min_channel: Channel,
    /// Oldest evidence that may support.
    pub max_age_seconds: u64,
}

/// One key that was heard, and what it counts as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heard {
    /// The key: votes are counted by it.
    #[serde(with = "text::key")]
    pub key_id: KeyId,
    /// Its entry in the trust root.
    pub id: String,
    /// What it counts as.
    pub standing: Standing,
    /// Why it is no voice although it supports; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub because: String,
    /// Its attributes in the trust root.
    pub attributes: BTreeMap<String, String>,
    /// Its authentic evidence, by seat, try and verdict; of duplicates the one that stands.
    pub evidence: Vec<HeardEvidence>,
}

/// One authentic envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeardEvidence {
    /// Digest of the envelope's bytes.
    pub envelope: Digest,
    /// Its verdict.
    pub verdict: crate::Verdict,
    /// Seat as signed.
    pub seat: u64,
    /// Try as signed.
    pub r#try: u64,
    /// Epoch as signed.
    pub epoch: u64,
    /// The most forgeable channel of its required checks.
    pub channel: Channel,
    /// The weakest isolation of its checks.
    pub isolation: Isolation,
    /// Checks beyond the required ones: listed, never counted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub extra_checks: Vec<String>,
}

/// An edge between two supporters, or between a supporter and the worker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Key id of a supporter.
    pub a: String,
    /// Key id of another supporter, or `worker`.
    pub b: String,
    /// What they share: `operator=acme`, `host unknown`, or a self-declaration.
    pub what: Vec<String>,
}

words! {
    /// What stands between a decision and accept_candidate.
    MissingCode {
        /// Fewer voices than q.
        Voices => "voices",
        /// More objections than borne.
        Objections => "objections",
        /// A smaller share of n than the fraction.
        Fraction => "fraction",
        /// The groups do not hold.
        Groups => "groups",
        /// The strategy needs a rule that the policy does not have.
        OperatorRule => "operator_rule",
        /// The accept was taken back: a new accept needs a new panel.
        NewPanel => "new_panel",
    }
}

/// One thing that is missing for accept_candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// What kind of thing.
    pub code: MissingCode,
    /// In words, with the numbers.
    pub message: String,
}

/// A document that the decision is about: its id, its version or attempt, its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct BoundDocument<F = Bytes> {
    /// The document's id.
    pub id: String,
    /// The work unit's version, the manifest's attempt, the trust root's version; 1 for a policy.
    pub version: u64,
    /// C1 digest of a work unit or manifest, digest of the raw bytes of a policy or trust root: `F` says which.
    pub digest: Digest<F>,
}

/// The candidate, as statements name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The candidate artifact's id.
    pub name: String,
    /// `sha256` or `gitCommit` to lower-case hex.
    pub digest: BTreeMap<String, String>,
}

/// A file of the decision's record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordFile {
    /// Path inside the record.
    pub path: String,
    /// SHA-256 of the bytes.
    pub sha256: Digest,
}

/// What a revision says of the decision before it, so that it can be recomputed from its own record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Superseded {
    /// Digest of the C1 bytes of the superseded decision.
    pub digest: C1Digest,
    /// Its revision.
    pub revision: u32,
    /// What it recommended.
    pub recommendation: Recommendation,
    /// When it was taken: ages stay those of that time.
    pub decided_at: Timestamp,
}

impl From<&Decision> for Superseded {
    fn from(decision: &Decision) -> Self {
        Self {
            digest: decision.digest(),
            revision: decision.revision,
            recommendation: decision.recommendation,
            decided_at: decision.facts.now,
        }
    }
}

/// A recommendation and everything that it rests on. Its C1 bytes are a function of case, time and record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// `0.1`.
    pub schema_version: String,
    /// `quorum-decision`.
    pub kind: String,
    /// What is recommended.
    pub recommendation: Recommendation,
    /// The row that fired.
    pub row: Row,
    /// 1, or one more than the decision that this one supersedes.
    pub revision: u32,
    /// The decision that this one supersedes: all of it that a revision is a function of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub supersedes: Option<Superseded>,
    /// Whether this revision takes an accept_candidate back.
    pub withdraws: bool,
    /// The handoff.
    pub handoff_id: C1Digest,
    /// What was asked.
    pub work_unit: BoundDocument<C1>,
    /// What was handed in.
    pub result_manifest: BoundDocument<C1>,
    /// What it is about.
    pub candidate: Candidate,
    /// Who handed it in.
    pub worker_id: String,
    /// `authenticated` or `unauthenticated`.
    pub worker_identity: String,
    /// What the keys stand on.
    pub assurance: Assurance,
    /// The policy.
    pub policy: BoundDocument,
    /// The trust root.
    pub trust: BoundDocument,
    /// The conjunction that was applied.
    pub rule: EffectiveRule,
    /// The counts.
    pub tally: Tally,
    /// The voices, sorted: of all largest independent sets the first.
    #[serde(with = "text::keys")]
    pub voices: Vec<KeyId>,
    /// Every key heard, sorted.
    pub heard: Vec<Heard>,
    /// Who shares what with whom among the supporters and the worker.
    pub shared: Vec<Shared>,
    /// Every refusal, by envelope and code.
    pub refusals: Vec<Refusal>,
    /// What is missing for accept_candidate.
    pub missing: Vec<Missing>,
    /// Validators that the worker asked for beyond the required ones.
    pub unrequired_request: Vec<String>,
    /// Seats that needed more than one try.
    pub reissued_seats: Vec<u32>,
    /// Everything else that went in.
    pub facts: FactSheet,
    /// Every other file of the record.
    pub files: Vec<RecordFile>,
}

/// What [`crate::decide`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A seat is open and the deadline has not come.
    Pending(Pending),
    /// A recommendation.
    Decided(Box<Decision>),
}

/// Why nothing is decided yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Seats that are waited for.
    pub open_seats: Vec<u32>,
    /// Until when.
    pub deadline: Timestamp,
}

impl Outcome {
    /// The decision, if there is one.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        if let Self::Decided(decision) = self { Some(decision) } else { None }
    }

    /// The recommendation, if there is one.
    #[must_use]
    pub fn recommendation(&self) -> Option<Recommendation> {
        self.decision().map(|decision| decision.recommendation)
    }
}

impl Decision {
    /// The document `decision-v0.1`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::from_serde(serde_json::to_value(self).expect("strings, numbers and lists always serialise"))
    }

    /// The C1 bytes, validated on the way out.
    ///
    /// # Errors
    /// [`PoliciesError::SchemaInvalid`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, PoliciesError> {
        let value = self.to_value();
        validate(SchemaName::Decision, &value)
            .map_err(|violations| PoliciesError::SchemaInvalid { document: "decision", violations })?;
        Ok(c1(&value))
    }

    /// Digest of the C1 bytes.
    #[must_use]
    pub fn digest(&self) -> C1Digest {
        Digest::c1(&self.to_value())
    }

    /// Reads the document `decision-v0.1`.
    ///
    /// # Errors
    /// [`PoliciesError::SchemaInvalid`] or [`PoliciesError::Malformed`].
    pub fn parse(value: &Value) -> Result<Self, PoliciesError> {
        validate(SchemaName::Decision, value)
            .map_err(|violations| PoliciesError::SchemaInvalid { document: "decision", violations })?;
        serde_json::from_value(value.to_serde())
            .map_err(|error| PoliciesError::Malformed { document: "decision", reason: error.to_string() })
    }

    /// The same decision, naming the other files of its record.
    #[must_use]
    pub fn with_files(mut self, files: &BTreeMap<String, Digest>) -> Self {
        self.files = files.iter().map(|(path, sha256)| RecordFile { path: path.clone(), sha256: *sha256 }).collect();
        self
    }

    /// Keys that object, sorted.
    #[must_use]
    pub fn objectors(&self) -> Vec<KeyId> {
        self.heard.iter().filter(|heard| heard.standing == Standing::Objector).map(|heard| heard.key_id).collect()
    }
}
