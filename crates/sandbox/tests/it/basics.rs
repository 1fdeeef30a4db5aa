//! What every run has, in every class.

use std::time::{Duration, Instant};

use quorum_sandbox::{End, Isolation, run};

use crate::support::{shell, text};

#[test]
fn probe_finds_a_process_sandbox() {
    crate::support::ready();
    let found = quorum_sandbox::probe().unwrap();
    assert_eq!(found.isolation, Isolation::ProcessSandbox, "{found:?}");
    assert!(found.attempts.iter().all(|attempt| attempt.ends_with(": refused")), "{found:?}");
}

#[test]
fn exit_status_and_both_streams() {
    for isolation in [Isolation::None, Isolation::ProcessSandbox] {
        let report = run(&shell("echo out; echo err >&2; exit 7", isolation)).unwrap();
        assert_eq!(report.end, End::Exited(7), "{isolation}");
        assert_eq!(text(&report), "out\n");
        assert_eq!(report.stderr.bytes, b"err\n");
        assert_eq!(report.isolation, isolation);
        println!("{:?} {:?}", report.enforced, report.duration);
    }
}

#[test]
fn deadline() {
    for isolation in [Isolation::None, Isolation::ProcessSandbox] {
        let mut spec = shell("sleep 100", isolation);
        spec.timeout = Duration::from_millis(300);
        let started = Instant::now();
        assert_eq!(run(&spec).unwrap().end, End::TimedOut, "{isolation}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
