//! Bad input of every kind: one line with a stable code, the promised exit code, nothing written.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use quorum_attest::Role;
use quorum_schemas::Digest;

use crate::world::World;

const GATE: &str = "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml";

fn with_trust() -> World {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Gate, "gate", 4, &[]);
    world.identity(Role::Worker, "worker", 5, &[("operator", "initech"), ("host", "three")]);
    world.admit("one-verifier");
    world.trust();
    world
}

#[test]
fn options_that_do_not_fit_together_exit_2() {
    let world = with_trust();
    let decide = "gate --work-unit example/work-unit.json --candidate example/good";
    for (line, code) in [
        (format!("{GATE} --evidence x"), "evidence_needs_trust"),
        (format!("{GATE} --key verifier-a.pem"), "key_needs_trust"),
        (format!("{GATE} --decision-key gate.pem"), "key_needs_trust"),
        (format!("{GATE} --trust-min-version 1"), "trust_version_needs_trust"),
        (decide.to_owned(), "plan_missing"),
        (format!("{GATE} --trust trust.json"), "plan_needs_key"),
        (format!("{decide} --trust trust.json --key verifier-a.pem"), "plan_missing"),
        (format!("{GATE} --report xml=r"), "report_malformed"),
        (format!("{GATE} --report markdown="), "report_malformed"),
        (format!("{GATE} --pin example/plan.toml"), "pin_malformed"),
        (format!("{GATE} --pin =sha256:{}", "0".repeat(64)), "pin_malformed"),
    ] {
        world.run(&line).refuses(2, code);
    }
    for line in [
        "gate".to_owned(),
        "gate --work-unit example/work-unit.json --plan example/plan.toml".to_owned(),
        format!("{GATE} --git repo --base main --head x"),
        format!("{GATE} --base main"),
        format!("{GATE} --isolation some"),
        format!("{GATE} --worker w --result r"),
        "gat".to_owned(),
    ] {
        world.run(&line).refuses(2, "usage");
    }
}

#[test]
fn control_files_that_cannot_be_used_exit_2() {
    let mut world = with_trust();
    world.write("empty", "");
    world.write("array.json", "[]");
    world.write("duplicate.json", "{\"id\": 1, \"id\": 2}");
    world.write("binary", [0xff, 0xfe, 0x00]);
    world.write("huge", vec![b' '; 3 << 20]);
    let with = "gate --work-unit example/work-unit.json --candidate example/good --trust trust.json";
    let unit = |file: &str| GATE.replace("example/work-unit.json", file);
    let plan = |file: &str| GATE.replace("example/plan.toml", file);
    for (line, code) in [
        (unit("absent.json"), "cannot_read"),
        (unit("example"), "cannot_read"),
        (unit("empty"), "json_syntax"),
        (unit("duplicate.json"), "json_duplicate_key"),
        (unit("huge"), "control_file_too_large"),
        (unit("array.json"), "schema_invalid"),
        (plan("absent.toml"), "cannot_read"),
        (plan("empty"), "plan_missing_key"),
        (plan("binary"), "plan_syntax"),
        (plan("huge"), "control_file_too_large"),
        (format!("{GATE} --policy absent.toml"), "cannot_read"),
        (format!("{GATE} --policy absent/local"), "cannot_read"),
        (format!("{GATE} --policy ./empty"), "policy_missing_key"),
        (format!("{GATE} --policy two-of-there"), "policy_unknown_name"),
        (with.replace("trust.json", "absent.json"), "cannot_read"),
        (with.replace("trust.json", "array.json"), "malformed"),
        (format!("{with} --policy strict-all"), "policy_not_admitted"),
        (format!("{with} --trust-min-version 2"), "trust_version_too_old"),
        (format!("{with} --evidence absent"), "cannot_read"),
        (format!("{GATE} --trust trust.json --key absent.pem"), "cannot_read"),
        (format!("{GATE} --trust trust.json --key gate.pem"), "key_permissions"),
        (format!("{GATE} --trust trust.json --key worker.pem"), "wrong_role"),
        (format!("{GATE} --trust trust.json --key stranger.pem"), "key_not_in_trust_root"),
        (format!("{with} --decision-key verifier-a.pem"), "wrong_role"),
        (
            GATE.replace("example/plan.toml", "example/plan-b.toml") + " --trust trust.json --key verifier-a.pem",
            "plan_wrong_verifier",
        ),
        (GATE.replace("example/good", "absent"), "cannot_read"),
    ] {
        fs::set_permissions(world.path("gate.pem"), fs::Permissions::from_mode(0o644)).unwrap();
        let stranger = quorum_attest::SigningKey::from_seed(&[77; 32]);
        let path = world.write("stranger.pem", stranger.to_pkcs8_pem().as_bytes());
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        world.run(&format!("{line} --out out --report json=report.json")).refuses(2, code);
        assert!(!world.path("out").exists(), "{line}: something was recorded");
        // The report says the same error; it is whole, and nothing in it looks green.
        let report = quorum_schemas::parse(world.read("report.json").trim_ascii_end()).unwrap();
        let told = report.at(&["error", "code"]).and_then(quorum_schemas::Value::as_str);
        assert_eq!(told, Some(code), "{line}");
        fs::remove_file(world.path("report.json")).unwrap();
    }
    world.admit("local");
    world.trust_between(-7200, -3600);
    world.run(with).refuses(2, "trust_root_expired");
}

