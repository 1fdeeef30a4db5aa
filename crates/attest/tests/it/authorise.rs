//! `sign_statement`: what a key will not put its name under.

use quorum_attest::{Entry, Envelope, PredicateType, Role, Statement, TrustRoot, authenticate, sign_statement};
use quorum_schemas::{Digest, Timestamp, Value, upstream};
use serde_json::json;

use crate::support::{DAY, draft, entry, key, load, statement, time};

const VERIFIER: &str = "phase0-independent-verifier";
const WORKER: &str = "phase0-local-worker";

fn evidence() -> Option<Statement> {
    let bytes = upstream::read("idkmesh/examples/results/phase0-smoke.verification-result.json")?;
    let result: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let digest = Digest::of(b"");
    let predicate = json!({
        "result": result, "handoff_id": digest, "seat": 0, "try": 1, "epoch": 0, "plan_digest": digest,
        "bundle_digest": digest, "isolation": "process-sandbox", "engines": {}, "candidate_tree": digest,
        "checks": [{"id": "a", "kind": "command", "channel": "data", "isolation": "process-sandbox"}],
        "read_worker_status": false,
    });
    Some(Statement { predicate: Value::from_serde(predicate), ..statement(PredicateType::Evidence) })
}

fn manifest() -> Option<Statement> {
    let bytes = upstream::read("idkmesh/examples/results/phase0-smoke.result-manifest.json")?;
    let predicate = quorum_schemas::parse(&bytes).unwrap();
    Some(Statement { predicate, ..statement(PredicateType::ResultManifest) })
}

fn trust(change: impl Fn(&mut Entry)) -> TrustRoot {
    let mut draft = draft();
    let listed = [
        entry(Role::Verifier, VERIFIER, 20),
        entry(Role::Verifier, "another", 21),
        entry(Role::Worker, WORKER, 22),
        entry(Role::Worker, "another", 23),
        entry(Role::Worker, VERIFIER, 24),
    ];
    for mut entry in listed {
        change(&mut entry);
        draft.add(entry).unwrap();
    }
    load(&draft, &[1])
}

fn end(bytes: &[u8], seed: u8, trust: &TrustRoot, now: Timestamp) -> &'static str {
    sign_statement(bytes, &key(seed), trust, now).map_or_else(|error| error.code(), |_| "signed")
}

#[test]
fn signs_the_bytes_as_given() {
    let (Some(evidence), Some(manifest)) = (evidence(), manifest()) else { return };
    for (statement, seed) in [(evidence, 20), (manifest, 22)] {
        let bytes = statement.to_bytes();
        let signed = Envelope::parse(&sign_statement(&bytes, &key(seed), &trust(|_| ()), time(1)).unwrap()).unwrap();
        assert_eq!(signed.payload(), bytes);
        authenticate(&signed, &trust(|_| ()), statement.predicate_type, time(1)).unwrap();
    }
}

/// Statement, seed of the key, trust root, now, end.
type Case<'a> = (&'a [u8], u8, &'a TrustRoot, Timestamp, &'a str);

