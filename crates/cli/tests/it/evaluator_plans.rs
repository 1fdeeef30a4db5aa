//! EvaluatorPlans 0.1 to 0.4 on the command line: the matrix by exit code, upstream's own fixtures, and the rules that
//! whoever opens files keeps.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use quorum_attest::Role;
use quorum_schemas::{Digest, Value, parse};
use serde_json::json;

use crate::world::{World, upstream};

/// The shipped fixtures as `plans/`.
fn world() -> World {
    let world = World::new();
    world.copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/evaluator-plans"), "plans");
    world
}

fn patch(name: &str) -> String {
    format!(
        "--work-unit plans/patch/work-unit.json --result plans/patch/{name}/result-manifest.json \
         --candidate plans/patch/{name}/candidate"
    )
}

#[test]
fn the_documented_matrix_by_exit_code() {
    let world = world();
    for (folder, name, plan, code) in [
        ("json", "good", "plan-v0.1", 0),
        ("json", "python-equal", "plan-v0.1", 0),
        ("json", "wrong", "plan-v0.1", 1),
        ("patch", "good", "plan-v0.2", 0),
        ("patch", "wrong-semantic", "plan-v0.2", 1),
        ("patch", "forbidden", "plan-v0.2", 1),
        ("patch", "forged-digest", "plan-v0.2", 1),
        ("patch", "good", "plan-v0.2-fragment", 1),
        ("patch", "good", "plan-v0.3", 0),
        ("patch", "good", "plan-v0.4", 0),
        ("patch", "decoy", "plan-v0.3", 0),
        ("patch", "decoy", "plan-v0.4", 1),
    ] {
        let line = format!(
            "gate --work-unit plans/{folder}/work-unit.json --result plans/{folder}/{name}/result-manifest.json \
             --candidate plans/{folder}/{name}/candidate --plan plans/{folder}/{plan}.json"
        );
        world.run(&line).exits(code);
    }
}

#[test]
fn binding_drift_is_refused_before_any_verdict() {
    let world = world();
    let plan = String::from_utf8(world.read("plans/patch/plan-v0.4.json")).unwrap();
    let digest =
        parse(plan.as_bytes()).unwrap().at(&["binding", "work_unit_digest"]).unwrap().as_str().unwrap().to_owned();
    world.write("drifted.json", plan.replace(&digest, &format!("sha256:{}", "0".repeat(64))));
    world.run(&format!("gate {} --plan drifted.json --out out", patch("good"))).refuses(2, "idk_e04");
    assert!(!world.path("out").exists());
}

#[test]
fn e11_a_plan_inside_the_candidate() {
    let world = world();
    for (from, to) in
        [("plan-v0.4.json", "good/candidate/plan.json"), ("plan-v0.2.json", "good/candidate/deep/plan.json")]
    {
        world.copy(&world.path(&format!("plans/patch/{from}")), &format!("plans/patch/{to}"));
        for command in ["gate", "verify --unsigned --out out"] {
            let line = format!("{command} {} --plan plans/patch/{to}", patch("good"));
            world.run(&line).refuses(2, "control_file_in_candidate");
        }
    }
    symlink(world.path("plans/patch/good/candidate/plan.json"), world.path("outside.json")).unwrap();
    world.run(&format!("gate {} --plan outside.json", patch("good"))).refuses(2, "control_file_in_candidate");
    assert!(!world.path("out").exists());
}

#[test]
fn e12_an_output_inside_the_candidate() {
    let world = world();
    for command in ["gate", "verify --unsigned"] {
        let plan = "--plan plans/patch/plan-v0.4.json";
        let line = format!("{command} {} {plan} --out plans/patch/good/candidate/out", patch("good"));
        world.run(&line).refuses(2, "control_file_in_candidate");
    }
    assert_eq!(world.files("plans/patch/good/candidate"), ["changes.patch", "stderr.txt", "stdout.txt"]);
}

/// Upstream writes below `results/` alone, so that no evidence replaces a tracked file. Here nothing replaces anything.
#[test]
fn e15_an_output_over_something_else() {
    let world = world();
    world.write("kept/README.md", "mine");
    world.write("file", "mine");
    for command in ["gate", "verify --unsigned"] {
        for out in ["kept", "file"] {
            let line = format!("{command} {} --plan plans/patch/plan-v0.4.json --out {out}", patch("good"));
            world.run(&line).refuses(2, "out_not_empty");
        }
    }
    assert_eq!(world.files("kept"), ["README.md"]);
    assert_eq!(world.read("file"), b"mine");
}

