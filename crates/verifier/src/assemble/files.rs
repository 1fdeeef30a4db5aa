//! The files of an evidence bundle.

use std::collections::BTreeMap;

use quorum_schemas::{Digest, Value, c1};
use serde_json::json;

use super::{Assembly, Folded};
use crate::VerifierError;
use crate::bundle::Bundle;
use crate::report::CheckOutcome;

pub(super) struct Packed {
    pub(super) bundle: Bundle,
    pub(super) sealed: Option<Bundle>,
}

type Files = BTreeMap<String, Vec<u8>>;

pub(super) fn pack(input: &Assembly<'_>, folded: &Folded) -> Result<Packed, VerifierError> {
    let full = full(input, folded);
    if !input.plan.hidden() {
        return Ok(Packed { bundle: finish(full)?, sealed: None });
    }
    let mut public = Files::new();
    public.insert("task.json".into(), task(input));
    public.insert("run-result.json".into(), run_result(input, folded, true));
    public.insert("phase-results.json".into(), phases(input, true));
    for check in &input.report.checks {
        if let Some(first) = check.files.first() {
            public.insert(first.path.clone(), terse(check));
        }
    }
    Ok(Packed { bundle: finish(public)?, sealed: Some(finish(full)?) })
}

/// What a worker may see of a hidden check.
pub(super) fn terse(check: &CheckOutcome) -> Vec<u8> {
    document(json!({"check": check.id, "status": check.status.as_str()}))
}

fn full(input: &Assembly<'_>, folded: &Folded) -> Files {
    let mut files = Files::new();
    files.insert("task.json".into(), task(input));
    files.insert("run-result.json".into(), run_result(input, folded, false));
    files.insert("phase-results.json".into(), phases(input, false));
    files.insert("plan.json".into(), input.plan.bytes());
    for check in &input.report.checks {
        files.extend(check.files.iter().map(|file| (file.path.clone(), file.bytes.clone())));
    }
    files
}

/// Adds the list of all other files and packs.
fn finish(mut files: Files) -> Result<Bundle, VerifierError> {
    let artifacts: Vec<serde_json::Value> = files
        .iter()
        .map(|(path, bytes)| json!({"path": path, "bytes": bytes.len(), "sha256": Digest::of(bytes).hex()}))
        .collect();
    let manifest = document(json!({"schema_version": 1, "artifacts": artifacts}));
    files.insert("artifact-manifest.json".into(), manifest);
    Bundle::pack(&files)
}

/// What was asked.
fn task(input: &Assembly<'_>) -> Vec<u8> {
    let text = |value: &Value| value.to_serde();
    document(json!({
        "schema": "quorum-task/0.1",
        "handoff": text(input.handoff.value()),
        "handoff_id": input.handoff.id().to_string(),
        "manifest_binding": text(&input.binding.to_value()),
        "plan_digest": input.plan.digest().to_string(),
        "verifier_id": input.identity.id,
        "seat": input.place.seat,
        "try": input.place.try_no,
        "epoch": input.place.epoch,
    }))
}

/// What came of it.
fn run_result(input: &Assembly<'_>, folded: &Folded, terse: bool) -> Vec<u8> {
    let report = input.report;
    let checks: Vec<serde_json::Value> =
        report.checks.iter().map(|check| json!({"id": check.id, "status": check.status.as_str()})).collect();
    let mut value = json!({
        "schema": "quorum-run-result/0.1",
        "status": folded.status,
        "recommendation": folded.recommendation,
        "started_at": input.started_at.to_string(),
        "finished_at": input.finished_at.to_string(),
        "duration_ms": report.duration_ms,
        "candidate_tree": report.candidate_tree.to_string(),
        "checks": checks,
    });
    if let Some(tree) = report.baseline_tree {
        value["baseline_tree"] = tree.to_string().into();
    }
    if !terse {
        value["rationale"] = folded.rationale.as_str().into();
        value["engines"] = json!(report.engines);
        value["findings"] = json!(report.checks.iter().flat_map(|check| &check.findings).collect::<Vec<_>>());
    }
    document(value)
}

/// One record per check.
fn phases(input: &Assembly<'_>, terse: bool) -> Vec<u8> {
    let phases: Vec<serde_json::Value> = input
        .report
        .checks
        .iter()
        .enumerate()
        .map(|(index, check)| {
            if terse {
                return json!({"name": check.id, "phase_index": index, "status": check.status.as_str()});
            }
            json!({
                "name": check.id,
                "phase": check.kind,
                "phase_index": index,
                "status": check.status.as_str(),
                "summary": check.summary,
                "exit_code": check.exit,
                "timed_out": check.timed_out,
                "duration_ms": check.duration_ms,
                "limit_ms": check.limit_ms,
                "baseline_ms": check.baseline_ms,
                "channel": check.channel.as_str(),
                "isolation": check.isolation.as_str(),
                "files": check.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
            })
        })
        .collect();
    document(json!({"schema_version": 1, "handoff_id": input.handoff.id().to_string(), "phases": phases}))
}

fn document(value: serde_json::Value) -> Vec<u8> {
    c1(&Value::from(value))
}
