//! `quorum policy`: warnings, explanations, tables of cases, templates, tlog-policy files.

use std::path::Path;

use quorum_attest::Role;
use quorum_policies::Policy;
use quorum_schemas::{SchemaName, Value, validate};

use crate::world::{World, normal};

fn examples() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap()
}

/// A trust root with two verifiers of one operator, which admits nothing that these tests write.
fn world() -> World {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "v1", 11, &[("operator", "acme"), ("host", "h1")]);
    world.identity(Role::Verifier, "v2", 12, &[("operator", "acme"), ("host", "h2")]);
    world.identity(Role::Verifier, "v3", 13, &[("operator", "globex"), ("host", "h2")]);
    world.admit("two-of-three");
    world.trust();
    world
}

const GROUPS: &str = "schema_version = \"0.1\"\nid = \"groups\"\npanel = 3\nfraction = \"1/1\"\n\
                      groups = { k = 2, of = [\"globex\", \"initech\"] }\n";

#[test]
fn a_policy_is_checked_by_itself_and_with_a_trust_root() {
    let world = world();
    let said = world.run("policy check two-of-three --strict").exits(0);
    assert_eq!(said.stdout.lines().count(), 1, "nothing to warn of: {}", said.stdout);
    let said = world.run("policy check two-of-three --trust trust.json").exits(0);
    insta::assert_snapshot!("policy_check_trust", normal(&said.stdout));
    world.run("policy check two-of-three --trust trust.json --strict").exits(0);
    world.write("groups.toml", GROUPS);
    world.run("policy check groups.toml --trust trust.json --strict").exits(1);
    let said = world.run("policy check groups.toml --trust trust.json --work-unit example/work-unit.json").exits(0);
    insta::assert_snapshot!("policy_check_groups", normal(&said.stdout));
    let json = world.run("--json policy check groups.toml --trust trust.json").exits(0).json();
    validate(SchemaName::OutputPolicyCheck, &json).unwrap();
    world.write(
        "loose.toml",
        "schema_version = \"0.1\"\nid = \"loose\"\nquorum = 2\ntolerate = 2\nreject_quorum = 3\nindependent_on = []\n\
         min_isolation = \"none\"\ngroups = { k = 3, of = [\"a\", \"b\", \"c\"] }\n",
    );
    let said = world.run("policy check loose.toml").exits(0);
    insta::assert_snapshot!("policy_check_loose", normal(&said.stdout));
    world.write("bad.toml", "schema_version = \"0.1\"\nid = \"x\"\nquorum = 0\n");
    let json = world.run("--json policy check bad.toml").exits(1).json();
    validate(SchemaName::OutputPolicyCheck, &json).unwrap();
    assert_eq!(text(&json, "code"), "policy_value");
    world.run("policy check two-of-tree").refuses(2, "policy_unknown_name");
    world.run("policy check absent.toml").refuses(2, "cannot_read");
    world.run("policy check two-of-three --trust example/work-unit.json").exits(2);
}

#[test]
fn a_policy_is_explained_alone_with_a_work_unit_and_for_a_case() {
    let world = world();
    let alone = world.run("policy explain two-of-three").exits(0);
    insta::assert_snapshot!("policy_explain_alone", normal(&alone.stdout));
    let joined = world.run("policy explain two-of-three --work-unit example/work-unit.json").exits(0);
    insta::assert_snapshot!("policy_explain_work_unit", normal(&joined.stdout));
    world.copy(&examples(), "cases");
    let first = world.run("policy explain --case cases/two-of-three.cases.toml").exits(0);
    assert!(first.stdout.contains("conclusion: accept_candidate by quorum_met"), "{}", first.stdout);
    let case = ["policy", "explain", "--case", "cases/two-of-three.cases.toml", "--name", "one voice is not enough"];
    let named = world.quorum(case).exits(0);
    assert!(named.stdout.contains("conclusion: insufficient_evidence by not_enough"), "{}", named.stdout);
    let other = world.quorum([&["policy", "explain", "one-verifier"], &case[2..]].concat()).exits(0);
    assert!(other.stdout.contains("conclusion: accept_candidate by quorum_met"), "{}", other.stdout);
    for line in ["policy explain two-of-three", "policy explain --case cases/local.cases.toml"] {
        let json = world.run(&format!("--json {line}")).exits(0).json();
        validate(SchemaName::PolicyExplain, &json).unwrap();
    }
    world.run("policy explain --case cases/local.cases.toml --name nothing").refuses(2, "cases_value");
    world.run("policy explain").exits(2);
    world.run("policy explain local --record r").exits(2);
}

