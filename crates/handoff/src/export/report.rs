//! RunEvidenceReport v0.1: what the attempts of one run showed. It counts what was said and selects nothing.

use std::collections::BTreeSet;

use quorum_schemas::{C1Digest, Digest, Object, SchemaName, Value};

use super::run::KIND;
use super::{RECOMMENDATIONS, no_authority, refused};
use crate::ExportRule::{self, *};
use crate::error::{shown, shown_text};
use crate::read::{conforms, items, nonblank, not_array, not_count, not_digest, not_text, object, positive, text};
use crate::{Document, HandoffError};

/// The C1 digest of what a VerificationResult means: status, checks with their evidence, evidence by digest, and the
/// recommendation. Times, resources and platform have no part in it, so a repeated verification has the same one.
#[must_use]
pub fn verification_semantic_digest(result: &Value) -> C1Digest {
    let member = |value: &Value, name: &str| value.get(name).cloned().unwrap_or(Value::Null);
    let checks = items(result, &["checks"])
        .iter()
        .map(|check| Value::Array(vec![member(check, "id"), member(check, "status"), member(check, "evidence_ids")]));
    let evidence =
        items(result, &["evidence"]).iter().map(|item| Value::Array(vec![member(item, "id"), member(item, "digest")]));
    Digest::c1(&object([
        ("status", member(result, "status")),
        ("checks", Value::Array(checks.collect())),
        ("evidence", Value::Array(evidence.collect())),
        ("recommendation", result.at(&["decision_support", "recommendation"]).cloned().unwrap_or(Value::Null)),
    ]))
}

/// The report of a run record: a function of the record alone, so that anyone who has the record can repeat it.
///
/// # Errors
/// [`HandoffError::Export`] when the record contradicts itself, [`HandoffError::Schema`] when the report would not follow
/// its schema.
pub fn run_evidence_report(record: &Value) -> Result<Value, HandoffError> {
    check_record(record)?;
    let recorded = items(record, &["attempts"]);
    let attempts: Vec<Value> = recorded.iter().map(attempt).collect();
    let count =
        |state: &str| attempts.iter().filter(|attempt| text(attempt, &["evidence_state"]) == state).count() as u64;
    let recommended: BTreeSet<&str> = attempts
        .iter()
        .map(|attempt| text(attempt, &["verifier", "recommendation"]))
        .filter(|word| !word.is_empty())
        .collect();
    let errors = ["worker_error", "result_manifest_error", "verification_error"].map(count).iter().sum::<u64>();
    let summary = object([
        ("attempt_count", (attempts.len() as u64).into()),
        ("supported", count("supported").into()),
        ("rejected", count("rejected").into()),
        ("inconclusive", count("inconclusive").into()),
        ("control_errors", errors.into()),
        ("verification_disagreement", (recommended.len() > 1).into()),
        ("control_failure_present", (errors > 0).into()),
    ]);
    let copy = |name: &str| record.get(name).cloned().unwrap_or(Value::Null);
    let report = object([
        ("schema_version", "0.1".into()),
        ("kind", "idkmesh-run-evidence-report".into()),
        ("run_id", copy("run_id")),
        ("source_run_kind", KIND.into()),
        ("source_run_digest", Digest::c1(record).into()),
        ("source_config_digest", copy("config_digest")),
        ("orchestrator_version", copy("orchestrator_version")),
        ("work_unit", copy("work_unit")),
        ("verifier_policy_digest", copy("verifier_policy_digest")),
        ("warnings", Value::Array(warnings(recorded, &attempts, recommended.len(), errors))),
        ("attempts", Value::Array(attempts)),
        ("summary", summary),
        (
            "human_decision",
            object([
                ("status", "pending".into()),
                ("selected_attempt_id", Value::Null),
                ("integration_authority", "external_human_or_governance".into()),
            ]),
        ),
        ("authority", no_authority()),
    ]);
    conforms(Document::RunReport, SchemaName::RunEvidenceReport, &report)?;
    Ok(report)
}