/// What upstream's verifier calls control errors, where the command line meets them.
#[test]
fn control_errors_end_without_a_verdict() {
    let world = world();
    let plan = "--plan plans/patch/plan-v0.4.json";
    let manifest = |edit: &dyn Fn(&mut serde_json::Value), name: &str| {
        let mut value = parse(&world.read("plans/patch/good/result-manifest.json")).unwrap().to_serde();
        edit(&mut value);
        world.write(name, value.to_string());
        format!("--work-unit plans/patch/work-unit.json --result {name} --candidate plans/patch/good/candidate")
    };
    let wrong_unit = manifest(&|value| value["work_unit_id"] = json!("examples/other"), "unit.json");
    world.run(&format!("gate {wrong_unit} {plan}")).refuses(6, "idk_h06");
    let wrong_digest = manifest(
        &|value| value["provenance"]["work_unit_digest"] = json!(format!("sha256:{}", "0".repeat(64))),
        "digest.json",
    );
    world.run(&format!("gate {wrong_digest} {plan}")).refuses(6, "idk_h10");
    let too_little = manifest(
        &|value| value["verification_request"]["expected_validator_ids"] = json!(["independent-review"]),
        "request.json",
    );
    world.run(&format!("gate {too_little} {plan}")).refuses(6, "idk_h25");
    let twice = manifest(
        &|value| {
            let artifact = value["produced_artifacts"][0].clone();
            value["produced_artifacts"].as_array_mut().unwrap().push(artifact);
        },
        "twice.json",
    );
    world.run(&format!("gate {twice} {plan}")).refuses(6, "idk_h31");
    // The candidate is not where the manifest says it is: nobody is judged.
    for (name, locator) in
        [("absolute", "/etc/passwd"), ("climbing", "../result-manifest.json"), ("missing", "absent.patch")]
    {
        let line =
            manifest(&|value| value["produced_artifacts"][0]["locator"] = json!(locator), &format!("{name}.json"));
        let said = world.run(&format!("gate {line} {plan}")).exits(3);
        assert!(said.stdout.contains("insufficient_evidence"), "{name}: {}", said.stdout);
    }
    symlink("stdout.txt", world.path("plans/patch/good/candidate/link")).unwrap();
    world.run(&format!("gate {} {plan}", patch("good"))).exits(3);
}

#[test]
fn an_imported_plan_runs_under_our_name_and_key() {
    let mut world = world();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Gate, "gate", 6, &[]);
    // The fixtures' manifests are unsigned, so their worker shares every unknown: the policy names no axis.
    world.write("one.toml", "schema_version = \"0.1\"\nid = \"one\"\nquorum = 1\npanel = 1\nindependent_on = []\n");
    world.admit("one.toml");
    world.trust();
    let plan = "--plan plans/patch/plan-v0.4.json --trust trust.json";
    let line = format!(
        "gate {} {plan} --policy one.toml --key verifier-a.pem --decision-key gate.pem --out out",
        patch("good")
    );
    world.run(&line).exits(0);
    world.run("audit out").exits(0);
    let plan_digest = Digest::of(&world.read("out/plan.json"));
    let upstream_plan = parse(&world.read("plans/patch/plan-v0.4.json")).unwrap();
    assert_eq!(plan_digest.to_string(), Digest::c1(&upstream_plan).to_string(), "plan.json is upstream's document");
    // Apart: the statement names the verifier that the option names, and only that key signs it.
    let verify = format!("verify {} --plan plans/patch/plan-v0.4.json --unsigned", patch("good"));
    world.run(&format!("{verify} --verifier verifier-a --out named")).exits(0);
    world.run(&format!("{verify} --out unnamed")).exits(0);
    let sign = |from: &str| {
        format!(
            "sign --key verifier-a.pem --trust trust.json {from}/evidence.statement.json -o {from}/evidence.dsse.json"
        )
    };
    world.run(&sign("named")).exits(0);
    let refused = world.run(&sign("unnamed"));
    assert_ne!(refused.code, 0, "{}", refused.stdout);
    let statement = parse(&world.read("named/evidence.statement.json")).unwrap();
    let verifier = statement.at(&["predicate", "result", "verifier", "id"]).and_then(Value::as_str);
    assert_eq!(verifier, Some("verifier-a"));
    assert_eq!(statement.at(&["predicate", "read_worker_status"]), Some(&true.into()));
    let decide = "decide --work-unit plans/patch/work-unit.json --result plans/patch/good/result-manifest.json \
                  --trust trust.json --policy one.toml --evidence named/evidence.dsse.json";
    world.run(decide).exits(0);
}

