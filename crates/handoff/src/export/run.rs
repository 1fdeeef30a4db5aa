//! The run record: what a run report is a function of.

use quorum_schemas::{C1Digest, Digest, Object, Value};

use super::{no_authority, refused, verification_semantic_digest};
use crate::ExportRule::{OtherManifest, OtherWorkUnit};
use crate::read::{items, object, text};
use crate::{Document, HandoffError, Manifest, WorkUnit};

/// The kind of run that upstream's report knows; it has no other word, whoever made the run and however many attempts
/// there are.
pub(super) const KIND: &str = "idkmesh-two-attempt-run";

/// Attempts at one work unit, in their order.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// The run's id, not empty.
    pub id: String,
    /// What was asked in every attempt.
    pub work_unit: &'a WorkUnit,
    /// What made the run, with its version.
    pub orchestrator_version: String,
    /// What the run was configured with.
    pub config_digest: C1Digest,
    /// The policy that every attempt was decided by.
    pub policy_digest: Digest,
    /// At least one.
    pub attempts: Vec<RunAttempt<'a>>,
}

/// One attempt as one verifier judged it. Upstream's report has room for one verifier in an attempt, so an attempt that
/// several judged stands once for each.
#[derive(Debug, Clone)]
pub struct RunAttempt<'a> {
    /// The id, distinct within the run.
    pub id: String,
    /// What ran the worker.
    pub worker_adapter: String,
    /// The recorded decision that weighed this attempt.
    pub decision: Option<C1Digest>,
    /// The envelope of the evidence.
    pub evidence: Option<Digest>,
    /// What a reader must know beside the outcome; the report warns of it.
    pub note: Option<String>,
    /// How it ended.
    pub outcome: AttemptOutcome<'a>,
}

/// How an attempt ended.
#[derive(Debug, Clone)]
pub enum AttemptOutcome<'a> {
    /// The worker handed in no manifest.
    WorkerError {
        /// Why, as far as it is known.
        error: String,
    },
    /// The manifest was refused.
    ManifestError {
        /// Why.
        error: String,
    },
    /// The manifest stands, and there is no evidence about it that counts.
    VerificationError {
        /// The worker's report.
        manifest: &'a Manifest,
        /// Why.
        error: String,
    },
    /// A verifier answered.
    Verified {
        /// The worker's report.
        manifest: &'a Manifest,
        /// The VerificationResult.
        result: &'a Value,
    },
}

impl AttemptOutcome<'_> {
    /// The word in documents.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match self {
            Self::WorkerError { .. } => "worker_error",
            Self::ManifestError { .. } => "result_manifest_error",
            Self::VerificationError { .. } => "verification_error",
            Self::Verified { .. } => "verified",
        }
    }
}

/// The document of a run, in the form in which upstream's orchestrator writes its own, with the digests of our records
/// beside. It has no schema upstream; [`super::run_evidence_report`] checks it.
///
/// # Errors
/// [`HandoffError::Export`] when a manifest or a result speaks of another work unit or manifest than its own.
pub fn run_record(run: &Run<'_>) -> Result<Value, HandoffError> {
    let work_unit = run.work_unit;
    let mut attempts = Vec::new();
    for (index, attempt) in run.attempts.iter().enumerate() {
        check_bindings(work_unit, attempt, index)?;
        attempts.push(attempt_value(attempt, index + 1));
    }
    let count = |state: &str| run.attempts.iter().filter(|attempt| attempt.outcome.state() == state).count() as u64;
    let recommended = |word: &str| {
        let fits = |attempt: &&Value| text(attempt, &["verification", "recommendation"]) == word;
        Value::from(attempts.iter().filter(fits).count() as u64)
    };
    let failures = run.attempts.len() as u64 - count("verified");
    let order: Vec<Value> = run.attempts.iter().map(|attempt| attempt.id.as_str().into()).collect();
    let summary = object([
        ("attempt_count", (run.attempts.len() as u64).into()),
        ("control_failures", failures.into()),
        ("candidates_supported", recommended("accept_candidate")),
        ("candidates_rejected", recommended("reject_candidate")),
    ]);
    Ok(object([
        ("schema_version", "0.1".into()),
        ("kind", KIND.into()),
        ("run_id", run.id.as_str().into()),
        ("orchestrator_version", run.orchestrator_version.as_str().into()),
        ("config_digest", run.config_digest.into()),
        (
            "work_unit",
            object([
                ("id", work_unit.id().into()),
                ("version", work_unit.version().into()),
                ("digest", work_unit.digest().into()),
            ]),
        ),
        ("verifier_policy_digest", run.policy_digest.into()),
        ("attempt_order", Value::Array(order)),
        ("attempts", Value::Array(attempts)),
        ("summary", summary),
        ("run_state", if failures == 0 { "completed" } else { "completed_with_failures" }.into()),
        ("authority", no_authority()),
    ]))
}