#[test]
fn a_plan_for_other_validators_exits_2() {
    let world = World::with_example();
    let text = String::from_utf8(world.read("example/plan.toml")).unwrap();
    world.write("short.toml", text.split("[[check]]\nid = \"independent").next().unwrap());
    let said = world.run(&GATE.replace("example/plan.toml", "short.toml")).refuses(2, "plan_validators_differ");
    assert!(said.stderr.contains("independent-acceptance"), "{}", said.stderr);
    world.write("base.toml", text.replace("allowed_files = [\"answer.json\"]\n", ""));
    world.run(&GATE.replace("example/plan.toml", "base.toml")).refuses(2, "baseline_missing");
    fs::create_dir(world.path("before")).unwrap();
    world.run(&(GATE.replace("example/plan.toml", "base.toml") + " --baseline before")).exits(0);
}

#[test]
fn isolation_none_needs_the_flag_and_a_policy_that_names_it() {
    let world = World::with_example();
    world
        .run(&format!("{GATE} --isolation none --policy example/policy.toml"))
        .refuses(2, "isolation_none_not_admitted");
    world.run(&format!("{GATE} --isolation none --policy local")).exits(0);
    let unit = String::from_utf8(world.read("example/work-unit.json")).unwrap();
    world.write("example/work-unit.json", unit.replace("\"sandbox_required\": false", "\"sandbox_required\": true"));
    world.run(&format!("{GATE} --isolation none --policy local")).refuses(2, "isolation_none_not_admitted");
}

/// Design section 7: the process that signs never runs what could take its key.
#[test]
fn a_key_and_commands_without_isolation_exit_2() {
    let mut world = with_trust();
    world.admit("local");
    world.trust();
    world
        .run("manifest --work-unit example/work-unit.json --candidate example/good --worker w -o manifest.json")
        .exits(0);
    let engine = String::from_utf8(world.read("example/plan-c.toml")).unwrap().replace("verifier-c", "verifier-a");
    world.write("example/engine.toml", engine);
    let gate = GATE.replace("example/plan.toml", "example/engine.toml");
    let key = "--trust trust.json --key verifier-a.pem";
    world.run(&format!("{gate} {key} --policy local --isolation none")).refuses(2, "key_needs_isolation");
    let verify = "verify --work-unit example/work-unit.json --result manifest.json --candidate example/good --isolation none --out a";
    world.run(&format!("{verify} {key} --plan example/engine.toml")).refuses(2, "key_needs_isolation");
    // Without a key in the process, and with nothing but our own code, there is nothing to protect.
    world.run(&format!("{verify} --unsigned --plan example/engine.toml")).exits(0);
    world.run(&format!("{} {key} --policy local --isolation none", GATE)).exits(0);
}

