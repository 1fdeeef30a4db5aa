//! Random worlds: two coordinators, one compare-and-set register, lost writes and crashes at any point.

use std::collections::BTreeMap;

use proptest::prelude::*;
use quorum_schemas::{Digest, Timestamp};
use quorum_tasks::{Denied, Effect, Event, Record, State, Terms, Verifier, Worker, step};

const SECOND: i64 = 1_000_000;
const DEADLINE: i64 = 600;
const LEASE: i64 = 15;

#[derive(Debug, Clone)]
enum Act {
    /// Time passes for everyone, then one coordinator ticks.
    Wait(u8),
    Claim {
        verifier: u8,
        seat: u8,
        stale_try: bool,
    },
    /// Renews with the newest token that the verifier has for the seat, or with an old one.
    Renew {
        verifier: u8,
        seat: u8,
        old: bool,
    },
    Release {
        verifier: u8,
        seat: u8,
    },
    Answer {
        verifier: u8,
        seat: u8,
        old: bool,
        absent: bool,
    },
    /// The coordinator dies and is rebuilt from the register and the evidence log.
    Crash,
    /// The next write is stored, then the coordinator dies before it can tell anybody.
    CrashAfterWrite {
        verifier: u8,
        seat: u8,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let (v, s) = (0u8..5, 0u8..4);
    prop_oneof![
        6 => (1u8..20).prop_map(Act::Wait),
        8 => (v.clone(), s.clone(), any::<bool>()).prop_map(|(verifier, seat, b)| Act::Claim { verifier, seat, stale_try: b && seat == 3 }),
        3 => (v.clone(), s.clone(), any::<bool>()).prop_map(|(verifier, seat, old)| Act::Renew { verifier, seat, old }),
        1 => (v.clone(), s.clone()).prop_map(|(verifier, seat)| Act::Release { verifier, seat }),
        4 => (v.clone(), s.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(verifier, seat, old, absent)| Act::Answer { verifier, seat, old, absent }),
        1 => Just(Act::Crash),
        1 => (v, s).prop_map(|(verifier, seat)| Act::CrashAfterWrite { verifier, seat }),
    ]
}

#[derive(Debug, Clone)]
struct Setup {
    panel: u32,
    max_tries: u32,
    operators: [u8; 5],
    acts: Vec<(bool, Act)>,
}

fn setup() -> impl Strategy<Value = Setup> {
    let acts = prop::collection::vec((any::<bool>(), act()), 1..120);
    (1u32..4, 1u32..4, [0u8..5, 0u8..5, 0u8..5, 0u8..5, 0u8..5], acts)
        .prop_map(|(panel, max_tries, operators, acts)| Setup { panel, max_tries, operators, acts })
}

fn terms(setup: &Setup) -> Terms {
    let attributes = |value: String| BTreeMap::from([("operator".to_owned(), value)]);
    let verifiers = (0u8..5).map(|n| Verifier {
        id: format!("v{n}"),
        key: [n; 32],
        attributes: attributes(setup.operators[usize::from(n)].to_string()),
    });
    let worker = Worker { id: "w".into(), attributes: attributes("4".into()) };
    Terms::new(
        &[9; 32],
        Digest::c1(&"world".into()),
        (setup.panel, setup.max_tries),
        &["operator".to_owned()],
        (LEASE * SECOND, 10 * SECOND),
        Timestamp::from_micros(DEADLINE * SECOND),
        &worker,
        verifiers.collect(),
    )
    .expect("terms in range")
}

/// What a verifier remembers of a grant.
#[derive(Debug, Clone)]
struct Token {
    verifier: String,
    seat: u32,
    try_no: u32,
    epoch: u64,
}

struct World {
    terms: Terms,
    now: i64,
    /// The register: bytes and revision.
    stored: Option<(Vec<u8>, u64)>,
    revision: u64,
    evidence: Vec<Event>,
    replicas: [State; 2],
    tokens: Vec<Token>,
    /// Every event of replica 0 since its last start, for the replay.
    log: (State, Vec<Event>),
}

impl World {
    fn new(terms: Terms) -> Self {
        let fresh = State::new(&terms);
        Self {
            terms,
            now: 0,
            stored: None,
            revision: 0,
            evidence: Vec::new(),
            replicas: [fresh.clone(), fresh.clone()],
            tokens: Vec::new(),
            log: (fresh, Vec::new()),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.now * SECOND)
    }

    fn apply(&mut self, who: usize, event: Event) -> Vec<Effect> {
        let before = self.replicas[who].clone();
        let (after, effects) = step(&self.terms, &before, &event);
        check_monotone(&self.terms, &before, &after);
        if who == 0 {
            self.log.1.push(event);
        }
        self.replicas[who] = after;
        effects
    }

