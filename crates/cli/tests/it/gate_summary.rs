//! The verification summary beside a decision: written for accept and reject, signed by the decision's key, and recomputed
//! by the audit even when whoever holds the key signs another one.

use std::collections::BTreeMap;

use quorum_attest::{Envelope, PAYLOAD_TYPE, Role, SigningKey, Statement, sign, signer_uri};
use quorum_gate::{AuditOutcome, audit_files};
use quorum_schemas::{Digest, Value, parse};

use crate::world::World;

const SIGNED: &str = "vsa.dsse.json";
const UNSIGNED: &str = "vsa.json";

type Files = BTreeMap<String, Vec<u8>>;

fn record(world: &World) -> Files {
    world.files("out").into_iter().map(|name| (name.clone(), world.read(&format!("out/{name}")))).collect()
}

/// Two gates and one verifier of a trust root; the candidate is judged by the verifier's plan.
fn decided(candidate: &str, options: &str, exit: i32) -> Files {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Gate, "gate", 3, &[]);
    world.identity(Role::Gate, "other-gate", 4, &[]);
    world.write("two.toml", "schema_version = \"0.1\"\nid = \"two\"\nquorum = 2\nindependent_on = []\n");
    world.admit("two.toml");
    world.admit("one-verifier");
    world.trust();
    let gate = format!(
        "gate --work-unit example/work-unit.json --candidate example/{candidate} --trust trust.json \
         --plan example/plan.toml --key verifier-a.pem {options} --out out"
    );
    world.run(&gate).exits(exit);
    record(&world)
}

fn payload(envelope: &[u8]) -> Vec<u8> {
    Envelope::parse(envelope).unwrap().payload().to_vec()
}

fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    value.at(path).and_then(Value::as_str).unwrap_or_else(|| panic!("{path:?} in {value:?}"))
}

#[track_caller]
fn differs(files: &Files, file: &str) -> String {
    match audit_files(files).unwrap() {
        AuditOutcome::Differs(difference) => {
            assert_eq!(difference.file, file, "{}", difference.message);
            difference.message
        }
        AuditOutcome::Same(_) => panic!("went unseen"),
    }
}

/// Puts `summary` in place of the recorded one, and the decision with its new digest, signed by the gate's key again.
fn replaced(files: &Files, summary: Vec<u8>) -> Files {
    let mut files = files.clone();
    let old = Digest::of(&files[SIGNED]).to_string();
    let statement = String::from_utf8(payload(&files["decision.dsse.json"])).unwrap();
    assert_eq!(statement.matches(&old).count(), 1, "the decision lists its summary once");
    let statement = statement.replace(&old, &Digest::of(&summary).to_string());
    let decision = sign(PAYLOAD_TYPE, statement.as_bytes(), &SigningKey::from_seed(&[3; 32]));
    files.insert(SIGNED.into(), summary);
    files.insert("decision.dsse.json".into(), decision);
    files
}

#[test]
fn accept_and_reject_have_a_summary_by_the_decisions_key() {
    for (candidate, exit, result) in [("good", 0, "PASSED"), ("wrong", 1, "FAILED")] {
        let files = decided(candidate, "--decision-key gate.pem", exit);
        assert!(matches!(audit_files(&files).unwrap(), AuditOutcome::Same(_)));
        let envelope = Envelope::parse(&files[SIGNED]).unwrap();
        assert_eq!(envelope.key_id(), Envelope::parse(&files["decision.dsse.json"]).unwrap().key_id());
        let statement = Statement::parse(envelope.payload()).unwrap();
        let predicate = &statement.predicate;
        assert_eq!(text(predicate, &["verificationResult"]), result);
        assert_eq!(text(predicate, &["verifier", "id"]), signer_uri(Role::Gate, "gate"));
        assert_eq!(text(predicate, &["policy", "digest", "sha256"]), Digest::of(&files["policy.toml"]).hex());
        let inputs = predicate.get("inputAttestations").and_then(Value::as_array).unwrap();
        let listed: Vec<&str> = inputs.iter().map(|input| text(input, &["digest", "sha256"])).collect();
        let evidence = files.iter().filter(|(name, _)| name.starts_with("evidence/"));
        assert_eq!(listed, evidence.map(|(_, bytes)| Digest::of(bytes).hex()).collect::<Vec<_>>());
        assert!(!files.contains_key(UNSIGNED));
    }
}

