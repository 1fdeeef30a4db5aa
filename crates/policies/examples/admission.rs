//! The admission of one envelope (decode, strict verification, schemas, rules P and V), timed against `verify_strict` over
//! the same bytes with a key that is already decoded.
//!
//! `admission` prints one JSON document. `admission --count N` only admits N times, and `admission --bare N` only verifies
//! N times, so that `valgrind --tool=callgrind` counts instructions.

#![allow(clippy::print_stdout, reason = "a measurement is printed")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use ed25519_dalek::{Signature, VerifyingKey};
use quorum_attest::{Envelope, pae};
use quorum_policies::{Admitted, Case, CaseFile, CaseFormat, Policy};
use quorum_schemas::Timestamp;

const ROUNDS: usize = 301;

const POLICY: &str = "schema_version = \"0.1\"\nid = \"bench\"\n";

/// `count` verifiers that all support.
fn cases(count: usize) -> String {
    let mut text = "schema_version = \"0.1\"\n[worker]\noperator = \"w\"\nhost = \"w\"\n".to_owned();
    for number in 0..count {
        let _ = write!(text, "[verifiers.v{number}]\noperator = \"op{number}\"\nhost = \"h{number}\"\n");
    }
    let said: Vec<String> = (0..count).map(|number| format!("\"v{number} supports\"")).collect();
    let evidence = said.join(", ");
    let _ = write!(text, "[[case]]\nname = \"all\"\nexpect = \"accept_candidate\"\nevidence = [{evidence}]\n");
    text
}

/// What `verify_strict` is asked, made ready outside the clock.
struct Bare {
    key: VerifyingKey,
    message: Vec<u8>,
    signature: Signature,
}

impl Bare {
    fn of(bytes: &[u8], case: &Case<'_>) -> Self {
        let envelope = Envelope::parse(bytes).expect("an envelope of ours");
        let entry = case.trust.by_key_id(&envelope.key_id()).expect("a listed verifier");
        let value: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
        let signature = value["signatures"][0]["sig"].as_str().expect("one signature");
        let signature = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, signature);
        let signature = Signature::from_slice(&signature.expect("base64")).expect("64 bytes");
        let payload_type = value["payloadType"].as_str().expect("a type");
        Self {
            key: VerifyingKey::from_bytes(entry.public_key.as_bytes()).expect("a key"),
            message: pae(payload_type, envelope.payload()),
            signature,
        }
    }

    fn verify(&self) {
        self.key.verify_strict(&self.message, &self.signature).expect("a good signature");
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let policy = Policy::parse(POLICY.as_bytes()).expect("a policy of this file");
    let file = |count| CaseFile::parse(cases(count).as_bytes(), CaseFormat::Toml).expect("cases of this file");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => {
            let one = file(1).with_case(&policy, "all", measured).expect("the case is there");
            let many = file(32).with_case(&policy, "all", measured).expect("the case is there");
            println!("{{\"one\":{one},\"of_32\":{many}}}");
        }
        [flag @ ("--count" | "--bare"), count] => {
            let count: usize = count.parse().expect("a number");
            file(1)
                .with_case(&policy, "all", |case, now| {
                    let bare = Bare::of(&case.envelopes[0], case);
                    // The schemas are compiled once in a process.
                    admit(case, now);
                    for _ in 0..count {
                        if *flag == "--count" { admit(case, now) } else { bare.verify() }
                    }
                })
                .expect("the case is there");
        }
        _ => panic!("usage: admission [--count N | --bare N]"),
    }
}

fn admit(case: &Case<'_>, now: Timestamp) {
    black_box(Admitted::admit(black_box(case), now).expect("a case that can be judged"));
}

/// Microseconds for each envelope, and their ratio, in turns.
fn measured(case: &Case<'_>, now: Timestamp) -> String {
    let bare: Vec<Bare> = case.envelopes.iter().map(|bytes| Bare::of(bytes, case)).collect();
    admit(case, now);
    let (mut admissions, mut verifications) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        admissions.push(timed(|| admit(case, now)));
        verifications.push(timed(|| bare.iter().for_each(Bare::verify)));
    }
    let each = |durations: &mut Vec<Duration>| median(durations) / bare.len() as f64;
    let (admit_us, verify_us) = (each(&mut admissions), each(&mut verifications));
    format!(
        "{{\"envelopes\":{},\"envelope_bytes\":{},\"admit_us\":{admit_us:.1},\"verify_strict_us\":{verify_us:.1},\
         \"ratio\":{:.3}}}",
        bare.len(),
        case.envelopes[0].len(),
        admit_us / verify_us
    )
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(durations: &mut [Duration]) -> f64 {
    durations.sort_unstable();
    durations[durations.len() / 2].as_secs_f64() * 1e6
}
