//! The shipped engine, as a function and through the whole wrapper.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_engine::{Descriptor, EngineSpec, Engineering, json_rules};
use quorum_sandbox::Isolation;
use quorum_schemas::Value;
use serde_json::json;

fn call(args: &[&str]) -> (i32, String, String) {
    let args: Vec<String> = args.iter().map(|word| (*word).to_owned()).collect();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = json_rules::main(&args, &mut stdout, &mut stderr);
    (status, String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn folder(candidate: &str, rules: &serde_json::Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("candidate.json"), candidate).unwrap();
    let rules = json!({"schema": "quorum-json-rules/1.0", "rules": rules});
    fs::write(folder.path().join("rules.json"), rules.to_string()).unwrap();
    folder
}

fn check(candidate: &str, rules: &serde_json::Value) -> (i32, serde_json::Value, String) {
    let folder = folder(candidate, rules);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (status, stdout, stderr) = call(&["check", &path("candidate.json"), "--rules", &path("rules.json"), "--json"]);
    (status, serde_json::from_str(&stdout).unwrap_or_default(), stderr)
}

#[test]
fn describe_and_version() {
    let (status, text, _) = call(&["--describe"]);
    assert_eq!(status, 0);
    assert_eq!(Descriptor::parse(text.as_bytes()).unwrap().name(), "json-rules");
    let (status, text, _) = call(&["--version"]);
    assert_eq!((status, text.as_str()), (0, format!("quorum-json-rules {}\n", json_rules::VERSION).as_str()));
    if let Some(schema) = quorum_schemas::upstream::read("vyges/vyges-tool-descriptor-1.1.reconstructed.schema.json") {
        let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
        let described = serde_json::from_str(json_rules::DESCRIPTOR).unwrap();
        validator.validate(&described).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn each_demand_holds_and_is_violated() {
    for (rule, good, bad) in [
        (json!({"equals": 42}), vec!["42"], vec!["41", "42.0", "\"42\"", "null"]),
        (json!({"equals": {"a": [1]}}), vec![r#"{"a":[1]}"#], vec![r#"{"a":[1.0]}"#]),
        (json!({"one_of": ["x", 1]}), vec!["\"x\"", "1"], vec!["2", "1.0"]),
        (json!({"type": "integer"}), vec!["1"], vec!["1.0", "\"1\"", "true"]),
        (json!({"type": "number"}), vec!["1", "1.5"], vec!["\"1\""]),
        (json!({"type": "string"}), vec!["\"\""], vec!["null"]),
        (json!({"minimum": 0, "maximum": 1}), vec!["0", "1", "0.5"], vec!["-1", "1.1", "\"0\"", "null"]),
        (json!({"min_length": 1, "max_length": 2}), vec!["\"é\"", "[1,2]", r#"{"a":1}"#], vec!["\"\"", "[1,2,3]", "1"]),
    ] {
        let mut rule = rule;
        rule["id"] = json!("r");
        rule["at"] = json!("/v");
        let rules = json!([rule]);
        for value in good {
            let (status, payload, stderr) = check(&format!(r#"{{"v": {value}}}"#), &rules);
            assert_eq!((status, &payload["clean"]), (0, &json!(true)), "{rules} {value} {stderr}");
            assert_eq!(payload["coverage"]["complete"], true);
        }
        for value in bad {
            let (status, payload, _) = check(&format!(r#"{{"v": {value}}}"#), &rules);
            assert_eq!((status, &payload["clean"]), (0, &json!(false)), "{rules} {value}");
            assert_eq!(payload["violations"][0]["rule"], "r");
        }
        let (_, payload, _) = check("{}", &rules);
        assert_eq!(payload["clean"], false, "missing: {rules}");
    }
}

#[test]
fn absent_and_root_and_arrays() {
    let absent = json!([{"id": "a", "at": "/accepted", "absent": true}]);
    assert_eq!(check("{}", &absent).1["clean"], true);
    assert_eq!(check(r#"{"accepted": false}"#, &absent).1["clean"], false);
    assert_eq!(check("[1]", &json!([{"id": "a", "at": "", "equals": [1]}])).1["coverage"]["complete"], true);
    assert_eq!(check(r#"{"v": [0, 7]}"#, &json!([{"id": "a", "at": "/v/1", "equals": 7}])).1["clean"], true);
}

#[test]
fn a_member_that_no_rule_names_makes_the_coverage_incomplete() {
    let (_, payload, _) = check(r#"{"a": 1, "ab": 2, "c/d": 3}"#, &json!([{"id": "a", "at": "/a", "equals": 1}]));
    assert_eq!(payload["clean"], true);
    assert_eq!(payload["coverage"], json!({"complete": false, "rules": 1, "unexamined": ["/ab", "/c~1d"]}));
}

#[test]
fn a_candidate_that_is_no_json_is_a_finding() {
    for candidate in ["", "{", r#"{"a":1,"a":1}"#, "NaN"] {
        let (status, payload, _) = check(candidate, &json!([{"id": "a", "at": "/a", "equals": 1}]));
        assert_eq!((status, &payload["clean"]), (0, &json!(false)), "{candidate}");
        assert_eq!(payload["violations"][0]["rule"], "json-document");
    }
}

#[test]
fn rules_that_cannot_be_used_are_no_result() {
    for rules in [
        json!([]),
        json!([{"id": "a", "at": "/a"}]),
        json!([{"id": "a", "at": "a", "equals": 1}]),
        json!([{"at": "/a", "equals": 1}]),
        json!([{"id": "a", "at": "/a", "equal": 1}]),
        json!([{"id": "a", "at": "/a", "type": "float"}]),
        json!([{"id": "a", "at": "/a", "absent": true, "equals": 1}]),
        json!([{"id": "a", "at": "/a", "equals": 1}, {"id": "a", "at": "/b", "equals": 1}]),
        json!([{"id": "a", "at": "/a", "min_length": -1}]),
        json!({}),
    ] {
        let (status, _, stderr) = check("{}", &rules);
        assert_eq!(status, 2, "{rules}");
        assert!(stderr.starts_with("error: "), "{stderr}");
    }
}

#[test]
fn usage_and_unreadable_files() {
    assert_eq!(call(&[]).0, 2);
    assert_eq!(call(&["check", "x"]).0, 2);
    assert_eq!(call(&["check", "x", "--rules", "y", "--force"]).0, 2);
    let folder = folder("{}", &json!([{"id": "a", "at": "/a", "equals": 1}]));
    let rules = folder.path().join("rules.json").display().to_string();
    assert_eq!(call(&["check", "/nonexistent", "--rules", &rules]).0, 1);
    assert_eq!(call(&["check", "/dev/zero", "--rules", &rules]).0, 1);
}

/// The pinned example that the engine's maturity rests on.
#[test]
fn workflow_through_the_whole_wrapper() {
    let program = Path::new(env!("CARGO_BIN_EXE_quorum-json-rules"));
    quorum_sandbox::use_helper(program);
    let rules = json!([
        {"id": "answer", "at": "/answer", "equals": 42},
        {"id": "status", "at": "/status", "one_of": ["ready"]},
    ]);
    for (candidate, expected) in [
        (r#"{"answer": 42, "status": "ready"}"#, Engineering::Pass),
        (r#"{"answer": 41, "status": "ready"}"#, Engineering::Fail),
        (r#"{"answer": 42, "status": "ready", "more": 1}"#, Engineering::Unknown),
        ("not json", Engineering::Fail),
    ] {
        let folder = folder(candidate, &rules);
        let text = |name: &str| Value::String(name.to_owned());
        let spec = EngineSpec {
            binary: program.to_owned(),
            leading_args: Vec::new(),
            descriptor: Descriptor::parse(json_rules::DESCRIPTOR.as_bytes()).unwrap(),
            args: BTreeMap::from([
                ("candidate".to_owned(), text("candidate.json")),
                ("rules".to_owned(), text("rules.json")),
            ]),
            cwd: folder.path().to_owned(),
            read_only: Vec::new(),
            writable: Vec::<PathBuf>::new(),
            hidden: Vec::new(),
            timeout: Duration::from_secs(20),
            isolation: Isolation::ProcessSandbox,
            env: BTreeMap::new(),
            version: None,
        };
        let run = quorum_engine::run(&spec);
        crate::support::envelope(&run);
        assert_eq!(run.engineering, expected, "{candidate}: {}", run.summary);
        assert_eq!(run.version.as_deref(), Some(json_rules::VERSION));
    }
}
