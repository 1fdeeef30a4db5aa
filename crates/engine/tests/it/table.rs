//! Each row of the table by its number, then the notes, then that nothing else ever passes.

use proptest::prelude::*;
use quorum_engine::{Descriptor, Engineering, ProcessEnd, ProcessStatus, Row, Verdict, judge};
use serde_json::{Value, json};

use crate::support::{clean, descriptor};

fn verdict(assertion: &Value, end: &ProcessEnd, stdout: &str) -> Verdict {
    let verdict = judge(&descriptor(assertion), end, stdout.as_bytes());
    assert_eq!(verdict.status == ProcessStatus::Error, verdict.error.is_some(), "loom_e04");
    verdict
}

fn ran(assertion: &Value, stdout: &str) -> Verdict {
    verdict(assertion, &ProcessEnd::Exited(0), stdout)
}

/// Row, status and verdict, and the error code.
fn expect(verdict: &Verdict, row: Row, engineering: Engineering, code: Option<&str>) {
    assert_eq!((verdict.row, verdict.engineering), (row, engineering), "{verdict:?}");
    assert_eq!(verdict.error.as_ref().map(|error| error.code.as_str()), code);
}

const GOOD: &str = r#"{"clean": true}"#;

#[test]
fn loom_v01_not_started() {
    let end = ProcessEnd::NotStarted("no vyges-fake".to_owned());
    expect(&verdict(&clean(), &end, ""), Row::V1, Engineering::Unknown, Some("engine_not_found"));
}

#[test]
fn loom_v02_ended_by_us() {
    for (end, code) in
        [(ProcessEnd::TimedOut(5), "engine_timeout"), (ProcessEnd::OutputTooLarge(5), "output_too_large")]
    {
        expect(&verdict(&clean(), &end, GOOD), Row::V2, Engineering::Unknown, Some(code));
    }
}

#[test]
fn loom_v03_signal() {
    let end = ProcessEnd::Signaled(11);
    expect(&verdict(&clean(), &end, GOOD), Row::V3, Engineering::Unknown, Some("engine_signal"));
}

#[test]
fn loom_v04_exit_status_even_over_a_good_payload() {
    let found = verdict(&clean(), &ProcessEnd::Exited(3), GOOD);
    expect(&found, Row::V4, Engineering::Unknown, Some("engine_nonzero"));
    assert_eq!(found.error.unwrap().exit_code, Some(3));
    assert_eq!(found.result.unwrap().get(), GOOD, "loom_e06: what can be read is kept");
}

#[test]
fn loom_v05_not_exactly_one_json_value() {
    for stdout in [
        "",
        "  \n",
        "wrote lvs.rpt",
        r#"{"clean": true} {"clean": true}"#,
        r#"{"clean": true, "wns": inf}"#,
        r#"{"clean": NaN}"#,
        r#"{"clean": true"#,
        "\u{feff}{\"clean\": true}",
        r#"{"clean": false, "clean": true}"#,
        r#"{"a": {"b": 1, "b": 2}, "clean": true}"#,
    ] {
        expect(&ran(&clean(), stdout), Row::V5, Engineering::Unknown, Some("unparsable_output"));
    }
}

#[test]
fn loom_v06_not_applicable() {
    let assertion = json!({"id": "render", "not_applicable": true});
    let found = ran(&assertion, GOOD);
    expect(&found, Row::V6, Engineering::NotApplicable, None);
    assert_eq!(found.assertion.as_deref(), Some("render"));
}

#[test]
fn loom_v07_no_assertion() {
    expect(&ran(&Value::Null, GOOD), Row::V7, Engineering::Unknown, None);
}

#[test]
fn loom_v08_malformed_assertion() {
    for assertion in [
        json!({"field": "clean", "pass_when": {"is_true": true}}),
        json!({"id": "x", "pass_when": {"is_true": true}}),
        json!({"id": "x", "field": "clean"}),
        json!({"id": "x", "field": "clean", "pass_when": {}}),
        json!({"id": "x", "field": "clean", "pass_when": {"is_true": true, "eq": true}}),
        json!({"id": "x", "field": "clean", "pass_when": {"equals": true}}),
        json!({"id": "x", "field": "clean", "pass_when": {"is_true": false}}),
        json!({"id": "x", "field": "clean", "pass_when": {"eq": [true]}}),
        json!({"id": "x", "field": "clean", "pass_when": {"eq": null}}),
        json!({"not_applicable": false}),
        json!("clean"),
    ] {
        let found = ran(&assertion, GOOD);
        expect(&found, Row::V8, Engineering::Unknown, None);
        assert_eq!(found.assertion, None, "{assertion}");
    }
}

