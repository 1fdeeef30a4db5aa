//! A second evaluator, written from the text of design section 5 alone by somebody who had not read the first. It is
//! naive on purpose: plain data in, one word out, and subsets tried one by one. It imports nothing of the engine. How it
//! reads duplicates was amended when that rule changed (docs/decisions/0008), and is not independent of the first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::cases::{Attributes, Fault, PlainCase, PlainEnvelope, PlainGroup, PlainMember};

/// The recommendation, or `pending`. `digests[i]` is the digest of the envelope `case.envelopes[i]` in any ordered form.
pub(crate) fn recommend<D: Ord>(case: &PlainCase, digests: &[D]) -> &'static str {
    let open = |seat: u32| case.seats.get(&seat).is_none_or(|held| held.open);
    if !case.panel_closed && (0..case.panel).any(open) && case.now < case.deadline {
        return "pending";
    }
    type Said<'a, D> = Vec<(&'a D, &'a PlainEnvelope)>;
    let mut answers: BTreeMap<(usize, u32, u32), Said<'_, D>> = BTreeMap::new();
    for (envelope, digest) in case.envelopes.iter().zip(digests).filter(|(envelope, _)| authentic(case, envelope)) {
        let seat = if case.panel_closed { 0 } else { envelope.seat };
        answers.entry((envelope.key, seat, envelope.try_no)).or_default().push((digest, envelope));
    }
    let (mut heard, mut objectors, mut timed_out) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut supporters: BTreeMap<usize, bool> = BTreeMap::new();
    for ((key, ..), said) in &answers {
        // Of the same verdict one stands; a digest chooses only between what weighs the same.
        let rank = |digest: &D, it: &PlainEnvelope| {
            said.iter()
                .filter(|(other_digest, other)| {
                    let order = |it: &PlainEnvelope| (!has_weight(case, it), Reverse(ties(it)), !exhausted(it));
                    verdict(other) == verdict(it) && (order(other), *other_digest) < (order(it), digest)
                })
                .count()
        };
        let (_, standing) =
            said.iter().find(|(digest, it)| verdict(it) == verdict(said[0].1) && rank(digest, it) == 0).unwrap();
        let equivocates = said.iter().any(|(_, envelope)| verdict(envelope) != verdict(standing));
        heard.insert(*key);
        if said.iter().any(|(_, envelope)| verdict(envelope) == "rejects") {
            objectors.insert(*key);
        }
        if said.iter().any(|(digest, envelope)| exhausted(envelope) && rank(digest, envelope) == 0) {
            timed_out.insert(*key);
        }
        if !equivocates && verdict(standing) == "supports" && has_weight(case, standing) {
            *supporters.entry(*key).or_default() |= declares_a_tie(case, standing);
        }
    }
    supporters.retain(|key, _| !objectors.contains(key));
    let worker = if case.worker.authenticated { case.worker.attributes.clone() } else { Attributes::new() };
    let attributes = |key: &usize| &case.verifiers[key].attributes;
    let strangers: Vec<usize> = supporters
        .iter()
        .filter(|(key, tied)| !**tied && !shares(case, attributes(key), &worker))
        .map(|(key, _)| *key)
        .collect();
    let independent = |set: u32| {
        let members: Vec<usize> =
            (0..strangers.len()).filter(|at| set >> at & 1 == 1).map(|at| strangers[at]).collect();
        members
            .iter()
            .enumerate()
            .all(|(at, a)| members[..at].iter().all(|b| !shares(case, attributes(a), attributes(b))))
    };
    let s: u64 =
        (0..1_u32 << strangers.len()).filter(|set| independent(*set)).map(u32::count_ones).max().unwrap_or(0).into();
    let o = objectors.len() as u64;
    let a = heard.iter().filter(|key| !objectors.contains(*key) && !supporters.contains_key(*key)).count() as u64;
    let n = u64::from(case.panel).max(s + o + a);
    let (unit, policy) = (&case.work_unit, &case.policy);
    let q = [1, unit.minimum_independent_verifiers, unit.quorum.unwrap_or(0), policy.quorum].into_iter().max().unwrap();
    let tolerate = if unit.strategy == "all_required" { 0 } else { policy.tolerate };
    let operators = strangers.iter().filter_map(|key| attributes(key).get("operator").map(String::as_str)).collect();
    let fraction = policy.fraction.is_none_or(|(part, whole)| s * whole >= part * n);
    let groups = policy.groups.as_ref().is_none_or(|group| holds(group, &operators));
    let ruleless = unit.strategy == "threshold" && policy.fraction.is_none()
        || unit.strategy == "custom" && policy.groups.is_none();
    match () {
        () if ruleless => "escalate",
        () if s >= q && o <= tolerate && fraction && groups => "accept_candidate",
        () if o >= 1 && s >= 1 => "escalate",
        () if o >= policy.reject_quorum => "reject_candidate",
        () if timed_out.len() >= 2 => "escalate",
        () => "insufficient_evidence",
    }
}

