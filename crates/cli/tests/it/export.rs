//! `quorum export` and `quorum import`: recorded attempts in upstream's words, and what a human said of them.

use quorum_attest::Role;
use quorum_schemas::{Digest, SchemaName, Value, c1, parse, validate};

use crate::world::{World, upstream};

const GATE: &str = "gate --work-unit example/work-unit.json --plan example/plan.toml";

/// Records of a good and of a wrong answer.
fn recorded() -> World {
    let world = World::with_example();
    world.run(&format!("{GATE} --candidate example/good --out good")).exits(0);
    world.run(&format!("{GATE} --candidate example/wrong --worker other --out wrong")).exits(1);
    world
}

#[track_caller]
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer} in {}", value.shown()))
}

fn file(world: &World, name: &str) -> Value {
    parse(&world.read(name)).unwrap()
}

fn counts(report: &Value) -> [u64; 5] {
    ["attempt_count", "supported", "rejected", "inconclusive", "control_errors"]
        .map(|name| report.at(&["summary", name]).and_then(Value::as_u64).unwrap())
}

/// Two decided attempts, one refused manifest and one worker that handed in nothing, in one report that nobody's
/// decision is in; the report holds against its run, and the same attempts give the same bytes.
#[test]
fn a_run_report_of_recorded_and_failed_attempts() {
    let world = recorded();
    let unit = world.read("example/work-unit.json");
    world.write("silent/work-unit.json", &unit);
    world.write("refused/work-unit.json", &unit);
    let manifest = String::from_utf8(world.read("good/result-manifest.json")).unwrap();
    world.write("refused/result-manifest.json", manifest.replacen('{', "{\"accepted\":true,", 1));
    world.write("open/work-unit.json", &unit);
    world.write("open/result-manifest.json", manifest);
    let line = "export run-report good silent refused wrong open --run run.json -o report.json";
    let said = world.run(line).exits(0);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    let (report, run) = (file(&world, "report.json"), file(&world, "run.json"));
    validate(SchemaName::RunEvidenceReport, &report).unwrap();
    assert_eq!(world.read("report.json"), c1(&report));
    assert_eq!(counts(&report), [5, 1, 1, 0, 3]);
    let states: Vec<&str> = (0..5).map(|index| text(&report, &format!("/attempts/{index}/evidence_state"))).collect();
    assert_eq!(states, ["supported", "worker_error", "result_manifest_error", "rejected", "verification_error"]);
    assert!(text(&report, "/attempts/2/error").starts_with("idk_h03: "));
    assert_eq!(report.at(&["summary", "verification_disagreement"]), Some(&true.into()));
    assert_eq!(text(&report, "/human_decision/status"), "pending");
    assert_eq!(text(&report, "/source_run_digest"), Digest::c1(&run).to_string());
    let decision = file(&world, "good/facts.json");
    assert!(decision.as_object().is_some());
    assert_eq!(text(&report, "/verifier_policy_digest"), Digest::of(&world.read("good/policy.toml")).to_string());
    assert!(text(&report, "/run_id").starts_with("run/"));
    assert_eq!(text(&report, "/attempts/0/worker_adapter"), "quorum");

    let again = world.run("export run-report good silent refused wrong open").exits(0);
    assert_eq!(again.stdout.as_bytes(), world.read("report.json"));
    let named = world.run("export run-report good --run-id run/7 --json").exits(0).json();
    assert_eq!(text(&named, "/run_id"), "run/7");
    let written = world.run("export run-report good -o again.json --json").exits(0).json();
    assert_eq!(text(&written, "/digest"), Digest::of(&world.read("again.json")).to_string());

    world.run("export verify --report report.json --run run.json").exits(0);
    let held = world.run("export verify --report report.json --run run.json --json").exits(0).json();
    validate(SchemaName::OutputExportVerify, &held).unwrap();
    assert_eq!(text(&held, "/report"), Digest::c1(&report).to_string());
}

