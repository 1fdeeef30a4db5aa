//! One decision over 32 admitted envelopes with groups, timed against the SHA-256 of the same envelopes.
//!
//! `decide32` prints one JSON document. `decide32 --count N SHAPE` only decides N times and prints the recommendation,
//! so that `valgrind --tool=callgrind` counts instructions: two runs with different N differ by the decisions alone.

#![allow(clippy::print_stdout, reason = "a measurement is printed")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use quorum_policies::{Admitted, CaseFile, CaseFormat, Outcome, Policy};
use quorum_schemas::Digest;

const ENVELOPES: usize = 32;
const ROUNDS: usize = 401;
const SHAPES: [&str; 3] = ["apart", "pairs", "rook"];

/// Seats for all, groups of three levels, a share, two axes.
fn policy() -> String {
    let operators: Vec<String> = (0..4)
        .map(|group| {
            let names: Vec<String> = (0..4).map(|number| format!("\"op{}\"", group * 4 + number)).collect();
            format!("{{ k = 2, of = [{}] }}", names.join(", "))
        })
        .collect();
    format!(
        "schema_version = \"0.1\"\nid = \"bench\"\nquorum = 8\npanel = {ENVELOPES}\nfraction = \"1/4\"\n\
         independent_on = [\"operator\", \"host\"]\nmin_channel = \"black_box\"\n\
         groups = {{ k = 2, of = [{{ k = 1, of = [{}, {}] }}, {}, {}] }}\n",
        operators[0], operators[1], operators[2], operators[3]
    )
}

/// 28 supports, two abstentions, two absences. `apart`: nobody shares anything. `pairs`: each operator runs two verifiers.
/// `rook`: operators and hosts cross, so that the largest independent set has to be searched for.
fn cases() -> String {
    let mut text = "schema_version = \"0.1\"\n[worker]\noperator = \"workers-inc\"\nhost = \"w\"\n".to_owned();
    let mut attribute = |shape: &str, number: usize, operator: usize, host: usize| {
        let _ = write!(text, "[verifiers.{shape}{number}]\noperator = \"op{operator}\"\nhost = \"h{host}\"\n");
    };
    for number in 0..ENVELOPES {
        attribute("apart", number, number, number);
        attribute("pairs", number, number / 2, number);
        attribute("rook", number, number % 6, number / 6);
    }
    for shape in SHAPES {
        let says = |number: usize| match number {
            0..28 => "supports",
            28..30 => "abstains",
            _ => "absent",
        };
        let said: Vec<String> = (0..ENVELOPES).map(|number| format!("\"{shape}{number} {}\"", says(number))).collect();
        let evidence = said.join(", ");
        let _ = write!(text, "[[case]]\nname = \"{shape}\"\nexpect = \"accept_candidate\"\nevidence = [{evidence}]\n");
    }
    text
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let policy = Policy::parse(policy().as_bytes()).expect("a policy of this file");
    let file = CaseFile::parse(cases().as_bytes(), CaseFormat::Toml).expect("cases of this file");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => {
            let shapes: Vec<String> = SHAPES.map(|shape| measured(&file, &policy, shape)).into();
            println!("{{{}}}", shapes.join(","));
        }
        ["--count", count, shape] if SHAPES.contains(shape) => {
            let count: usize = count.parse().expect("--count takes a number");
            let word = file.with_case(&policy, shape, |case, now| {
                let admitted = Admitted::admit(case, now).expect("a case that can be judged");
                for _ in 0..count {
                    black_box(decide(&admitted));
                }
                format!("{:?}", decide(&admitted).recommendation())
            });
            println!("{}", word.expect("the case is there"));
        }
        _ => panic!("usage: decide32 [--count N apart|pairs|rook]"),
    }
}

fn decide(admitted: &Admitted<'_>) -> Outcome {
    admitted.decide().expect("few supporters")
}

fn measured(file: &CaseFile, policy: &Policy, shape: &str) -> String {
    let text = file.with_case(policy, shape, |case, now| {
        let (admission, admitted) = timed(|| Admitted::admit(case, now).expect("a case that can be judged"));
        let outcome = decide(&admitted);
        let decision = outcome.decision().expect("the panel is closed");
        let (mut decisions, mut digests) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            decisions.push(timed(|| decide(&admitted)).0);
            digests.push(timed(|| case.envelopes.iter().map(|bytes| Digest::of(bytes)).collect::<Vec<_>>()).0);
        }
        let (decision_us, digest_us) = (median(&mut decisions), median(&mut digests));
        format!(
            "\"{shape}\":{{\"envelopes\":{},\"voices\":{},\"recommendation\":\"{}\",\"admit_us\":{:.1},\
             \"decide_us\":{decision_us:.1},\"sha256_us\":{digest_us:.1},\"ratio\":{:.3}}}",
            case.envelopes.len(),
            decision.voices.len(),
            decision.recommendation,
            micros(admission),
            decision_us / digest_us
        )
    });
    text.expect("the case is there")
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = black_box(work());
    (start.elapsed(), value)
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

fn median(durations: &mut [Duration]) -> f64 {
    durations.sort_unstable();
    micros(durations[durations.len() / 2])
}
