//! W-105: kill -9 at the instants at which a crash could run a command twice or make up a result.

use std::process::Child;

use quorum_workbench::{Outcome, POINTS};

use crate::run::{Bench, running, stdout, until};

fn stopped(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit(") ").next().unwrap().starts_with('T')
}

/// Kills the workbench at a point; what the next one with the same request says.
fn killed_at(point: &str) -> (Outcome, Vec<u8>) {
    let bench = Bench::new("observation", "cat src/a");
    let mut child = bench.command(&bench.request()).env("QUORUM_FAULT_POINT", point).spawn().unwrap();
    until(point, || stopped(&child));
    child.kill().unwrap();
    child.wait().unwrap();
    let first = stdout(&bench.run(&bench.request()));
    assert_eq!(stdout(&bench.run(&bench.request())), first, "every later answer is the same");
    (quorum_workbench::RunResult::read(&first).unwrap().outcome, first)
}

fn interrupted(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown { code, .. } if code.as_str() == "operation-interrupted")
}

#[test]
fn w_105_after_the_marker_before_exec_is_unknown() {
    assert!(interrupted(&killed_at("workbench_after_marker").0));
}

#[test]
fn w_105_after_exec_before_exit_is_unknown_and_the_tree_is_gone() {
    let bench = Bench::new("observation", ": w105token; sleep 60");
    let mut child = bench.command(&bench.request()).spawn().unwrap();
    until("the command runs", || running("w105token"));
    child.kill().unwrap();
    child.wait().unwrap();
    until("its tree is gone", || !running("w105token"));
    assert!(interrupted(&bench.outcome(&bench.request())));
    assert!(!running("w105token"), "it ran a second time");
}

/// There is no point between exit and digest: the sandbox does both in one call. So the digest is made long, and the kill
/// comes when the command is seen to be gone; a kill that comes too late finds the stored result and is tried again.
#[test]
fn w_105_after_exit_before_the_digest_is_unknown() {
    for _ in 0..10 {
        let bench = Bench::new("observation", ": w105exit; sleep 0.2");
        (0..8000).for_each(|number| std::fs::write(bench.root().join(format!("src/{number}")), "x").unwrap());
        let mut child = bench.command(&bench.request()).spawn().unwrap();
        until("the command runs", || running("w105exit"));
        until("the command is gone", || !running("w105exit"));
        child.kill().unwrap();
        child.wait().unwrap();
        let outcome = bench.outcome(&bench.request());
        assert_eq!(bench.outcome(&bench.request()), outcome);
        if interrupted(&outcome) {
            return;
        }
        assert!(matches!(outcome, Outcome::CompletedObservation(ran, _) if ran.exit == Some(0)));
    }
    panic!("ten kills were all too late");
}

#[test]
fn w_105_after_the_digest_before_the_store_is_unknown() {
    assert!(interrupted(&killed_at("workbench_before_store").0));
}

#[test]
fn w_105_after_the_store_before_the_answer_is_a_replay() {
    let (outcome, _) = killed_at("workbench_after_store");
    assert!(matches!(outcome, Outcome::CompletedObservation(ran, _) if ran.stdout == b"hello"));
}

#[test]
fn every_point_has_its_test() {
    let source = include_str!("crash.rs");
    for point in POINTS {
        assert_eq!(source.matches(&format!("killed_at(\"{point}\")")).count(), 1, "{point}");
    }
}