/// Holds a report against its schema and against itself, and against the run that it is about where that is given.
///
/// # Errors
/// [`HandoffError::Schema`], [`HandoffError::Export`].
pub fn check_run_report(report: &Value, record: Option<&Value>) -> Result<(), HandoffError> {
    conforms(Document::RunReport, SchemaName::RunEvidenceReport, report)?;
    let attempts = items(report, &["attempts"]);
    let wrong = |rule, pointer: &str, message| Err(refused(rule, Document::RunReport, pointer, message));
    let mut seen = BTreeSet::new();
    for (index, attempt) in attempts.iter().enumerate() {
        let id = text(attempt, &["attempt_id"]);
        if !seen.insert(id) {
            return wrong(AttemptRepeated, &format!("/attempts/{index}/attempt_id"), twice(id));
        }
        let stated = text(attempt, &["evidence_state"]);
        let recommended = attempt.at(&["verifier", "recommendation"]).and_then(Value::as_str);
        let expected = evidence_state(text(attempt, &["state"]), recommended);
        if stated != expected {
            let message = format!("{} is {}, expected {expected}", shown_text(id), shown_text(stated));
            return wrong(EvidenceState, &format!("/attempts/{index}/evidence_state"), message);
        }
    }
    let total = attempts.len() as u64;
    let stated = |name: &str| report.at(&["summary", name]).and_then(Value::as_u64);
    let counted = |state: &str| Some(attempts.iter().filter(|a| text(a, &["evidence_state"]) == state).count() as u64);
    let states = ["supported", "rejected", "inconclusive"];
    let errors = states.iter().try_fold(total, |rest, state| rest.checked_sub(counted(state)?));
    let counts = states.map(|state| (state, counted(state)));
    for (name, expected) in [("attempt_count", Some(total)), ("control_errors", errors)].into_iter().chain(counts) {
        if stated(name) != expected {
            let found = shown(report.at(&["summary", name]));
            let message = format!("{found}, the attempts give {}", expected.unwrap_or_default());
            return wrong(ReportCounts, &format!("/summary/{name}"), message);
        }
    }
    let Some(record) = record else { return Ok(()) };
    let again = run_evidence_report(record)?;
    if again != *report {
        let mut members = report.as_object().into_iter().flatten();
        let first = members.find(|(name, member)| again.get(name) != Some(member)).map(|(name, _)| format!("/{name}"));
        let message = "the run gives another report".to_owned();
        return wrong(ReportDiffers, &first.unwrap_or_default(), message);
    }
    Ok(())
}

/// The state of the evidence (upstream's mapping): accept is support, reject is rejection, everything else that a
/// verifier says is inconclusive; a failure of the control path is itself.
fn evidence_state<'a>(state: &'a str, recommendation: Option<&str>) -> &'a str {
    match (state, recommendation) {
        ("verified", Some("accept_candidate")) => "supported",
        ("verified", Some("reject_candidate")) => "rejected",
        ("verified", _) => "inconclusive",
        (failed, _) => failed,
    }
}

fn attempt(attempt: &Value) -> Value {
    let copy = |name: &str| attempt.get(name).cloned().unwrap_or(Value::Null);
    let part = |of: &str, members: &[(&str, &str)]| match attempt.get(of) {
        Some(found @ Value::Object(_)) => {
            let member =
                |(to, from): &(&str, &str)| ((*to).to_owned(), found.get(from).cloned().unwrap_or(Value::Null));
            Value::Object(members.iter().map(member).collect::<Object>())
        }
        _ => Value::Null,
    };
    let worker = [
        ("id", "worker_id"),
        ("status", "worker_status"),
        ("result_manifest_id", "id"),
        ("result_manifest_digest", "digest"),
    ];
    let verifier = [
        ("id", "verifier_id"),
        ("status", "status"),
        ("recommendation", "recommendation"),
        ("verification_semantic_digest", "semantic_digest"),
        ("checks", "checks"),
    ];
    let state = text(attempt, &["state"]);
    let recommendation = attempt.at(&["verification", "recommendation"]).and_then(Value::as_str);
    object([
        ("attempt_id", copy("attempt_id")),
        ("order", copy("order")),
        ("worker_adapter", copy("worker_adapter")),
        ("state", state.into()),
        ("evidence_state", evidence_state(state, recommendation).into()),
        ("worker", part("result_manifest", &worker)),
        ("verifier", part("verification", &verifier)),
        ("error", copy("error")),
    ])
}

