//! Real records in the eyes of others: every signed file of a decision of the mesh and of the gate verifies with
//! securesystemslib, every statement is read by in-toto-attestation, and the summary by its own message.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use quorum_attest::{PublicKey, Role, TrustRoot};
use quorum_coordinator::export;
use quorum_gate::{AuditOutcome, audit};
use quorum_mesh::UserRole;
use quorum_testkit::AUDITOR;
use serde_json::{Value as Json, json};

use crate::chaos::{Chaos, examples};

type Files = BTreeMap<String, Vec<u8>>;

/// The answers of `tests/foreign/dsse.py`; `None` where its packages are not installed (never in CI).
fn ask(tasks: &[Json]) -> Option<Vec<Json>> {
    let python = quorum_schemas::upstream::foreign_python()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/dsse.py");
    let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let asked = serde_json::to_vec(tasks).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&asked));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "tests/foreign/dsse.py ended with {}", output.status);
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn read(folder: &Path, below: &str, files: &mut Files) {
    for entry in std::fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read(folder, &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}

fn record(folder: &Path) -> Files {
    let mut files = Files::new();
    read(folder, "", &mut files);
    files
}

fn described(key: &PublicKey) -> Json {
    let public: String = key.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"keyid": key.key_id().to_string(), "public": public})
}

/// Every signed file of a record: its answer, and the roles of those who signed it.
fn seen(files: &Files) -> Option<BTreeMap<String, (Json, BTreeSet<Role>)>> {
    let trust = TrustRoot::load(&files["trust.json"]).unwrap();
    let keys: Vec<Json> = trust.entries().iter().map(|entry| described(&entry.public_key)).collect();
    let names: Vec<&String> = files.keys().filter(|name| name.ends_with(".dsse.json")).collect();
    let tasks: Vec<Json> = names
        .iter()
        .map(|name| {
            let envelope = std::str::from_utf8(&files[*name]).unwrap();
            json!({"do": "verify", "envelope": envelope, "keys": keys, "threshold": 1, "statement": true})
        })
        .collect();
    let answers = ask(&tasks)?;
    let roles = |answer: &Json| {
        let signers = answer["signers"].as_array().unwrap_or_else(|| panic!("{answer}"));
        signers.iter().map(|id| trust.by_key_id(&id.as_str().unwrap().parse().unwrap()).unwrap().role).collect()
    };
    Some(
        names.into_iter().zip(answers).map(|(name, answer)| (name.clone(), (answer.clone(), roles(&answer)))).collect(),
    )
}

#[track_caller]
fn summary_of<'a>(seen: &'a BTreeMap<String, (Json, BTreeSet<Role>)>, files: &Files, result: &str) -> &'a Json {
    let (answer, _) = &seen["vsa.dsse.json"];
    let (summary, level) = (&answer["vsa"], if result == "PASSED" { "SLSA_BUILD_LEVEL_UNEVALUATED" } else { "FAILED" });
    assert_eq!(summary["verificationResult"], json!(result));
    assert_eq!(summary["verifiedLevels"], json!([level]));
    assert_eq!(answer["subject"], seen["decision.dsse.json"].0["subject"], "about the same bytes");
    let inputs: BTreeSet<&str> = summary["inputAttestations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| input["digest"]["sha256"].as_str().unwrap())
        .collect();
    let outputs = ["vsa.dsse.json", "decision.dsse.json"];
    let expected: BTreeSet<String> = files
        .iter()
        .filter(|(name, _)| name.ends_with(".dsse.json") && !outputs.contains(&name.as_str()))
        .map(|(_, bytes)| quorum_schemas::Digest::of(bytes).hex())
        .collect();
    assert_eq!(inputs, expected.iter().map(String::as_str).collect(), "every attestation of the record, and no other");
    summary
}

#[tokio::test(flavor = "multi_thread")]
async fn every_signed_file_of_a_mesh_record_is_read_by_others() {
    let mut chaos = Chaos::start().await;
    chaos.world.start_daemons().unwrap();
    for (number, recommendation, result) in [(1, "accept_candidate", "PASSED"), (2, "reject_candidate", "FAILED")] {
        let handoff = chaos.submit(number).await;
        assert_eq!(chaos.told(handoff).await.recommendation, recommendation);
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("record");
        let auditor = chaos.world.connect(UserRole::Auditor, AUDITOR).await.unwrap();
        export(&auditor, handoff, &place).await.unwrap();
        auditor.close().await.unwrap();
        let outcome = audit(&place, Some(&chaos.world.dir().join("trust.json"))).unwrap();
        assert!(matches!(outcome, AuditOutcome::Same(_)), "{outcome:?}");
        let files = record(&place);
        let Some(seen) = seen(&files) else { return };
        for (name, (answer, roles)) in &seen {
            assert_eq!(answer["verified"], json!(true), "{name}: {answer}");
            let (role, kind) = match name.as_str() {
                "work-unit.dsse.json" => (Role::Author, "urn:idkmesh-quorum:work-unit:v0.1"),
                "result-manifest.dsse.json" => (Role::Worker, "urn:idkmesh-quorum:result-manifest:v0.1"),
                "handoff.dsse.json" => (Role::Coordinator, "urn:idkmesh-quorum:handoff:v0.1"),
                "decision.dsse.json" => (Role::Coordinator, "urn:idkmesh-quorum:decision:v0.1"),
                "vsa.dsse.json" => (Role::Coordinator, "https://slsa.dev/verification_summary/v1"),
                _ => (Role::Verifier, "urn:idkmesh-quorum:evidence:v0.1"),
            };
            assert_eq!((roles, &answer["predicate_type"]), (&BTreeSet::from([role]), &json!(kind)), "{name}");
            assert_eq!(answer["subject"].as_array().unwrap().len(), 1, "{name}");
        }
        let evidence = seen.keys().filter(|name| name.starts_with("evidence/")).count();
        assert_eq!((evidence, seen.len()), (3, 8), "{:?}", seen.keys());
        let summary = summary_of(&seen, &files, result);
        assert_eq!(summary["verifier"]["id"], json!("urn:idkmesh-quorum:coordinator:coordinator"));
    }
    chaos.world.stop().unwrap();
}

#[test]
fn the_gates_record_and_its_trust_root_are_read_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    let example = examples();
    let status = Command::new(env!("CARGO_BIN_EXE_quorum"))
        .arg("gate")
        .args([Path::new("--work-unit"), &example.join("work-unit.json")])
        .args([Path::new("--candidate"), &example.join("good")])
        .args([Path::new("--plan"), &example.join("plan.toml")])
        .args([Path::new("--out"), &out])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    let files = record(&out);
    let Some(seen) = seen(&files) else { return };
    assert_eq!(seen.len(), 3, "{:?}", seen.keys());
    for (name, (answer, _)) in &seen {
        assert_eq!(answer["verified"], json!(true), "{name}: {answer}");
    }
    let summary = summary_of(&seen, &files, "PASSED");
    assert_eq!(summary["verifier"]["id"], json!("urn:idkmesh-quorum:gate:local-gate"));

    let trust = TrustRoot::load(&files["trust.json"]).unwrap();
    let roots: Vec<Json> = trust.root_keys().iter().map(described).collect();
    let text = std::str::from_utf8(&files["trust.json"]).unwrap();
    let task = json!({"do": "verify", "envelope": text, "keys": roots, "threshold": trust.threshold()});
    let Some(answers) = ask(&[task]) else { return };
    assert_eq!(answers[0]["verified"], json!(true), "{}", answers[0]);
    assert_eq!(answers[0]["payload_type"], json!(quorum_attest::TRUST_PAYLOAD_TYPE));
}