fn attempt_value(attempt: &RunAttempt<'_>, order: usize) -> Value {
    let (manifest, result, error) = match &attempt.outcome {
        AttemptOutcome::WorkerError { error } | AttemptOutcome::ManifestError { error } => (None, None, Some(error)),
        AttemptOutcome::VerificationError { manifest, error } => (Some(*manifest), None, Some(error)),
        AttemptOutcome::Verified { manifest, result } => (Some(*manifest), Some(*result), None),
    };
    let mut members = Object::new();
    members.insert("attempt_id".into(), attempt.id.as_str().into());
    members.insert("order".into(), (order as u64).into());
    members.insert("worker_adapter".into(), attempt.worker_adapter.as_str().into());
    members.insert("state".into(), attempt.outcome.state().into());
    members.insert("error".into(), error.map_or(Value::Null, |error| error.as_str().into()));
    members.insert("result_manifest".into(), manifest.map_or(Value::Null, manifest_value));
    members.insert("verification".into(), result.map_or(Value::Null, verification_value));
    if let Some(decision) = attempt.decision {
        members.insert("decision_digest".into(), decision.into());
    }
    if let Some(evidence) = attempt.evidence {
        members.insert("evidence_envelope".into(), evidence.into());
    }
    if let Some(note) = &attempt.note {
        members.insert("note".into(), note.as_str().into());
    }
    Value::Object(members)
}

fn manifest_value(manifest: &Manifest) -> Value {
    object([
        ("id", manifest.id().into()),
        ("attempt", manifest.attempt().into()),
        ("worker_id", manifest.worker_id().into()),
        ("worker_status", text(manifest.value(), &["status"]).into()),
        ("digest", manifest.digest().into()),
    ])
}

fn verification_value(result: &Value) -> Value {
    let member = |path: &[&str]| result.at(path).cloned().unwrap_or(Value::Null);
    let checks = items(result, &["checks"]).iter().map(|check| {
        let member = |name: &str| check.get(name).cloned().unwrap_or(Value::Null);
        object([("id", member("id")), ("status", member("status")), ("required", member("required"))])
    });
    object([
        ("id", member(&["id"])),
        ("verifier_id", member(&["verifier", "id"])),
        ("status", member(&["status"])),
        ("recommendation", member(&["decision_support", "recommendation"])),
        ("checks", Value::Array(checks.collect())),
        ("semantic_digest", verification_semantic_digest(result).into()),
        ("work_unit_digest", member(&["provenance", "work_unit_digest"])),
        ("result_manifest_digest", member(&["provenance", "result_manifest_digest"])),
    ])
}

/// Every manifest answers the run's work unit, every result speaks of its own manifest.
fn check_bindings(work_unit: &WorkUnit, attempt: &RunAttempt<'_>, index: usize) -> Result<(), HandoffError> {
    let (manifest, result) = match &attempt.outcome {
        AttemptOutcome::Verified { manifest, result } => (*manifest, Some(*result)),
        AttemptOutcome::VerificationError { manifest, .. } => (*manifest, None),
        AttemptOutcome::WorkerError { .. } | AttemptOutcome::ManifestError { .. } => return Ok(()),
    };
    let differs = |rule, member: &str, found: &str, expected: String| {
        let message = format!("{}: it is bound to {found}, expected {expected}", attempt.id);
        Err(refused(rule, Document::RunRecord, &format!("/attempts/{index}/{member}"), message))
    };
    let expected = work_unit.digest().to_string();
    if manifest.declared_work_unit_digest() != expected {
        return differs(OtherWorkUnit, "result_manifest", manifest.declared_work_unit_digest(), expected);
    }
    let Some(result) = result else { return Ok(()) };
    let bound = text(result, &["provenance", "work_unit_digest"]);
    if bound != expected {
        return differs(OtherWorkUnit, "verification/work_unit_digest", bound, expected);
    }
    let (bound, expected) = (text(result, &["provenance", "result_manifest_digest"]), manifest.digest().to_string());
    if bound != expected {
        return differs(OtherManifest, "verification/result_manifest_digest", bound, expected);
    }
    Ok(())
}
