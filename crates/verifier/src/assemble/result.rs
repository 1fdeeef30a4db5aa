//! The VerificationResult: folding of the checks and the document.

use std::collections::BTreeSet;

use quorum_schemas::{Digest, Value};
use serde_json::json;

use super::identity::result_id;
use super::{Assembly, count};
use crate::evaluator::EvaluatorPlan;
use crate::report::{CheckOutcome, CheckStatus};
use crate::{ADAPTER, limits};

/// What the checks amount to.
pub(super) struct Folded {
    pub(super) status: &'static str,
    pub(super) recommendation: &'static str,
    pub(super) rationale: String,
}

/// A failed check decides; else a check that did not end; else anything that shows nothing. Only all passed, with every
/// type of evidence that the work unit requires, supports.
pub(super) fn fold(input: &Assembly<'_>) -> Folded {
    let checks = &input.report.checks;
    let insufficient = |status, rationale| Folded { status, recommendation: "insufficient_evidence", rationale };
    let named = |status| names(checks, |check| check.status == status);
    if count(input.report, CheckStatus::Failed) > 0 {
        let rationale = format!("failed: {}", named(CheckStatus::Failed));
        return Folded { status: "failed", recommendation: "reject_candidate", rationale };
    }
    if checks.iter().any(|check| check.timed_out) {
        return insufficient("timeout", format!("ended at the deadline: {}", names(checks, |check| check.timed_out)));
    }
    if count(input.report, CheckStatus::Error) > 0 {
        return insufficient("error", format!("could not be run to an end: {}", named(CheckStatus::Error)));
    }
    if checks.is_empty() || checks.iter().any(|check| check.status != CheckStatus::Passed) {
        let open = names(checks, |check| check.status != CheckStatus::Passed);
        return insufficient("inconclusive", format!("show nothing: {open}"));
    }
    let missing = missing_evidence(input);
    if !missing.is_empty() {
        let types = missing.into_iter().collect::<Vec<_>>().join(", ");
        return insufficient(
            "inconclusive",
            format!("the work unit requires evidence of types that no check gave: {types}"),
        );
    }
    let rationale = format!("all {} required checks passed", checks.len());
    Folded { status: "passed", recommendation: "accept_candidate", rationale }
}

fn names(checks: &[CheckOutcome], wanted: impl Fn(&CheckOutcome) -> bool) -> String {
    let names: Vec<&str> = checks.iter().filter(|check| wanted(check)).map(|check| check.id.as_str()).collect();
    crate::text::clip(&names.join(", "), limits::TEXT_CHARS)
}

fn missing_evidence<'a>(input: &Assembly<'a>) -> BTreeSet<&'a str> {
    let have: BTreeSet<&str> =
        input.report.checks.iter().flat_map(|check| &check.files).map(|file| file.evidence_type.as_str()).collect();
    // A result has no evidence type `citation`; the attestation is the signature around all of this.
    let named = |kind: &str| match kind {
        "citation" => have.contains("other"),
        "attestation" => true,
        _ => have.contains(kind),
    };
    let required = input.work_unit.evidence_requirements().into_iter().filter(|(_, required)| *required);
    required.map(|(kind, _)| kind).filter(|kind| !named(kind)).collect()
}

/// The type that a check has in a result: its validator's, except where results have no such type.
fn check_type(validator: &str) -> &str {
    match validator {
        "test" | "review" | "schema" | "lint" | "security" | "formal" | "reproduction" => validator,
        _ => "other",
    }
}

/// The id of evidence file `nth` (from 0) of check `index` (from 0).
fn evidence_id(index: usize, nth: usize) -> String {
    format!("e{:02}-{}", index + 1, nth + 1)
}

