//! One small pair of documents of our own, and edits of it.

use quorum_handoff::{Intake, intake_values};
use quorum_schemas::{Digest, Value};
use serde_json::{Value as Json, json};

pub(crate) fn work_unit() -> Json {
    json!({
        "schema_version": "0.2", "id": "acme/answer", "version": 3, "kind": "coding", "objective": "Answer.",
        "inputs": [], "outputs": [{"id": "answer", "type": "file", "description": "The answer."}], "dependencies": [],
        "requirements": {"capabilities": [], "resources": {"cpu_cores_min": 0, "memory_mb_min": 0, "gpu": "none"}},
        "constraints": {"allowed_paths": ["answer.json"], "forbidden_paths": [".github/"], "policies": []},
        "uncertainty": [],
        "security": {"risk_class": "low", "data_classification": "public", "minimum_worker_trust": "untrusted",
            "sandbox_required": false},
        "permissions": {"network": "none", "filesystem_write": ["answer.json"], "secrets": [],
            "process_execution": false},
        "verification_policy": {"strategy": "all_required", "independent_from_worker": true,
            "minimum_independent_verifiers": 1},
        "validators": [
            {"id": "tests", "type": "test", "required": true},
            {"id": "optional-lint", "type": "lint", "required": false},
            {"id": "review", "type": "review", "required": true}
        ],
        "evidence_requirements": [{"type": "artifact_hash", "required": true}],
        "budget": {"project_spend_usd_max": 0, "paid_fallback_allowed": false},
        "provenance": {"created_by": "acme", "creator_type": "human", "source": "a test", "source_revision": "rev-1"},
        "failure_semantics": {"retryable": true, "max_attempts": 2, "on_failure": "stop"}
    })
}

/// Bound to `work_unit`, as it is after any edit.
pub(crate) fn manifest(work_unit: &Json) -> Json {
    let digest = Digest::c1(&Value::from_serde(work_unit.clone())).to_string();
    json!({
        "schema_version": "0.1", "id": "acme/answer/1", "work_unit_id": "acme/answer", "work_unit_version": 3,
        "attempt": 1, "worker": {"id": "worker-1", "type": "agent", "adapter": "shell"}, "status": "succeeded",
        "started_at": "2026-01-31T12:00:00Z", "finished_at": "2026-01-31T12:00:01.5+01:00",
        "produced_artifacts": [
            {"id": "answer", "type": "file", "locator": "answer.json", "digest": format!("sha256:{}", "a".repeat(64))},
            {"id": "log", "type": "log", "locator": "log.txt", "digest": format!("sha256:{}", "b".repeat(64))}
        ],
        "logs": [{"type": "stdout", "locator": "stdout.txt"}], "metrics": {"lines": 12, "score": 0.5, "none": null},
        "resources": {"wall_seconds": 1.5}, "self_report": {"summary": "Done.", "claims": ["It works."]},
        "provenance": {"work_unit_digest": digest, "source_revision": "rev-1", "environment": {}},
        "verification_request": {"expected_validator_ids": ["review", "tests"], "evidence_artifact_ids": ["answer"]}
    })
}

pub(crate) fn pair() -> (Json, Json) {
    let unit = work_unit();
    let manifest = manifest(&unit);
    (unit, manifest)
}

pub(crate) fn admitted() -> Intake {
    let (unit, manifest) = pair();
    intake_values(unit.into(), manifest.into(), None).unwrap()
}

/// A result in favour that breaks no rule against [`admitted`].
pub(crate) fn result(intake: &Intake) -> Json {
    let check = |id: &str, kind: &str| json!({"id": id, "type": kind, "required": true, "status": "passed", "summary": "ok", "evidence_ids": [id]});
    let evidence = |id: &str| {
        let digest = format!("sha256:{}", "c".repeat(64));
        json!({"id": id, "type": "test_output", "locator": format!("bundle:{id}.txt"), "digest": digest})
    };
    json!({
        "schema_version": "0.1", "id": "vr/1", "result_manifest_id": "acme/answer/1", "work_unit_id": "acme/answer",
        "work_unit_version": 3, "attempt": 1,
        "verifier": {"id": "verifier-1", "type": "system", "adapter": "quorum"},
        "independence": {"independent_from_worker": true, "worker_id_observed": "worker-1",
            "shared_model_family": false, "shared_runtime": false},
        "status": "passed", "started_at": "2026-01-31T12:00:02Z", "finished_at": "2026-01-31T12:00:03Z",
        "checks": [check("tests", "test"), check("review", "review")],
        "evidence": [evidence("tests"), evidence("review")], "findings": [], "metrics": {},
        "resources": {"wall_seconds": 1},
        "provenance": {
            "result_manifest_digest": intake.manifest.digest().to_string(),
            "work_unit_digest": intake.work_unit.digest().to_string(), "source_revision": "rev-1", "environment": {}
        },
        "decision_support": {"recommendation": "accept_candidate", "confidence": 1.0, "rationale": "All passed."}
    })
}

/// Sets the value at a JSON Pointer, which may add a last member; `None` removes it.
pub(crate) fn edit(document: &mut Json, pointer: &str, value: Option<Json>) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match (document.pointer_mut(parent).unwrap(), value) {
        (Json::Object(members), Some(value)) => {
            members.insert(last.to_owned(), value);
        }
        (Json::Object(members), None) => assert!(members.remove(last).is_some(), "{pointer} was not there"),
        (Json::Array(items), Some(value)) if last == "-" => items.push(value),
        (Json::Array(items), Some(value)) => items[last.parse::<usize>().unwrap()] = value,
        (other, _) => panic!("cannot edit {pointer} in {other}"),
    }
}
