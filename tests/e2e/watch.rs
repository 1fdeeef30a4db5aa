//! `quorum watch` as an operator uses it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use quorum_mesh::UserRole;
use quorum_testkit::AUDITOR;

use crate::chaos::Chaos;

#[tokio::test(flavor = "multi_thread")]
async fn watch_shows_a_handoff_from_result_to_decision_and_ends_with_130() {
    let mut chaos = Chaos::start().await;
    chaos.world.start_daemons().unwrap();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_quorum"))
        .args(["watch", "--nats", &chaos.world.server.url(), "--credentials"])
        .arg(chaos.world.credentials(UserRole::Auditor, AUDITOR))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut talk = BufReader::new(watch.stderr.take().unwrap());
    let mut first = String::new();
    talk.read_line(&mut first).unwrap();
    assert!(first.contains("stop with Ctrl-C"), "{first}");

    let handoff = chaos.submit(1).await;
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut seen: Vec<String> = Vec::new();
    // Ends at the decision, or with the process: the test runner bounds both.
    while !seen.iter().any(|line| line.starts_with("decision")) {
        seen.push(lines.next().expect("the watch goes on").unwrap());
    }
    for word in ["work unit", "result", "handoff", "offer", "evidence", "decision"] {
        assert!(seen.iter().any(|line| line.starts_with(word)), "{word} in {seen:#?}");
    }
    assert!(seen.last().unwrap().contains(&handoff.hex()[..12]), "{seen:#?}");
    kill(Pid::from_raw(i32::try_from(watch.id()).unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(130));
    chaos.world.stop().unwrap();
}
