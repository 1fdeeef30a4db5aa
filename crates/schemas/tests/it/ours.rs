//! The schemas of our own documents: one full sample each, and one refusal for each thing that it must refuse.

use quorum_schemas::{SchemaName, Value, validate};
use serde_json::{Value as Json, json};

fn digest(letter: &str) -> Json {
    json!(format!("sha256:{}", letter.repeat(64)))
}

fn key(letter: &str) -> Json {
    json!(letter.repeat(64))
}

fn result() -> Json {
    json!({
        "schema_version": "0.1", "id": "vr/0123", "result_manifest_id": "m/1", "work_unit_id": "w/1",
        "work_unit_version": 1, "attempt": 1, "verifier": {"id": "v-1", "type": "system", "adapter": "quorum"},
        "independence": {"independent_from_worker": true, "worker_id_observed": "w", "shared_model_family": false,
            "shared_runtime": false},
        "status": "passed", "started_at": "2026-01-31T12:00:00Z", "finished_at": "2026-01-31T12:00:01Z",
        "checks": [{"id": "c", "type": "test", "required": true, "status": "passed", "summary": "",
            "evidence_ids": []}],
        "evidence": [], "findings": [], "metrics": {}, "resources": {"wall_seconds": 0.5},
        "provenance": {"result_manifest_digest": digest("1"), "work_unit_digest": digest("2"),
            "source_revision": "r", "environment": {}},
        "decision_support": {"recommendation": "accept_candidate", "confidence": 1.0, "rationale": ""}
    })
}

fn evidence() -> Json {
    json!({
        "result": result(), "handoff_id": digest("3"), "seat": 0, "try": 1, "epoch": 0, "plan_digest": digest("4"),
        "bundle_digest": digest("5"), "isolation": "process-sandbox", "engines": {"json-rules": "0.1.0"},
        "checks": [{"id": "c", "kind": "command", "channel": "black_box", "isolation": "process-sandbox", "exit": 0,
            "limit_ms": 1000, "baseline_ms": 12}],
        "candidate_tree": digest("6"), "baseline_tree": digest("7"), "read_worker_status": false
    })
}

fn statement(predicate_type: &str, predicate: &Json) -> Json {
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "candidate", "digest": {"sha256": "a".repeat(64)}}],
        "predicateType": predicate_type, "predicate": predicate
    })
}

fn summary() -> Json {
    json!({
        "verifier": {"id": "urn:idkmesh-quorum:gate:g-1", "version": {"quorum": "0.1.0"}},
        "timeVerified": "2026-01-31T12:00:00Z", "resourceUri": "https://example.org/o/r/pull/1",
        "policy": {"uri": "urn:idkmesh-quorum:policy:two-of-three", "digest": {"sha256": "1".repeat(64)}},
        "inputAttestations": [{"uri": "urn:x:1", "digest": {"sha256": "2".repeat(64)}},
            {"digest": {"gitCommit": "3".repeat(40)}}],
        "verificationResult": "PASSED", "verifiedLevels": ["QUORUM_2_OF_3"],
        "dependencyLevels": {"SLSA_BUILD_LEVEL_1": 1}, "slsaVersion": "1.1",
        "urn:idkmesh-quorum:tally": {"s": 2}
    })
}

fn facts() -> Json {
    json!({
        "schema_version": "0.1", "now": "2026-01-31T12:00:00Z", "panel": 3, "deadline": "2026-01-31T12:30:00Z",
        "worker_identity": "authenticated", "worker_key_id": key("a"), "assurance": "trust_root",
        "panel_closed": false,
        "received": [{"envelope": digest("1"), "received_at": "2026-01-31T12:00:00Z", "bundle_checked": true}],
        "seats": [{"seat": 0, "holder": key("b"), "try": 1, "epoch": 7, "open": false}],
        "earlier_attempts": [{"attempt": 1, "handoff_id": digest("2"), "recommendation": "escalate"}],
        "evidence_horizon": 12, "rules_version": 1
    })
}

fn policy() -> Json {
    json!({
        "schema_version": "0.1", "id": "mine", "quorum": 2, "panel": 3, "tolerate": 0, "reject_quorum": 1,
        "deadline": "30m", "max_age": "24h", "independent_on": ["operator", "host"],
        "min_isolation": "process-sandbox", "min_channel": "black_box", "max_tries": 3, "reverify": false,
        "require_signed_worker": true, "fraction": "2/3",
        "groups": {"k": 2, "of": ["acme", "globex", {"k": 1, "of": ["initech", "umbrella"]}]}
    })
}