    /// As a coordinator does it: read, step, compare-and-set, tell.
    fn request(&mut self, who: usize, event: Event, crash_after_write: bool) -> Vec<Effect> {
        if let Some((bytes, revision)) = self.stored.clone() {
            let record = Record::parse(&bytes).expect("a record of ours");
            self.apply(who, Event::Observed { record, revision });
        }
        let effects = self.apply(who, event);
        if effects.contains(&Effect::Save) {
            self.revision += 2;
            let record = self.replicas[who].record();
            self.check_record(&record);
            self.stored = Some((record.to_bytes(), self.revision));
            if crash_after_write {
                self.crash(who);
                return Vec::new();
            }
            self.apply(who, Event::Stored { revision: self.revision });
        }
        effects
    }

    /// One holder per seat, and no two holders that may not sit together.
    fn check_record(&self, record: &Record) {
        let holders: Vec<&str> =
            record.seats.iter().filter_map(|seat| seat.hold.as_ref()).map(|hold| hold.verifier.as_str()).collect();
        for (n, a) in holders.iter().enumerate() {
            for b in &holders[n + 1..] {
                assert_ne!(a, b, "one verifier holds two seats");
                let operator = |id: &str| {
                    let found = self.terms.verifiers().iter().find(|v| v.id == id).expect("a holder is eligible");
                    found.attributes["operator"].clone()
                };
                assert_ne!(operator(a), operator(b), "neighbours sit together");
            }
        }
    }

    fn crash(&mut self, who: usize) {
        let mut state = match &self.stored {
            Some((bytes, revision)) => {
                let record = Record::parse(bytes).expect("a record of ours");
                State::restore(&self.terms, &record, *revision).expect("the same panel")
            }
            None => State::new(&self.terms),
        };
        for event in &self.evidence {
            state = step(&self.terms, &state, event).0;
        }
        self.replicas[who] = state.clone();
        if who == 0 {
            self.log = (state, Vec::new());
        }
        let now = self.now();
        self.apply(who, Event::Resumed { now });
    }

    fn claim(&mut self, who: usize, verifier: u8, seat: u8, stale_try: bool, crash: bool) {
        let (verifier, seat) = (format!("v{verifier}"), u32::from(seat));
        let current = self.replicas[who].seats().get(seat as usize).map_or(1, |s| s.try_no);
        let try_no = if stale_try { current.saturating_sub(1) } else { current };
        self.apply(who, Event::Offered { verifier: verifier.clone(), seat, try_no });
        let event = Event::Claim { now: self.now(), verifier: verifier.clone(), seat, try_no };
        let effects = self.request(who, event, crash);
        if effects.contains(&Effect::Granted { seat }) {
            let hold = self.replicas[who].seats()[seat as usize].hold.clone().expect("a granted seat is held");
            let epoch = hold.epoch.expect("a told lease is stored");
            let newest = self.tokens.iter().filter(|t| t.seat == seat).map(|t| t.epoch).max().unwrap_or(0);
            let again = self.tokens.iter().any(|t| t.seat == seat && t.epoch == epoch && t.verifier == verifier);
            assert!(again || epoch > newest, "epoch {epoch} after {newest}");
            assert_eq!(hold.try_no, try_no);
            self.tokens.push(Token { verifier, seat, try_no, epoch });
        }
    }

    fn token(&self, verifier: u8, seat: u8, old: bool) -> Option<Token> {
        let verifier = format!("v{verifier}");
        let mut mine = self.tokens.iter().filter(|t| t.verifier == verifier && t.seat == u32::from(seat));
        if old { mine.next().cloned() } else { mine.next_back().cloned() }
    }

    fn renew(&mut self, who: usize, token: &Token) {
        let event =
            Event::Renew { now: self.now(), verifier: token.verifier.clone(), seat: token.seat, epoch: token.epoch };
        let effects = self.request(who, event, false);
        let newest = self.tokens.iter().filter(|t| t.seat == token.seat).map(|t| t.epoch).max().unwrap_or(0);
        if token.epoch < newest {
            assert!(!effects.contains(&Effect::Granted { seat: token.seat }), "a stale epoch was renewed");
        }
    }

    fn answer(&mut self, who: usize, token: &Token, absent: bool) {
        let Token { verifier, seat, try_no, epoch } = token.clone();
        let event = Event::Evidence { now: self.now(), verifier, seat, try_no, epoch, absent };
        self.evidence.push(event.clone());
        self.request(who, event.clone(), false);
        self.request(1 - who, event, false);
    }

