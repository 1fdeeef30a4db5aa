//! The documentation is true: paths exist, the README's first screen runs as written, and the operating guide, command
//! by command, ends in an audited decision.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quorum_testkit::{find_nats_server, free_port};

use crate::chaos::examples;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The fenced blocks of a language, in order.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{language}") {
            blocks.push(lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect());
        }
    }
    blocks
}

#[test]
fn every_path_in_the_documents_exists() {
    let mut seen = 0;
    for page in [
        "README.md",
        "docs/architecture.md",
        "docs/operating.md",
        "docs/gate.md",
        "docs/testing.md",
        "docs/laws.md",
        "docs/security.md",
    ] {
        let text = read(page);
        for path in text.split('`').skip(1).step_by(2) {
            let named = ["crates/", "tests/", "examples/", "docs/"].iter().any(|folder| path.starts_with(folder));
            if named && !path.contains(['*', ' ', '<', '{']) {
                seen += 1;
                assert!(root().join(path).exists(), "{page} names `{path}`");
            }
        }
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !link.contains(':') && !link.starts_with('#') {
                let base = root().join(page);
                assert!(base.parent().unwrap().join(link).exists(), "{page} links to {link}");
            }
        }
    }
    assert!(seen > 40, "only {seen} paths were looked at");
}

/// Digests differ from run to run: keys are random and the clock goes on.
fn without_digests(text: &str) -> String {
    let word = |word: &str| match word.strip_prefix("sha256:") {
        Some(_) => "sha256:...".to_owned(),
        None => word.to_owned(),
    };
    text.lines().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn the_first_screen_of_the_readme_runs_as_written() {
    let readme = read("README.md");
    let gate = blocks(&readme, "sh").into_iter().find(|block| block.contains("quorum gate")).unwrap();
    let (build, gate) = gate.split_once('\n').unwrap();
    assert_eq!(build, "./x build", "the block builds first");
    let gate = gate.replace("target/release/quorum", env!("CARGO_BIN_EXE_quorum"));
    let output = Command::new("bash").args(["-euc", &gate]).current_dir(root()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let shown = blocks(&readme, "text").into_iter().find(|block| block.contains("accept_candidate: ")).unwrap();
    assert_eq!(without_digests(&String::from_utf8(output.stdout).unwrap()), without_digests(&shown));
}

fn said(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What the guide leaves to its reader: the work unit, the candidate, three plans and verifiers b and c.
fn prepare(folder: &Path, guide: &str, port: u16) {
    let example = examples();
    for (from, to) in [
        ("work-unit.json", "work-unit.json"),
        ("plan.toml", "plan-a.toml"),
        ("plan-b.toml", "plan-b.toml"),
        ("plan-c.toml", "plan-c.toml"),
    ] {
        std::fs::copy(example.join(from), folder.join(to)).unwrap();
    }
    for (from, to) in [("good", "answer"), ("rules", "rules")] {
        std::fs::create_dir(folder.join(to)).unwrap();
        std::fs::copy(example.join(from).join("answer.json"), folder.join(to).join("answer.json")).unwrap();
    }
    let port = port.to_string();
    for toml in blocks(guide, "toml") {
        let name = if toml.contains("seat_secret_file") { "coordinator" } else { "verifier-a" };
        let toml = toml.replace("4222", &port);
        std::fs::write(folder.join(format!("{name}.toml")), &toml).unwrap();
        if name == "verifier-a" {
            for other in ["b", "c"] {
                let text = toml
                    .replace("verifier-a", &format!("verifier-{other}"))
                    .replace("plan-a", &format!("plan-{other}"));
                std::fs::write(folder.join(format!("verifier-{other}.toml")), text).unwrap();
            }
        }
    }
}

#[test]
fn the_operating_guide_ends_in_an_audited_decision() {
    let folder = tempfile::tempdir().unwrap();
    let guide = read("docs/operating.md");
    let port = free_port().unwrap();
    prepare(folder.path(), &guide, port);
    // The guide uses the default port and a nats-server on the PATH; a test has its own port and the pinned server.
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, program) in
        [("quorum", PathBuf::from(env!("CARGO_BIN_EXE_quorum"))), ("nats-server", find_nats_server().unwrap())]
    {
        std::os::unix::fs::symlink(program, bin.join(name)).unwrap();
    }
    let mut script = "set -eu\nexec 2>guide.err\nPATH=$PWD/bin:$PATH\ntrap 'kill $(jobs -p); wait' EXIT\n".to_owned();
    for block in blocks(&guide, "sh") {
        let block = block
            .replace("--port 4222", &format!("--port {port}"))
            .replace("--credentials", &format!("--nats nats://127.0.0.1:{port} --credentials"))
            .replace(
                "--result result.dsse.json --candidate answer",
                "--result result.dsse.json --candidate answer > submitted",
            );
        if block.contains("quorum show HANDOFF") {
            script += "handoff=$(sed -n 's/^handoff //p' submitted)\n";
            script += &format!(
                "for i in $(seq 600); do quorum show $handoff --nats nats://127.0.0.1:{port} \
                 --credentials broker/auditor-mesh.toml > /dev/null 2>&1 && break; sleep 0.1; done\n"
            );
        }
        script += &block.replace("HANDOFF", "$handoff");
    }
    let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    let talk = std::fs::read_to_string(folder.path().join("guide.err")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{}\n{talk}", said(&output));
    assert!(said(&output).contains("same: accept_candidate"), "{}\n{talk}", said(&output));
}