fn decision() -> Json {
    let document = |id: &str| json!({"id": id, "version": 1, "digest": digest("1")});
    json!({
        "schema_version": "0.1", "kind": "quorum-decision", "recommendation": "escalate",
        "row": "support_and_objection", "revision": 2, "withdraws": true, "supersedes": {"digest": digest("9"), "revision": 1,
            "recommendation": "accept_candidate", "decided_at": "2026-01-31T12:00:00Z"},
        "handoff_id": digest("2"), "work_unit": document("w/1"), "result_manifest": document("m/1"),
        "candidate": {"name": "candidate", "digest": {"gitCommit": "0".repeat(40)}}, "worker_id": "w",
        "worker_identity": "authenticated", "assurance": "trust_root", "policy": document("two-of-three"),
        "trust": document("trust"),
        "rule": {"strategy": "quorum", "quorum": 2, "panel": 3, "tolerate": 0, "reject_quorum": 1,
            "independent_on": ["operator"], "min_isolation": "none", "min_channel": "data", "max_age_seconds": 60,
            "fraction": "1/1", "groups": {"k": 1, "of": ["acme"]}},
        "tally": {"s": 1, "o": 1, "a": 0, "n": 3, "q": 2, "tolerate": 0}, "voices": [key("a")],
        "heard": [{"key_id": key("a"), "id": "v-1", "standing": "voice", "attributes": {"operator": "acme"},
            "evidence": [{"envelope": digest("3"), "verdict": "supports", "seat": 0, "try": 1, "epoch": 0,
                "channel": "data", "isolation": "not_applicable", "extra_checks": ["lint"]}]}],
        "shared": [{"a": key("a"), "b": "worker", "what": ["host unknown"]}],
        "refusals": [{"envelope": digest("4"), "kind": "authenticity", "code": "wrong_role", "signer": key("c"),
            "pointer": "", "message": "signed by a worker"}],
        "missing": [{"code": "voices", "message": "1 of 2"}], "unrequired_request": ["lint"], "reissued_seats": [1],
        "facts": facts(), "files": [{"path": "facts.json", "sha256": digest("5")}]
    })
}

fn trust_root() -> Json {
    let public = format!("MCowBQYDK2VwAyEA{}=", "A".repeat(43));
    json!({
        "schema_version": "0.1", "version": 1, "issued_at": "2026-01-01T00:00:00Z",
        "expires_at": "2027-01-01T00:00:00Z", "threshold": 1, "root_keys": [public],
        "entries": [{"role": "verifier", "id": "v-1", "public_key": public, "valid_from": "2026-01-01T00:00:00Z",
            "valid_until": "2027-01-01T00:00:00Z", "attributes": {"operator": "acme"}}],
        "policies": [digest("1")]
    })
}

/// Sets the value at a JSON Pointer; `null` as the last word removes the member.
fn edited(document: &Json, pointer: &str, value: &Json) -> Json {
    let mut document = document.clone();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Json::Object(members) if value == &json!("REMOVE") => drop(members.remove(last).unwrap()),
        Json::Object(members) => drop(members.insert(last.to_owned(), value.clone())),
        Json::Array(items) => items[last.parse::<usize>().unwrap()] = value.clone(),
        other => panic!("{pointer} in {other}"),
    }
    document
}

fn check(name: SchemaName, sample: &Json, refused: &[(&str, Json)]) {
    let judge = |document: &Json| validate(name, &Value::from_serde(document.clone()));
    judge(sample).unwrap_or_else(|violations| panic!("{}: {violations:?}", name.as_str()));
    for (pointer, value) in refused {
        let violations = judge(&edited(sample, pointer, value))
            .expect_err(&format!("{} admits {value} at {pointer}", name.as_str()));
        let near = violations.iter().any(|v| v.pointer.starts_with(pointer) || pointer.starts_with(&v.pointer));
        assert!(near, "{pointer}: {violations:?}");
    }
    // Every required member is required, and none beside the known ones is taken.
    for member in sample.as_object().unwrap().keys() {
        let schema: Json = serde_json::from_str(name.text()).unwrap();
        let required = schema["required"].as_array().unwrap().contains(&json!(member));
        let without = edited(sample, &format!("/{member}"), &json!("REMOVE"));
        if required {
            let expected = format!("/{member}");
            assert!(judge(&without).unwrap_err().iter().any(|v| v.pointer == expected), "{expected}");
        }
    }
    assert_eq!(judge(&edited(sample, "/unknown_member", &json!(1))).unwrap_err()[0].pointer, "/unknown_member");
}

