//! `quorum gate` with upstream's own fixtures, as the issue asks: each exit code by a document that upstream published.

use quorum_attest::Role;
use quorum_schemas::{Value, c1, parse};

use crate::world::{World, upstream};

/// A plan whose required JSON is the fixture's right answer.
const PLAN: &str = r#"schema_version = "0.1"
id = "test/local-smoke"
[verifier]
id = "VERIFIER"
[[check]]
id = "artifact-digest"
kind = "artifact_integrity"
[[check]]
id = "candidate-scope"
kind = "scope"
allowed_files = ["candidate.json"]
[[check]]
id = "independent-acceptance"
kind = "required_json"
required = { schema_version = "0.1", answer = 42, status = "ready" }
"#;

/// The world with upstream's files, and what `gate` needs of them.
fn world() -> Option<World> {
    let upstream = upstream()?;
    let world = World::new();
    world.copy(&upstream.join("work-units/local-verifier-smoke.work-unit.json"), "work-unit.json");
    world.copy(&upstream.join("verifier"), "verifier");
    world.copy(&upstream.join("results"), "results");
    world.write("plan.toml", PLAN.replace("VERIFIER", "verifier-a"));
    Some(world)
}

fn gate(case: &str) -> String {
    format!(
        "gate --work-unit work-unit.json --result verifier/{case}/result-manifest.json \
         --candidate verifier/{case}/candidate-root"
    )
}

/// Panels of two verifiers of different operators and hosts.
fn with_panel(world: &mut World) {
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Verifier, "verifier-b", 3, &[("operator", "globex"), ("host", "two")]);
    // Upstream's manifests are unsigned, so their worker shares every unknown: the policy names no axis.
    world.write(
        "two-of-three.toml",
        "schema_version = \"0.1\"\nid = \"two\"\nquorum = 2\npanel = 3\nindependent_on = [\"operator\", \"host\"]\n",
    );
    world.admit("two-of-three.toml");
    world.admit("two-of-three");
    world.trust();
}

#[test]
fn good_candidate_exits_0() {
    let Some(world) = world() else { return };
    let said = world.run(&format!("{} --plan plan.toml", gate("good"))).exits(0);
    assert_eq!(said.stdout.lines().next(), Some("1 local verifier, not independent of this machine"));
    assert!(said.stdout.contains("accept_candidate"));
}

#[test]
fn bad_candidate_exits_1() {
    let Some(world) = world() else { return };
    let said = world.run(&format!("{} --plan plan.toml", gate("bad"))).exits(1);
    assert!(said.stdout.contains("reject_candidate"), "{}", said.stdout);
    assert!(said.stdout.contains("independent-acceptance"), "{}", said.stdout);
}

#[test]
fn self_accepting_manifest_exits_6_and_names_the_place() {
    let Some(world) = world() else { return };
    let said = world.run(
        "gate --work-unit work-unit.json --result results/invalid-self-acceptance.result-manifest.json \
         --candidate verifier/good/candidate-root --plan plan.toml --out out",
    );
    let said = said.refuses(6, "idk_h03");
    assert!(said.stderr.contains("/accepted"), "{}", said.stderr);
    assert!(!world.path("out").exists(), "nothing is written on a refusal");
}

#[test]
fn one_voice_of_two_exits_3() {
    let Some(mut world) = world() else { return };
    with_panel(&mut world);
    let line =
        format!("{} --plan plan.toml --policy two-of-three --trust trust.json --key verifier-a.pem", gate("good"));
    let said = world.run(&line).exits(3);
    assert!(said.stdout.contains("insufficient_evidence"), "{}", said.stdout);
    assert!(said.stdout.contains("missing: "), "{}", said.stdout);
}

#[test]
fn support_and_objection_exit_4() {
    let Some(mut world) = world() else { return };
    with_panel(&mut world);
    // Another verifier, whose plan asks for another answer, objects to the same candidate.
    world.write("plan-b.toml", PLAN.replace("VERIFIER", "verifier-b").replace("42", "43"));
    let verify = "verify --work-unit work-unit.json --result verifier/good/result-manifest.json \
                  --candidate verifier/good/candidate-root --plan plan-b.toml --key verifier-b.pem --trust trust.json --out b";
    let said = world.run(verify).exits(0);
    assert_eq!(said.stdout.lines().last(), Some("verdict rejects"));
    // An unsigned worker shares every unknown attribute; a policy without axes lets the one voice support.
    world.write("any.toml", "schema_version = \"0.1\"\nid = \"any\"\nquorum = 1\npanel = 2\nindependent_on = []\n");
    world.admit("any.toml");
    world.trust();
    let line = format!(
        "{} --plan plan.toml --policy any.toml --trust trust.json --key verifier-a.pem --evidence b/evidence.dsse.json",
        gate("good")
    );
    let said = world.run(&line).exits(4);
    assert!(said.stdout.contains("escalate: 1 voice supports and 1 key objects"), "{}", said.stdout);
}

#[test]
fn broken_flag_or_policy_exits_2() {
    let Some(world) = world() else { return };
    let gate = gate("good");
    world.run(&format!("{gate} --plan plan.toml --polixy local")).exits(2);
    world.write("policy.toml", "schema_version = \"0.1\"\nid = \"typo\"\nquorom = 1\n");
    let said = world.run(&format!("{gate} --plan plan.toml --policy policy.toml")).refuses(2, "policy_unknown_key");
    assert!(said.stderr.contains("did you mean `quorum`"), "{}", said.stderr);
    let said = world.run(&format!("{gate} --plan plan.toml --policy locl")).refuses(2, "policy_unknown_name");
    assert!(said.stderr.contains("did you mean `local`"), "{}", said.stderr);
}

#[test]
fn the_derived_handoff_is_upstreams_golden_one() {
    let Some(world) = world() else { return };
    let golden = parse(&quorum_schemas::upstream::read("idkmesh/golden-vectors.json").unwrap()).unwrap();
    let golden = &golden.get("handoffs").and_then(Value::as_array).unwrap()[0];
    assert_eq!(golden.get("result_manifest").and_then(Value::as_str), Some("verifier/good/result-manifest.json"));
    let line = "handoff derive --work-unit work-unit.json --result verifier/good/result-manifest.json";
    let said = world.run(&format!("{line} -o handoff.json")).exits(0);
    assert_eq!(said.stdout, "");
    assert_eq!(world.read("handoff.json"), c1(golden.get("handoff").unwrap()));
    assert_eq!(world.run(line).exits(0).stdout.as_bytes(), world.read("handoff.json"));
}
