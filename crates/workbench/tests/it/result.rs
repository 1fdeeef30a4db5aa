//! W-030 to W-042, W-050, W-070: what a result may say.

use quorum_schemas::{Digest, Value, upstream};
use quorum_workbench::{Code, Completed, EffectMode, Enforcement, NotRun, Outcome, RelativePath, RunResult};
use serde_json::{Value as Json, json};

use crate::support::{bytes, edited, result};

fn completed() -> Completed {
    Completed { exit: Some(1), stdout: b"ok\n".to_vec(), stderr: vec![0xff, 0], truncated: false }
}

fn enforcement() -> Enforcement {
    Enforcement {
        mechanism: "linux-unprivileged-readonly-namespace.v1".to_owned(),
        uid: 65_534,
        roots: vec![RelativePath::root()],
        roots_digest: Digest::from_bytes([1; 32]),
        extra: [("x/isolation-class".to_owned(), Value::from("process-sandbox"))].into(),
    }
}

/// One outcome of each kind.
pub(crate) fn outcomes() -> Vec<Outcome> {
    let code = |text| Code::new(text).unwrap();
    let not_run = |mode, seen| Outcome::NotRun { mode, code: code("effect-mode-unenforceable"), seen };
    vec![
        Outcome::CompletedObservation(completed(), enforcement()),
        Outcome::CompletedMutation(completed()),
        Outcome::CompletedMutation(Completed { exit: None, stdout: vec![], stderr: vec![], truncated: true }),
        not_run(EffectMode::Observation, NotRun::Sandbox),
        not_run(EffectMode::Mutation, NotRun::Workbench),
        Outcome::EffectDetected,
        Outcome::TimeoutQuiesced(Digest::from_bytes([2; 32])),
        Outcome::Unknown { mode: EffectMode::Mutation, code: code("operation-interrupted") },
        Outcome::Unknown { mode: EffectMode::Observation, code: code("observation-outcome-unknown") },
    ]
}

pub(crate) fn written(outcome: Outcome) -> Json {
    serde_json::from_slice(&result(outcome).to_bytes().unwrap()).unwrap()
}

fn observation() -> Json {
    written(outcomes().remove(0))
}

fn code(document: &Json) -> &'static str {
    RunResult::read(&bytes(document)).map_or_else(|error| error.code(), |_| "taken")
}

const SCHEMA: &str = "workbench_schema_invalid";

#[test]
fn what_is_written_is_read_as_it_was() {
    for outcome in outcomes() {
        let result = result(outcome);
        assert_eq!(RunResult::read(&result.to_bytes().unwrap()).unwrap(), result);
    }
}

#[test]
fn upstream_results_are_read_and_its_negatives_refused() {
    let read = |file: &str| upstream::read(&format!("sensorium/examples/{file}")).map(|bytes| RunResult::read(&bytes));
    let Some(observed) = read("observation.sensorium-workbench-process-run-result.json") else { return };
    assert!(matches!(observed.unwrap().outcome, Outcome::CompletedObservation(ran, _) if ran.exit == Some(0)));
    let unknown = read("unknown.sensorium-workbench-process-run-result.json").unwrap().unwrap();
    assert_eq!(unknown.outcome, outcomes()[7]);
    let bad = read("invalid/observation-without-enforcement.sensorium-workbench-process-run-result.json").unwrap();
    assert_eq!(bad.unwrap_err().code(), SCHEMA);
}

#[test]
fn w_030_an_enforcement_record_is_complete_or_refused() {
    assert_eq!(code(&edited(&observation(), "/effect~1enforcement", json!({}))), SCHEMA);
    for member in ["effect~1mode", "mechanism", "identity~1uid", "observation~1roots", "roots~1digest"] {
        assert_eq!(code(&edited(&observation(), &format!("/effect~1enforcement/{member}"), json!(null))), SCHEMA);
    }
    let wrong = [
        ("identity~1uid", json!(0)),
        ("identity~1uid", json!(4_294_967_295_u64)),
        ("observation~1roots", json!(["src"])),
        ("observation~1roots", json!([])),
        ("effect~1mode", json!("mutation")),
        ("roots~1digest", json!("sha256:x")),
        ("roots~1digest", json!("sha256:hH7Dw1n7aFpA8sPq3m5r1C0mYw8sI0bJq1l0pQz9y7A")),
        ("verified", json!(true)),
    ];
    for (member, value) in wrong {
        let place = format!("/effect~1enforcement/{member}");
        assert_eq!(code(&edited(&observation(), &place, value)), SCHEMA, "{place}");
    }
}

#[test]
fn w_031_an_effect_is_detected_only_by_who_saw_the_execution() {
    for at in [5, 6] {
        let document = written(outcomes().remove(at));
        for class in [json!(null), json!("none"), json!("guest-admission")] {
            assert_eq!(code(&edited(&document, "/evidence~1class", class)), SCHEMA);
        }
        assert_eq!(code(&edited(&document, "/effect~1mode", json!("mutation"))), SCHEMA);
        assert_eq!(code(&edited(&document, "/outcome", json!("unknown"))), SCHEMA);
    }
    // Any other refusal says that nothing ran.
    let refused = written(outcomes().remove(3));
    assert_eq!(code(&edited(&refused, "/evidence~1class", json!("guest-execution"))), SCHEMA);
}

#[test]
fn w_032_what_completed_was_seen_executing() {
    for class in ["none", "guest-admission"] {
        assert_eq!(code(&edited(&observation(), "/evidence~1class", json!(class))), SCHEMA);
    }
    assert_eq!(code(&edited(&observation(), "/evidence~1class", json!(null))), "taken");
}

