//! `quorum dsse verify`: envelopes by hand, ours under a trust root and anybody's under keys.

use quorum_attest::{PublicKey, Role, SigningKey, TRUST_PAYLOAD_TYPE, sign};
use quorum_schemas::{Value, parse};
use serde_json::Value as Json;

use crate::world::World;

/// A verifier's evidence, and keys and trust roots around it.
fn world() -> World {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Gate, "gate", 4, &[]);
    world.identity(Role::Worker, "worker", 5, &[("operator", "initech")]);
    world.admit("local");
    world.root_key("root.pem");
    world.trust();
    let make = "manifest --work-unit example/work-unit.json --candidate example/good --worker";
    world.run(&format!("{make} worker --key worker.pem -o manifest.json")).exits(0);
    let verify = "verify --work-unit example/work-unit.json --result manifest.json --candidate example/good \
                  --plan example/plan.toml --trust trust.json --key verifier-a.pem --out evidence";
    world.run(verify).exits(0);
    world.copy(&world.path("evidence/evidence.dsse.json"), "evidence.json");
    world
}

const EVIDENCE: &str = "urn:idkmesh-quorum:evidence:v0.1";

#[test]
fn an_envelope_of_ours_is_told_with_its_signer() {
    let world = world();
    let said = world.run("dsse verify evidence.json --trust trust.json --role verifier").exits(0);
    let key = SigningKey::from_seed(&[2; 32]).public().key_id().to_string();
    for word in ["verifier `verifier-a`", &key, EVIDENCE, "application/vnd.in-toto+json"] {
        assert!(said.stdout.contains(word), "{word} in {}", said.stdout);
    }
    assert!(!said.stdout.contains("predicateType"), "the payload is printed only when it is asked for");
    let value = world.run("dsse verify evidence.json --trust trust.json --json").exits(0).json();
    let signer = &value.get("signers").and_then(Value::as_array).unwrap()[0];
    assert_eq!(signer.get("id").and_then(Value::as_str), Some("verifier-a"));
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap().to_owned();
    assert_eq!(text("predicate_type"), EVIDENCE);
    // The payload is the signed bytes, in both forms.
    let raw = world.run("dsse verify evidence.json --trust trust.json --payload").exits(0);
    assert_eq!(raw.stdout, text("payload"));
    assert!(raw.stderr.contains("verifier `verifier-a`"), "{}", raw.stderr);
    assert!(parse(raw.stdout.as_bytes()).unwrap().get("predicateType").is_some());
}

/// Every way in which it does not hold: exit 1, its code, and not one byte of the payload.
#[test]
fn what_does_not_hold_exits_1_and_shows_no_payload() {
    let world = world();
    let evidence = String::from_utf8(world.read("evidence.json")).unwrap();
    let mut forged: Json = serde_json::from_str(&evidence).unwrap();
    let payload = forged["payload"].as_str().unwrap().to_owned();
    // Another letter of the payload: canonical still, and signed by nobody.
    let (at, letter) = payload.char_indices().nth(40).unwrap();
    let other = if letter == 'A' { "B" } else { "A" };
    forged["payload"] = format!("{}{other}{}", &payload[..at], &payload[at + 1..]).into();
    world.write("forged.json", quorum_schemas::c1(&forged.into()));
    world.write("foreign-type.json", sign("text/plain", b"hello", &SigningKey::from_seed(&[2; 32])));
    world.write("no-statement.json", sign("application/vnd.in-toto+json", b"{}", &SigningKey::from_seed(&[2; 32])));
    world.write("stranger.json", sign("text/plain", b"hello", &SigningKey::from_seed(&[9; 32])));
    // A gate's key under a verifier's words.
    let payload = world.run("dsse verify evidence.json --trust trust.json --payload").exits(0).stdout;
    let wrong = sign("application/vnd.in-toto+json", payload.as_bytes(), &SigningKey::from_seed(&[4; 32]));
    world.write("lent.json", wrong);
    let revoke = "trust revoke trust.json --root-key root.pem --role verifier --id verifier-a -o revoked.json";
    world.run(revoke).exits(0);
    let gate = "--public-key gate.pem";
    for (line, code) in [
        ("forged.json --trust trust.json".to_owned(), "bad_signature"),
        ("stranger.json --trust trust.json".to_owned(), "unknown_signer"),
        ("foreign-type.json --trust trust.json".to_owned(), "wrong_type"),
        ("no-statement.json --trust trust.json".to_owned(), "malformed"),
        ("lent.json --trust trust.json".to_owned(), "wrong_role"),
        ("evidence.json --trust trust.json --role worker".to_owned(), "wrong_role"),
        ("evidence.json --trust revoked.json".to_owned(), "key_revoked"),
        (format!("evidence.json {gate}"), "not_enough_signers"),
        (format!("forged.json {gate} --public-key verifier-a.pem"), "not_enough_signers"),
        (format!("evidence.json {gate} --public-key verifier-a.pem --threshold 2"), "not_enough_signers"),
    ] {
        let said = world.run(&format!("dsse verify {line}")).exits(1);
        assert!(said.stdout.starts_with("does not hold: "), "{line}: {}", said.stdout);
        assert!(said.stdout.contains(code), "{line}: {}", said.stdout);
        let quiet = world.run(&format!("dsse verify {line} --payload")).exits(1);
        assert_eq!(quiet.stdout, "", "{line}");
        let value = world.run(&format!("dsse verify {line} --json")).exits(1).json();
        assert_eq!(value.get("code").and_then(Value::as_str), Some(code), "{line}");
        assert!(value.get("payload").is_none(), "{line}");
    }
}

