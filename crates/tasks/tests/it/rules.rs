//! One rule each, told as a short story.

use std::collections::BTreeMap;

use quorum_schemas::{Digest, Timestamp};
use quorum_tasks::{Closed, Denied, Effect, Event, Record, State, Terms, Verifier, Worker, step};

const SECOND: i64 = 1_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * SECOND)
}

fn verifier(n: u8, operator: &str) -> Verifier {
    Verifier {
        id: format!("v{n}"),
        key: [n; 32],
        attributes: BTreeMap::from([("operator".to_owned(), operator.to_owned())]),
    }
}

fn terms(panel: u32, verifiers: Vec<Verifier>) -> Terms {
    let worker =
        Worker { id: "w".into(), attributes: BTreeMap::from([("operator".to_owned(), "of the worker".to_owned())]) };
    let (handoff, axes) = (Digest::c1(&"handoff".into()), ["operator".to_owned()]);
    Terms::new(&[7; 32], handoff, (panel, 2), &axes, (15 * SECOND, 10 * SECOND), at(1000), &worker, verifiers)
        .expect("terms in range")
}

/// A coordinator whose writes always succeed.
struct Story {
    terms: Terms,
    state: State,
    revision: u64,
}

impl Story {
    fn new(terms: Terms) -> Self {
        let state = State::new(&terms);
        Self { terms, state, revision: 0 }
    }

    fn play(&mut self, event: Event) -> Vec<Effect> {
        let (state, effects) = step(&self.terms, &self.state, &event);
        self.state = state;
        if effects.contains(&Effect::Save) {
            self.revision += 3;
            self.state = step(&self.terms, &self.state, &Event::Stored { revision: self.revision }).0;
        }
        effects
    }

    fn tick(&mut self, seconds: i64) -> Vec<Effect> {
        self.play(Event::Tick { now: at(seconds) })
    }

    fn claim(&mut self, seconds: i64, verifier: &str, seat: u32, try_no: u32) -> Vec<Effect> {
        self.play(Event::Claim { now: at(seconds), verifier: verifier.into(), seat, try_no })
    }

    fn renew(&mut self, seconds: i64, verifier: &str, seat: u32, epoch: u64) -> Vec<Effect> {
        self.play(Event::Renew { now: at(seconds), verifier: verifier.into(), seat, epoch })
    }

    fn evidence(
        &mut self,
        seconds: i64,
        verifier: &str,
        seat: u32,
        (try_no, epoch): (u32, u64),
        absent: bool,
    ) -> Vec<Effect> {
        self.play(Event::Evidence { now: at(seconds), verifier: verifier.into(), seat, try_no, epoch, absent })
    }

    fn epoch(&self, seat: usize) -> u64 {
        self.state.seats()[seat].hold.as_ref().and_then(|hold| hold.epoch).expect("a stored hold")
    }
}

fn offers(effects: &[Effect]) -> Vec<(String, u32, u32)> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Offer { verifier, seat, try_no, .. } => Some((verifier.clone(), *seat, *try_no)),
            _ => None,
        })
        .collect()
}

fn three() -> Vec<Verifier> {
    vec![verifier(1, "a"), verifier(2, "b"), verifier(3, "c")]
}

#[test]
fn all_seats_are_offered_at_once_to_different_verifiers() {
    let mut story = Story::new(terms(3, three()));
    let made = offers(&story.tick(0));
    assert_eq!(made.iter().map(|(_, seat, try_no)| (*seat, *try_no)).collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1)]);
    let order: Vec<&str> = story.terms.verifiers().iter().map(|v| v.id.as_str()).collect();
    assert_eq!(made.iter().map(|(v, _, _)| v.as_str()).collect::<Vec<_>>(), order);
    assert!(offers(&story.tick(1)).is_empty(), "an offer waits for its claim");
}

#[test]
fn the_worker_and_its_neighbours_are_never_offered_a_seat() {
    let mut with_friends = three();
    with_friends.push(verifier(4, "of the worker"));
    with_friends.push(Verifier { id: "w".into(), key: [5; 32], attributes: BTreeMap::new() });
    let mut story = Story::new(terms(1, with_friends));
    for seconds in (0..200).step_by(10) {
        assert!(offers(&story.tick(seconds)).iter().all(|(v, _, _)| v != "v4" && v != "w"));
    }
    for (friend, seconds) in [("v4", 200), ("w", 201)] {
        assert_eq!(story.claim(seconds, friend, 0, 1).last(), Some(&Effect::Denied(Denied::NotEligible)));
    }
}

