//! `quorum audit`: a record that was touched anywhere is told apart, and the touched file is named.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use quorum_attest::Role;
use quorum_gate::{AuditOutcome, audit_files};

use crate::world::World;

const GATE: &str =
    "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml --out out";

/// A record whose decision is signed (by the gate's own key).
fn signed() -> World {
    let world = World::with_example();
    world.run(GATE).exits(0);
    world
}

/// A record whose decision nobody signed, with the evidence of two verifiers.
fn unsigned() -> World {
    unsigned_of("good", 0)
}

fn unsigned_of(candidate: &str, exit: i32) -> World {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Verifier, "verifier-b", 3, &[("operator", "globex"), ("host", "two")]);
    world.write("any.toml", "schema_version = \"0.1\"\nid = \"any\"\nquorum = 2\nindependent_on = []\n");
    world.admit("any.toml");
    world.trust();
    world
        .run(&format!(
            "manifest --work-unit example/work-unit.json --candidate example/{candidate} --worker w -o manifest.json"
        ))
        .exits(0);
    let common = format!(
        "--work-unit example/work-unit.json --result manifest.json --candidate example/{candidate} --trust trust.json"
    );
    world.run(&format!("verify {common} --plan example/plan-b.toml --key verifier-b.pem --out b")).exits(0);
    let gate = format!(
        "gate {common} --plan example/plan.toml --key verifier-a.pem --policy any.toml --evidence b/evidence.dsse.json --out out"
    );
    world.run(&gate).exits(exit);
    world
}

fn record(world: &World) -> BTreeMap<String, Vec<u8>> {
    world.files("out").into_iter().map(|name| (name.clone(), world.read(&format!("out/{name}")))).collect()
}

#[test]
fn a_record_holds_exactly_the_files_of_the_design() {
    let world = signed();
    let names: Vec<String> = world
        .files("out")
        .into_iter()
        .map(|name| name.split('/').map(|part| if part.len() > 60 { "*" } else { part }).collect::<Vec<_>>().join("/"))
        .collect();
    assert_eq!(
        names,
        [
            "bundles/*",
            "decision.dsse.json",
            "evidence/*",
            "facts.json",
            "handoff.json",
            "plan.json",
            "policy.toml",
            "result-manifest.json",
            "trust.json",
            "vsa.dsse.json",
            "work-unit.json"
        ]
    );
    let unsigned = unsigned().files("out");
    for name in ["decision.json", "vsa.json"] {
        assert!(unsigned.contains(&name.to_owned()), "{name} in {unsigned:?}");
    }
}

/// Every byte of small files; of larger ones enough that no window of 31 bytes is left out. One bit or all of them.
fn flip_every_byte(world: &World) {
    let files = record(world);
    assert!(matches!(audit_files(&files).unwrap(), AuditOutcome::Same(_)));
    let decision = files.keys().find(|name| name.starts_with("decision.")).unwrap().clone();
    for (name, bytes) in &files {
        let step = if bytes.len() < 400 { 1 } else { 31 };
        for (turn, at) in (0..bytes.len()).step_by(step).chain([bytes.len() - 1]).enumerate() {
            let mut touched = files.clone();
            let mask = [0x01, 0x20, 0xff][turn % 3];
            touched.get_mut(name).unwrap()[at] ^= mask;
            let outcome = audit_files(&touched).unwrap();
            let AuditOutcome::Differs(difference) = outcome else {
                panic!("{name} byte {at} ^ {mask:#x} went unseen");
            };
            let named = difference.file == *name
                // Nobody signed this decision: where it and another file disagree, both are named.
                || (*name == decision && decision == "decision.json" && difference.message.contains("decision.json"));
            assert!(named, "{name} byte {at} ^ {mask:#x}: named {}: {}", difference.file, difference.message);
        }
    }
}

#[test]
fn flipping_any_byte_of_a_signed_record_is_seen_and_named() {
    flip_every_byte(&signed());
}