#[test]
fn without_a_decision_key_the_summary_is_the_bare_statement_of_nobody() {
    let files = decided("good", "", 0);
    let statement = Statement::parse(&files[UNSIGNED]).unwrap();
    assert_eq!(text(&statement.predicate, &["verifier", "id"]), "urn:idkmesh-quorum:unsigned");
    assert!(!files.contains_key(SIGNED));
    assert!(matches!(audit_files(&files).unwrap(), AuditOutcome::Same(_)));
}

#[test]
fn insufficient_evidence_has_no_summary_and_one_that_is_slipped_in_differs() {
    let files = decided("good", "--policy two.toml", 3);
    assert!(!files.contains_key(SIGNED) && !files.contains_key(UNSIGNED));
    for name in [SIGNED, UNSIGNED] {
        let mut slipped = files.clone();
        let extra = decided("good", "", 0)[UNSIGNED].clone();
        let listed = format!(r#"{{"path":"{name}","sha256":"{}"}}"#, Digest::of(&extra));
        slipped.insert(name.into(), extra);
        differs(&slipped, name);
        // Also where the decision, which nobody signed, was made to list it.
        let decision = String::from_utf8(files["decision.json"].clone()).unwrap();
        let last = r#"{"path":"work-unit.json""#;
        assert_eq!(decision.matches(last).count(), 1);
        slipped.insert("decision.json".into(), decision.replace(last, &format!("{listed},{last}")).into_bytes());
        assert!(differs(&slipped, name).contains("no such summary"));
    }
}

#[test]
fn a_summary_that_the_decision_does_not_give_differs_whoever_signed_it() {
    let files = decided("wrong", "--decision-key gate.pem", 1);
    let honest = payload(&files[SIGNED]);
    let (gate, other) = (SigningKey::from_seed(&[3; 32]), SigningKey::from_seed(&[4; 32]));
    let unchanged = replaced(&files, sign(PAYLOAD_TYPE, &honest, &gate));
    assert!(matches!(audit_files(&unchanged).unwrap(), AuditOutcome::Same(_)));
    let lie = String::from_utf8(honest.clone()).unwrap().replace("FAILED", "PASSED").into_bytes();
    assert_ne!(lie, honest);
    differs(&replaced(&files, sign(PAYLOAD_TYPE, &lie, &gate)), SIGNED);
    differs(&replaced(&files, sign(PAYLOAD_TYPE, &honest, &other)), SIGNED);
    differs(&replaced(&files, sign(PAYLOAD_TYPE, &payload(&files["decision.dsse.json"]), &gate)), SIGNED);
    differs(&replaced(&files, sign("application/json", &honest, &gate)), SIGNED);
    differs(&replaced(&files, honest), SIGNED);
    let mut missing = files.clone();
    missing.remove(SIGNED);
    differs(&missing, SIGNED);
}

#[test]
fn the_extension_says_why_evidence_was_refused() {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Gate, "gate", 3, &[]);
    world.admit("one-verifier");
    world.trust();
    world.write("noise.dsse.json", "{}");
    world
        .run(
            "gate --work-unit example/work-unit.json --candidate example/good --trust trust.json --plan \
             example/plan.toml --key verifier-a.pem --evidence noise.dsse.json --decision-key gate.pem --out out",
        )
        .exits(0);
    let files = record(&world);
    let summary = parse(&payload(&files[SIGNED])).unwrap();
    let inputs = summary.at(&["predicate", "inputAttestations"]).and_then(Value::as_array).unwrap();
    let noise = Digest::of(b"{}");
    assert_eq!(inputs.len(), 2, "{inputs:?}");
    assert!(inputs.iter().any(|input| text(input, &["digest", "sha256"]) == noise.hex()));
    let refused = summary.at(&["predicate", "urn:idkmesh-quorum:vsa:v0.1", "refused"]).and_then(Value::as_array);
    let refused = refused.unwrap();
    assert_eq!(refused.len(), 1);
    assert_eq!((text(&refused[0], &["code"]), text(&refused[0], &["envelope"])), ("malformed", &*noise.to_string()));
}