#[test]
fn w_033_nothing_of_an_execution_stands_in_a_refusal() {
    let members = [
        ("exit~1code", json!(0)),
        ("stdout~1base64", json!("")),
        ("stderr~1base64", json!("")),
        ("output~1truncated", json!(false)),
        ("effect~1enforcement", observation()["effect/enforcement"].clone()),
    ];
    for at in 3..9 {
        let document = written(outcomes().remove(at));
        assert_eq!(code(&document), "taken");
        for (member, value) in &members {
            assert_eq!(code(&edited(&document, &format!("/{member}"), value.clone())), SCHEMA, "{at} {member}");
        }
    }
    let timeout = json!({"process/tree-quiesced": true, "roots/digest": format!("sha256:{}", "2".repeat(64))});
    for at in [0, 1, 3, 5, 7] {
        let document = written(outcomes().remove(at));
        assert_eq!(code(&edited(&document, "/observation~1timeout", timeout.clone())), SCHEMA, "{at}");
    }
}

#[test]
fn w_034_base64_has_one_form() {
    for text in ["!!!", "b2s", "b2sK\n", "b2t=", "b2sK====", "b2s-", " b2sK", "b2sKb"] {
        assert_eq!(code(&edited(&observation(), "/stdout~1base64", json!(text))), SCHEMA, "{text:?}");
    }
}

#[test]
fn w_035_both_streams_share_one_budget() {
    let half = "AAAA".repeat(262_144 / 3);
    let whole = |stdout: &str, stderr: &str| {
        let document = edited(&observation(), "/stdout~1base64", json!(stdout));
        code(&edited(&document, "/stderr~1base64", json!(stderr)))
    };
    assert_eq!(whole(&half, &half), "taken");
    let most = "AAAA".repeat(524_286 / 3);
    assert_eq!(whole(&most, "AAA="), "taken");
    assert_eq!(whole(&most, "AAAA"), "process_result_inconsistent");
}

#[test]
fn w_036_paths_are_those_of_the_golden_vectors() {
    let Some(vectors) = upstream::read("sensorium/golden/sensorium-actuation-relative-path.v1.json") else { return };
    let vectors: Json = serde_json::from_slice(&vectors).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 9);
    for case in cases {
        let path = case["relative/path"].as_str().unwrap();
        let document = edited(&observation(), "/address/relative~1path", json!(path));
        assert_eq!(code(&document) == "taken", case["valid"] == true, "{case}");
        let fault = match RelativePath::new(path) {
            Ok(_) => json!(null),
            Err(quorum_workbench::WorkbenchError::RelativePath { fault, .. }) => json!(fault.as_str()),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(fault, case["error"], "{case}");
    }
    for path in ["a//b", "", "..", "a/..", "a/./b", "./."] {
        assert!(RelativePath::new(path).is_err(), "{path:?}");
        assert_eq!(code(&edited(&observation(), "/address/relative~1path", json!(path))), SCHEMA, "{path:?}");
    }
}

#[test]
fn w_037_an_exit_code_is_an_integer_of_32_bits_or_null() {
    for (value, taken) in [
        (json!(-1), true),
        (json!(255), true),
        (json!(1.0), false),
        (json!(2_147_483_648_u64), false),
        (json!("0"), false),
    ] {
        assert_eq!(code(&edited(&observation(), "/exit~1code", value.clone())) == "taken", taken, "{value}");
    }
    let mut signal = observation();
    signal["exit/code"] = json!(null);
    let read = RunResult::read(&bytes(&signal)).unwrap();
    assert!(matches!(read.outcome, Outcome::CompletedObservation(Completed { exit: None, .. }, _)));
}

#[test]
fn w_040_what_is_unknown_is_never_refused() {
    for unknown in ["operation-interrupted", "workbench-operation-interrupted", "observation-outcome-unknown"] {
        let refused = edited(&written(outcomes().remove(3)), "/error~1code", json!(unknown));
        assert_eq!(code(&refused), SCHEMA, "{unknown}");
    }
    for class in ["guest-admission", "guest-execution"] {
        assert_eq!(code(&edited(&written(outcomes().remove(7)), "/evidence~1class", json!(class))), SCHEMA);
    }
}

#[test]
fn w_042_only_an_observation_taints() {
    let taints: Vec<bool> = outcomes().iter().map(Outcome::taints).collect();
    assert_eq!(taints, [false, false, false, false, false, true, false, false, true]);
}

#[test]
fn w_050_a_timeout_says_quiesced_or_nothing() {
    let quiesced = written(outcomes().remove(6));
    let said = edited(&quiesced, "/observation~1timeout/process~1tree-quiesced", json!(false));
    assert_eq!(code(&said), SCHEMA);
    assert_eq!(code(&edited(&quiesced, "/observation~1timeout", json!(null))), SCHEMA);
}

#[test]
fn w_070_a_cut_stream_is_nothing_to_read_a_result_from() {
    assert_eq!(completed().whole_stdout(), Some(&b"ok\n"[..]));
    assert_eq!(Completed { truncated: true, ..completed() }.whole_stdout(), None);
}

#[test]
fn required_members_are_required() {
    for at in 0..9 {
        let document = written(outcomes().remove(at));
        for member in [
            "schema",
            "schema~1v",
            "result~1ref",
            "address",
            "command.profile~1ref",
            "command-profile~1digest",
            "effect~1mode",
            "outcome",
            "source~1generation-ref",
        ] {
            assert_eq!(code(&edited(&document, &format!("/{member}"), json!(null))), SCHEMA, "{at} {member}");
        }
        assert_eq!(code(&edited(&document, "/passed", json!(true))), SCHEMA);
    }
}