#[test]
fn evidence_predicate() {
    check(
        SchemaName::EvidencePredicate,
        &evidence(),
        &[
            ("/result/status", json!("fine")),
            ("/result/accepted", json!(true)),
            ("/handoff_id", json!("3".repeat(64))),
            ("/seat", json!(32)),
            ("/seat", json!(0.0)),
            ("/try", json!(0)),
            ("/epoch", json!(-1)),
            ("/isolation", json!("vm")),
            ("/engines/x", json!(1)),
            ("/checks", json!([])),
            ("/checks/0/kind", json!("vibes")),
            ("/checks/0/channel", json!("gossip")),
            ("/checks/0/exit", json!(1.0)),
            ("/checks/0/verdict", json!("passed")),
            ("/read_worker_status", json!("no")),
        ],
    );
}

#[test]
fn statement_v1() {
    check(
        SchemaName::Statement,
        &statement("urn:idkmesh-quorum:evidence:v0.1", &evidence()),
        &[
            ("/_type", json!("https://in-toto.io/Statement/v0.1")),
            ("/subject", json!([])),
            ("/subject/0/digest", json!({})),
            ("/subject/0/digest/sha256", json!("A".repeat(64))),
            ("/subject/0/digest/sha256", json!(format!("{}\n", "a".repeat(64)))),
            ("/subject/0/digest/gitCommit", json!("0".repeat(41))),
            ("/subject/0/digest/md5", json!("0".repeat(32))),
            ("/subject/0/name", json!("")),
            ("/predicateType", json!("urn:idkmesh-quorum:evidence:v0.2")),
            ("/predicate", json!([])),
            ("/predicate", json!({})),
            ("/predicate/seat", json!(32)),
            ("/predicate/result/status", json!("fine")),
        ],
    );
}

/// A statement's predicate is judged by the schema of its type, and by no other.
#[test]
fn a_statement_is_judged_by_its_type() {
    let predicates = [
        ("urn:idkmesh-quorum:evidence:v0.1", evidence()),
        ("urn:idkmesh-quorum:decision:v0.1", decision()),
        ("https://slsa.dev/verification_summary/v1", summary()),
    ];
    for (at, (kind, _)) in predicates.iter().enumerate() {
        for (other, (_, predicate)) in predicates.iter().enumerate() {
            let document = Value::from_serde(statement(kind, predicate));
            assert_eq!(validate(SchemaName::Statement, &document).is_ok(), at == other, "{kind} around {other}");
        }
    }
}

#[test]
fn vsa_v1() {
    let uri = "not a uri";
    check(
        SchemaName::Vsa,
        &summary(),
        &[
            ("/verifier/id", json!(uri)),
            ("/verifier/version/quorum", json!(1)),
            ("/timeVerified", json!("noon")),
            ("/resourceUri", json!(uri)),
            ("/policy/uri", json!("REMOVE")),
            ("/policy/digest", json!({})),
            ("/policy/digest/sha256", digest("1")),
            ("/inputAttestations", json!([])),
            ("/inputAttestations/0/digest", json!("REMOVE")),
            ("/inputAttestations/0/name", json!("x")),
            ("/verificationResult", json!("passed")),
            ("/verifiedLevels", json!(["FAILED"])),
            ("/verifiedLevels", json!(["a", "a"])),
            ("/dependencyLevels/SLSA_BUILD_LEVEL_1", json!(-1)),
            ("/slsaVersion", json!("1.1\n")),
        ],
    );
    let failed = edited(&summary(), "/verificationResult", &json!("FAILED"));
    let judged = validate(SchemaName::Vsa, &Value::from_serde(failed.clone()));
    assert_eq!(judged.unwrap_err()[0].pointer, "/verifiedLevels");
    let failed = edited(&failed, "/verifiedLevels", &json!(["FAILED"]));
    validate(SchemaName::Vsa, &Value::from_serde(failed)).unwrap();
}

