//! The blinded manifest.

use quorum_handoff::ManifestBinding;
use quorum_schemas::{SchemaName, Value, validate};
use serde_json::{Value as Json, json};

use crate::fixtures::{admitted, edit};

fn document() -> Json {
    serde_json::from_slice(&quorum_schemas::c1(&admitted().binding.to_value())).unwrap()
}

#[test]
fn a_binding_reads_back() {
    let binding = admitted().binding;
    assert_eq!(ManifestBinding::parse(&binding.to_value()).unwrap(), binding);
    assert_eq!(binding.candidate_locator(), "answer.json");
    assert_eq!(binding.requested_validators(), ["review", "tests"]);
    assert_eq!(binding.artifacts().len(), 2);
}

/// No member for anything that the worker says about itself.
#[test]
fn a_binding_has_exactly_these_members() {
    let keys: Vec<String> = document().as_object().unwrap().keys().cloned().collect();
    let expected = [
        "artifacts",
        "attempt",
        "candidate",
        "requested_validator_ids",
        "result_manifest_digest",
        "result_manifest_id",
        "source_revision",
        "work_unit_digest",
        "work_unit_id",
        "work_unit_version",
        "worker_id",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn malformed_bindings_are_refused() {
    for (pointer, value) in [
        ("/status", Some(json!("succeeded"))),
        ("/self_report", Some(json!({}))),
        ("/attempt", Some(json!(1.0))),
        ("/attempt", None),
        ("/worker_id", Some(json!(""))),
        ("/result_manifest_digest", Some(json!("sha256:"))),
        ("/artifacts", Some(json!([]))),
        ("/artifacts/0/locator", Some(json!("answer.json"))),
        ("/artifacts/0/digest", Some(json!(1))),
        ("/candidate/artifact_id", Some(json!("ghost"))),
        ("/candidate", None),
        ("/requested_validator_ids", Some(json!([1]))),
        ("/requested_validator_ids", None),
    ] {
        let mut edited = document();
        edit(&mut edited, pointer, value);
        let error = ManifestBinding::parse(&edited.into()).unwrap_err();
        assert_eq!(error.code(), "schema_invalid", "{pointer}: {error}");
    }
    for other in [json!(null), json!([]), json!({})] {
        assert_eq!(ManifestBinding::parse(&other.into()).unwrap_err().code(), "schema_invalid");
    }
    let mut edited = document();
    edit(&mut edited, "/candidate/reference", Some(json!({})));
    assert_eq!(ManifestBinding::parse(&edited.into()).unwrap_err().code(), "idk_c02");
}

/// What the type admits and what the schema of the signed handoff admits is the same document.
#[test]
fn the_handoff_predicate_takes_the_binding() {
    let intake = admitted();
    let predicate: Value = json!({
        "handoff_id": intake.handoff.id().to_string(),
        "work_unit_envelope": format!("sha256:{}", "1".repeat(64)),
        "policy_digest": format!("sha256:{}", "2".repeat(64)),
        "trust_version": 1, "panel": 3, "issued_at": "2026-01-31T12:00:00Z", "deadline": "2026-01-31T12:30:00Z",
    })
    .into();
    let Value::Object(mut members) = predicate else { unreachable!("an object literal") };
    members.insert("handoff".into(), intake.handoff.value().clone());
    members.insert("manifest_binding".into(), intake.binding.to_value());
    validate(SchemaName::HandoffPredicate, &Value::Object(members.clone())).unwrap();
    members.insert("verdict".into(), "supports".into());
    assert_eq!(validate(SchemaName::HandoffPredicate, &Value::Object(members)).unwrap_err()[0].pointer, "/verdict");
}
