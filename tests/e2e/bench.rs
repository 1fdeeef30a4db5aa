//! What the gate costs, as a ratio: milliseconds do not travel between machines, and this runs beside other tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Samples of each, in turns; the medians are compared.
const ROUNDS: usize = 5;

/// Runs in one sample: the shell counts milliseconds, and reading one file takes three.
const REPEATS: usize = 4;

/// CPU time of a gate over that of reading one file. Measured: 7 in a release build, 11 in a debug build.
const MOST: f64 = if cfg!(debug_assertions) { 60.0 } else { 25.0 };

#[test]
fn the_gate_costs_a_bounded_multiple_of_reading_one_file() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/json-answer");
    let file = |name: &str| example.join(name);
    let mut digest = Vec::new();
    let mut gate = Vec::new();
    for _ in 0..ROUNDS {
        digest.push(cpu_of(&["digest".into(), file("work-unit.json")]));
        gate.push(cpu_of(&[
            "gate".into(),
            "--work-unit".into(),
            file("work-unit.json"),
            "--candidate".into(),
            file("good"),
            "--plan".into(),
            file("plan.toml"),
        ]));
    }
    let (digest, gate) = (median(digest), median(gate));
    let ratio = gate / digest;
    println!("{REPEATS} gates take {gate:.3} s of CPU, {REPEATS} digests {digest:.3} s: {ratio:.1} times");
    assert!(ratio <= MOST, "the gate takes {ratio:.1} times the CPU of `quorum digest`, the bound is {MOST}");
}

/// Runs `quorum` [`REPEATS`] times in a shell of its own, and asks that shell for the CPU seconds, user and system, of all
/// its children and of theirs. Children of tests that run beside this one do not count.
fn cpu_of(arguments: &[PathBuf]) -> f64 {
    let script = format!(r#"for _ in {{1..{REPEATS}}}; do "$@" >/dev/null || exit; done; times"#);
    let quorum = env!("CARGO_BIN_EXE_quorum");
    let ended = Command::new("bash").args(["-c", &script, "bash", quorum]).args(arguments).output().unwrap();
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
    // The shell's own times, then those of its children: `0m0.075s 0m0.014s`.
    let text = String::from_utf8(ended.stdout).unwrap();
    let children = text.lines().nth(1).unwrap();
    children.split_whitespace().map(seconds).sum()
}

fn seconds(text: &str) -> f64 {
    let (minutes, seconds) = text.strip_suffix('s').and_then(|text| text.split_once('m')).unwrap();
    minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