#[test]
fn facts_v0_1() {
    check(
        SchemaName::Facts,
        &facts(),
        &[
            ("/now", json!("noon")),
            ("/panel", json!(33)),
            ("/panel", json!(0)),
            ("/worker_key_id", json!("REMOVE")),
            ("/assurance", json!("total")),
            ("/received/0/bundle_checked", json!("REMOVE")),
            ("/seats/0/seat", json!(32)),
            ("/seats/0/try", json!(0)),
            ("/seats/0/holder", digest("b")),
            ("/earlier_attempts/0/recommendation", json!("accepted")),
            ("/rules_version", json!(1.0)),
        ],
    );
    let unsigned = edited(&facts(), "/worker_identity", &json!("unauthenticated"));
    let violations = validate(SchemaName::Facts, &Value::from_serde(unsigned.clone())).unwrap_err();
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert!(violations[0].to_string().starts_with("/worker_key_id: must not be here, found"), "{}", violations[0]);
    let unsigned = edited(&unsigned, "/worker_key_id", &json!("REMOVE"));
    validate(SchemaName::Facts, &Value::from_serde(unsigned)).unwrap();
}

#[test]
fn policy_v0_1() {
    check(
        SchemaName::Policy,
        &policy(),
        &[
            ("/quorum", json!(0)),
            ("/panel", json!(33)),
            ("/deadline", json!("30")),
            ("/deadline", json!("1.5h")),
            ("/independent_on", json!(["operator", "operator"])),
            ("/independent_on", json!(["moon_phase"])),
            ("/min_isolation", json!("not_applicable")),
            ("/min_channel", json!("in-process")),
            ("/max_tries", json!(101)),
            ("/fraction", json!("0/3")),
            ("/fraction", json!(0.66)),
            ("/groups/k", json!(0)),
            ("/groups/of/2/of", json!([])),
            ("/groups/of/2/weight", json!(1)),
        ],
    );
}

#[test]
fn decision_v0_1() {
    check(
        SchemaName::Decision,
        &decision(),
        &[
            ("/recommendation", json!("accept")),
            ("/row", json!("because")),
            ("/revision", json!(0)),
            ("/supersedes", json!("none")),
            ("/supersedes/revision", json!(-1)),
            ("/candidate/digest", json!({})),
            ("/tally/s", json!(1.0)),
            ("/tally/score", json!(1)),
            ("/voices", json!([key("a"), key("a")])),
            ("/heard/0/standing", json!("loud")),
            ("/heard/0/evidence/0/verdict", json!("passed")),
            ("/shared/0/what", json!([])),
            ("/shared/0/b", json!("a worker")),
            ("/refusals/0/code", json!("did_not_like_it")),
            ("/facts/panel", json!(0)),
            ("/files/0/sha256", key("5")),
            ("/merge_authorized", json!(true)),
        ],
    );
}

#[test]
fn trust_root_v0_1() {
    check(
        SchemaName::TrustRoot,
        &trust_root(),
        &[
            ("/version", json!(0)),
            ("/threshold", json!(0)),
            ("/root_keys", json!([])),
            ("/root_keys/0", json!("MCowBQYDK2VwAyEA")),
            ("/entries/0/role", json!("root")),
            ("/entries/0/id", json!("")),
            ("/entries/0/attributes/Operator", json!("acme")),
            ("/entries/0/attributes/operator", json!("")),
            ("/policies/0", key("1")),
        ],
    );
}

/// No member of a document of ours may be read as an authority to integrate.
#[test]
fn no_member_of_ours_claims_authority() {
    for name in [
        SchemaName::EvidencePredicate,
        SchemaName::HandoffPredicate,
        SchemaName::Decision,
        SchemaName::Facts,
        SchemaName::TrustRoot,
        SchemaName::Policy,
        SchemaName::QuorumPlan,
        SchemaName::PlanTemplate,
    ] {
        for word in ["\"accepted\"", "\"verified\"", "\"merge_authorized\"", "\"integration_authorized\""] {
            assert!(!name.text().contains(word), "{} has {word}", name.as_str());
        }
    }
}
