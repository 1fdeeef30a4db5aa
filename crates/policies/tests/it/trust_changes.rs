//! Law 9 over 10 000 random cases, and what else design section 5, *Afterwards*, says of trust changes over 1000: each
//! of the latter, and every fourth of the former, has a trust root of its own.

use std::collections::BTreeSet;
use std::rc::Rc;

use quorum_attest::{KeyId, Role, TrustRoot};
use quorum_policies::{Decision, Memo, Recommendation, Standing, revise, revise_with};

use crate::build::{Built, at, build, fresh_trust_root, key_id, key_index, next_trust_root, spare_key, verifier_name};
use crate::cases::{Attributes, Chance, POOL, PlainCase, WORLDS, world_of};
use crate::laws::{Finding, ensure, law, law_over};

/// Changes the entries at random: attributes, marks, keys that are gone, and the worker's attributes.
fn change_entries(case: &mut PlainCase, chance: &mut Chance) {
    let (worker, verifiers) = world_of(chance.next() % WORLDS);
    if chance.percent(30) {
        case.worker.attributes = worker.attributes;
    }
    for (index, other) in verifiers {
        let time = i64::try_from(chance.below(500)).expect("small");
        let what = chance.below(10);
        let neighbour = chance.below(POOL);
        let neighbours: Option<Attributes> = case.verifiers.get(&neighbour).map(|entry| entry.attributes.clone());
        let Some(entry) = case.verifiers.get_mut(&index) else {
            // A key that was not there before.
            case.verifiers.insert(index, other);
            continue;
        };
        match what {
            0 => entry.attributes = other.attributes,
            1 => entry.attributes.clear(),
            2 => entry.attributes = neighbours.unwrap_or_default(),
            3 => *entry = other,
            4 => entry.retired_at = Some(time),
            5 => (entry.revoked_at, entry.compromised_since) = (Some(time), None),
            6 => (entry.revoked_at, entry.compromised_since) = (Some(time + 100), Some(time)),
            // Marks that are taken back: root keys can do that, and it must not bring an accept.
            7 => (entry.retired_at, entry.revoked_at, entry.compromised_since) = (None, None, None),
            8 => drop(case.verifiers.remove(&index)),
            _ => {}
        }
    }
}

/// The case under a root that no other case has: changed entries, sometimes rotated keys and root keys, and sometimes a
/// policy that is no longer admitted.
fn changed(case: &PlainCase, chance: &mut Chance) -> Built {
    let mut built = build(case);
    let policies = if chance.percent(10) { Vec::new() } else { vec![built.policy.digest()] };
    let root = fresh_trust_root(&case.worker, &case.verifiers, &policies);
    let root = if chance.percent(40) { rotated(&root, case, chance) } else { root };
    built.trust = Rc::new(root);
    built
}

/// Some verifiers have a new key from some time on.
fn rotated(root: &TrustRoot, case: &PlainCase, chance: &mut Chance) -> TrustRoot {
    next_trust_root(root, |draft| {
        for index in case.verifiers.keys().filter(|_| chance.percent(40)).collect::<Vec<_>>() {
            let from = at(i64::try_from(chance.below(500)).expect("small"));
            let place = (Role::Verifier, verifier_name(*index));
            draft
                .replace_key((place.0, &place.1), spare_key(*index), (from, root.expires_at()), None)
                .expect("a new key");
        }
    })
}

#[test]
fn law_9_no_trust_change_alone_yields_an_accept() {
    law(9, 60, |case, chance| {
        let before = build(case).decide();
        let Some(first) = before.decision() else { return Ok(Finding::Vacuous) };
        let mut previous: Decision = first.clone();
        let mut plain = case.clone();
        // For every fourth case a root that only it has, then one of the shared worlds: what was lost never comes back.
        for step in 0..2 {
            if step == 0 && !chance.percent(25) {
                continue;
            }
            plain.now += 60;
            let revised = if step == 0 {
                change_entries(&mut plain, chance);
                let built = changed(&plain, chance);
                revise(&built.case(), built.now, &previous).map_err(|error| error.to_string())?
            } else {
                let (worker, verifiers) = world_of(chance.next() % WORLDS);
                (plain.worker.attributes, plain.verifiers) = (worker.attributes, verifiers);
                build(&plain).revise(&previous)
            };
            let Some(revision) = revised else { continue };
            follows(&previous, &revision)?;
            previous = revision;
        }
        Ok(Finding::Holds)
    });
}

