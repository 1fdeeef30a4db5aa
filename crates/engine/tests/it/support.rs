//! Fake engines and what is said about their envelopes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_engine::{Descriptor, EngineRun, EngineSpec};
use quorum_sandbox::Isolation;
use quorum_schemas::Value;
use serde_json::json;

/// A structured engine with the given assertion and one placeholder.
pub(crate) fn descriptor(assertion: &serde_json::Value) -> Descriptor {
    let mut text = json!({
        "schema": "vyges-tool-descriptor/1.1",
        "name": "fake",
        "maturity": "structured",
        "provenance_limitations": ["a fake"],
        "invocation": {
            "args_template": ["check", "{input}"],
            "optional": [{"arg": "out", "flag": "-o"}, {"arg": "fast", "flag": "--fast", "kind": "flag"}],
            "emits_json": true,
        },
        "inputs": {"type": "object", "required": ["input"], "properties": {"input": {"type": "string"}, "lost": {}}},
        "artifacts": [
            {"role": "report", "field": "report_path"},
            {"role": "view", "field": "view_paths"},
            {"role": "named", "from_arg": "out"},
            {"role": "sourceless"},
        ],
    });
    if !assertion.is_null() {
        text["assertion"] = assertion.clone();
    }
    Descriptor::parse(text.to_string().as_bytes()).unwrap()
}

/// The usual one.
pub(crate) fn clean() -> serde_json::Value {
    json!({"id": "fake-clean", "field": "clean", "pass_when": {"is_true": true}})
}

/// A folder with an engine of one shell script, `vyges-fake`, and a file `in.txt`.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) spec: EngineSpec,
}

impl Bench {
    pub(crate) fn new(script: &str) -> Self {
        quorum_sandbox::use_helper(Path::new(env!("CARGO_BIN_EXE_quorum-json-rules")));
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("cwd");
        fs::create_dir(&cwd).unwrap();
        fs::write(cwd.join("in.txt"), "input").unwrap();
        let binary = folder.path().join("vyges-fake");
        let version = r#"if [ "$1" = --version ]; then echo "vyges-fake 1.2.3 (abc)"; exit 0; fi"#;
        fs::write(&binary, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
        let spec = EngineSpec {
            binary,
            leading_args: Vec::new(),
            descriptor: descriptor(&clean()),
            args: BTreeMap::from([("input".to_owned(), Value::String("in.txt".to_owned()))]),
            cwd: cwd.clone(),
            read_only: Vec::new(),
            writable: vec![cwd],
            hidden: Vec::new(),
            timeout: Duration::from_secs(20),
            isolation: Isolation::ProcessSandbox,
            env: BTreeMap::new(),
            version: None,
        };
        Self { folder, spec }
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder.path().join("cwd")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs it; every envelope is checked against the reconstructed schema of upstream.
    pub(crate) fn run(&self) -> (EngineRun, serde_json::Value) {
        let run = quorum_engine::run(&self.spec);
        let envelope = envelope(&run);
        (run, envelope)
    }
}

/// The envelope as a value, after the checks that hold for all of them.
pub(crate) fn envelope(run: &EngineRun) -> serde_json::Value {
    let value: serde_json::Value = serde_json::from_slice(&run.envelope).unwrap();
    if let Some(schema) = quorum_schemas::upstream::read("vyges/loom-result-1.1.reconstructed.schema.json") {
        let validator = jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{value}");
    }
    assert_eq!(value["status"] == "error", !value["error"].is_null(), "loom_e04");
    if value["status"] == "error" {
        assert_eq!(value["engineering"]["status"], "unknown", "loom_e03");
    }
    assert_eq!(value["status"], run.status.as_str());
    assert_eq!(value["engineering"]["status"], run.engineering.as_str());
    value
}