    fn act(&mut self, who: usize, act: &Act) {
        match *act {
            Act::Wait(seconds) => {
                self.now += i64::from(seconds);
                let now = self.now();
                let effects = self.request(who, Event::Tick { now }, false);
                let late = self.replicas[who].is_late();
                assert!(
                    !late || effects.iter().all(|e| !matches!(e, Effect::Offer { .. })),
                    "an offer after the deadline"
                );
            }
            Act::Claim { verifier, seat, stale_try } => self.claim(who, verifier, seat, stale_try, false),
            Act::CrashAfterWrite { verifier, seat } => self.claim(who, verifier, seat, false, true),
            Act::Renew { verifier, seat, old } => {
                if let Some(token) = self.token(verifier, seat, old) {
                    self.renew(who, &token);
                }
            }
            Act::Release { verifier, seat } => {
                if let Some(Token { verifier, seat, epoch, .. }) = self.token(verifier, seat, false) {
                    let now = self.now();
                    self.request(who, Event::Release { now, verifier, seat, epoch }, false);
                }
            }
            Act::Answer { verifier, seat, old, absent } => {
                if let Some(token) = self.token(verifier, seat, old) {
                    self.answer(who, &token, absent);
                }
            }
            Act::Crash => self.crash(who),
        }
    }
}

/// What holds between any state and the next one.
fn check_monotone(terms: &Terms, before: &State, after: &State) {
    for (old, new) in before.seats().iter().zip(after.seats()) {
        assert!(new.try_no >= old.try_no, "a try went back");
        assert!(new.try_no <= terms.max_tries, "more tries than allowed");
        assert!(old.closed.is_none() || new.closed == old.closed, "a closed seat changed");
        let epoch = |seat: &quorum_tasks::Seat| seat.hold.as_ref().and_then(|h| h.epoch);
        if let (Some(old), Some(new)) = (epoch(old), epoch(new)) {
            assert!(new >= old, "an epoch went back");
        }
    }
    assert!(!before.is_late() || after.is_late(), "the deadline un-passed");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_in_any_world(setup in setup()) {
        let mut world = World::new(terms(&setup));
        for (second, act) in &setup.acts {
            world.act(usize::from(*second), act);
        }
        // Every handoff ends: its panel closes, or its deadline passes and nothing more is given.
        world.now = world.now.max(DEADLINE);
        for who in 0..2 {
            let now = world.now();
            world.request(who, Event::Tick { now }, false);
            prop_assert!(world.replicas[who].panel_closed() || world.replicas[who].is_late());
            let claim = Event::Claim { now, verifier: "v0".into(), seat: 0, try_no: 1 };
            let effects = world.request(who, claim, false);
            prop_assert!(matches!(effects.last(), Some(Effect::Denied(Denied::SeatClosed | Denied::DeadlinePassed))));
        }
        // The same events give the same state.
        let (mut state, events) = world.log.clone();
        for event in &events {
            state = step(&world.terms, &state, event).0;
        }
        prop_assert_eq!(&state, &world.replicas[0]);
    }
}

/// With honest verifiers of enough operators, every seat is filled long before the deadline.
#[test]
fn honest_verifiers_fill_the_panel() {
    for panel in 1..4 {
        for slow in 0..14 {
            for dead in 0..3 {
                honest(panel, slow, dead);
            }
        }
    }
}

fn honest(panel: u32, slow: i64, dead: usize) {
    let setup = Setup { panel, max_tries: 3, operators: [0, 1, 2, 3, 5], acts: Vec::new() };
    let mut world = World::new(terms(&setup));
    let dead: Vec<String> =
        world.terms.verifiers().iter().take(dead.min(5 - panel as usize)).map(|v| v.id.clone()).collect();
    let mut waiting: Vec<(i64, Token)> = Vec::new();
    for now in 0..200 {
        world.now = now;
        let at = world.now();
        for effect in world.request(0, Event::Tick { now: at }, false) {
            let Effect::Offer { verifier, seat, try_no, .. } = effect else { continue };
            if dead.contains(&verifier) {
                continue;
            }
            let claim = Event::Claim { now: at, verifier: verifier.clone(), seat, try_no };
            if world.request(0, claim, false).contains(&Effect::Granted { seat }) {
                let epoch = world.replicas[0].seats()[seat as usize].hold.as_ref().and_then(|h| h.epoch);
                waiting.push((now + slow, Token { verifier, seat, try_no, epoch: epoch.expect("stored") }));
            }
        }
        let (due, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(when, _)| *when <= now);
        waiting = rest;
        for (_, token) in due {
            world.answer(0, &token, false);
        }
    }
    assert!(world.replicas[0].panel_closed(), "panel {panel}, answers after {slow} s, {dead:?} dead");
}
