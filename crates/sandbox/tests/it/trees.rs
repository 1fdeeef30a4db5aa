//! Nothing survives a run: not at its end, not at its deadline, not when the caller is killed.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use quorum_sandbox::{End, Isolation, run};

use crate::support::{BOTH, again_as_ordinary_user, alive, eventually, in_own_process, ready, shell, token};

/// Ways to leave the group, the session and the parent.
const LEAVERS: [&str; 5] = [
    "sleep TOKEN &",
    "setsid sleep TOKEN &",
    "(setsid sh -c 'setsid sleep TOKEN & setsid sleep TOKEN & exit' &);",
    "trap '' TERM HUP INT; nohup sleep TOKEN >/dev/null 2>&1 &",
    "(sh -c 'kill -STOP $$' & sleep TOKEN &);",
];

fn line(leaver: &str, token: &str, then: &str) -> String {
    format!("{} {then}", leaver.replace("TOKEN", token))
}

#[test]
fn nothing_survives_the_end() {
    for isolation in BOTH {
        for leaver in LEAVERS {
            let token = token();
            let report = run(&shell(&line(leaver, &token, "exit 0"), isolation)).unwrap();
            assert_eq!(report.end, End::Exited(0), "{leaver}");
            assert_eq!(alive(&token), 0, "{isolation}: {leaver}");
        }
    }
}

#[test]
fn nothing_survives_the_end_as_ordinary_user() {
    again_as_ordinary_user("trees::nothing_survives_the_end");
}

#[test]
fn nothing_survives_the_deadline() {
    for isolation in BOTH {
        for leaver in LEAVERS {
            let token = token();
            let text = line(leaver, &token, "sleep 1000");
            let mut spec = shell(&text, isolation);
            spec.timeout = Duration::from_millis(400);
            let started = Instant::now();
            let report = run(&spec).unwrap();
            assert_eq!(report.end, End::TimedOut, "{isolation}: {text}: {report:?}");
            assert_eq!(alive(&token), 0, "{isolation}: {leaver}");
            assert!(started.elapsed() < Duration::from_secs(10));
        }
    }
}

#[test]
fn nothing_survives_the_deadline_as_ordinary_user() {
    again_as_ordinary_user("trees::nothing_survives_the_deadline");
}

/// A tree that grows while it is being killed.
#[test]
fn a_tree_that_keeps_forking_is_ended() {
    for isolation in BOTH {
        let token = token();
        let text = format!(
            "grow() {{ while :; do setsid sleep {token} & setsid sleep 0.01 & sleep 0.01; done; }}; grow & grow & wait"
        );
        let mut spec = shell(&text, isolation);
        spec.timeout = Duration::from_millis(500);
        assert_eq!(run(&spec).unwrap().end, End::TimedOut);
        assert_eq!(alive(&token), 0, "{isolation}");
    }
}

#[test]
fn a_caller_that_is_killed_takes_everything_along() {
    ready();
    for isolation in BOTH {
        let token = token();
        let mut caller = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "trees::caller_entry", "--nocapture"])
            .env("QUORUM_CALLER", isolation.as_str())
            .env("QUORUM_TOKEN", &token)
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        eventually("the command starts", || alive(&token) == 2);
        caller.kill().unwrap();
        caller.wait().unwrap();
        eventually("the command is gone", || alive(&token) == 0);
    }
}

/// Not a test of its own: the caller that is killed.
#[test]
fn caller_entry() {
    let (Ok(isolation), Ok(token)) = (std::env::var("QUORUM_CALLER"), std::env::var("QUORUM_TOKEN")) else { return };
    let isolation: Isolation = isolation.parse().unwrap();
    let _ = run(&shell(&format!("setsid sleep {token} & sleep {token}"), isolation));
}

/// Without the proof of reaping nobody may say how the command ended.
#[test]
fn a_killed_helper_is_an_unknown_outcome() {
    if !in_own_process("trees::a_killed_helper_is_an_unknown_outcome") {
        return;
    }
    for isolation in BOTH {
        let token = token();
        let spec = shell(&format!("exec sleep {token}"), isolation);
        quorum_sandbox::probe().unwrap();
        let error = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&spec));
            eventually("the command starts", || alive(&token) == 1);
            for helper in children() {
                nix::sys::signal::kill(helper, nix::sys::signal::Signal::SIGKILL).unwrap();
            }
            running.join().unwrap().unwrap_err()
        });
        assert_eq!(error.code(), "outcome_unknown", "{isolation}: {error}");
        eventually("the command is gone", || alive(&token) == 0);
    }
}

fn children() -> Vec<nix::unistd::Pid> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let text: String =
        threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()).collect();
    text.split_whitespace().map(|word| nix::unistd::Pid::from_raw(word.parse().unwrap())).collect()
}

#[test]
fn no_zombie_is_left_to_the_caller() {
    if !in_own_process("trees::no_zombie_is_left_to_the_caller") {
        return;
    }
    for isolation in BOTH {
        run(&shell("sleep 0 &", isolation)).unwrap();
    }
    let none = nix::sys::wait::waitpid(None, Some(nix::sys::wait::WaitPidFlag::WNOHANG));
    assert_eq!(none, Err(nix::errno::Errno::ECHILD));
}

#[test]
fn many_threads_run_at_once_and_no_descriptor_leaks() {
    if !in_own_process("trees::many_threads_run_at_once_and_no_descriptor_leaks") {
        return;
    }
    ready();
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    run(&shell("true", Isolation::ProcessSandbox)).unwrap();
    let before = open();
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || {
                for round in 0..5 {
                    let isolation = BOTH[round % 2];
                    let report = run(&shell(&format!("cat; echo {number}; exit {number}"), isolation)).unwrap();
                    assert_eq!(report.end, End::Exited(number));
                    assert_eq!(report.stdout.bytes, format!("{number}\n").as_bytes());
                }
            });
        }
    });
    assert_eq!(open(), before);
}