fn warnings(recorded: &[Value], attempts: &[Value], recommendations: usize, errors: u64) -> Vec<Value> {
    let mut warnings =
        vec!["This report supports a decision that people take. It selects, accepts and merges nothing.".to_owned()];
    if recommendations > 1 {
        warnings.push("The verifiers' recommendations differ. None of them outweighs another here.".to_owned());
    }
    if errors > 0 {
        warnings.push(
            "An attempt failed before it was verified. It stands beside the others and is not left out.".to_owned(),
        );
    }
    if recommendations == 0 {
        warnings.push("No verifier's recommendation is in this run.".to_owned());
    }
    let manifests: Vec<&str> = attempts
        .iter()
        .map(|attempt| text(attempt, &["worker", "result_manifest_digest"]))
        .filter(|digest| !digest.is_empty())
        .collect();
    if manifests.iter().collect::<BTreeSet<_>>().len() < manifests.len() {
        warnings.push(
            "A manifest that several verifiers judged stands once for each of them: these are not votes, and not \
             attempts of their own."
                .to_owned(),
        );
    }
    for attempt in attempts {
        let failed =
            |check: &Value| check.get("required") == Some(&true.into()) && text(check, &["status"]) == "failed";
        if text(attempt, &["evidence_state"]) == "inconclusive"
            && items(attempt, &["verifier", "checks"]).iter().any(failed)
        {
            let (id, word) = (text(attempt, &["attempt_id"]), text(attempt, &["verifier", "recommendation"]));
            warnings.push(format!("A required check of {} failed, although the verifier says {word}.", shown_text(id)));
        }
    }
    for attempt in recorded.iter().filter(|attempt| nonblank(attempt.get("note")).is_some()) {
        let (id, note) = (text(attempt, &["attempt_id"]), text(attempt, &["note"]));
        warnings.push(format!("{}: {note}.", shown_text(id)));
    }
    warnings.into_iter().map(Value::from).collect()
}

/// Fails closed on a record that contradicts itself.
fn check_record(record: &Value) -> Result<(), HandoffError> {
    let wrong = |rule, pointer: &str, message| Err(refused(rule, Document::RunRecord, pointer, message));
    for (name, expected) in [("schema_version", "0.1"), ("kind", KIND)] {
        if text(record, &[name]) != expected {
            let message = format!("{} is needed, found {}", shown_text(expected), shown(record.get(name)));
            return wrong(UnknownRun, &format!("/{name}"), message);
        }
    }
    for name in ["run_id", "orchestrator_version"] {
        nonblank(record.get(name)).ok_or_else(|| malformed(&format!("/{name}"), not_text(record.get(name))))?;
    }
    for name in ["config_digest", "verifier_policy_digest"] {
        digest(record, &[name])?;
    }
    let unit = |name: &str| record.at(&["work_unit", name]);
    nonblank(unit("id")).ok_or_else(|| malformed("/work_unit/id", not_text(unit("id"))))?;
    positive(unit("version")).ok_or_else(|| malformed("/work_unit/version", not_count(unit("version"), 1)))?;
    let work_unit = digest(record, &["work_unit", "digest"])?;
    if record.get("authority") != Some(&no_authority()) {
        let message = format!("a run has no authority of any kind, found {}", shown(record.get("authority")));
        return wrong(ClaimsAuthority, "/authority", message);
    }
    let attempts = record.get("attempts");
    let attempts = attempts.and_then(Value::as_array).ok_or_else(|| malformed("/attempts", not_array(attempts)))?;
    if attempts.is_empty() {
        return wrong(NoAttempts, "/attempts", "a run has at least one attempt".to_owned());
    }
    let mut order = Vec::new();
    for (index, attempt) in attempts.iter().enumerate() {
        let id = check_attempt(attempt, index, work_unit)?;
        if order.contains(&Value::from(id)) {
            return wrong(AttemptRepeated, &format!("/attempts/{index}/attempt_id"), twice(id));
        }
        order.push(id.into());
    }
    if record.get("attempt_order").and_then(Value::as_array) != Some(&order) {
        let message = format!("the attempts stand in another order: {}", shown(record.get("attempt_order")));
        return wrong(AttemptOrder, "/attempt_order", message);
    }
    Ok(())
}

