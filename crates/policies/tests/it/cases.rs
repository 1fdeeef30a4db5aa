//! Random cases as plain data: nothing of `quorum_policies` is in here, so that the real [`Case`](quorum_policies::Case)
//! (see `build.rs`) and a second evaluator read the same source. All times are seconds after one base time.

use std::collections::BTreeMap;

/// The validators that every handoff of these cases requires, in order.
pub(crate) const REQUIRED: [&str; 2] = ["check-a", "check-b"];

/// Keys that may be verifiers.
pub(crate) const POOL: usize = 8;

pub(crate) type Attributes = BTreeMap<String, String>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlainCase {
    pub(crate) policy: PlainPolicy,
    pub(crate) work_unit: PlainWorkUnit,
    pub(crate) worker: PlainWorker,
    /// By key index; an index of the pool that is not here is a key that the trust root does not know.
    pub(crate) verifiers: BTreeMap<usize, PlainVerifier>,
    pub(crate) panel: u32,
    /// Off the mesh: seat, try and epoch of an envelope and `seats` have no say (a try still tells answers apart).
    pub(crate) panel_closed: bool,
    pub(crate) seats: BTreeMap<u32, PlainSeat>,
    pub(crate) now: i64,
    pub(crate) deadline: i64,
    pub(crate) envelopes: Vec<PlainEnvelope>,
    /// Which self-report the manifest carries; see `build.rs`. Nothing may depend on it.
    pub(crate) noise: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlainPolicy {
    pub(crate) quorum: u64,
    /// Seats that the policy asks for; `PlainCase::panel` is at least this.
    pub(crate) panel: u32,
    pub(crate) tolerate: u64,
    pub(crate) reject_quorum: u64,
    pub(crate) max_age: i64,
    /// Of operator, organisation, model_family, host, runtime, engine.
    pub(crate) independent_on: Vec<&'static str>,
    /// none, process-sandbox, shared-kernel-container, hardware-vm.
    pub(crate) min_isolation: &'static str,
    /// in_process, black_box, data.
    pub(crate) min_channel: &'static str,
    pub(crate) fraction: Option<(u64, u64)>,
    pub(crate) groups: Option<PlainGroup>,
}

/// k of the members must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlainGroup {
    pub(crate) k: usize,
    pub(crate) of: Vec<PlainMember>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlainMember {
    Operator(&'static str),
    Group(PlainGroup),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlainWorkUnit {
    /// all_required, quorum, threshold, custom.
    pub(crate) strategy: &'static str,
    /// Always there for strategy quorum.
    pub(crate) quorum: Option<u64>,
    pub(crate) minimum_independent_verifiers: u64,
    pub(crate) independent_from_worker: bool,
    pub(crate) sandbox_required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlainWorker {
    /// Unauthenticated: `attributes` are unknown, whatever stands here.
    pub(crate) authenticated: bool,
    pub(crate) attributes: Attributes,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct PlainVerifier {
    /// An axis that is not here is unknown.
    pub(crate) attributes: Attributes,
    /// Received at or after this: `key_not_valid_then`.
    pub(crate) retired_at: Option<i64>,
    /// Received at or after this: `key_revoked`.
    pub(crate) revoked_at: Option<i64>,
    /// Received at or after this (and before `revoked_at`): `signer_since_revoked`. Where this is absent and `revoked_at`
    /// is not, everything received before the revocation is.
    pub(crate) compromised_since: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlainSeat {
    /// Key index.
    pub(crate) holder: usize,
    pub(crate) try_no: u32,
    pub(crate) epoch: u64,
    /// A seat of the panel without an entry in `PlainCase::seats` is open too.
    pub(crate) open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlainEnvelope {
    /// Key index of the signer.
    pub(crate) key: usize,
    pub(crate) seat: u32,
    pub(crate) try_no: u32,
    pub(crate) epoch: u64,
    /// Of the result: passed, failed, inconclusive, error, timeout, cancelled.
    pub(crate) status: &'static str,
    /// accept_candidate, reject_candidate, escalate, insufficient_evidence.
    pub(crate) recommendation: &'static str,
    /// Of the required checks, in the order of [`REQUIRED`].
    pub(crate) checks: [PlainCheck; 2],
    /// A check beyond the required ones: its status. Never counted.
    pub(crate) extra_check: Option<&'static str>,
    /// The class of the whole evidence; the weakest of the checks'.
    pub(crate) isolation: &'static str,
    pub(crate) shared_model_family: bool,
    pub(crate) shared_runtime: bool,
    pub(crate) independent_from_worker: bool,
    /// Claimed.
    pub(crate) started: i64,
    /// Claimed.
    pub(crate) finished: i64,
    pub(crate) received: i64,
    pub(crate) bundle_checked: bool,
    pub(crate) fault: Fault,
    /// Changes bytes and nothing else: the same answer in other bytes.
    pub(crate) wording: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlainCheck {
    /// passed, failed, skipped, inconclusive, error.
    pub(crate) status: &'static str,
    pub(crate) channel: &'static str,
    pub(crate) isolation: &'static str,
    /// (limit_ms, baseline_ms) of a check that ran into its limit.
    pub(crate) timed_out: Option<(u64, Option<u64>)>,
}

/// One thing that makes an envelope inauthentic, whatever else it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    None,
    /// Bytes that are no envelope.
    Malformed,
    /// The result misses a member.
    SchemaInvalid,
    /// Signed by the worker's key.
    WrongRole,
    /// Signed by a key that the trust root does not name.
    UnknownSigner,
    /// The signature of other bytes.
    BadSignature,
    WrongHandoff,
    WrongCandidate,
    WrongWorkUnit,
    WrongManifest,
    /// Plan digest and verifier_config_digest differ.
    Inconsistent,
    /// The second required check is missing.
    IncompleteChecks,
}

pub(crate) const FAULTS: [Fault; 11] = [
    Fault::Malformed,
    Fault::SchemaInvalid,
    Fault::WrongRole,
    Fault::UnknownSigner,
    Fault::BadSignature,
    Fault::WrongHandoff,
    Fault::WrongCandidate,
    Fault::WrongWorkUnit,
    Fault::WrongManifest,
    Fault::Inconsistent,
    Fault::IncompleteChecks,
];

/// A small reproducible source of chance (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `bound` - 1.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }

    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index + 1));
        }
    }
}

const OPERATORS: [&str; 5] = ["acme", "globex", "initech", "umbrella", "hooli"];
const HOSTS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];
const FAMILIES: [&str; 4] = ["m1", "m2", "m3", "m4"];
const RUNTIMES: [&str; 3] = ["r1", "r2", "r3"];

/// What most keys of a case say.
#[derive(Debug, Clone, Copy)]
enum Mood {
    Support,
    Reject,
    Silent,
    TimeOut,
    Mixed,
}

/// Policies of the pool; every trust root admits all of them and their tightened variants.
pub(crate) const POLICIES: u64 = 60;

/// Worlds: who the keys of the pool and the worker are.
pub(crate) const WORLDS: u64 = 6;

/// The policy of an index below [`POLICIES`].
pub(crate) fn policy_of(index: u64) -> PlainPolicy {
    policy(&mut Chance::new(0x0070_0000 + index))
}

/// The worker and all verifiers of an index below [`WORLDS`].
pub(crate) fn world_of(index: u64) -> (PlainWorker, BTreeMap<usize, PlainVerifier>) {
    let chance = &mut Chance::new(0x0077_0000 + index);
    let mut verifiers: BTreeMap<usize, PlainVerifier> = (0..POOL).map(|key| (key, verifier(chance, key))).collect();
    for first in [0, 4] {
        bridge(first, &mut verifiers);
    }
    let mut worker = worker(chance);
    for _ in 0..2 {
        let neighbour = verifiers.get_mut(&chance.below(POOL)).expect("a key of the pool");
        neighbours(chance, &worker, neighbour);
    }
    let marked = verifiers.get_mut(&(3 + 4 * chance.below(2))).expect("a key of the pool");
    (marked.retired_at, marked.revoked_at, marked.compromised_since) = match index % 6 {
        0 => (None, None, None),
        1 => (Some(170), None, None),
        2 => (None, Some(170), None),
        3 => (None, Some(400), Some(100)),
        4 => (None, None, Some(170)),
        _ => (None, Some(400), None),
    };
    worker.authenticated = index % 5 != 4;
    (worker, verifiers)
}

/// The case of a seed.
pub(crate) fn generate(seed: u64) -> PlainCase {
    let mut chance = Chance::new(seed);
    let chance = &mut chance;
    let mood = match chance.below(100) {
        0..62 => Mood::Support,
        62..74 => Mood::Reject,
        74..81 => Mood::Silent,
        81..92 => Mood::TimeOut,
        _ => Mood::Mixed,
    };
    let policy = policy_of(chance.next() % POLICIES);
    let work_unit = work_unit(chance);
    let (worker, verifiers) = world_of(chance.next() % WORLDS);
    let keys = chance.pick(&[1, 2, 3, 3, 3, 4, 4]);
    let first = if chance.percent(75) { chance.pick(&[0, 4]) } else { chance.below(POOL - keys + 1) };
    let answering: Vec<usize> = (first..first + keys).collect();
    let panel_closed = chance.percent(55);
    let panel = policy.panel + u32::from(chance.percent(10));
    let now = chance.pick(&[600, 840, 1080]);
    let deadline = if chance.percent(60) { now - 60 } else { now + 60 };
    let mut case = PlainCase {
        policy,
        work_unit,
        worker,
        verifiers,
        panel,
        panel_closed,
        seats: BTreeMap::new(),
        now,
        deadline,
        envelopes: Vec::new(),
        noise: 0,
    };
    if chance.percent(14) {
        return staged_bridge(chance, case);
    }
    seats(chance, &mut case, &answering);
    for key in answering {
        answers(chance, &mut case, key, mood);
    }
    case
}

/// Three supporters of which the second shares something with both others, and perhaps a fourth key that says anything.
fn staged_bridge(chance: &mut Chance, mut case: PlainCase) -> PlainCase {
    case.panel_closed = true;
    while !["operator", "host"].iter().all(|axis| case.policy.independent_on.contains(axis))
        || case.policy.max_age < 3600
    {
        case.policy = policy_of(chance.next() % POLICIES);
    }
    case.panel = case.policy.panel;
    let first = chance.pick(&[0, 4]);
    case.envelopes = (first..first + 3).map(|key| PlainEnvelope { key, ..support() }).collect();
    if chance.percent(50) {
        answers(chance, &mut case, (first + 3) % POOL, Mood::Mixed);
    }
    case
}

fn policy(chance: &mut Chance) -> PlainPolicy {
    let quorum = chance.pick(&[1, 1, 1, 2, 2, 3]);
    let panel = u32::try_from(quorum).expect("small") + chance.pick(&[0, 0, 1, 2]);
    let independent_on = match chance.below(10) {
        0 => vec![],
        1 => vec!["model_family", "host"],
        2 => vec!["operator", "model_family", "host", "runtime"],
        _ => vec!["operator", "host"],
    };
    PlainPolicy {
        quorum,
        panel,
        tolerate: chance.pick(&[0, 0, 0, 1, 2]),
        reject_quorum: chance.pick(&[1, 1, 1, 2]),
        max_age: chance.pick(&[3600, 3600, 3600, 600]),
        independent_on,
        min_isolation: chance.pick(&["none", "process-sandbox", "process-sandbox", "shared-kernel-container"]),
        min_channel: chance.pick(&["in_process", "black_box", "black_box", "data"]),
        fraction: if chance.percent(25) { Some(chance.pick(&[(1, 2), (2, 3), (1, 3), (1, 1)])) } else { None },
        groups: if chance.percent(14) { Some(groups(chance)) } else { None },
    }
}

fn groups(chance: &mut Chance) -> PlainGroup {
    use PlainMember::{Group, Operator};
    let nested = PlainGroup { k: 1 + chance.below(2), of: vec![Operator("initech"), Operator("umbrella")] };
    let of = vec![Operator("acme"), Operator("globex"), Group(nested)];
    PlainGroup { k: 1 + chance.below(2), of }
}

/// One of six: few, so that envelopes recur and need not be signed again.
fn work_unit(chance: &mut Chance) -> PlainWorkUnit {
    let (strategy, quorum, independent_from_worker, sandbox_required) = match chance.below(14) {
        0..4 => ("all_required", None, true, false),
        4..6 => ("all_required", None, false, true),
        6..10 => ("quorum", Some(1), true, false),
        10..12 => ("quorum", Some(2), false, false),
        12 => ("threshold", None, true, true),
        _ => ("custom", None, false, false),
    };
    let minimum_independent_verifiers = u64::from(independent_from_worker);
    PlainWorkUnit { strategy, quorum, minimum_independent_verifiers, independent_from_worker, sandbox_required }
}

/// Mostly different from the others, so that there are voices; `at` is the place among the case's keys.
fn verifier(chance: &mut Chance, at: usize) -> PlainVerifier {
    let mut attributes = Attributes::new();
    let mut set = |chance: &mut Chance, axis: &str, values: &[&'static str]| {
        if chance.percent(95) {
            let value = if chance.percent(75) { values[at % values.len()] } else { chance.pick(values) };
            attributes.insert(axis.to_owned(), value.to_owned());
        }
    };
    set(chance, "operator", &OPERATORS);
    set(chance, "host", &HOSTS);
    set(chance, "model_family", &FAMILIES);
    set(chance, "runtime", &RUNTIMES);
    PlainVerifier { attributes, ..PlainVerifier::default() }
}

fn worker(chance: &mut Chance) -> PlainWorker {
    let mut attributes: Attributes =
        [("operator", "workers-inc"), ("host", "w1"), ("model_family", "m9"), ("runtime", "r9")]
            .into_iter()
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .collect();
    if chance.percent(20) {
        attributes.remove(chance.pick(&["operator", "host", "model_family"]));
    }
    PlainWorker { authenticated: true, attributes }
}

/// Makes the verifier share one axis with the worker.
fn neighbours(chance: &mut Chance, worker: &PlainWorker, neighbour: &mut PlainVerifier) {
    let axis = chance.pick(&["operator", "host"]);
    match worker.attributes.get(axis) {
        Some(value) => neighbour.attributes.insert(axis.to_owned(), value.clone()),
        None => neighbour.attributes.remove(axis),
    };
}

/// The second key shares its operator with the first and its host with the third, which share nothing.
fn bridge(first: usize, verifiers: &mut BTreeMap<usize, PlainVerifier>) {
    let values = [("acme", "h1", "m1", "r1"), ("acme", "h2", "m2", "r2"), ("globex", "h2", "m3", "r3")];
    for (at, (operator, host, family, runtime)) in values.into_iter().enumerate() {
        let verifier = verifiers.get_mut(&(first + at)).expect("at least three keys");
        *verifier = PlainVerifier {
            attributes: [("operator", operator), ("host", host), ("model_family", family), ("runtime", runtime)]
                .into_iter()
                .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
                .collect(),
            ..PlainVerifier::default()
        };
    }
}

/// On the mesh seats are held by the case's keys in turn; off the mesh there are none.
fn seats(chance: &mut Chance, case: &mut PlainCase, keys: &[usize]) {
    if case.panel_closed {
        return;
    }
    let waits = chance.percent(42);
    for seat in 0..case.panel.max(u32::try_from(keys.len()).expect("small")) {
        if seat < case.panel && chance.percent(if waits { 30 } else { 4 }) {
            continue;
        }
        let holder = keys[seat as usize % keys.len()];
        let try_no = chance.pick(&[1, 1, 1, 2]);
        let open = chance.percent(if waits { 20 } else { 3 });
        case.seats.insert(seat, PlainSeat { holder, try_no, epoch: u64::from(try_no), open });
    }
    // Every seat stands in the panel: who holds none beyond it could never answer.
    let seats = case.seats.keys().max().map_or(0, |seat| seat + 1);
    case.panel = case.panel.max(seats);
}

/// What one key says: usually one answer, sometimes none, two different ones, the same twice or one with a fault.
fn answers(chance: &mut Chance, case: &mut PlainCase, key: usize, mood: Mood) {
    if chance.percent(8) {
        return;
    }
    let held: Vec<(u32, PlainSeat)> =
        case.seats.iter().filter(|(_, seat)| seat.holder == key).map(|(seat, held)| (*seat, *held)).collect();
    let (seat, try_no, epoch) = match held.first() {
        Some((seat, held)) if !chance.percent(4) => (*seat, held.try_no, held.epoch),
        _ if case.panel_closed => (0, 1, 0),
        _ => (u32::try_from(chance.below(4)).expect("small"), 1, chance.next() % 3),
    };
    let said = answer(chance, case, (key, seat, try_no, epoch), mood);
    if chance.percent(9) {
        let mut other = answer(chance, case, (key, seat, try_no, epoch), Mood::Mixed);
        other.wording = 1;
        case.envelopes.push(other);
    }
    if chance.percent(5) {
        case.envelopes.push(PlainEnvelope { wording: 2, ..said.clone() });
    }
    if try_no > 1 && chance.percent(60) {
        let mut earlier = answer(chance, case, (key, seat, try_no - 1, epoch - 1), Mood::TimeOut);
        earlier.received -= 30;
        case.envelopes.push(earlier);
    }
    case.envelopes.push(said);
}

/// One answer of `(key, seat, try, epoch)` in the given mood.
pub(crate) fn answer_of(chance: &mut Chance, case: &PlainCase, place: (usize, u32, u32, u64)) -> PlainEnvelope {
    answer(chance, case, place, Mood::Mixed)
}

fn answer(chance: &mut Chance, case: &PlainCase, place: (usize, u32, u32, u64), mood: Mood) -> PlainEnvelope {
    let (key, seat, try_no, epoch) = place;
    let mut envelope = PlainEnvelope { key, seat, try_no, epoch, ..support() };
    let mood = if chance.percent(6) { Mood::Mixed } else { mood };
    let shape = match mood {
        Mood::Support => 0,
        Mood::Reject => 1 + chance.below(3),
        Mood::Silent => 4 + chance.below(4),
        Mood::TimeOut => 8 + chance.below(3),
        Mood::Mixed => chance.below(11),
    };
    say(&mut envelope, shape, chance);
    if chance.percent(9) {
        weaken(&mut envelope, chance, case);
    }
    if chance.percent(4) {
        envelope.fault = chance.pick(&FAULTS);
    }
    if chance.percent(10) {
        envelope.extra_check = Some(chance.pick(&["passed", "failed", "error"]));
    }
    envelope
}

/// A support that nothing weighs against.
pub(crate) fn support() -> PlainEnvelope {
    let check = PlainCheck { status: "passed", channel: "data", isolation: "not_applicable", timed_out: None };
    PlainEnvelope {
        key: 0,
        seat: 0,
        try_no: 1,
        epoch: 0,
        status: "passed",
        recommendation: "accept_candidate",
        checks: [check, check],
        extra_check: None,
        isolation: "not_applicable",
        shared_model_family: false,
        shared_runtime: false,
        independent_from_worker: true,
        started: 140,
        finished: 150,
        received: 180,
        bundle_checked: true,
        fault: Fault::None,
        wording: 0,
    }
}

/// Eleven consistent things that a verifier can say.
fn say(envelope: &mut PlainEnvelope, shape: usize, chance: &mut Chance) {
    let (status, recommendation, first, second) = match shape {
        0 => ("passed", "accept_candidate", "passed", "passed"),
        1 => ("failed", "reject_candidate", "failed", "passed"),
        2 => ("failed", "insufficient_evidence", "passed", "failed"),
        3 => ("inconclusive", "reject_candidate", "passed", "inconclusive"),
        4 => ("inconclusive", "insufficient_evidence", "passed", "inconclusive"),
        5 => ("passed", "escalate", "passed", "passed"),
        6 => ("inconclusive", "insufficient_evidence", "skipped", "passed"),
        7 => ("inconclusive", "insufficient_evidence", "error", "passed"),
        8 => ("timeout", "insufficient_evidence", "passed", "error"),
        9 => ("error", "insufficient_evidence", "error", "error"),
        _ => ("cancelled", "reject_candidate", "failed", "skipped"),
    };
    (envelope.status, envelope.recommendation) = (status, recommendation);
    (envelope.checks[0].status, envelope.checks[1].status) = (first, second);
    if shape == 8 {
        envelope.checks[1].timed_out = Some(chance.pick(&[
            (1000, Some(500)),
            (1000, Some(500)),
            (1000, Some(900)),
            (1000, Some(1000)),
            (1000, None),
        ]));
    }
}

/// One thing that may take the weight away, depending on the policy.
fn weaken(envelope: &mut PlainEnvelope, chance: &mut Chance, case: &PlainCase) {
    match chance.below(10) {
        0 => envelope.bundle_checked = false,
        1 => envelope.finished = envelope.received + chance.pick(&[120, 121, 500]),
        2 => envelope.finished = case.now - case.policy.max_age - chance.pick(&[-1, 0, 1, 60]),
        3 => envelope.started = envelope.received + chance.pick(&[120, 121]),
        4 => envelope.independent_from_worker = false,
        5 => envelope.shared_model_family = true,
        6 => envelope.shared_runtime = true,
        7 => envelope.epoch += 1,
        8 => {
            let class = chance.pick(&["none", "process-sandbox", "shared-kernel-container", "hardware-vm"]);
            (envelope.checks[1].isolation, envelope.isolation) = (class, class);
            envelope.checks[1].channel = "black_box";
        }
        _ => {
            envelope.checks[0].channel = chance.pick(&["in_process", "black_box"]);
            (envelope.checks[0].isolation, envelope.isolation) = ("hardware-vm", "hardware-vm");
        }
    }
}

/// Policies that ask for more than this one, each in one respect.
pub(crate) fn tightened(policy: &PlainPolicy) -> Vec<PlainPolicy> {
    let mut all = Vec::new();
    let mut tighter = |change: &dyn Fn(&mut PlainPolicy)| {
        let mut tighter = policy.clone();
        change(&mut tighter);
        all.push(tighter);
    };
    tighter(&|policy| {
        policy.quorum += 1;
        policy.panel = policy.panel.max(u32::try_from(policy.quorum).expect("small"));
    });
    tighter(&|policy| policy.panel += 1);
    tighter(&|policy| policy.tolerate = policy.tolerate.saturating_sub(1));
    tighter(&|policy| policy.max_age = 400);
    tighter(&|policy| {
        for axis in ["operator", "model_family"] {
            if !policy.independent_on.contains(&axis) {
                policy.independent_on.push(axis);
                break;
            }
        }
    });
    tighter(&|policy| {
        policy.fraction = Some(match policy.fraction {
            None | Some((1, 3)) => (1, 2),
            Some(_) => (1, 1),
        });
    });
    tighter(&|policy| match &mut policy.groups {
        None => policy.groups = Some(groups(&mut Chance::new(policy.max_age.unsigned_abs()))),
        Some(groups) => groups.k = groups.of.len(),
    });
    tighter(&|policy| {
        policy.min_isolation = "hardware-vm";
        policy.min_channel = if policy.min_channel == "in_process" { "black_box" } else { "data" };
    });
    all
}
