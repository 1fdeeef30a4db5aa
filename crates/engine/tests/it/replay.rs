//! Recorded runs of real engines, judged again.

use quorum_engine::{Descriptor, ProcessEnd, judge};
use serde_json::Value;

fn read(relative: &str) -> Option<Value> {
    quorum_schemas::upstream::read(&format!("vyges/{relative}")).map(|bytes| serde_json::from_slice(&bytes).unwrap())
}

fn descriptor_of(tool: &str) -> Descriptor {
    let text = match tool {
        "lvs" => read("descriptors/read-only-structural.json").unwrap()["lvs(04509de)"].clone(),
        // The case of the engine that is not there.
        "doesnotexist" => serde_json::json!({"name": tool}),
        _ => read(&format!("descriptors/{tool}.json")).unwrap(),
    };
    Descriptor::parse(text.to_string().as_bytes()).unwrap()
}

#[test]
fn every_recorded_run_has_its_expected_verdict() {
    let Some(cases) = read("expected-verdicts.json") else { return };
    let (mut compared, mut without_contract) = (0, 0);
    for case in cases.as_array().unwrap() {
        let name = case["case"].as_str().unwrap();
        let expected = &case["expected"];
        if expected["status"] == "n/a" {
            // loom has no single invocation, hence no contract to judge by (loom_d1).
            without_contract += 1;
            continue;
        }
        let run = read(&format!("runs/{name}.json")).unwrap();
        let end = match run["exit_code"].as_i64() {
            None => ProcessEnd::NotStarted("not installed".to_owned()),
            Some(code) => ProcessEnd::Exited(i32::try_from(code).unwrap()),
        };
        let stdout = run["stdout_text"].as_str().map_or_else(|| run["stdout_json"].to_string(), str::to_owned);
        let found = judge(&descriptor_of(case["tool"].as_str().unwrap()), &end, stdout.as_bytes());
        assert_eq!(found.status.as_str(), expected["status"], "{name}: {found:?}");
        assert_eq!(found.engineering.as_str(), expected["engineering"], "{name}: {found:?}");
        assert_eq!(found.error.map(|error| error.code).as_deref(), expected["code"].as_str(), "{name}");
        compared += 1;
    }
    assert_eq!((compared, without_contract), (58, 2));
}

#[test]
fn every_descriptor_of_an_engine_is_read() {
    for tool in [
        "ant",
        "buffer-insert",
        "cdc",
        "char",
        "drc",
        "em-ir",
        "gds-view",
        "glitch",
        "hold-fix",
        "lec",
        "loom",
        "power",
        "resize",
        "sta-si",
        "thermal",
        "vt-swap",
    ] {
        let Some(value) = read(&format!("descriptors/{tool}.json")) else { return };
        assert_eq!(Descriptor::parse(value.to_string().as_bytes()).unwrap().name(), tool);
    }
    let several = read("descriptors/read-only-structural.json").unwrap();
    // The rest describes installations, not engines.
    for (name, value) in several.as_object().unwrap().iter().filter(|(_, value)| value.get("name").is_some()) {
        Descriptor::parse(value.to_string().as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