#[test]
fn a_record_is_explained_as_it_was_decided_or_not_at_all() {
    let world = World::with_example();
    let gate = "gate --work-unit example/work-unit.json --plan example/plan.toml --candidate";
    for (candidate, code, words) in [
        ("good", 0, "conclusion: accept_candidate by quorum_met"),
        ("wrong", 1, "conclusion: reject_candidate by reject_quorum_met"),
    ] {
        world.run(&format!("{gate} example/{candidate} --out {candidate}")).exits(code);
        let said = world.run(&format!("policy explain --record {candidate}")).exits(0);
        assert!(said.stdout.contains(words), "{}", said.stdout);
        let json = world.run(&format!("--json policy explain --record {candidate}")).exits(0).json();
        validate(SchemaName::PolicyExplain, &json).unwrap();
    }
    let policy = [world.read("good/policy.toml"), b"\n".to_vec()].concat();
    world.write("good/policy.toml", policy);
    world.run("policy explain --record good").refuses(2, "record_differs");
    world.run("policy explain --record example").refuses(2, "not_a_record");
}

#[test]
fn the_shipped_cases_hold_and_a_wrong_one_is_shown() {
    let world = World::new();
    world.copy(&examples(), "cases");
    for name in Policy::shipped_names() {
        let said = world.run(&format!("policy test cases/{name}.cases.toml")).exits(0);
        assert!(said.stdout.trim_end().ends_with("as expected, 0 not"), "{}", said.stdout);
        let json = world.run(&format!("--json policy test cases/{name}.cases.toml")).exits(0).json();
        validate(SchemaName::OutputPolicyTest, &json).unwrap();
    }
    let said = world.run("policy test cases/local.cases.toml").exits(0);
    insta::assert_snapshot!("policy_test_local", normal(&said.stdout));
    let wrong = String::from_utf8(world.read("cases/local.cases.toml")).unwrap();
    let wrong = wrong.replace("row = \"not_enough\"", "row = \"quorum_met\"\nrefused = [\"here too_old\"]");
    world.write("cases/wrong.cases.toml", wrong);
    let said = world.run("policy test cases/wrong.cases.toml").exits(1);
    insta::assert_snapshot!("policy_test_wrong", normal(&said.stdout));
    let json = world.run("--json policy test cases/wrong.cases.toml").exits(1).json();
    validate(SchemaName::OutputPolicyTest, &json).unwrap();
    world.run("policy test cases/two-of-three.cases.toml --policy one-verifier").exits(1);
    world.write("bad.cases.toml", "schema_version = \"0.1\"\nverifiers = {}\n\n[[case]]\nname = 1\n");
    let said = world.run("policy test bad.cases.toml").refuses(2, "cases_syntax");
    assert!(said.stderr.contains("line 5"), "{}", said.stderr);
    world.write(
        "none.json",
        "{\"schema_version\": \"0.1\", \"verifiers\": {}, \"case\": [{\"name\": \"n\", \"expect\": \"escalate\"}]}",
    );
    world.run("policy test none.json").refuses(2, "policy_not_named");
    world.run("policy test none.json --policy local").exits(1);
    world.run("policy test absent.toml").refuses(2, "cannot_read");
}

