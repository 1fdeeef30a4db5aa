//! From a report of checks to one unsigned statement and one bundle. Pure: the times are arguments.

mod files;
mod identity;
mod result;

pub use identity::{SeatTry, VerifierIdentity, WorkerFacts};

use quorum_attest::{PredicateType, Statement, Subject};
use quorum_handoff::{CandidateSubject, Handoff, ManifestBinding, Rule, WorkUnit, candidate_subject, check_result};
use quorum_schemas::{C1Digest, Object, SchemaName, Timestamp, Value, validate};

use crate::bundle::{self, Bundle};
use crate::report::{CheckReport, CheckStatus, IsolationClass};
use crate::{BoundPlan, VerifierError};
use result::Folded;

/// Everything that an answer is made of.
#[derive(Debug, Clone, Copy)]
pub struct Assembly<'a> {
    /// What the checks found.
    pub report: &'a CheckReport,
    /// The handoff.
    pub handoff: &'a Handoff,
    /// The blinded manifest.
    pub binding: &'a ManifestBinding,
    /// The work unit.
    pub work_unit: &'a WorkUnit,
    /// The plan that was run.
    pub plan: &'a BoundPlan,
    /// Who answers, and what the trust root says about it and the worker.
    pub identity: &'a VerifierIdentity,
    /// Which seat and try is answered.
    pub place: SeatTry,
    /// When the checks began.
    pub started_at: Timestamp,
    /// When they ended.
    pub finished_at: Timestamp,
}

/// The answer of one verifier, not yet signed.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The in-toto statement, C1: sign it as it is.
    pub statement: Vec<u8>,
    /// Its predicate, as [`bundle::check`] takes it.
    pub predicate: Value,
    /// `status` of the result: passed, failed, inconclusive, error or timeout.
    pub status: &'static str,
    /// `recommendation` of the result: accept_candidate, reject_candidate or insufficient_evidence.
    pub recommendation: &'static str,
    /// The evidence bundle.
    pub bundle: Bundle,
    /// What a hidden plan seals for coordinator and auditor.
    pub sealed: Option<Bundle>,
    /// The bound plan, C1.
    pub plan: Vec<u8>,
}

impl Answer {
    /// How a decision reads it: `supports`, `rejects`, `absent` or `abstains` (design section 5).
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match self.status {
            "passed" => "supports",
            "failed" => "rejects",
            "error" | "timeout" => "absent",
            _ => "abstains",
        }
    }
}

/// Makes the statement and the bundle of an answer.
///
/// # Errors
/// [`VerifierError::OwnResultInvalid`] when the result would break its schema or a rule P1 to P10, V1 to V16 (nothing is
/// to be signed then), [`VerifierError::EvaluatorPlan`] with E14, and what the bundle writer refuses.
pub fn assemble(input: &Assembly<'_>) -> Result<Answer, VerifierError> {
    let folded = result::fold(input);
    let result = result::document(input, &folded);
    check_own(input, &result)?;
    let packed = files::pack(input, &folded)?;
    let predicate = predicate(input, result, &packed);
    validate(SchemaName::EvidencePredicate, &predicate)
        .map_err(|violations| VerifierError::OwnResultInvalid(violations.iter().map(ToString::to_string).collect()))?;
    bundle::check(&packed.bundle.bytes, &predicate)?;
    let statement = Statement {
        subject: vec![subject(input.binding)],
        predicate_type: PredicateType::Evidence,
        predicate: predicate.clone(),
    };
    let statement = statement.to_bytes();
    let limit = quorum_schemas::limits::DOCUMENT.bytes;
    if statement.len() > limit {
        let why = format!("the statement has {} bytes, the limit of a document is {limit}", statement.len());
        return Err(VerifierError::OwnResultInvalid(vec![why]));
    }
    Ok(Answer {
        statement,
        predicate,
        status: folded.status,
        recommendation: folded.recommendation,
        bundle: packed.bundle,
        sealed: packed.sealed,
        plan: input.plan.bytes(),
    })
}

/// Holds our own result against the schema and every rule that others will hold it against.
fn check_own(input: &Assembly<'_>, result: &Value) -> Result<(), VerifierError> {
    if let Some(plan) = input.plan.evaluator() {
        plan.check_result(result)?;
    }
    let violations = check_result(result, input.handoff, input.binding, input.work_unit);
    // V10: what a worker requests beyond the required validators binds nobody (design section 5).
    let broken: Vec<String> = violations
        .iter()
        .filter(|violation| violation.rule != Rule::V10)
        .map(|violation| format!("{} {}: {}", violation.rule, violation.pointer, violation.message))
        .collect();
    if broken.is_empty() { Ok(()) } else { Err(VerifierError::OwnResultInvalid(broken)) }
}

fn subject(binding: &ManifestBinding) -> Subject {
    match candidate_subject(binding) {
        CandidateSubject::GitCommit { name, head_sha } => Subject::git_commit(name, &head_sha),
        CandidateSubject::Sha256 { name, digest } => Subject::sha256(name, digest),
    }
}

fn predicate(input: &Assembly<'_>, result: Value, packed: &files::Packed) -> Value {
    let report = input.report;
    let checks = report.checks.iter().map(|check| {
        let mut row = serde_json::json!({
            "id": check.id,
            "kind": check.kind,
            "channel": check.channel.as_str(),
            "isolation": check.isolation.as_str(),
        });
        let mut put = |key: &str, value: Option<serde_json::Value>| {
            if let Some(value) = value {
                row[key] = value;
            }
        };
        put("exit", check.exit.filter(|_| !input.plan.hidden()).map(Into::into));
        put("limit_ms", check.limit_ms.map(Into::into));
        put("baseline_ms", check.baseline_ms.map(Into::into));
        for (key, flag) in [
            ("timed_out", check.timed_out),
            ("by_exit_status", check.by_exit_status),
            ("read_manifest", check.read_manifest),
        ] {
            put(key, flag.then_some(true.into()));
        }
        Value::from(row)
    });
    let started = report.checks.iter().filter(|check| check.kind == "command" || check.kind == "engine");
    let isolation = started.map(|check| check.isolation).min().unwrap_or(IsolationClass::NotApplicable);
    let engines = report.engines.iter().map(|(name, version)| (name.clone(), version.as_str().into()));
    let mut members: Vec<(&str, Value)> = vec![
        ("result", result),
        ("handoff_id", input.handoff.id().into()),
        ("seat", u64::from(input.place.seat).into()),
        ("try", u64::from(input.place.try_no).into()),
        ("epoch", input.place.epoch.into()),
        ("plan_digest", input.plan.digest().into()),
        ("bundle_digest", packed.bundle.digest.into()),
        ("isolation", isolation.as_str().into()),
        ("engines", Value::Object(engines.collect())),
        ("checks", Value::Array(checks.collect())),
        ("candidate_tree", report.candidate_tree.into()),
        ("read_worker_status", input.plan.reads_worker_status().into()),
    ];
    members.extend(packed.sealed.as_ref().map(|sealed| ("sealed_bundle_digest", sealed.digest.into())));
    members.extend(report.baseline_tree.map(|tree: C1Digest| ("baseline_tree", tree.into())));
    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Object>())
}

fn count(report: &CheckReport, status: CheckStatus) -> u64 {
    report.checks.iter().filter(|check| check.status == status).count() as u64
}
