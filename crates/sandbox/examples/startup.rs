//! What a sandbox costs: `true` in ours against `true` in bubblewrap with the same namespaces, in one run.
//!
//! `cargo run --release -p quorum-sandbox --example startup -- [--rounds N] [--bwrap PATH] [--at-most RATIO]
//! [--bwrap-args "--unshare-all --ro-bind / / true"]`
//!
//! Prints the median of each in milliseconds and their ratio; exits 1 when the ratio is above the bound, 2 when there is
//! no bubblewrap. The three take turns, so that what else the machine does meets all of them.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is its result")]

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use quorum_sandbox::{End, Spec, run};

/// The namespaces that ours has, with the mounts that stand for our view.
const BWRAP: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--uid",
    "65534",
    "--gid",
    "65534",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/var/tmp",
    "--tmpfs",
    "/run",
    "--tmpfs",
    "/root",
    "--tmpfs",
    "/home",
    "--tmpfs",
    "/sys",
    "--cap-drop",
    "ALL",
    "--new-session",
    "--die-with-parent",
    "--",
    "/bin/true",
];

fn main() -> ExitCode {
    quorum_sandbox::init_main();
    let (mut rounds, mut bwrap, mut at_most) = (101_usize, PathBuf::from("bwrap"), 1.25_f64);
    let mut bwrap_args: Vec<String> = BWRAP.iter().map(|word| (*word).to_owned()).collect();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match name.as_str() {
            "--rounds" => rounds = value.parse().unwrap_or(rounds),
            "--bwrap" => bwrap = value.into(),
            "--bwrap-args" => bwrap_args = value.split_whitespace().map(str::to_owned).collect(),
            "--at-most" => at_most = value.parse().unwrap_or(at_most),
            _ => {
                eprintln!("unknown argument {name}");
                return ExitCode::from(2);
            }
        }
    }
    let in_bwrap = || Command::new(&bwrap).args(&bwrap_args).stdin(Stdio::null()).output();
    match in_bwrap() {
        Ok(output) if output.status.success() => {}
        other => {
            eprintln!("no bubblewrap: {other:?}; Debian's package is bubblewrap");
            return ExitCode::from(2);
        }
    }
    let spec = Spec::new(vec!["/bin/true".to_owned()], PathBuf::from("/"));
    let ours = || run(&spec).is_ok_and(|report| report.end == End::Exited(0));
    let plain = || Command::new("/bin/true").stdin(Stdio::null()).output().is_ok_and(|output| output.status.success());
    // The probe runs once for each process, before the first.
    assert!(ours(), "a process sandbox can be had");
    let mut times: [Vec<[Duration; 2]>; 3] = Default::default();
    for _ in 0..rounds {
        times[0].push(timed(plain));
        times[1].push(timed(|| in_bwrap().is_ok_and(|output| output.status.success())));
        times[2].push(timed(ours));
    }
    let median = |which: usize| {
        times.each_ref().map(|times| {
            let mut times: Vec<Duration> = times.iter().map(|pair| pair[which]).collect();
            times.sort();
            times[times.len() / 2].as_secs_f64() * 1000.0
        })
    };
    for (name, [plain, bwrap, ours]) in [("cpu", median(1)), ("wall", median(0))] {
        println!("{name}: plain {plain:.2} ms, bwrap {bwrap:.2} ms, ours {ours:.2} ms, ours/bwrap {:.2}", ours / bwrap);
    }
    let [_, bwrap, ours] = median(0);
    ExitCode::from(u8::from(ours / bwrap > at_most))
}

/// Wall clock, and the CPU time of the children that were waited for.
fn timed(what: impl FnOnce() -> bool) -> [Duration; 2] {
    let (started, before) = (Instant::now(), children());
    assert!(what(), "each run ends well");
    [started.elapsed(), children() - before]
}

fn children() -> Duration {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN);
    let time = |time: nix::sys::time::TimeVal| {
        Duration::new(time.tv_sec().try_into().unwrap_or(0), u32::try_from(time.tv_usec()).unwrap_or(0) * 1000)
    };
    usage.map(|usage| time(usage.user_time()) + time(usage.system_time())).unwrap_or_default()
}