/// A run record that was touched afterwards gives another report, and a touched report is not its run's.
#[test]
fn a_tampered_run_or_report_does_not_hold() {
    let world = recorded();
    world.run("export run-report good wrong --run run.json -o report.json").exits(0);
    let (run, report) = (world.read("run.json"), world.read("report.json"));
    let replaced = |bytes: &[u8], from: &str, to: &str| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(text.contains(from), "{text}");
        text.replace(from, to)
    };
    world.write(
        "forged-run.json",
        replaced(&run, "\"recommendation\":\"reject_candidate\"", "\"recommendation\":\"accept_candidate\""),
    );
    let said = world.run("export verify --report report.json --run forged-run.json").exits(1);
    assert!(said.stdout.starts_with("does not hold: run_report_differs run report /attempts: "), "{}", said.stdout);
    world.write("forged.json", replaced(&report, "\"rejected\":1", "\"rejected\":0"));
    let said = world.run("export verify --report forged.json --json").exits(1).json();
    validate(SchemaName::OutputExportVerify, &said).unwrap();
    assert_eq!(text(&said, "/code"), "run_report_counts");
    world.run("export verify --report absent.json").refuses(2, "cannot_read");
    world.write("broken.json", "{");
    world.run("export verify --report broken.json").refuses(2, "json_syntax");
}

/// Only what an audit confirms is reported.
#[test]
fn a_touched_record_is_not_reported() {
    let world = recorded();
    let mut bytes = world.read("good/plan.json");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    world.write("good/plan.json", bytes);
    let said = world.run("export run-report good").refuses(2, "record_differs");
    assert!(said.stderr.contains("good: plan.json: "), "{}", said.stderr);
    world.run("export run-report wrong absent").refuses(2, "cannot_read");
    world.write("empty/readme.txt", "x");
    world.run("export run-report wrong empty").refuses(2, "not_a_record");
    world.run("export run-report wrong wrong").refuses(2, "run_attempt_repeated");
    world.run("export run-report").refuses(2, "usage");
}

/// A report is about one work unit and one policy, and needs a decision to know the policy.
#[test]
fn attempts_that_do_not_belong_together_are_refused() {
    let world = recorded();
    world.write("silent/work-unit.json", world.read("example/work-unit.json"));
    world.run("export run-report silent").refuses(2, "export_without_decision");
    let other = String::from_utf8(world.read("example/work-unit.json")).unwrap();
    world.write("other/work-unit.json", other.replace("\"version\": 1", "\"version\": 2"));
    world.run("export run-report good other").refuses(2, "bound_to_other_work_unit");
    world.write(
        "mine.toml",
        "schema_version = \"0.1\"\nid = \"mine\"\nquorum = 1\nindependent_on = []\nmin_isolation = \"none\"\n",
    );
    world.run(&format!("{GATE} --candidate example/good --worker third --policy mine.toml --out mine")).exits(0);
    world.run("export run-report good mine").refuses(2, "export_of_several_policies");
    world.run("export run-report mine").exits(0);
}

/// A world with two verifiers of one operator and a stranger, and their evidence on one manifest.
fn panel() -> World {
    let mut world = World::with_example();
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Verifier, "verifier-b", 3, &[("operator", "acme"), ("host", "one")]);
    world.write(
        "any.toml",
        "schema_version = \"0.1\"\nid = \"any\"\nquorum = 1\npanel = 2\nindependent_on = [\"operator\"]\n",
    );
    world.admit("any.toml");
    world.trust();
    world
        .run("manifest --work-unit example/work-unit.json --candidate example/good --worker w -o manifest.json")
        .exits(0);
    world
}