fn authentic(case: &PlainCase, envelope: &PlainEnvelope) -> bool {
    let received_before = |end: Option<i64>| end.is_none_or(|end| envelope.received < end);
    envelope.fault == Fault::None
        && case
            .verifiers
            .get(&envelope.key)
            .is_some_and(|it| received_before(it.retired_at) && received_before(it.revoked_at))
}

fn verdict(envelope: &PlainEnvelope) -> &'static str {
    let checks = envelope.checks.map(|check| check.status);
    match () {
        () if ["error", "timeout", "cancelled"].contains(&envelope.status) => "absent",
        () if checks.contains(&"failed") || envelope.recommendation == "reject_candidate" => "rejects",
        () if checks == ["passed"; 2]
            && (envelope.status, envelope.recommendation) == ("passed", "accept_candidate") =>
        {
            "supports"
        }
        () if checks.contains(&"error") => "absent",
        () => "abstains",
    }
}

fn has_weight(case: &PlainCase, envelope: &PlainEnvelope) -> bool {
    let rank = |order: &[&str], name| order.iter().position(|it| *it == name).unwrap();
    let isolation =
        |name| rank(&["none", "process-sandbox", "shared-kernel-container", "hardware-vm", "not_applicable"], name);
    let channel = |name| rank(&["in_process", "black_box", "data"], name);
    let least = isolation(case.policy.min_isolation).max(usize::from(case.work_unit.sandbox_required));
    let signer = &case.verifiers[&envelope.key];
    let lost = signer.compromised_since.or(signer.revoked_at.and(Some(i64::MIN)));
    let held = case
        .seats
        .get(&envelope.seat)
        .is_some_and(|seat| (seat.holder, seat.try_no, seat.epoch) == (envelope.key, envelope.try_no, envelope.epoch));
    envelope.started.max(envelope.finished) <= envelope.received + 120
        && case.now - envelope.received.min(envelope.finished) <= case.policy.max_age
        && isolation(envelope.isolation) >= least
        && envelope.checks.iter().all(|check| channel(check.channel) >= channel(case.policy.min_channel))
        && (envelope.independent_from_worker || !case.work_unit.independent_from_worker)
        && envelope.bundle_checked
        && lost.is_none_or(|since| envelope.received < since)
        && (case.panel_closed || held)
}

/// What a verifier says of itself only adds edges to the worker.
fn declares_a_tie(case: &PlainCase, envelope: &PlainEnvelope) -> bool {
    let names = |axis| case.policy.independent_on.contains(&axis);
    !envelope.independent_from_worker
        || envelope.shared_model_family && names("model_family")
        || envelope.shared_runtime && names("runtime")
}

/// What a verifier says against its own independence, whatever the policy names.
fn ties(envelope: &PlainEnvelope) -> (bool, bool, bool) {
    (envelope.shared_model_family, envelope.shared_runtime, !envelope.independent_from_worker)
}

/// Equal values are shared, and so are two unknown ones.
fn shares(case: &PlainCase, one: &Attributes, other: &Attributes) -> bool {
    case.policy.independent_on.iter().any(|axis| one.get(*axis) == other.get(*axis))
}

fn exhausted(envelope: &PlainEnvelope) -> bool {
    let limits: Vec<_> = envelope.checks.iter().filter_map(|check| check.timed_out).collect();
    let met = limits.iter().all(|(limit, baseline)| baseline.is_some_and(|took| took < *limit));
    envelope.status == "timeout" && !limits.is_empty() && met
}

fn holds(group: &PlainGroup, operators: &BTreeSet<&str>) -> bool {
    let member = |member: &&PlainMember| match member {
        PlainMember::Operator(name) => operators.contains(name),
        PlainMember::Group(group) => holds(group, operators),
    };
    group.of.iter().filter(member).count() >= group.k
}
