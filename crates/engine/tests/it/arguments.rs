//! Arguments become an argument vector or a refusal, and a refusal starts nothing.

use quorum_schemas::Value;
use serde_json::json;

use crate::support::Bench;

/// Prints its arguments as the result.
const ECHO: &str = r#"list=""; for word in "$@"; do list="$list,\"$word\""; done
echo "{\"clean\": true, \"argv\": [\"$0\"$list]}""#;

fn with(args: &serde_json::Value) -> (Bench, serde_json::Value) {
    let mut bench = Bench::new(ECHO);
    bench.spec.args = args
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), Value::from_serde(value.clone())))
        .collect();
    let (_, envelope) = bench.run();
    (bench, envelope)
}

fn refused(args: &serde_json::Value, why: &str) {
    let (bench, envelope) = with(args);
    assert_eq!(envelope["error"]["code"], "invalid_request", "{args}");
    let message = envelope["error"]["message"].as_str().unwrap();
    assert!(message.contains(why), "{message}");
    assert_eq!(envelope["result"], json!(null));
    assert!(bench.cwd().join("in.txt").exists());
}

#[test]
fn loom_d2_scalars_become_text_and_json_is_appended() {
    let (_, envelope) = with(&json!({"input": 16, "out": -30, "fast": true}));
    let argv = envelope["result"]["argv"].as_array().unwrap();
    assert_eq!(argv[1..], [json!("check"), json!("16"), json!("-o"), json!("-30"), json!("--fast"), json!("--json")]);
    let cmd = envelope["provenance"]["cmd"].as_array().unwrap();
    assert_eq!(cmd[0], "vyges-fake");
    assert_eq!(cmd[1..], argv[1..]);
}

#[test]
fn loom_d2_a_false_flag_is_left_out() {
    let (_, envelope) = with(&json!({"input": "in.txt", "fast": false}));
    assert_eq!(envelope["provenance"]["cmd"], json!(["vyges-fake", "check", "in.txt", "--json"]));
}

#[test]
fn loom_d3_a_missing_required_argument_starts_nothing() {
    refused(&json!({}), "`input`");
}

#[test]
fn loom_d5_no_value_becomes_an_option() {
    for value in [json!("--fail-on-violation"), json!("-o"), json!("-"), json!(-30), json!("-30")] {
        refused(&json!({"input": value}), "read as an option");
    }
    refused(&json!({"input": "in.txt", "out": "--force"}), "read as an option");
    refused(&json!({"input": "in.txt", "out": "-infinity"}), "read as an option");
}

#[test]
fn loom_d6_undeclared_and_unplaced_arguments_are_refused() {
    refused(&json!({"input": "in.txt", "extra": "x"}), "is not declared");
    refused(&json!({"input": "in.txt", "lost": "x"}), "no place");
}

#[test]
fn values_that_are_no_argument_are_refused() {
    for value in [json!(null), json!([]), json!({}), json!(""), json!("a\u{0}b")] {
        refused(&json!({"input": value}), "`input`");
    }
    refused(&json!({"input": "in.txt", "fast": "yes"}), "true or false");
}

#[test]
fn loom_d4_a_placeholder_is_a_whole_element() {
    for template in [json!(["x{input}"]), json!(["{input}{other}"]), json!(["{}"]), json!(["}"]), json!([1])] {
        let text = json!({"name": "x", "invocation": {"args_template": template}});
        assert!(quorum_engine::Descriptor::parse(text.to_string().as_bytes()).is_err(), "{template}");
    }
}

#[test]
fn a_value_with_shell_characters_stays_one_argument() {
    let (_, envelope) = with(&json!({"input": "a b;$(touch owned)*"}));
    assert_eq!(envelope["result"]["argv"][2], "a b;$(touch owned)*");
}