#[test]
fn every_template_holds_its_own_cases_and_is_never_overwritten() {
    let world = World::new();
    for name in Policy::shipped_names() {
        world.run(&format!("policy init {name} -o {name}.toml")).exits(0);
        let cases = format!("{name}.cases.toml");
        let held = world.run(&format!("policy test {cases}")).exits(0);
        assert!(held.stdout.starts_with(&format!("policy `my-{name}`")), "{}", held.stdout);
        let (own, shipped) = (world.read(&format!("{name}.toml")), Policy::shipped(name).unwrap());
        let (own, shipped) = (Policy::parse(&own).unwrap(), Policy::parse(shipped.as_bytes()).unwrap());
        assert_eq!(own.to_value().get("independent_on"), shipped.to_value().get("independent_on"));
        assert_eq!((own.quorum, own.panel, own.fraction), (shipped.quorum, shipped.panel, shipped.fraction));
    }
    insta::assert_snapshot!("policy_template", String::from_utf8(world.read("two-of-three.toml")).unwrap());
    let before = world.files(".");
    world.run("policy init -o local.toml").refuses(2, "policy_exists");
    std::fs::remove_file(world.path("local.toml")).unwrap();
    world.run("policy init -o local.toml").refuses(2, "policy_exists");
    assert!(!world.path("local.toml").exists(), "nothing half written");
    assert_eq!(before.len(), world.files(".").len() + 1);
    world.run("policy init two-of-tree -o new.toml").refuses(2, "policy_unknown_name");
    let json = world.run("--json policy init -o new.toml").exits(0).json();
    validate(SchemaName::OutputFiles, &json).unwrap();
}

#[test]
fn groups_go_out_as_tlog_policy_and_come_back() {
    let mut world = World::new();
    world.identity(Role::Verifier, "v1", 11, &[("operator", "acme")]);
    world.identity(Role::Verifier, "v2", 12, &[("operator", "globex")]);
    world.identity(Role::Verifier, "v3", 13, &[("operator", "initech")]);
    world.trust();
    let groups = "{ k = 2, of = [\"acme\", { k = 1, of = [\"globex\", \"initech\"] }] }";
    world.write("p.toml", format!("schema_version = \"0.1\"\nid = \"p\"\npanel = 3\ngroups = {groups}\n"));
    world.run("policy export-tlog p.toml --trust trust.json").refuses(2, "tlog_no_twin");
    let export = "policy export-tlog p.toml --trust trust.json --leave-out rest";
    let said = world.run(export).exits(0);
    insta::assert_snapshot!("policy_tlog", said.stdout);
    world.write("p.policy", &said.stdout);
    let back = world.run("policy import-tlog p.policy --trust trust.json --id p").exits(0);
    let back = Policy::parse(back.stdout.as_bytes()).unwrap();
    assert_eq!(back.groups, Policy::parse(&world.read("p.toml")).unwrap().groups);
    let said = world.run("policy import-tlog p.policy").refuses(2, "tlog_no_twin");
    assert!(said.stderr.contains("--leave-out keys"), "{}", said.stderr);
    let said = world.run("policy import-tlog p.policy --leave-out keys,urls -o out.toml").exits(0);
    assert_eq!((said.stdout.as_str(), said.stderr.lines().count()), ("", 3), "three keys are left out");
    world.run("policy check out.toml").exits(0);
    let json = world.run(&format!("--json {export}")).exits(0).json();
    validate(SchemaName::OutputText, &json).unwrap();
    let json = world.run(&format!("--json {export} -o again.policy")).exits(0).json();
    validate(SchemaName::OutputWritten, &json).unwrap();
    world.write("bad.policy", "quorum nobody\n");
    world.run("policy import-tlog bad.policy").refuses(2, "tlog_syntax");
    world.run("policy import-tlog p.policy --leave-out rest").exits(2);
}