#[test]
fn an_unclaimed_offer_goes_round_and_round_with_the_same_try() {
    let mut story = Story::new(terms(1, three()));
    let seen: Vec<(String, u32, u32)> = (0..7).flat_map(|n| offers(&story.tick(n * 10))).collect();
    let order: Vec<&str> = story.terms.verifiers().iter().map(|v| v.id.as_str()).collect();
    let expected: Vec<(String, u32, u32)> = (0..7).map(|n| (order[n % 3].to_owned(), 0, 1)).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_lapsed_lease_raises_the_try_and_a_lapsed_epoch_never_renews() {
    let mut story = Story::new(terms(1, three()));
    let (first, ..) = offers(&story.tick(0))[0].clone();
    assert_eq!(story.claim(1, &first, 0, 1), [Effect::Save, Effect::Granted { seat: 0 }]);
    let epoch = story.epoch(0);
    assert!(story.renew(6, &first, 0, epoch).contains(&Effect::Granted { seat: 0 }));
    let effects = story.tick(21);
    assert!(effects.contains(&Effect::Lapsed { seat: 0, verifier: first.clone(), try_no: 1 }));
    let (next, _, try_no) = offers(&effects)[0].clone();
    assert_ne!(next, first, "the next in the order comes first");
    assert_eq!(try_no, 2);
    assert_eq!(story.renew(22, &first, 0, epoch), [Effect::Denied(Denied::StaleEpoch)]);
    assert_eq!(story.claim(22, &first, 0, 1), [Effect::Denied(Denied::StaleTry)]);
}

#[test]
fn tries_are_bounded_and_an_exhausted_seat_never_reopens() {
    let mut story = Story::new(terms(1, three()));
    let (first, ..) = offers(&story.tick(0))[0].clone();
    story.claim(1, &first, 0, 1);
    let made = offers(&story.tick(16));
    let (second, _, try_no) = made[0].clone();
    story.claim(17, &second, 0, try_no);
    let effects = story.tick(40);
    assert!(effects.contains(&Effect::SeatClosed { seat: 0, why: Closed::Exhausted }));
    assert!(effects.contains(&Effect::PanelClosed));
    assert_eq!(story.claim(41, &first, 0, 3), [Effect::Denied(Denied::SeatClosed)]);
}

#[test]
fn an_absent_result_opens_the_next_try_and_the_same_verifier_may_take_it() {
    let mut story = Story::new(terms(1, vec![verifier(1, "a")]));
    story.tick(0);
    story.claim(1, "v1", 0, 1);
    let epoch = story.epoch(0);
    let effects = story.evidence(2, "v1", 0, (1, epoch), true);
    assert_eq!(offers(&effects), [("v1".to_owned(), 0, 2)]);
    assert!(story.evidence(3, "v1", 0, (1, epoch), false).is_empty(), "a try is answered once");
    assert!(story.claim(4, "v1", 0, 2).contains(&Effect::Granted { seat: 0 }));
    assert!(story.epoch(0) > epoch);
}

#[test]
fn evidence_of_a_lapsed_holder_closes_the_seat_until_somebody_else_is_given_it() {
    for taken in [false, true] {
        let mut story = Story::new(terms(1, three()));
        let (first, ..) = offers(&story.tick(0))[0].clone();
        story.claim(1, &first, 0, 1);
        let epoch = story.epoch(0);
        let (second, ..) = offers(&story.tick(30))[0].clone();
        if taken {
            story.claim(31, &second, 0, 2);
        }
        let effects = story.evidence(32, &first, 0, (1, epoch), false);
        assert_eq!(effects.contains(&Effect::PanelClosed), !taken);
    }
}

#[test]
fn a_verifier_never_holds_two_seats_and_neighbours_never_sit_together() {
    let mut story = Story::new(terms(2, vec![verifier(1, "a"), verifier(2, "a"), verifier(3, "b")]));
    story.tick(0);
    for v in ["v1", "v2", "v3"] {
        for seat in [0, 1] {
            story.play(Event::Offered { verifier: v.into(), seat, try_no: 1 });
        }
    }
    assert!(story.claim(1, "v1", 0, 1).contains(&Effect::Granted { seat: 0 }));
    assert_eq!(story.claim(2, "v1", 1, 1), [Effect::Denied(Denied::HoldsOtherSeat)]);
    assert_eq!(story.claim(2, "v2", 1, 1), [Effect::Denied(Denied::NotIndependent)]);
    assert_eq!(story.claim(2, "v3", 0, 1), [Effect::Denied(Denied::SeatTaken)]);
    assert!(story.claim(2, "v3", 1, 1).contains(&Effect::Granted { seat: 1 }));
}

#[test]
fn a_claim_without_an_offer_is_denied() {
    let mut story = Story::new(terms(1, three()));
    let (first, ..) = offers(&story.tick(0))[0].clone();
    let other = story.terms.verifiers().iter().find(|v| v.id != first).expect("three verifiers").id.clone();
    assert_eq!(story.claim(1, &other, 0, 1), [Effect::Denied(Denied::NotOffered)]);
    assert_eq!(story.claim(1, "nobody", 0, 1), [Effect::Denied(Denied::NotEligible)]);
    assert_eq!(story.claim(1, &first, 9, 1), [Effect::Denied(Denied::UnknownSeat)]);
}

#[test]
fn a_repeated_claim_of_the_holder_gives_the_same_lease() {
    let mut story = Story::new(terms(1, three()));
    let (first, ..) = offers(&story.tick(0))[0].clone();
    story.claim(1, &first, 0, 1);
    let epoch = story.epoch(0);
    assert!(story.claim(5, &first, 0, 1).contains(&Effect::Granted { seat: 0 }));
    assert_eq!(story.epoch(0), epoch);
}

#[test]
fn a_released_seat_goes_to_the_next_verifier_with_the_same_try() {
    let mut story = Story::new(terms(1, three()));
    let (first, ..) = offers(&story.tick(0))[0].clone();
    story.claim(1, &first, 0, 1);
    let epoch = story.epoch(0);
    let effects = story.play(Event::Release { now: at(2), verifier: first.clone(), seat: 0, epoch });
    assert!(effects.contains(&Effect::Released { seat: 0 }));
    let made = offers(&effects);
    assert_eq!((made[0].1, made[0].2), (0, 1));
    assert_ne!(made[0].0, first);
    assert_eq!(story.renew(3, &first, 0, epoch), [Effect::Denied(Denied::StaleEpoch)]);
}

#[test]
fn after_the_deadline_nothing_is_offered_leased_or_renewed() {
    let mut story = Story::new(terms(2, three()));
    let (first, ..) = offers(&story.tick(990))[0].clone();
    story.claim(991, &first, 0, 1);
    let epoch = story.epoch(0);
    assert_eq!(story.tick(1000), [Effect::Deadline]);
    assert!(story.tick(1001).is_empty(), "told once");
    assert_eq!(story.renew(1001, &first, 0, epoch), [Effect::Denied(Denied::DeadlinePassed)]);
    let other = story.terms.verifiers().iter().find(|v| v.id != first).expect("three verifiers").id.clone();
    assert_eq!(story.claim(1001, &other, 1, 1), [Effect::Denied(Denied::DeadlinePassed)]);
    assert!(story.evidence(1002, &first, 0, (1, epoch), false).iter().any(|e| matches!(e, Effect::SeatClosed { .. })));
}

#[test]
fn a_coordinator_that_comes_back_gives_running_leases_a_full_term() {
    let mut story = Story::new(terms(1, three()));
    let (first, ..) = offers(&story.tick(0))[0].clone();
    story.claim(1, &first, 0, 1);
    let (epoch, stored) = (story.epoch(0), story.state.record().to_bytes());
    let record = Record::parse(&stored).expect("a record of ours");
    story.state = State::restore(&story.terms, &record, story.revision).expect("the same panel");
    assert!(!story.play(Event::Resumed { now: at(100) }).iter().any(|e| matches!(e, Effect::Lapsed { .. })));
    assert!(story.renew(110, &first, 0, epoch).contains(&Effect::Granted { seat: 0 }));
}