#[test]
fn loom_v09_maturity_discovered_absent_or_illegal() {
    for maturity in
        [Value::Null, json!("discovered"), json!("partial"), json!("experimental"), json!("Structured"), json!(1)]
    {
        let mut text = json!({"name": "fake", "assertion": clean(), "maturity": maturity});
        if maturity.is_null() {
            text.as_object_mut().unwrap().remove("maturity");
        }
        let descriptor = Descriptor::parse(text.to_string().as_bytes()).unwrap();
        let found = judge(&descriptor, &ProcessEnd::Exited(0), GOOD.as_bytes());
        expect(&found, Row::V9, Engineering::Unknown, None);
        assert_eq!(found.assertion.as_deref(), Some("fake-clean"));
    }
}

#[test]
fn loom_v10_field_missing_or_result_no_object() {
    for stdout in ["{}", r#"{"met": true}"#, "[true]", "\"clean\"", "true"] {
        expect(&ran(&clean(), stdout), Row::V10, Engineering::Unknown, None);
    }
}

#[test]
fn loom_v11_field_null() {
    expect(&ran(&clean(), r#"{"clean": null}"#), Row::V11, Engineering::Unknown, None);
}

#[test]
fn loom_v12_field_of_the_wrong_type() {
    for stdout in [r#"{"clean": 1}"#, r#"{"clean": "true"}"#, r#"{"clean": [true]}"#] {
        expect(&ran(&clean(), stdout), Row::V12, Engineering::Unknown, None);
    }
    let count = json!({"id": "x", "field": "n", "pass_when": {"eq": 0}});
    for stdout in [r#"{"n": false}"#, r#"{"n": "0"}"#] {
        expect(&ran(&count, stdout), Row::V12, Engineering::Unknown, None);
    }
}

#[test]
fn loom_v13_predicate_false() {
    expect(&ran(&clean(), r#"{"clean": false}"#), Row::V13, Engineering::Fail, None);
    let count = json!({"id": "x", "field": "n", "pass_when": {"eq": 0}});
    expect(&ran(&count, r#"{"n": 1}"#), Row::V13, Engineering::Fail, None);
}

#[test]
fn loom_v14_incomplete_coverage_downgrades_a_pass() {
    for coverage in [json!({"complete": false}), json!({}), json!({"complete": "yes"}), Value::Null, json!(true)] {
        let stdout = json!({"clean": true, "coverage": coverage}).to_string();
        expect(&ran(&clean(), &stdout), Row::V14, Engineering::Unknown, None);
    }
}

#[test]
fn loom_v15_predicate_true() {
    let found = ran(&clean(), GOOD);
    expect(&found, Row::V15, Engineering::Pass, None);
    assert_eq!(found.summary, "assertion 'fake-clean' held on 'clean'", "loom_s1");
    expect(&ran(&clean(), r#"{"clean": true, "coverage": {"complete": true}}"#), Row::V15, Engineering::Pass, None);
}

#[test]
fn loom_v_a_not_applicable_before_discovered() {
    let descriptor = Descriptor::parse(br#"{"name": "x", "assertion": {"not_applicable": true}}"#).unwrap();
    let found = judge(&descriptor, &ProcessEnd::Exited(0), GOOD.as_bytes());
    expect(&found, Row::V6, Engineering::NotApplicable, None);
}

#[test]
fn loom_v_b_incomplete_coverage_never_excuses_a_failure() {
    let found = ran(&clean(), r#"{"clean": false, "coverage": {"complete": false}}"#);
    expect(&found, Row::V13, Engineering::Fail, None);
}

#[test]
fn loom_v_d_an_engine_without_json_has_no_result() {
    let text = r#"{"name": "view", "maturity": "structured", "assertion": {"not_applicable": true},
        "invocation": {"args_template": [], "emits_json": false}}"#;
    let descriptor = Descriptor::parse(text.as_bytes()).unwrap();
    let found = judge(&descriptor, &ProcessEnd::Exited(0), b"<svg/>");
    expect(&found, Row::V6, Engineering::NotApplicable, None);
    assert!(found.result.is_none());
}

#[test]
fn loom_v_e_and_v_f_numbers_by_value_and_exactly() {
    let eq = |operand: Value| json!({"id": "x", "field": "n", "pass_when": {"eq": operand}});
    for (operand, stdout, row) in [
        (json!(0), r#"{"n": 0.0}"#, Row::V15),
        (json!(0), r#"{"n": -0.0}"#, Row::V15),
        (json!(1.5), r#"{"n": 1.50}"#, Row::V15),
        (json!(100), r#"{"n": 1e2}"#, Row::V15),
        (json!(9_007_199_254_740_993_i64), r#"{"n": 9007199254740992.0}"#, Row::V13),
        (json!("clean"), r#"{"n": "clean"}"#, Row::V15),
        (json!("clean"), r#"{"n": "Clean"}"#, Row::V13),
    ] {
        assert_eq!(ran(&eq(operand.clone()), stdout).row, row, "{operand} {stdout}");
    }
}

#[test]
fn loom_v_g_a_pointer_is_our_extension() {
    let nested = json!({"id": "x", "field": "/a/0/ok", "pass_when": {"is_true": true}});
    expect(&ran(&nested, r#"{"a": [{"ok": true}]}"#), Row::V15, Engineering::Pass, None);
}

#[test]
fn loom_v_i_a_command_states_its_own_assertion() {
    let text = json!({
        "name": "dpl", "maturity": "structured", "assertion": clean(),
        "commands": ["plain", {"name": "own", "args_template": ["own"], "assertion": {"not_applicable": true}}],
    });
    let descriptor = Descriptor::parse(text.to_string().as_bytes()).unwrap();
    let judged =
        |name: &str| judge(&descriptor.command(name).unwrap(), &ProcessEnd::Exited(0), GOOD.as_bytes()).engineering;
    assert_eq!(judged("plain"), Engineering::Pass);
    assert_eq!(judged("own"), Engineering::NotApplicable);
    assert!(descriptor.command("other").is_err());
}

#[test]
fn loom_s3_the_engines_own_sentence() {
    let mut assertion = clean();
    assertion["summary_field"] = json!("note");
    assert_eq!(
        ran(&assertion, r#"{"clean": false, "note": "3 rule violation(s) found"}"#).summary,
        "3 rule violation(s) found"
    );
    assert!(ran(&assertion, r#"{"clean": null, "note": "all fine"}"#).summary.contains("is null"));
}

#[test]
fn loom_e05_the_result_is_verbatim() {
    let stdout = "  {\"z\": 1.800000, \"a\":[ 1e3 ,12345678901234567890123], \"clean\" : true, \"u\":\"\\u00e9é\"}\n";
    assert_eq!(ran(&clean(), stdout).result.unwrap().get(), stdout.trim());
}

#[test]
fn loom_e11_a_payload_that_looks_like_an_envelope_is_just_a_result() {
    let found = ran(&clean(), r#"{"schema":"loom-result/1.1","status":"error","clean":true}"#);
    expect(&found, Row::V15, Engineering::Pass, None);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z]{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("clean|coverage|complete|met|[a-c]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_end() -> impl Strategy<Value = ProcessEnd> {
    prop_oneof![
        3 => Just(ProcessEnd::Exited(0)),
        1 => (1..256).prop_map(ProcessEnd::Exited),
        1 => (1..32).prop_map(ProcessEnd::Signaled),
        1 => Just(ProcessEnd::TimedOut(1)),
        1 => Just(ProcessEnd::OutputTooLarge(1)),
        1 => Just(ProcessEnd::NotStarted(String::new())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn loom_e03_an_error_never_concludes_and_only_the_exact_field_passes(payload in any_json(), end in any_end()) {
        let found = judge(&descriptor(&clean()), &end, payload.to_string().as_bytes());
        if end != ProcessEnd::Exited(0) {
            prop_assert_eq!(found.status, ProcessStatus::Error);
            prop_assert_eq!(found.engineering, Engineering::Unknown);
        }
        if found.engineering == Engineering::Pass {
            prop_assert_eq!(payload.get("clean"), Some(&Value::Bool(true)));
            let complete = payload.get("coverage").is_none_or(|coverage| coverage.get("complete") == Some(&Value::Bool(true)));
            prop_assert!(complete);
        }
        if found.engineering == Engineering::Fail {
            prop_assert_eq!(payload.get("clean"), Some(&Value::Bool(false)));
        }
    }
}