/// The same candidates under a plan of our own, whose kind `unified_diff` was refused before.
#[test]
fn a_template_judges_a_patch_by_unified_diff() {
    let world = world();
    let mut unit = parse(&world.read("plans/patch/work-unit.json")).unwrap().to_serde();
    unit["validators"][0] = json!({"id": "artifact-digest", "type": "reproduction", "required": true});
    world.write("unit.json", unit.to_string());
    let digest = Digest::c1(&unit.into()).to_string();
    world.write(
        "plan.toml",
        "schema_version = \"0.1\"\nid = \"acme/patch\"\n[verifier]\nid = \"acme-verifier\"\n\
         [[check]]\nid = \"artifact-digest\"\nkind = \"artifact_integrity\"\n\
         [[check]]\nid = \"independent-review\"\nkind = \"unified_diff\"\nmax_bytes = 4096\n\
         added_substrings = [\"retries = 3\"]\nremoved_substrings = [\"retries = 0\"]\n",
    );
    for (name, code, said) in [
        ("good", 0, "accept_candidate"),
        ("wrong-semantic", 1, "independent-review"),
        ("decoy", 1, "independent-review"),
        ("forbidden", 1, "SECURITY.md"),
        ("forged-digest", 1, "artifact-digest"),
    ] {
        let mut manifest = parse(&world.read(&format!("plans/patch/{name}/result-manifest.json"))).unwrap().to_serde();
        manifest["provenance"]["work_unit_digest"] = digest.as_str().into();
        manifest["verification_request"]["expected_validator_ids"] = json!(["artifact-digest", "independent-review"]);
        // A plan of ours does not ask how the worker says that it went.
        manifest["status"] = json!("failed");
        world.write("manifest.json", manifest.to_string());
        let patch = format!("plans/patch/{name}/candidate/changes.patch");
        let line = format!("gate --work-unit unit.json --result manifest.json --candidate {patch} --plan plan.toml");
        let found = world.run(&line).exits(code);
        assert!(found.stdout.contains(said), "{name}: {}", found.stdout);
    }
}

/// Upstream's own fixtures of its JSON verifier, under a 0.1 plan bound to upstream's own work unit.
#[test]
fn upstream_s_good_and_bad_end_as_upstream_ends_them() {
    let Some(upstream) = upstream() else { return };
    let world = World::new();
    world.copy(&upstream.join("work-units/local-verifier-smoke.work-unit.json"), "work-unit.json");
    world.copy(&upstream.join("verifier"), "verifier");
    let unit = parse(&world.read("work-unit.json")).unwrap();
    let word = |path: &[&str]| unit.at(path).unwrap().to_serde();
    let plan = json!({
        "schema_version": "0.1", "id": "test/local-smoke-plan",
        "binding": {
            "work_unit_id": word(&["id"]), "work_unit_version": word(&["version"]),
            "work_unit_digest": Digest::c1(&unit).to_string(), "source_revision": word(&["provenance", "source_revision"]),
        },
        "visibility": "public", "execution_mode": "metadata_only",
        "verifier": {"id": "idkmesh-local-verifier", "type": "system", "adapter": "deterministic-json-verifier", "adapter_version": "0.1"},
        "required_validator_ids": ["artifact-digest", "candidate-scope", "independent-acceptance"],
        "candidate_artifact_id": "candidate-result",
        "allowed_files": ["candidate.json"], "max_candidate_bytes": 4096,
        "required_json": {"schema_version": "0.1", "answer": 42, "status": "ready"},
        "policy": {"require_plan_outside_candidate_root": true, "require_output_outside_candidate_root": true,
            "require_verifier_distinct_from_worker": true},
    });
    world.write("plan.json", plan.to_string());
    for (case, code, failed) in [("good", 0, vec![]), ("bad", 1, vec!["independent-acceptance"])] {
        let files = format!(
            "--work-unit work-unit.json --result verifier/{case}/result-manifest.json \
             --candidate verifier/{case}/candidate-root --plan plan.json"
        );
        world.run(&format!("gate {files}")).exits(code);
        let said = world.run(&format!("verify {files} --unsigned --json --out {case}")).exits(0).json();
        let checks = said.get("checks").and_then(Value::as_array).unwrap();
        let of = |status: &str| -> Vec<&str> {
            let found = checks.iter().filter(|check| check.get("status").and_then(Value::as_str) == Some(status));
            found.filter_map(|check| check.get("id")?.as_str()).collect()
        };
        assert_eq!(of("failed"), failed, "{case}");
        assert_eq!(checks.len(), 3);
    }
    fs::remove_dir_all(world.path("good")).unwrap();
}