/// Each verifier stands for itself; one that is no voice of its own is said to be none, and one whose signature does not
/// hold is an error and no support.
#[test]
fn several_verifiers_of_one_manifest() {
    let world = panel();
    let common =
        "--work-unit example/work-unit.json --result manifest.json --candidate example/good --trust trust.json";
    for (name, plan) in [("a", "plan"), ("b", "plan-b")] {
        let line = format!("verify {common} --plan example/{plan}.toml --key verifier-{name}.pem --out {name}");
        world.run(&line).exits(0);
    }
    let forged = String::from_utf8(world.read("a/evidence.dsse.json")).unwrap();
    let at = forged.find("\"sig\":\"").unwrap() + 7;
    let mut forged = forged.into_bytes();
    forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
    world.write("forged/evidence.dsse.json", forged);
    let decide = "decide --work-unit example/work-unit.json --result manifest.json --policy any.toml --trust trust.json \
                  --evidence a/evidence.dsse.json --evidence b/evidence.dsse.json --evidence forged/evidence.dsse.json \
                  --out out";
    world.run(decide).exits(0);
    let report = world.run("export run-report out").exits(0).json();
    assert_eq!(counts(&report), [3, 2, 0, 0, 1]);
    let manifest = text(&file(&world, "manifest.json"), "/id").to_owned();
    let mut verifiers = [0, 1].map(|index| text(&report, &format!("/attempts/{index}/attempt_id")).to_owned());
    verifiers.sort();
    assert_eq!(verifiers, [format!("{manifest}@verifier-a"), format!("{manifest}@verifier-b")]);
    assert!(text(&report, "/attempts/2/error").starts_with("refused: bad_signature: "));
    assert_eq!(report.pointer("/attempts/2/verifier"), Some(&Value::Null));
    let warnings = report.get("warnings").and_then(Value::as_array).unwrap();
    let shares = |warning: &&Value| {
        warning.as_str().is_some_and(|text| text.contains("no voice of its own: it shares operator"))
    };
    assert_eq!(warnings.iter().filter(shares).count(), 1, "{warnings:?}");
    let stands = |warning: &&Value| warning.as_str().is_some_and(|text| text.contains("several verifiers"));
    assert_eq!(warnings.iter().filter(stands).count(), 1, "{warnings:?}");
}

/// Support that the policy refused is no support in a report either; nobody's silence is.
#[test]
fn support_without_weight_and_no_answer_are_errors() {
    let world = panel();
    let common =
        "--work-unit example/work-unit.json --result manifest.json --candidate example/good --trust trust.json";
    world.run(&format!("verify {common} --plan example/plan.toml --key verifier-a.pem --out a")).exits(0);
    // Without its bundle nothing of the evidence was recomputed.
    world.write("alone/evidence.dsse.json", world.read("a/evidence.dsse.json"));
    let decide =
        "decide --work-unit example/work-unit.json --result manifest.json --policy any.toml --trust trust.json";
    world.run(&format!("{decide} --evidence alone/evidence.dsse.json --out weak")).exits(3);
    let report = world.run("export run-report weak").exits(0).json();
    assert_eq!(counts(&report), [1, 0, 0, 0, 1]);
    assert!(text(&report, "/attempts/0/error").starts_with("it cannot support: bundle_missing: "));
    world.run(&format!("{decide} --out none")).exits(3);
    let report = world.run("export run-report none").exits(0).json();
    assert_eq!(text(&report, "/attempts/0/error"), "no verifier answered");
    assert_eq!(text(&report, "/attempts/0/worker/id"), "w");
}

const SAID: [&str; 14] = [
    "export",
    "human-decision",
    "--report",
    "report.json",
    "--id",
    "decision/1",
    "--decision",
    "accept",
    "--rationale",
    "I read the answer.",
    "--decider",
    "ann",
    "--decided-at",
    "2026-01-31T12:00:00Z",
];

/// [`SAID`] with another word after one option.
fn said_with(option: &str, word: &str) -> Vec<String> {
    let mut words: Vec<String> = SAID.iter().map(|word| (*word).to_owned()).collect();
    match words.iter().position(|found| found == option) {
        Some(at) => words[at + 1] = word.to_owned(),
        None => words.extend([option.to_owned(), word.to_owned()]),
    }
    words
}