#[test]
fn the_candidate_must_not_control_the_gate() {
    let mut world = with_trust();
    world.admit("local");
    world.trust();
    for name in ["work-unit.json", "plan.toml", "policy.toml"] {
        world.write(&format!("example/good/{name}"), world.read(&format!("example/{name}")));
    }
    world.copy(&world.path("trust.json"), "example/good/trust.json");
    let key = world.copy(&world.path("verifier-a.pem"), "example/good/key.pem");
    fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
    world.write("example/good/evidence.dsse.json", "{}");
    symlink("example/good/plan.toml", world.path("link.toml")).unwrap();
    symlink("example/good", world.path("folder")).unwrap();
    symlink("../plan.toml", world.path("example/good/out.toml")).unwrap();
    let with = "gate --work-unit example/work-unit.json --candidate example/good --trust trust.json";
    for line in [
        GATE.replace("example/work-unit.json", "example/good/work-unit.json"),
        GATE.replace("example/plan.toml", "example/good/plan.toml"),
        GATE.replace("example/plan.toml", "example/../example/good/plan.toml"),
        GATE.replace("example/plan.toml", "link.toml"),
        GATE.replace("example/plan.toml", "folder/plan.toml"),
        // A link of the candidate that leads out is still the candidate's choice.
        GATE.replace("example/plan.toml", "example/good/out.toml"),
        GATE.replace("example/plan.toml", "folder/../plan.toml"),
        format!("{GATE} --policy example/good/policy.toml"),
        format!("{GATE} --baseline example/good"),
        format!("{GATE} --out example/good/out"),
        format!("{GATE} --report json=example/good/report.json"),
        format!("{GATE} --pin example/good/plan.toml=sha256:{}", "0".repeat(64)),
        with.replace("trust.json", "example/good/trust.json"),
        format!("{with} --evidence example/good/evidence.dsse.json"),
        format!("{GATE} --trust trust.json --key example/good/key.pem"),
    ] {
        world.run(&line).refuses(2, "control_file_in_candidate");
    }
    // One file as the candidate: that file, and no other of its folder.
    let one = "gate --work-unit example/work-unit.json --candidate example/wrong/answer.json --plan example/plan.toml";
    world.run(one).exits(1);
    world.run(&one.replace("example/plan.toml", "example/wrong/answer.json")).refuses(2, "control_file_in_candidate");
}

#[test]
fn a_single_file_is_a_candidate() {
    let world = World::with_example();
    world.run(&GATE.replace("example/good", "example/good/answer.json")).exits(0);
    world.write("other.json", world.read("example/good/answer.json"));
    // Its name counts: the plan allows `answer.json` only.
    world.run(&GATE.replace("example/good", "other.json")).exits(1);
}

#[test]
fn pins_tie_control_files_to_their_digests() {
    let world = World::with_example();
    let digest = Digest::of(&world.read("example/plan.toml"));
    world.run(&format!("{GATE} --pin example/plan.toml={digest}")).exits(0);
    world.run(&format!("{GATE} --pin ./example/../example/plan.toml={digest}")).exits(0);
    world.run(&format!("{GATE} --pin example/work-unit.json={digest}")).refuses(2, "pin_mismatch");
    world.run(&format!("{GATE} --pin example/plan-b.toml={digest}")).refuses(2, "pin_unused");
    world
        .run(&format!("{GATE} --pin example/plan.toml={digest} --pin example/./plan.toml={digest}"))
        .refuses(2, "pin_twice");
}

#[test]
fn the_output_directory_is_new_or_empty() {
    let world = World::with_example();
    world.write("full/file", "x");
    world.run(&format!("{GATE} --out full")).refuses(2, "out_not_empty");
    world.run(&format!("{GATE} --out full/file")).refuses(2, "out_not_empty");
    fs::create_dir(world.path("empty")).unwrap();
    world.run(&format!("{GATE} --out empty")).exits(0);
    world.run("audit empty").exits(0);
    world.run(&format!("{GATE} --out deep/er/new")).exits(0);
    world.run("audit deep/er/new").exits(0);
    // A folder that cannot be written: nothing is left behind, and the exit code is that of infrastructure.
    world.run(&format!("{GATE} --out /proc/quorum")).refuses(5, "cannot_write");
    assert!(!world.files("deep").iter().any(|name| name.contains(".quorum-out")));
}

#[test]
fn an_error_says_its_code_once() {
    let world = World::with_example();
    world.write("plan.toml", "[[check]");
    world.write("policy.toml", "id = 1");
    world.write("bom.json", "\u{feff}{}");
    for (line, code) in [
        (GATE.replace("example/plan.toml", "plan.toml"), "plan_syntax"),
        (format!("{GATE} --policy nobodys"), "policy_unknown_name"),
        (format!("{GATE} --policy policy.toml"), "policy_missing_key"),
        (GATE.replace("example/work-unit.json", "bom.json"), "json_bom"),
        ("decide --work-unit example/work-unit.json --result r --trust bom.json".to_owned(), "malformed"),
    ] {
        let said = world.run(&line).refuses(2, code);
        assert_eq!(said.stderr.matches(code).count(), 1, "{}", said.stderr);
    }
}