#[test]
fn refuses_other_roles_ids_dates_and_documents() {
    let (Some(evidence), Some(manifest)) = (evidence(), manifest()) else { return };
    let (bytes, manifest) = (evidence.to_bytes(), manifest.to_bytes());
    let plain = trust(|_| ());
    let retired = trust(|entry| entry.retired_at = Some(time(DAY)));
    let revoked = trust(|entry| entry.revoked_at = Some(time(DAY)));
    let incomplete = Statement {
        predicate: Value::from_serde(json!({"result": {"verifier": {"id": VERIFIER}}})),
        ..evidence.clone()
    };
    let mut bad_result = evidence.clone();
    if let Value::Object(predicate) = &mut bad_result.predicate
        && let Some(Value::Object(result)) = predicate.get_mut("result")
    {
        result.remove("status");
    }
    let spaced = [&bytes[..], b"\n"].concat();
    let cases: [(&str, Case<'_>); 14] = [
        ("the verifier", (&bytes, 20, &plain, time(1), "signed")),
        ("another verifier's key", (&bytes, 21, &plain, time(1), "id_mismatch")),
        ("the worker's key", (&bytes, 22, &plain, time(1), "wrong_role")),
        ("a worker of the verifier's name", (&bytes, 24, &plain, time(1), "wrong_role")),
        ("a key of nobody", (&bytes, 30, &plain, time(1), "unknown_signer")),
        ("a root key", (&bytes, 1, &plain, time(1), "unknown_signer")),
        ("after the key's time", (&bytes, 20, &plain, time(100 * DAY), "key_not_valid_then")),
        ("after the root's time", (&bytes, 20, &plain, time(365 * DAY), "trust_root_expired")),
        ("before the root's time", (&bytes, 20, &plain, time(-1), "trust_root_not_yet_valid")),
        ("retired", (&bytes, 20, &retired, time(DAY), "key_not_valid_then")),
        ("revoked", (&bytes, 20, &revoked, time(DAY), "key_revoked")),
        ("another form", (&spaced, 20, &plain, time(1), "malformed")),
        ("another worker's manifest", (&manifest, 23, &plain, time(1), "id_mismatch")),
        ("a manifest by a verifier", (&manifest, 20, &plain, time(1), "wrong_role")),
    ];
    for (name, (bytes, seed, trust, now, should)) in cases {
        assert_eq!(end(bytes, seed, trust, now), should, "{name}");
    }
    assert_eq!(end(&incomplete.to_bytes(), 20, &plain, time(1)), "schema_invalid");
    assert_eq!(end(&bad_result.to_bytes(), 20, &plain, time(1)), "schema_invalid");
}

/// SLSA: a reader accepts only pairs of signer and verifier. So does the signer.
#[test]
fn a_verification_summary_names_its_signer_and_follows_its_schema() {
    let mut draft = draft();
    for (role, id, seed) in [
        (Role::Gate, "gate-1", 25),
        (Role::Gate, "gate-2", 26),
        (Role::Coordinator, "gate-1", 27),
        (Role::Verifier, "gate-1", 28),
    ] {
        draft.add(entry(role, id, seed)).unwrap();
    }
    let trust = load(&draft, &[1]);
    let summary = |verifier: &str, result: &str| {
        let digest = Digest::<quorum_schemas::Bytes>::of(b"").hex();
        let predicate = json!({
            "verifier": {"id": verifier},
            "timeVerified": "2026-01-01T00:00:00Z",
            "resourceUri": "urn:x:y",
            "policy": {"uri": "urn:x:p", "digest": {"sha256": digest}},
            "inputAttestations": [{"digest": {"sha256": digest}}],
            "verificationResult": result,
            "verifiedLevels": ["SLSA_BUILD_LEVEL_UNEVALUATED"],
        });
        Statement { predicate: Value::from_serde(predicate), ..statement(PredicateType::Vsa) }.to_bytes()
    };
    let own = "urn:idkmesh-quorum:gate:gate-1";
    for (name, bytes, seed, should) in [
        ("the gate", summary(own, "PASSED"), 25, "signed"),
        ("another gate", summary(own, "PASSED"), 26, "id_mismatch"),
        ("a coordinator of that name", summary(own, "PASSED"), 27, "id_mismatch"),
        ("a verifier of that name", summary(own, "PASSED"), 28, "wrong_role"),
        ("the coordinator's own", summary("urn:idkmesh-quorum:coordinator:gate-1", "PASSED"), 27, "signed"),
        ("the bare id", summary("gate-1", "PASSED"), 25, "id_mismatch"),
        ("of nobody", summary("urn:idkmesh-quorum:unsigned", "PASSED"), 25, "id_mismatch"),
        ("a third result", summary(own, "WARNED"), 25, "schema_invalid"),
        ("failed with a level", summary(own, "FAILED"), 25, "schema_invalid"),
    ] {
        assert_eq!(end(&bytes, seed, &trust, time(1)), should, "{name}");
    }
}
