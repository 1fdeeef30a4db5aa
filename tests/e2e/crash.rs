//! kill -9 at five named points and at random instants: every admitted manifest ends in exactly one revision 1, with
//! the recommendation and the (verifier, verdict) set of the undisturbed run.

use std::collections::BTreeMap;
use std::time::Duration;

use nix::sys::signal::Signal;
use quorum_mesh::fault;
use quorum_schemas::C1Digest;
use quorum_testkit::COORDINATOR;

use crate::chaos::{Chaos, PATIENCE, Told, VERIFIERS};

/// Whose process stops at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Daemon {
    Verifier,
    Coordinator,
}

/// Who is killed while it is stopped there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Itself,
    NatsServer,
}

macro_rules! kills_at_a_point {
    ($($name:ident: $point:literal, $daemon:ident, $victim:ident;)*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            at_a_point($point, Daemon::$daemon, Victim::$victim).await;
        })*
    };
}

kills_at_a_point! {
    kill_9_of_the_verifier_after_lease: "after_lease", Verifier, Itself;
    kill_9_of_the_server_after_lease: "after_lease", Verifier, NatsServer;
    kill_9_of_the_verifier_after_blob: "after_blob", Verifier, Itself;
    kill_9_of_the_server_after_blob: "after_blob", Verifier, NatsServer;
    kill_9_of_the_verifier_after_evidence_before_offer_ack: "after_evidence_before_offer_ack", Verifier, Itself;
    kill_9_of_the_server_after_evidence_before_offer_ack: "after_evidence_before_offer_ack", Verifier, NatsServer;
    kill_9_of_the_coordinator_after_evidence_stored_before_decision: "after_evidence_stored_before_decision", Coordinator, Itself;
    kill_9_of_the_server_after_evidence_stored_before_decision: "after_evidence_stored_before_decision", Coordinator, NatsServer;
    kill_9_of_the_coordinator_after_decision_before_ack: "after_decision_before_ack", Coordinator, Itself;
    kill_9_of_the_server_after_decision_before_ack: "after_decision_before_ack", Coordinator, NatsServer;
}

#[test]
fn every_point_has_its_tests() {
    let source = include_str!("crash.rs");
    for point in fault::POINTS {
        let tests = source.matches(&format!(": \"{point}\", ")).count();
        assert_eq!(tests, 2, "{point}");
    }
}