/// Checks one attempt; gives its id.
fn check_attempt<'a>(attempt: &'a Value, index: usize, work_unit: &str) -> Result<&'a str, HandoffError> {
    let at = |name: &str| format!("/attempts/{index}/{name}");
    let wrong = |rule, name: &str, message| Err(refused(rule, Document::RunRecord, &at(name), message));
    for name in ["attempt_id", "worker_adapter"] {
        nonblank(attempt.get(name)).ok_or_else(|| malformed(&at(name), not_text(attempt.get(name))))?;
    }
    let id = text(attempt, &["attempt_id"]);
    if positive(attempt.get("order")) != Some(index as u64 + 1) {
        let message = format!("{} is needed, found {}", index + 1, shown(attempt.get("order")));
        return wrong(AttemptOrder, "order", message);
    }
    let state = text(attempt, &["state"]);
    let has = |name: &str| attempt.get(name).is_some_and(|part| *part != Value::Null);
    let (manifest, verification) = match state {
        "worker_error" | "result_manifest_error" => (false, false),
        "verification_error" => (true, false),
        "verified" => (true, true),
        _ => {
            let message = format!("{} is in an unknown state: {}", shown_text(id), shown(attempt.get("state")));
            return wrong(UnknownState, "state", message);
        }
    };
    for (name, expected) in [("result_manifest", manifest), ("verification", verification)] {
        if has(name) != expected {
            let (rule, verb) = if expected { (LacksEvidence, "has no") } else { (ClaimsEvidence, "must not claim a") };
            return wrong(rule, name, format!("{} is {state} and {verb} {name}", shown_text(id)));
        }
    }
    if state == "verified" && has("error") || state != "verified" && nonblank(attempt.get("error")).is_none() {
        let message = format!("{} is {state}, its error is {}", shown_text(id), shown(attempt.get("error")));
        return wrong(UnknownState, "error", message);
    }
    check_evidence(attempt, index, work_unit)?;
    Ok(id)
}

/// A verification speaks of its own manifest and of the run's work unit.
fn check_evidence(attempt: &Value, index: usize, work_unit: &str) -> Result<(), HandoffError> {
    let at = |name: &str| format!("/attempts/{index}/{name}");
    let Some(manifest) = attempt.get("result_manifest").filter(|part| **part != Value::Null) else { return Ok(()) };
    let declared =
        digest(manifest, &["digest"]).map_err(|error| error.moved(Document::RunRecord, &at("result_manifest")))?;
    let Some(verification) = attempt.get("verification").filter(|part| **part != Value::Null) else { return Ok(()) };
    let wrong = |rule: ExportRule, name: &str, message| {
        Err(refused(rule, Document::RunRecord, &at(&format!("verification/{name}")), message))
    };
    let word = verification.get("recommendation").and_then(Value::as_str);
    if !word.is_some_and(|word| RECOMMENDATIONS.contains(&word)) {
        let message = format!(
            "one of {} is needed, found {}",
            RECOMMENDATIONS.join(", "),
            shown(verification.get("recommendation"))
        );
        return wrong(UnknownRecommendation, "recommendation", message);
    }
    for (rule, name, expected) in
        [(OtherManifest, "result_manifest_digest", declared), (OtherWorkUnit, "work_unit_digest", work_unit)]
    {
        if verification.get(name).and_then(Value::as_str) != Some(expected) {
            let message = format!("{}, expected {expected}", shown(verification.get(name)));
            return wrong(rule, name, message);
        }
    }
    Ok(())
}

fn digest<'a>(value: &'a Value, path: &[&str]) -> Result<&'a str, HandoffError> {
    let found = value.at(path);
    let fits = |text: &&str| text.parse::<Digest>().is_ok();
    found
        .and_then(Value::as_str)
        .filter(fits)
        .ok_or_else(|| malformed(&format!("/{}", path.join("/")), not_digest(found)))
}

fn malformed(pointer: &str, message: String) -> HandoffError {
    refused(MalformedRun, Document::RunRecord, pointer, message)
}

fn twice(id: &str) -> String {
    format!("the attempt {} appears twice", shown_text(id))
}