#[test]
fn flipping_any_byte_of_an_unsigned_record_is_seen_and_named() {
    flip_every_byte(&unsigned());
}

#[test]
fn the_command_exits_1_and_names_each_touched_file() {
    let world = signed();
    let same = world.run("audit out").exits(0);
    assert!(same.stdout.starts_with("same: accept_candidate\n"), "{}", same.stdout);
    assert!(same.stdout.contains("completeness not checked"), "{}", same.stdout);
    for (name, bytes) in record(&world) {
        let path = world.path(&format!("out/{name}"));
        let mut touched = bytes.clone();
        touched[bytes.len() / 2] ^= 1;
        fs::write(&path, &touched).unwrap();
        let said = world.run("audit out").exits(1);
        assert!(said.stdout.starts_with(&format!("differs: {name}: ")), "{name}: {}", said.stdout);
        let json = world.run("audit out --json").exits(1).json();
        assert_eq!(json.get("file").and_then(quorum_schemas::Value::as_str), Some(name.as_str()));
        fs::write(&path, bytes).unwrap();
    }
    world.run("audit out").exits(0);
}

#[test]
fn an_extra_a_missing_and_an_empty_file_differ() {
    let world = signed();
    for (name, bytes) in record(&world) {
        let path = world.path(&format!("out/{name}"));
        fs::remove_file(&path).unwrap();
        let said = world.run("audit out");
        if name.starts_with("decision.") {
            said.refuses(2, "not_a_record");
        } else {
            let said = said.exits(1);
            assert!(said.stdout.starts_with(&format!("differs: {name}: ")), "{name}: {}", said.stdout);
        }
        fs::write(&path, b"").unwrap();
        let said = world.run("audit out").exits(1);
        assert!(said.stdout.starts_with(&format!("differs: {name}: ")), "{name}: {}", said.stdout);
        fs::write(&path, bytes).unwrap();
    }
    for extra in ["note.txt", "evidence/note.txt", "deep/er/note.txt", "decision.json"] {
        world.write(&format!("out/{extra}"), "x");
        let said = world.run("audit out").exits(1);
        assert!(said.stdout.starts_with(&format!("differs: {extra}: ")), "{extra}: {}", said.stdout);
        fs::remove_file(world.path(&format!("out/{extra}"))).unwrap();
    }
    symlink("policy.toml", world.path("out/link")).unwrap();
    assert!(world.run("audit out").exits(1).stdout.starts_with("differs: link: "));
}

#[test]
fn no_record_at_all_exits_2() {
    let world = World::new();
    world.run("audit absent").refuses(2, "cannot_read");
    world.write("empty/readme.txt", "x");
    world.run("audit empty").refuses(2, "not_a_record");
}

#[test]
fn another_trust_root_than_the_readers_differs() {
    let mut world = signed();
    world.run("audit out --trust out/trust.json").exits(0);
    world.identity(Role::Gate, "someone", 9, &[]);
    world.trust();
    let said = world.run("audit out --trust trust.json").exits(1);
    assert!(said.stdout.starts_with("differs: trust.json: "), "{}", said.stdout);
}

/// Somebody who holds the directory may also rewrite the digests of an unsigned decision: recomputing tells.
#[test]
fn a_forged_recommendation_is_recomputed() {
    let mut files = record(&unsigned_of("wrong", 1));
    let honest = files["decision.json"].clone();
    assert!(matches!(audit_files(&files).unwrap(), AuditOutcome::Same(_)));
    let forged = String::from_utf8(honest).unwrap().replace("reject_candidate", "accept_candidate");
    files.insert("decision.json".into(), forged.into_bytes());
    let AuditOutcome::Differs(difference) = audit_files(&files).unwrap() else { panic!("the forgery went unseen") };
    assert_eq!(difference.file, "decision.json");
    assert!(difference.message.contains("/recommendation"), "{}", difference.message);
}