#[test]
fn a_closed_stdout_exits_5() {
    let world = World::with_example();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = world.command().args(GATE.split(' ')).stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(5));
}

#[test]
fn documents_of_the_worker_that_are_refused_exit_6() {
    let world = with_trust();
    world
        .run("manifest --work-unit example/work-unit.json --candidate example/good --worker worker -o good.json")
        .exits(0);
    let manifest = String::from_utf8(world.read("good.json")).unwrap();
    let gate = format!("{GATE} --result result.json");
    for (name, text, code, place) in [
        ("not JSON", "nonsense".to_owned(), "json_syntax", ""),
        ("empty", String::new(), "json_syntax", ""),
        (
            "another work unit",
            manifest.replace("examples/json-answer", "examples/json-onswer"),
            "idk_h06",
            "/work_unit_id",
        ),
        ("an unknown member", manifest.replacen('{', "{\"extra\":1,", 1), "schema_invalid", "/extra"),
        ("authority", manifest.replacen('{', "{\"verified\":true,", 1), "idk_h03", "/verified"),
        ("a validator left out", manifest.replace("[\"artifact-digest\",", "["), "idk_h25", "/verification_request"),
    ] {
        world.write("result.json", text);
        let said = world.run(&gate).refuses(6, code);
        assert!(said.stderr.contains(place), "{name}: {}", said.stderr);
    }
    // The worker's own document may lie in the worker's tree: what is there is not waited for, and is no fault of ours.
    world.write("result.json", vec![b' '; 3 << 20]);
    world.run(&gate).refuses(6, "result_too_large");
    let made = std::process::Command::new("mkfifo").arg(world.path("example/good/pipe")).status().unwrap();
    assert!(made.success());
    world.run(&gate.replace("result.json", "example/good/pipe")).refuses(6, "result_not_a_file");
    fs::remove_file(world.path("example/good/pipe")).unwrap();
    world.run(&gate.replace("result.json", "absent.json")).refuses(2, "cannot_read");
    world.run(&gate.replace("result.json", "example")).refuses(2, "cannot_read");
    // A work unit that asks for a worker who is somebody, and a manifest that nobody signed.
    world.write("result.json", &manifest);
    let unit = String::from_utf8(world.read("example/work-unit.json")).unwrap();
    world.write("example/work-unit.json", unit.replace("\"untrusted\"", "\"identified\""));
    world.run(GATE).refuses(6, "worker_unauthenticated");
}

#[test]
fn a_signed_manifest_is_its_workers() {
    let mut world = with_trust();
    world.identity(Role::Worker, "other", 6, &[]);
    world.trust();
    let make = "manifest --work-unit example/work-unit.json --candidate example/good";
    world.run(&format!("{make} --worker worker --key worker.pem -o signed.json")).exits(0);
    world.run(&format!("{make} --worker worker --key other.pem -o lent.json")).exits(0);
    world.run(&format!("{make} --worker verifier-a --key verifier-a.pem -o role.json")).exits(0);
    world.run(&format!("{GATE} --result signed.json")).refuses(2, "signed_document_needs_trust");
    let gate = format!("{GATE} --trust trust.json --key verifier-a.pem --out out");
    world.run(&format!("{gate} --result lent.json")).refuses(6, "worker_mismatch");
    world.run(&format!("{gate} --result role.json")).refuses(6, "wrong_role");
    // The worker is known, so it shares nothing with the verifier: one independent voice.
    world.run(&format!("{gate} --result signed.json")).exits(0);
    assert!(world.files("out").contains(&"result-manifest.dsse.json".to_owned()));
    world.run("audit out").exits(0);
    // The same manifest, unsigned: every attribute of the worker is unknown, and so shared with nobody that is known.
    let strict = "schema_version = \"0.1\"\nid = \"signed\"\nrequire_signed_worker = true\nindependent_on = []\n";
    world.write("signed.toml", strict);
    world.admit("signed.toml");
    world.trust();
    world.run(&format!("{make} --worker worker -o bare.json")).exits(0);
    world
        .run(&format!("{GATE} --trust trust.json --key verifier-a.pem --policy signed.toml --result bare.json"))
        .refuses(6, "worker_unauthenticated");
}

#[test]
fn a_candidate_that_no_bundle_can_hold_exits_6() {
    let world = World::with_example();
    symlink("/etc/passwd", world.path("example/good/passwd")).unwrap();
    world.run(GATE).refuses(6, "candidate_unusable");
}
