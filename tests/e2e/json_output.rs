//! What the commands of the mesh write with `--json` follows the schemas that `quorum reference --json` names.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use quorum_attest::Role;
use quorum_mesh::UserRole;
use quorum_schemas::{C1Digest, SchemaName, Value, parse, validate};
use quorum_testkit::{AUDITOR, AUTHOR, COORDINATOR, PROVISIONER};

use crate::chaos::{Chaos, VERIFIERS, examples};

#[track_caller]
fn follows(schema: SchemaName, text: &[u8]) -> Value {
    let value = parse(text.trim_ascii_end()).unwrap();
    validate(schema, &value).unwrap_or_else(|wrong| panic!("{wrong:?} in {}", String::from_utf8_lossy(text)));
    value
}

fn quorum(arguments: &[&str], paths: &[&Path]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorum"));
    command.args(arguments).args(paths).arg("--json");
    command
}

#[track_caller]
fn document(schema: SchemaName, mut command: Command) -> Value {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    follows(schema, &output.stdout)
}

/// Work unit, manifest, decision and record by the command line alone, while somebody watches.
#[tokio::test(flavor = "multi_thread")]
async fn a_handoff_by_the_command_line_alone() {
    let mut chaos = Chaos::start().await;
    chaos.world.start_daemons().unwrap();
    let url = chaos.world.server.url();
    let to = |command: &str, role, id: &str| -> Vec<String> {
        let credentials = chaos.world.credentials(role, id).display().to_string();
        [command, "--nats", &url, "--credentials", &credentials].map(str::to_owned).into()
    };
    let run = |words: &[String], rest: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quorum"));
        command.args(words).args(rest).arg("--json");
        command
    };
    let mut apply = to("apply", UserRole::Provisioner, PROVISIONER);
    apply.insert(0, "mesh".to_owned());
    let verifiers: Vec<&str> = VERIFIERS.iter().flat_map(|id| ["--verifier", *id]).collect();
    document(SchemaName::OutputMade, run(&apply, &verifiers));

    let mut watch = run(&to("watch", UserRole::Auditor, AUDITOR), &[]);
    let mut watch = watch.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut talk = BufReader::new(watch.stderr.take().unwrap());
    let mut first = String::new();
    talk.read_line(&mut first).unwrap();

    let unit = examples().join("work-unit.json");
    let author = chaos.world.key_file(Role::Author, AUTHOR);
    let rest = ["--work-unit", unit.to_str().unwrap(), "--key", author.to_str().unwrap()];
    document(SchemaName::OutputSubmit, run(&to("submit", UserRole::Author, AUTHOR), &rest));
    let (manifest, good) = (chaos.world.dir().join("manifest.dsse.json"), examples().join("good"));
    let (unit, good) = (unit.to_str().unwrap(), good.to_str().unwrap());
    let key: PathBuf = chaos.world.key_file(Role::Worker, "worker");
    let make = ["manifest", "--work-unit", unit, "--candidate", good, "--worker", "worker", "--key"];
    document(SchemaName::OutputWritten, quorum(&make, &[&key, Path::new("-o"), &manifest]));
    let rest = ["--result", manifest.to_str().unwrap(), "--candidate", good];
    let submitted = document(SchemaName::OutputSubmit, run(&to("submit", UserRole::Worker, "worker"), &rest));
    let handoff = submitted.get("handoff").and_then(Value::as_str).unwrap().to_owned();
    let id: C1Digest = handoff.parse().unwrap();
    assert_eq!(chaos.told(id).await.recommendation, "accept_candidate");

    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    // Ends at the decision, or with the process: the test runner bounds both.
    loop {
        let line = lines.next().expect("the watch goes on").unwrap();
        let seen = follows(SchemaName::OutputWatch, line.as_bytes());
        if seen.get("line").and_then(Value::as_str).unwrap().starts_with("decision") {
            break;
        }
    }
    kill(Pid::from_raw(i32::try_from(watch.id()).unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(130));
    document(SchemaName::OutputShow, run(&to("show", UserRole::Auditor, AUDITOR), &[&handoff]));

    for (command, id) in [("coordinator", COORDINATOR), ("verifier", VERIFIERS[0])] {
        let config = chaos.world.dir().join(format!("{command}-{id}.toml"));
        document(SchemaName::OutputCheckConfig, quorum(&[command, "--check-config", "--config"], &[&config]));
    }
    chaos.world.stop().unwrap();
}