/// Good candidates are supported by all three, wrong ones rejected by all three; the undisturbed run proves it below.
fn expected(number: usize) -> Told {
    let (recommendation, verdict) =
        if number % 3 == 2 { ("reject_candidate", "rejects") } else { ("accept_candidate", "supports") };
    Told {
        recommendation: recommendation.into(),
        verdicts: VERIFIERS.iter().map(|id| ((*id).to_owned(), verdict.to_owned())).collect(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_undisturbed_run() {
    let mut chaos = Chaos::start().await;
    chaos.world.start_daemons().unwrap();
    for number in 0..3 {
        let handoff = chaos.submit(number).await;
        assert_eq!(chaos.told(handoff).await, expected(number));
    }
    chaos.world.stop().unwrap();
}

async fn at_a_point(point: &str, daemon: Daemon, victim: Victim) {
    let mut chaos = Chaos::start().await;
    let held = [(fault::VARIABLE.to_owned(), point.to_owned())];
    let on = |wanted| if daemon == wanted { &held[..] } else { &[] };
    chaos.world.start_coordinator(on(Daemon::Coordinator)).unwrap();
    for (at, id) in VERIFIERS.into_iter().enumerate() {
        chaos.world.start_verifier(id, if at == 0 { on(Daemon::Verifier) } else { &[] }).unwrap();
    }
    let mut handoffs = BTreeMap::new();
    for number in 1..3 {
        handoffs.insert(number, chaos.submit(number).await);
    }
    let process = match daemon {
        Daemon::Verifier => chaos.world.verifier(VERIFIERS[0]).unwrap(),
        Daemon::Coordinator => chaos.world.coordinator().unwrap(),
    };
    process.wait_stopped().unwrap();
    match victim {
        Victim::Itself => {
            process.kill9().unwrap();
            match daemon {
                Daemon::Verifier => chaos.world.start_verifier(VERIFIERS[0], &[]).unwrap(),
                Daemon::Coordinator => chaos.world.start_coordinator(&[]).unwrap(),
            }
        }
        Victim::NatsServer => {
            chaos.world.server.kill9().unwrap();
            chaos.world.server.restart().unwrap();
            let process = match daemon {
                Daemon::Verifier => chaos.world.verifier(VERIFIERS[0]).unwrap(),
                Daemon::Coordinator => chaos.world.coordinator().unwrap(),
            };
            process.signal(Signal::SIGCONT).unwrap();
        }
    }
    ends_well(&chaos, &handoffs).await;
}

/// Every handoff has exactly revision 1, and it says what the undisturbed run says.
async fn ends_well(chaos: &Chaos, handoffs: &BTreeMap<usize, C1Digest>) {
    for (number, handoff) in handoffs {
        assert_eq!(chaos.told(*handoff).await, expected(*number), "unit {number}\n{}", chaos.logs());
    }
    let revisions = chaos.revisions().await;
    let wanted: BTreeMap<C1Digest, Vec<u32>> = handoffs.values().map(|handoff| (*handoff, vec![1])).collect();
    assert_eq!(revisions, wanted, "{}", chaos.logs());
}

/// A small reproducible source of chance (xorshift64*).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// One world, work arriving all the time, and one kill after another: coordinator, verifiers and server alike.
async fn random_kills(seed: u64, kills: u64) {
    println!("QUORUM_SEED={seed} QUORUM_KILLS={kills}");
    let mut chance = Chance(seed);
    let mut chaos = Chaos::start().await;
    chaos.world.start_daemons().unwrap();
    let mut handoffs: BTreeMap<usize, C1Digest> = BTreeMap::new();
    for kill in 0..kills {
        if kill % 4 == 0 {
            let next = handoffs.len();
            handoffs.insert(next, chaos.submit(next).await);
        }
        // The instant: somewhere in what a handoff takes from manifest to decision, so that all stages are hit. This is
        // the randomness of the test, not a wait for an event.
        tokio::time::sleep(Duration::from_millis(chance.below(160))).await;
        match chance.below(5) {
            0 => {
                chaos.world.coordinator().unwrap().kill9().unwrap();
                chaos.world.start_coordinator(&[]).unwrap();
            }
            1 => {
                chaos.world.server.kill9().unwrap();
                chaos.world.server.restart().unwrap();
            }
            verifier => {
                let id = VERIFIERS[usize::try_from(verifier - 2).unwrap()];
                chaos.world.verifier(id).unwrap().kill9().unwrap();
                chaos.world.start_verifier(id, &[]).unwrap();
            }
        }
    }
    ends_well(&chaos, &handoffs).await;
    println!(
        "{kills} kills, {} handoffs, each decided once within {PATIENCE:?} of {COORDINATOR} coming back",
        handoffs.len()
    );
}

/// 200 instants in four worlds of 50, each with its own seed; QUORUM_SEED repeats one, QUORUM_KILLS makes it longer.
macro_rules! random_worlds {
    ($($name:ident: $seed:literal;)*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            random_kills(number("QUORUM_SEED", $seed), number("QUORUM_KILLS", 50)).await;
        })*
    };
}

random_worlds! {
    kill_9_at_50_random_instants_seed_1: 0x9e37_79b9_7f4a_7c15;
    kill_9_at_50_random_instants_seed_2: 0xd1b5_4a32_d192_ed03;
    kill_9_at_50_random_instants_seed_3: 0x2545_f491_4f6c_dd1d;
    kill_9_at_50_random_instants_seed_4: 0x1234_5678_9abc_def1;
}
