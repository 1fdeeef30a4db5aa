//! The C1 digest of one document: ours, CPython's and the bare SHA-256 of the same canonical bytes, in the same run.
//!
//! `cargo bench --package quorum-schemas --bench digest [-- FILE]` prints one JSON document: medians and least of many
//! rounds in turns, and their ratios. FILE is upstream's phase0 manifest if none is named. Where a bound is not held by the
//! least times, which a busy machine disturbs least, the exit code is 1.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use quorum_schemas::{C1Digest, Digest, c1, parse, upstream};
use serde_json::json;

const ROUNDS: usize = 501;
/// Digests in one round: long beside the clock's own cost, short beside a scheduler's slice.
const BATCH: u32 = 20;

/// How often the bare SHA-256 of the canonical bytes fits into a digest from the document's bytes, at most.
const OVER_SHA256: f64 = 4.0;
/// How many of our digests CPython's takes, at least.
const UNDER_CPYTHON: f64 = 5.0;

/// Reads the document once; answers each line with the nanoseconds of one digest, over as many digests as the line says.
const PYTHON: &str = r#"
import hashlib, json, sys, time
raw = open(sys.argv[1], "rb").read()
def digest():
    text = json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()
print(digest(), sys.version.split()[0], flush=True)
for line in sys.stdin:
    count = int(line)
    start = time.perf_counter_ns()
    for _ in range(count):
        digest()
    print((time.perf_counter_ns() - start) / count, flush=True)
"#;

/// Nanoseconds of one call, over a batch.
fn timed<T>(call: impl Fn() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH {
        black_box(call());
    }
    start.elapsed().as_nanos() as f64 / f64::from(BATCH)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn file() -> Option<PathBuf> {
    // Cargo itself adds `--bench`.
    let named = std::env::args().skip(1).find(|argument| !argument.starts_with("--")).map(PathBuf::from);
    named.or_else(|| Some(upstream::path()?.join("idkmesh/examples/results/phase0-smoke.result-manifest.json")))
}

fn main() -> ExitCode {
    let Some(file) = file() else { return ExitCode::SUCCESS };
    let bytes = std::fs::read(&file).unwrap();
    let value = parse(&bytes).unwrap();
    let canonical = c1(&value);
    let mut python = Command::new("python3")
        .args(["-I", "-S", "-c", PYTHON])
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ask = python.stdin.take().unwrap();
    let mut answers = BufReader::new(python.stdout.take().unwrap()).lines();
    let first = answers.next().unwrap().unwrap();
    let (digest, version) = first.split_once(' ').unwrap();
    assert_eq!(digest, C1Digest::c1(&value).to_string(), "CPython and ours agree before anything is timed");
    let mut times = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        times[0].push(timed(|| Digest::of(black_box(&canonical))));
        times[1].push(timed(|| C1Digest::c1(black_box(&value))));
        times[2].push(timed(|| C1Digest::of_document(black_box(&bytes)).unwrap()));
        times[3].push(timed(|| C1Digest::c1(&parse(black_box(&bytes)).unwrap())));
        writeln!(ask, "{}", BATCH / 10).unwrap();
        times[4].push(answers.next().unwrap().unwrap().parse().unwrap());
    }
    drop(ask);
    python.wait().unwrap();
    let least = times.each_ref().map(|times| times.iter().copied().fold(f64::INFINITY, f64::min));
    let (least, held) = shown(least);
    let (median, _) = shown(times.map(|mut times| median(&mut times)));
    let report = json!({
        "document": file, "bytes": bytes.len(), "canonical_bytes": canonical.len(), "digest": digest,
        "rounds": ROUNDS, "python": version, "median": median, "least": least,
        "bounds": {"bytes_to_digest_over_sha256": OVER_SHA256, "cpython_over_bytes_to_digest": UNDER_CPYTHON},
        "held": held,
    });
    println!("{report:#}");
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Nanoseconds and ratios, and whether the bounds are held.
fn shown([sha256, from_value, from_bytes, with_tree, cpython]: [f64; 5]) -> (serde_json::Value, bool) {
    let shown = json!({
        "nanoseconds": {"bare_sha256": sha256, "value_to_digest": from_value, "bytes_to_digest": from_bytes,
            "bytes_to_value_to_digest": with_tree, "cpython": cpython},
        "ratios": {"value_to_digest_over_sha256": from_value / sha256,
            "bytes_to_digest_over_sha256": from_bytes / sha256,
            "bytes_to_value_to_digest_over_sha256": with_tree / sha256,
            "cpython_over_bytes_to_digest": cpython / from_bytes},
    });
    (shown, from_bytes / sha256 <= OVER_SHA256 && cpython / from_bytes >= UNDER_CPYTHON)
}