/// What must be true of every revision.
fn follows(previous: &Decision, revision: &Decision) -> Result<(), String> {
    ensure(revision.recommendation != Recommendation::AcceptCandidate, || "an accept after a trust change".to_owned())?;
    ensure(revision.recommendation != previous.recommendation, || "a revision that changes nothing".to_owned())?;
    let withdraws = previous.recommendation == Recommendation::AcceptCandidate;
    ensure(revision.withdraws == withdraws && revision.revision == previous.revision + 1, || {
        "wrongly numbered".to_owned()
    })?;
    ensure(!withdraws || revision.recommendation != Recommendation::RejectCandidate, || {
        "an accept became a reject without people".to_owned()
    })
}

fn with_standing(decision: &Decision, wanted: Standing) -> BTreeSet<KeyId> {
    decision.heard.iter().filter(|heard| heard.standing == wanted).map(|heard| heard.key_id).collect()
}

/// Retired: what was received before stays, however long ago it is by then.
#[test]
fn law_9_retiring_and_rotating_keys_after_their_evidence_changes_nothing() {
    law_over(9, 1000, 60, |case, chance| {
        let before = build(case).decide();
        let Some(previous) = before.decision() else { return Ok(Finding::Vacuous) };
        let mut later = case.clone();
        let last = later.envelopes.iter().map(|said| said.received).max().unwrap_or(0).max(later.now);
        for (index, verifier) in &mut later.verifiers {
            if verifier.retired_at.is_none() && (*index % 2 == 0 || chance.percent(50)) {
                verifier.retired_at = Some(last + 1);
            }
        }
        later.now = last + 10_000_000;
        let mut built = build(&later);
        let root = fresh_trust_root(&later.worker, &later.verifiers, &[built.policy.digest()]);
        built.trust = Rc::new(next_trust_root(&root, |draft| {
            for index in later.verifiers.keys() {
                let name = verifier_name(*index);
                let span = (at(last + 1), root.expires_at());
                draft.replace_key((Role::Verifier, &name), spare_key(*index), span, None).expect("a new key");
            }
        }));
        let revised = revise(&built.case(), built.now, previous).map_err(|error| error.to_string())?;
        ensure(revised.is_none(), || format!("{:?} became {revised:?}", previous.recommendation))?;
        Ok(Finding::Holds)
    });
}

/// compromised_since T: supports received since T drop, and no objection does.
#[test]
fn law_9_a_compromised_key_loses_its_supports_and_no_objection_falls() {
    law_over(9, 1000, 30, |case, chance| {
        let before = build(case).decide();
        let Some(previous) = before.decision() else { return Ok(Finding::Vacuous) };
        let heard: Vec<usize> = previous.heard.iter().filter_map(|heard| key_index(heard.key_id)).collect();
        let Some(key) = heard.get(chance.below(heard.len().max(1))).copied() else { return Ok(Finding::Vacuous) };
        let mut later = case.clone();
        let last = later.envelopes.iter().map(|said| said.received).max().unwrap_or(0);
        let Some(entry) = later.verifiers.get_mut(&key) else { return Ok(Finding::Vacuous) };
        let since = i64::try_from(chance.below(300)).expect("small");
        let revoked = entry.revoked_at.unwrap_or(last + 1);
        let since = since.min(revoked).min(entry.compromised_since.unwrap_or(since));
        (entry.revoked_at, entry.compromised_since) = (Some(revoked), Some(since));
        let mut built = build(&later);
        built.trust = Rc::new(fresh_trust_root(&later.worker, &later.verifiers, &[built.policy.digest()]));
        let after = quorum_policies::decide_with(&built.case(), previous.facts.now, &Memo::default());
        let after = after.map_err(|error| error.to_string())?;
        let Some(after) = after.decision() else { return Ok(Finding::Vacuous) };
        let objectors = with_standing(previous, Standing::Objector);
        ensure(with_standing(after, Standing::Objector) == objectors, || "an objection came or went".to_owned())?;
        let supported_before =
            later.envelopes.iter().any(|said| said.key == key && said.received < since && said.status == "passed");
        if !supported_before {
            let voices = with_standing(after, Standing::Voice);
            ensure(!voices.contains(&key_id(key)), || format!("key {key} still has a voice"))?;
        }
        let revised = revise_with(&built.case(), built.now, previous, &Memo::default());
        if let Some(revision) = revised.map_err(|error| error.to_string())? {
            follows(previous, &revision)?;
        }
        Ok(Finding::Holds)
    });
}