pub(super) fn document(input: &Assembly<'_>, folded: &Folded) -> Value {
    let Assembly { report, handoff, identity, .. } = input;
    let verifier = json!({
        "id": identity.id,
        "type": "system",
        "adapter": ADAPTER,
        "adapter_version": input.plan.adapter_version(),
    });
    let independence = json!({
        "independent_from_worker": identity.independent_from(handoff.worker_id()),
        "worker_id_observed": handoff.worker_id(),
        "shared_model_family": identity.shares("model_family"),
        "shared_runtime": identity.shares("runtime"),
    });
    let mut metrics = json!({"candidate_files": report.candidate_files, "candidate_bytes": report.candidate_bytes});
    for status in
        [CheckStatus::Passed, CheckStatus::Failed, CheckStatus::Skipped, CheckStatus::Inconclusive, CheckStatus::Error]
    {
        metrics[format!("checks_{}", status.as_str())] = count(report, status).into();
    }
    let mut tools = json!({"quorum-verifier": env!("CARGO_PKG_VERSION")});
    for (name, version) in &report.engines {
        tools[name] = version.as_str().into();
    }
    // Milliseconds are exact in a binary64 up to the age of the universe; the division is the same everywhere.
    let wall_seconds = report.duration_ms as f64 / 1000.0;
    let mut result = json!({
        "schema_version": "0.1",
        "id": result_id(handoff.id(), identity.key_id.as_ref(), input.place),
        "result_manifest_id": handoff.result_manifest_id(),
        "work_unit_id": handoff.work_unit_id(),
        "work_unit_version": handoff.work_unit_version(),
        "attempt": handoff.attempt(),
        "verifier": verifier,
        "independence": independence,
        "status": folded.status,
        "started_at": input.started_at.to_string(),
        "finished_at": input.finished_at.to_string(),
        "checks": report.checks.iter().enumerate().map(|(index, check)| check_row(input, check, index)).collect::<Vec<_>>(),
        "evidence": evidence(input),
        "findings": findings(input),
        "metrics": metrics,
        "resources": {"wall_seconds": wall_seconds},
        "provenance": {
            "result_manifest_digest": handoff.result_manifest_digest().to_string(),
            "work_unit_digest": handoff.work_unit_digest().to_string(),
            "source_revision": handoff.source_revision(),
            "verifier_config_digest": input.plan.digest().to_string(),
            "environment": {"platform": format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH), "tool_versions": tools},
        },
        "decision_support": {
            "recommendation": folded.recommendation,
            "confidence": 1.0,
            "rationale": folded.rationale,
        },
    });
    if let Some(plan) = input.plan.evaluator() {
        result["extensions"] = evaluator_extensions(plan, input.plan.adapter_version());
    }
    Value::from(result)
}

/// What upstream's runner writes about its plan, with our own version as the runner's.
fn evaluator_extensions(plan: &EvaluatorPlan, adapter_version: &str) -> serde_json::Value {
    json!({
        "org.idkmesh.evaluator_plan.id": plan.text("id"),
        "org.idkmesh.evaluator_plan.digest": plan.digest().to_string(),
        "org.idkmesh.evaluator_plan.visibility": plan.text("visibility"),
        "org.idkmesh.evaluator_plan.execution_mode": plan.text("execution_mode"),
        "org.idkmesh.evaluator_plan.backend": plan.version().backend(),
        "org.idkmesh.evaluator_plan.runner_version": format!("{ADAPTER} {adapter_version}"),
        "org.idkmesh.evaluator_plan.semantic_contract": plan.version().semantic_contract(),
    })
}

fn check_row(input: &Assembly<'_>, check: &CheckOutcome, index: usize) -> serde_json::Value {
    let hidden = input.plan.hidden();
    let kind = input.work_unit.validator(&check.id).map_or("other", |validator| check_type(&validator.kind));
    let ids: Vec<String> = (0..shown_files(input, check).count()).map(|nth| evidence_id(index, nth)).collect();
    let summary = if hidden { check.status.as_str() } else { &check.summary };
    let mut row = json!({
        "id": check.id,
        "type": kind,
        "required": true,
        "status": check.status.as_str(),
        "summary": crate::text::clip(summary, limits::TEXT_CHARS),
        "evidence_ids": ids,
    });
    if let Some(diagnostics) = check.diagnostics.as_ref().filter(|_| !hidden) {
        row["diagnostics"] = diagnostics.as_str().into();
    }
    row
}

/// The files of a check that the public bundle holds, as `(path, digest, file)`.
fn shown_files<'a>(
    input: &Assembly<'a>,
    check: &'a CheckOutcome,
) -> impl Iterator<Item = (&'a crate::EvidenceFile, Digest)> + use<'a> {
    let hidden = input.plan.hidden();
    let most = if hidden { 1 } else { check.files.len() };
    check.files.iter().take(most).map(move |file| {
        let digest = if hidden { Digest::of(&super::files::terse(check)) } else { Digest::of(&file.bytes) };
        (file, digest)
    })
}

fn evidence(input: &Assembly<'_>) -> Vec<serde_json::Value> {
    let mut items = Vec::new();
    for (index, check) in input.report.checks.iter().enumerate() {
        for (nth, (file, digest)) in shown_files(input, check).enumerate() {
            items.push(json!({
                "id": evidence_id(index, nth),
                "type": file.evidence_type,
                "locator": format!("bundle:{}", file.path),
                "digest": digest.to_string(),
                "media_type": file.media_type,
                "description": file.description,
            }));
        }
    }
    items
}

fn findings(input: &Assembly<'_>) -> Vec<serde_json::Value> {
    if input.plan.hidden() {
        return Vec::new();
    }
    let all = input.report.checks.iter().flat_map(|check| &check.findings);
    all.take(limits::FINDINGS)
        .map(|finding| {
            let mut row =
                json!({"severity": finding.severity, "category": finding.category, "summary": finding.summary});
            if let Some(path) = &finding.path {
                row["path"] = path.as_str().into();
            }
            row
        })
        .collect()
}