#[test]
fn a_human_decides_about_exactly_one_report() {
    let world = recorded();
    world.run("export run-report good wrong --run run.json -o report.json").exits(0);
    let said = world.quorum(SAID).exits(0);
    let record = parse(said.stdout.trim_end().as_bytes()).unwrap();
    validate(SchemaName::HumanDecisionRecord, &record).unwrap();
    assert_eq!(text(&record, "/decided_at"), "2026-01-31T12:00:00Z");
    assert_eq!(text(&record, "/evidence_report/digest"), Digest::c1(&file(&world, "report.json")).to_string());
    assert_eq!(record.get("selected_attempt_id"), Some(&Value::Null));
    world.write("decision.json", &said.stdout);
    let held = world.run("export verify --report report.json --run run.json --decision decision.json").exits(0);
    assert!(held.stdout.ends_with("a human decided about exactly this report: accept\n"), "{}", held.stdout);
    // The report that was decided about is the one with these bytes, and no later one.
    world.run("export run-report wrong good -o report.json").exits(0);
    let drifted = world.run("export verify --report report.json --decision decision.json --json").exits(1).json();
    assert_eq!(text(&drifted, "/code"), "human_decision_other_report");
    let attempt = text(&file(&world, "report.json"), "/attempts/1/attempt_id").to_owned();
    let said = world.quorum(said_with("--attempt", &attempt)).exits(0);
    assert_eq!(text(&said.json(), "/selected_attempt_id"), attempt);
    let now = SAID[..12].iter().chain(&["-o", "now.json"]);
    world.quorum(now).exits(0);
    assert!(text(&file(&world, "now.json"), "/decided_at").ends_with('Z'));
}

#[test]
fn what_no_human_says_is_refused() {
    let world = recorded();
    world.run("export run-report good -o report.json").exits(0);
    for (option, word, code) in [
        ("--decision", "accept_candidate", "human_decision_unknown_word"),
        ("--decision", "insufficient_evidence", "human_decision_unknown_word"),
        ("--rationale", "accept_candidate", "human_decision_no_rationale"),
        ("--rationale", " ", "human_decision_no_rationale"),
        ("--decider", " ", "human_decision_unknown_decider"),
        ("--attempt", "nobody's", "human_decision_unknown_attempt"),
        ("--id", "Decision", "schema_invalid"),
        ("--decider-type", "agent", "usage"),
        ("--decided-at", "yesterday", "usage"),
        ("--report", "good/handoff.json", "schema_invalid"),
    ] {
        world.quorum(said_with(option, word)).refuses(2, code);
    }
}

/// Upstream's fixtures: the report is about the historical manifest and not about today's; its own pair of examples holds.
#[test]
fn upstreams_examples_are_read() {
    let Some(examples) = upstream() else { return };
    let world = World::new();
    for (from, to) in [
        ("results/phase0-smoke.evidence-report.json", "report.json"),
        ("results/phase0-smoke.result-manifest.json", "today.json"),
        ("historical/phase0-smoke.result-manifest.2c505c9f.json", "old.json"),
        ("work-units/phase0-smoke.work-unit.json", "unit.json"),
        ("api/run-evidence-report.example.json", "run-report.json"),
        ("api/human-decision-record.example.json", "decision.json"),
    ] {
        world.copy(&examples.join(from), to);
    }
    let shown = world.run("import evidence-report report.json --result old.json").exits(0);
    assert!(shown.stdout.contains(" on reproduction: passed, accept_candidate\n"), "{}", shown.stdout);
    assert!(shown.stdout.ends_with("read only: an imported report is never counted as evidence\n"));
    let shown = world.run("import evidence-report report.json --result old.json --json").exits(0).json();
    validate(SchemaName::OutputImport, &shown).unwrap();
    assert_eq!(shown.get("counts_as_evidence"), Some(&false.into()));
    for line in [
        "import evidence-report report.json --result today.json",
        "import evidence-report report.json --result old.json --work-unit unit.json",
        "import evidence-report old.json --result old.json",
    ] {
        assert!(world.run(line).exits(1).stdout.starts_with("not imported: "));
        let refused = world.run(&format!("{line} --json")).exits(1).json();
        validate(SchemaName::OutputImport, &refused).unwrap();
    }
    world.run("import evidence-report report.json --result report.json").refuses(2, "schema_invalid");
    world.run("import evidence-report report.json --result absent.json").refuses(2, "cannot_read");
    let held = world.run("export verify --report run-report.json --decision decision.json").exits(0);
    assert!(held.stdout.starts_with("holds: report sha256:074e0cee"), "{}", held.stdout);
}