/// What cannot be judged at all is exit 2.
#[test]
fn what_is_no_envelope_or_no_key_exits_2() {
    let world = world();
    for (line, code) in [
        ("dsse verify evidence.json", "usage"),
        ("dsse verify evidence.json --trust trust.json --public-key gate.pem", "usage"),
        ("dsse verify evidence.json --public-key gate.pem --role gate", "usage"),
        ("dsse verify evidence.json --public-key gate.pem --at 2026-01-01T00:00:00Z", "usage"),
        ("dsse verify evidence.json --trust trust.json --threshold 1", "usage"),
        ("dsse verify evidence.json --trust trust.json --role pope", "usage"),
        ("dsse verify evidence.json --trust trust.json --at tomorrow", "usage"),
        ("dsse verify evidence.json --trust trust.json --at 1999-01-01T00:00:00Z", "trust_root_not_yet_valid"),
        ("dsse verify evidence.json --trust trust.json --at 2199-01-01T00:00:00Z", "trust_root_expired"),
        ("dsse verify evidence.json --trust evidence.json", "wrong_type"),
        ("dsse verify evidence.json --public-key gate.pem --threshold 2", "signers_threshold_invalid"),
        ("dsse verify evidence.json --public-key gate.pem --threshold 0", "signers_threshold_invalid"),
        ("dsse verify example/work-unit.json --trust trust.json", "malformed"),
        ("dsse verify example/work-unit.json --public-key gate.pem", "malformed"),
        ("dsse verify absent.json --public-key gate.pem", "cannot_read"),
    ] {
        world.run(line).refuses(2, code);
    }
}

/// The published vectors: what the reader of foreign envelopes says, the command says.
#[test]
fn the_published_vectors_have_their_verdict() {
    let world = World::new();
    let vectors: Json = serde_json::from_str(include_str!("../../../../examples/dsse/vectors.json")).unwrap();
    let (mut held, mut refused) = (0, 0);
    for vector in vectors["vectors"].as_array().unwrap() {
        let name = vector["name"].as_str().unwrap();
        let keys: Option<Vec<String>> = vector["keys"].as_array().unwrap().iter().map(spki).collect();
        // Keys that do not load cannot be named on a command line.
        let Some(keys) = keys.filter(|keys| !keys.is_empty()) else { continue };
        world.write("envelope", vector["envelope"].as_str().unwrap());
        let keys: String = keys.iter().map(|key| format!(" --public-key {key}")).collect();
        let line = format!("dsse verify envelope{keys} --threshold {} --payload", vector["threshold"]);
        // A payload may be any bytes.
        let output = world.command().args(line.split(' ')).output().unwrap();
        let (code, stderr) = (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap());
        if vector["quorum_foreign"] == "accept" {
            held += 1;
            assert_eq!(code, 0, "{name}: {stderr}");
            let hex: String = output.stdout.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(Some(hex.as_str()), vector["payload_hex"].as_str(), "{name}");
        } else {
            refused += 1;
            assert!(matches!(code, 1 | 2), "{name}: exit {code}");
            assert!(output.stdout.is_empty(), "{name}");
            assert!(stderr.contains(vector["quorum_foreign"].as_str().unwrap()), "{name}: {stderr}");
        }
    }
    assert!(held >= 15 && refused >= 15, "{held} held, {refused} refused");
}

fn spki(key: &Json) -> Option<String> {
    let hex = key["public"].as_str()?;
    let bytes: Option<Vec<u8>> =
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect();
    Some(PublicKey::from_bytes(bytes?.try_into().ok()?).ok()?.spki_base64())
}

/// A trust root is an envelope too: of several signatures, and of another payload type.
#[test]
fn a_trust_root_is_read_under_its_root_keys() {
    let world = world();
    let value = world.run("dsse verify trust.json --public-key root.pem --json").exits(0).json();
    assert_eq!(value.get("payload_type").and_then(Value::as_str), Some(TRUST_PAYLOAD_TYPE));
    assert!(value.get("predicate_type").is_none());
    world.run("dsse verify trust.json --public-key gate.pem").exits(1);
}
