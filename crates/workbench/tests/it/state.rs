//! W-060 to W-066 and W-080 on the pure state machine.

use std::time::Duration;

use proptest::prelude::*;
use quorum_schemas::Timestamp;
use quorum_workbench::{ContentDigest, Effect, Entry, Event, Outcome, Retention, RunResult, step};

use crate::result::outcomes;
use crate::support::{name, result};

const HOUR: i64 = 3_600_000_000;

fn retention() -> Retention {
    Retention::new(Duration::from_secs(3600), Duration::from_secs(60), Duration::from_secs(600)).unwrap()
}

fn digest(number: u8) -> ContentDigest {
    ContentDigest::of(&quorum_schemas::Value::from(u64::from(number))).unwrap()
}

fn interrupted() -> Box<RunResult> {
    Box::new(result(outcomes().remove(1)).interrupted())
}

fn asked(number: u8, now: i64) -> Event {
    Event::Asked {
        request: digest(number),
        unknown: interrupted(),
        current: name("generation:1"),
        tainted: false,
        decided: false,
        now: Timestamp::from_micros(now),
    }
}

fn ran(outcome: Outcome, now: i64) -> Event {
    Event::Ran { result: Box::new(result(outcome)), now: Timestamp::from_micros(now) }
}

fn go(entry: Entry, event: Event) -> (Entry, Vec<Effect>) {
    step(entry, event, retention())
}

fn done(outcome: Outcome) -> Entry {
    let (started, effects) = go(Entry::Free, asked(1, 0));
    assert_eq!(effects, [Effect::Keep, Effect::Launch]);
    go(started, ran(outcome, 0)).0
}

fn refusal(effects: &[Effect]) -> &'static str {
    match effects {
        [Effect::Refuse(refusal)] => refusal.code.code(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn w_060_the_same_request_gets_the_stored_result_and_nothing_runs() {
    let entry = done(outcomes().remove(1));
    let (after, effects) = go(entry.clone(), asked(1, HOUR));
    assert_eq!(effects, [Effect::Reply(Box::new(result(outcomes().remove(1))))]);
    assert_eq!(after, entry);
}

#[test]
fn w_061_another_request_under_the_key_is_a_conflict_for_good() {
    let started = go(Entry::Free, asked(1, 0)).0;
    for entry in [done(outcomes().remove(1)), done(outcomes().remove(7)), started] {
        let (after, effects) = go(entry.clone(), asked(2, 1));
        assert_eq!(refusal(&effects), "idempotency-key-conflict");
        assert_eq!(after, entry);
    }
}

#[test]
fn w_063_unknown_is_stored_and_never_upgraded() {
    let entry = done(outcomes().remove(7));
    let (entry, effects) = go(entry, asked(1, 1));
    assert_eq!(effects, [Effect::Reply(Box::new(result(outcomes().remove(7))))]);
    let (after, effects) = go(entry.clone(), ran(outcomes().remove(1), 2));
    assert_eq!((after, effects), (entry, vec![]));
}

#[test]
fn w_064_a_marker_without_a_result_becomes_unknown_and_never_runs_again() {
    let started = go(Entry::Free, asked(1, 0)).0;
    assert_eq!(refusal(&go(started.clone(), asked(1, 1)).1), "operation-in-progress");
    let (entry, effects) = go(started, Event::Reopened { now: Timestamp::from_micros(2) });
    assert_eq!(effects, [Effect::Keep, Effect::Reply(interrupted())]);
    assert_eq!(go(entry, asked(1, 3)).1, [Effect::Reply(interrupted())]);
}

#[test]
fn w_065_after_retention_the_key_is_new_and_a_decided_one_is_retired() {
    let entry = done(outcomes().remove(1));
    let (_, effects) = go(entry.clone(), asked(2, HOUR + 1));
    assert_eq!(effects, [Effect::Keep, Effect::Launch]);
    let (swept, effects) = go(entry, Event::Reopened { now: Timestamp::from_micros(HOUR + 1) });
    assert_eq!((swept, effects), (Entry::Free, vec![Effect::Keep]));
    // A clock that goes back forgets nothing.
    assert_eq!(refusal(&go(done(outcomes().remove(1)), asked(2, -2 * HOUR)).1), "idempotency-key-conflict");
    let Event::Asked { request, unknown, current, tainted, now, .. } = asked(1, 0) else { unreachable!() };
    let decided = Event::Asked { request, unknown, current, tainted, now, decided: true };
    assert_eq!(refusal(&go(Entry::Free, decided.clone()).1), "idempotency-key-retired");
    assert!(matches!(go(done(outcomes().remove(1)), decided).1[..], [Effect::Reply(_)]));
}

#[test]
fn w_065_retention_is_longer_than_anybody_may_still_ask() {
    let second = Duration::from_secs;
    assert_eq!(Retention::new(second(10), second(5), second(5)).unwrap_err().code(), "retention_too_short");
    assert!(Retention::new(second(11), second(5), second(5)).is_ok());
}

#[test]
fn w_066_an_old_generation_is_refused_and_its_results_are_still_replayed() {
    let Event::Asked { request, unknown, now, .. } = asked(1, 0) else { unreachable!() };
    let later = Event::Asked { request, unknown, current: name("generation:2"), tainted: false, decided: false, now };
    assert_eq!(refusal(&go(Entry::Free, later.clone()).1), "workbench-restart-required-relink");
    assert!(matches!(go(done(outcomes().remove(1)), later).1[..], [Effect::Reply(_)]));
}

#[test]
fn a_tainted_generation_runs_nothing() {
    let started = go(Entry::Free, asked(1, 0)).0;
    for (at, taints) in [(5, true), (8, true), (0, false), (6, false), (7, false)] {
        let (_, effects) = go(started.clone(), ran(outcomes().remove(at), 1));
        assert_eq!(effects[0] == Effect::Taint(name("generation:1")), taints, "{at}");
    }
    let Event::Asked { request, unknown, current, decided, now, .. } = asked(1, 0) else { unreachable!() };
    let tainted = Event::Asked { request, unknown, current, decided, now, tainted: true };
    assert_eq!(refusal(&go(Entry::Free, tainted).1), "environment-tainted");
}

fn event() -> impl Strategy<Value = Event> {
    let outcome = (0..9_usize).prop_map(|at| outcomes().remove(at));
    prop_oneof![
        (0..3_u8, 0..HOUR).prop_map(|(number, now)| asked(number, now)),
        (outcome, 0..HOUR).prop_map(|(outcome, now)| ran(outcome, now)),
        (0..HOUR).prop_map(|now| Event::Reopened { now: Timestamp::from_micros(now) }),
    ]
}

proptest! {
    /// Whatever comes within retention: at most one launch, one request bound, and one result once there is one.
    #[test]
    fn within_retention_a_key_runs_once_and_answers_alike(events in proptest::collection::vec(event(), 1..20)) {
        let (mut entry, mut launches, mut told) = (Entry::Free, 0, None);
        for event in events {
            let (next, effects) = go(entry, event);
            for effect in effects {
                match effect {
                    Effect::Launch => {
                        launches += 1;
                        let started = matches!(next, Entry::Started { .. });
                        prop_assert!(started);
                    }
                    Effect::Reply(result) => {
                        prop_assert_eq!(told.get_or_insert_with(|| result.clone()), &result);
                    }
                    _ => {}
                }
            }
            entry = next;
        }
        prop_assert!(launches <= 1);
    }
}
