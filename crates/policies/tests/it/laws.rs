//! The nine laws of design section 5, each over 10 000 random cases of real signed envelopes, and none ever loosened.
//!
//! `QUORUM_LAW_CASES` sets another number of cases, `QUORUM_LAW_SEED` another first seed. A failing case is shrunk by
//! leaving envelopes out, and printed.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::KeyId;
use quorum_policies::{Decision, Memo, Outcome, Recommendation, RefusalCode, Standing, decide_with};
use quorum_schemas::{Digest, c1};

use crate::build::{NOISES, build, key_id, key_index, worker_key_id};
use crate::cases::{Chance, FAULTS, Fault, POOL, PlainCase, PlainEnvelope, answer_of, generate, support, tightened};

/// What one case said about a law.
pub(crate) enum Finding {
    Holds,
    /// The law says nothing about this case.
    Vacuous,
}

pub(crate) type Checked = Result<Finding, String>;

/// Runs `check` over all cases; at least `least` percent of them must say something.
pub(crate) fn law(number: u64, least: u64, check: impl Fn(&PlainCase, &mut Chance) -> Checked) {
    law_over(number, 10_000, least, check);
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// `most` cases where a law has 10 000; `QUORUM_LAW_CASES` sets both in proportion, but never fewer than 50.
pub(crate) fn cases_of(most: u64) -> u64 {
    setting("QUORUM_LAW_CASES").map_or(most, |asked| (asked * most).div_ceil(10_000).max(50))
}

/// [`law`] over [`cases_of`] `most`.
pub(crate) fn law_over(number: u64, most: u64, least: u64, check: impl Fn(&PlainCase, &mut Chance) -> Checked) {
    let cases = cases_of(most);
    let first = setting("QUORUM_LAW_SEED").unwrap_or(number * 1_000_000);
    let mut held = 0;
    for seed in first..first + cases {
        let case = generate(seed);
        match check(&case, &mut Chance::new(!seed)) {
            Ok(Finding::Holds) => held += 1,
            Ok(Finding::Vacuous) => {}
            Err(message) => {
                let small = shrink(case, |case| check(case, &mut Chance::new(!seed)).is_err());
                panic!("law {number}, seed {seed}: {message}\nsmallest case: {small:#?}");
            }
        }
    }
    println!("law {number}: {held} of {cases} cases said something");
    assert!(held * 100 >= cases * least, "law {number} was tried on {held} of {cases} cases only");
}

fn shrink(mut case: PlainCase, fails: impl Fn(&PlainCase) -> bool) -> PlainCase {
    let mut index = 0;
    while index < case.envelopes.len() {
        let mut smaller = case.clone();
        smaller.envelopes.remove(index);
        if fails(&smaller) {
            case = smaller;
        } else {
            index += 1;
        }
    }
    case
}

pub(crate) fn ensure(holds: bool, message: impl Fn() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn accepts(outcome: &Outcome) -> bool {
    outcome.recommendation() == Some(Recommendation::AcceptCandidate)
}

fn bytes(outcome: &Outcome) -> Vec<u8> {
    match outcome {
        Outcome::Pending(pending) => format!("{:?} {}", pending.open_seats, pending.deadline).into_bytes(),
        Outcome::Decided(decision) => c1(&decision.to_value()),
    }
}

/// The verdict, once more, from the text of the design.
fn verdict(said: &PlainEnvelope) -> &'static str {
    let checks: Vec<&str> = said.checks.iter().map(|check| check.status).collect();
    if ["error", "timeout", "cancelled"].contains(&said.status) {
        "absent"
    } else if checks.contains(&"failed") || said.recommendation == "reject_candidate" {
        "rejects"
    } else if checks == ["passed", "passed"] && said.status == "passed" && said.recommendation == "accept_candidate" {
        "supports"
    } else if checks.contains(&"error") {
        "absent"
    } else {
        "abstains"
    }
}

fn authentic(case: &PlainCase, said: &PlainEnvelope) -> bool {
    let before = |bound: Option<i64>| bound.is_none_or(|bound| said.received < bound);
    said.fault == Fault::None
        && case.verifiers.get(&said.key).is_some_and(|key| before(key.retired_at) && before(key.revoked_at))
}

/// Where a key may answer: the seat that it holds, any seat if it holds none, its own off the mesh.
fn place(chance: &mut Chance, case: &PlainCase, key: usize) -> (usize, u32, u32, u64) {
    let held = case.seats.iter().find(|(_, seat)| seat.holder == key);
    match held {
        _ if case.panel_closed => (key, 0, 1, 0),
        Some((seat, held)) => (key, *seat, held.try_no, held.epoch),
        None => (key, u32::try_from(chance.below(3)).expect("small"), 1, 1),
    }
}

fn heard_as(decision: &Decision, key: KeyId) -> Option<Standing> {
    decision.heard.iter().find(|heard| heard.key_id == key).map(|heard| heard.standing)
}

#[test]
fn law_1_what_the_worker_says_of_itself_never_changes_the_recommendation() {
    law(1, 100, |case, chance| {
        let noise = 1 + u8::try_from(chance.below(usize::from(NOISES) - 1)).expect("small");
        let loud = PlainCase { noise, ..case.clone() };
        let (quiet, loud) = (build(case), build(&loud));
        ensure(quiet.intake.handoff.id() != loud.intake.handoff.id(), || "the manifests are the same".to_owned())?;
        let (quiet, loud) = (quiet.decide(), loud.decide());
        let tally = |outcome: &Outcome| outcome.decision().map(|decision| (decision.row, decision.tally));
        ensure(quiet.recommendation() == loud.recommendation() && tally(&quiet) == tally(&loud), || {
            format!("noise {noise}: {:?} became {:?}", tally(&quiet), tally(&loud))
        })?;
        Ok(Finding::Holds)
    });
}

#[test]
fn law_2_no_accept_without_a_voice_that_supports_every_required_check() {
    law(2, 15, |case, _| {
        let outcome = build(case).decide();
        let Some(decision) = outcome.decision().filter(|_| accepts(&outcome)) else { return Ok(Finding::Vacuous) };
        let speaks = |key: usize| {
            let said = case.envelopes.iter().filter(|said| said.key == key && authentic(case, said));
            said.into_iter().any(|said| verdict(said) == "supports")
        };
        let voices: Vec<usize> = decision.voices.iter().filter_map(|key| key_index(*key)).collect();
        ensure(!voices.is_empty(), || "no voice".to_owned())?;
        ensure(voices.iter().all(|key| speaks(*key)), || format!("{voices:?} do not all support every check"))?;
        Ok(Finding::Holds)
    });
}

/// An envelope that is no support, or one without authenticity or weight.
fn no_support(chance: &mut Chance, case: &PlainCase) -> PlainEnvelope {
    let key = chance.below(POOL);
    let place = place(chance, case, key);
    let mut said = answer_of(chance, case, place);
    said.wording = 9;
    if verdict(&said) == "supports" {
        match chance.below(3) {
            0 => said.bundle_checked = false,
            1 => said.finished = said.received + 121,
            _ => said.fault = chance.pick(&FAULTS),
        }
    }
    said
}

#[test]
fn law_3_adding_what_is_no_admitted_support_never_makes_an_accept() {
    law(3, 60, |case, chance| {
        let before = build(case).decide();
        if accepts(&before) {
            return Ok(Finding::Vacuous);
        }
        let mut more = case.clone();
        let added = no_support(chance, case);
        more.envelopes.push(added.clone());
        let after = build(&more).decide();
        ensure(!accepts(&after), || format!("{:?} became an accept by {added:?}", before.recommendation()))?;
        Ok(Finding::Holds)
    });
}

#[test]
fn law_3b_adding_a_support_by_a_new_key_never_takes_an_accept_away() {
    law(31, 5, |case, chance| {
        let mut more = case.clone();
        let mut less = case.clone();
        if case.panel_closed {
            let spoke: BTreeSet<usize> = case.envelopes.iter().map(|said| said.key).collect();
            let silent: Vec<usize> = (0..POOL).filter(|key| !spoke.contains(key)).collect();
            more.envelopes.push(PlainEnvelope { key: chance.pick(&silent), ..support() });
        } else {
            // A seat is a fact: the new key holds it before and after, and answers only after.
            let Some(said) = case.envelopes.last().filter(|said| verdict(said) == "supports") else {
                return Ok(Finding::Vacuous);
            };
            less.envelopes.retain(|other| other.key != said.key);
            more.envelopes = less.envelopes.clone();
            more.envelopes.push(said.clone());
        }
        let (before, after) = (build(&less).decide(), build(&more));
        if !accepts(&before) {
            return Ok(Finding::Vacuous);
        }
        let digest = *after.digests().last().expect("one was added");
        let after = after.decide();
        let Some(decision) = after.decision() else { return Err("a new support reopened the panel".to_owned()) };
        if decision.refusals.iter().any(|refusal| refusal.envelope == digest) {
            return Ok(Finding::Vacuous);
        }
        ensure(accepts(&after), || format!("{:?} after one support more", decision.recommendation))?;
        Ok(Finding::Holds)
    });
}

#[test]
fn law_4_order_and_repetition_of_envelopes_never_matter() {
    law(4, 100, |case, chance| {
        let once = build(case);
        let mut again = once.clone();
        for _ in 0..chance.below(4) {
            if !again.envelopes.is_empty() {
                let repeated = again.envelopes[chance.below(again.envelopes.len())].clone();
                again.envelopes.push(repeated);
            }
        }
        chance.shuffle(&mut again.envelopes);
        ensure(bytes(&once.decide()) == bytes(&again.decide()), || "other bytes in another order".to_owned())?;
        Ok(Finding::Holds)
    });
}

#[test]
fn law_5_no_voice_is_counted_twice_and_no_reject_is_silenced() {
    law(5, 60, |case, _| {
        let outcome = build(case).decide();
        let Some(decision) = outcome.decision() else { return Ok(Finding::Vacuous) };
        let unknown = BTreeMap::new();
        let worker = if case.worker.authenticated { &case.worker.attributes } else { &unknown };
        let voices: Vec<usize> = decision.voices.iter().filter_map(|key| key_index(*key)).collect();
        ensure(voices.len() == decision.voices.len() && !decision.voices.contains(&worker_key_id()), || {
            "a stranger or the worker is a voice".to_owned()
        })?;
        for (place, voice) in voices.iter().enumerate() {
            let own = &case.verifiers.get(voice).ok_or("an unknown key is a voice")?.attributes;
            for axis in &case.policy.independent_on {
                ensure(own.get(*axis) != worker.get(*axis), || format!("voice {voice} shares {axis} with the worker"))?;
                for other in &voices[place + 1..] {
                    let theirs = case.verifiers.get(other).and_then(|verifier| verifier.attributes.get(*axis));
                    ensure(own.get(*axis) != theirs, || format!("voices {voice} and {other} share {axis}"))?;
                }
            }
            let mut said = case.envelopes.iter().filter(|said| said.key == *voice && authentic(case, said));
            ensure(said.any(|said| said.independent_from_worker), || format!("voice {voice} disclaims independence"))?;
        }
        for said in case.envelopes.iter().filter(|said| authentic(case, said) && verdict(said) == "rejects") {
            let standing = heard_as(decision, key_id(said.key));
            ensure(standing == Some(Standing::Objector), || format!("the reject of {} is {standing:?}", said.key))?;
        }
        let objectors = decision.objectors().len() as u64;
        ensure(decision.tally.o == objectors, || format!("o is {}, {objectors} object", decision.tally.o))?;
        Ok(Finding::Holds)
    });
}

#[test]
fn law_6_equivocation_never_supports_and_is_named_and_duplicates_are_one() {
    law(6, 12, |case, _| {
        let built = build(case);
        let outcome = built.decide();
        let Some(decision) = outcome.decision() else { return Ok(Finding::Vacuous) };
        let mut said: BTreeMap<(usize, u32, u32), BTreeMap<Digest, &'static str>> = BTreeMap::new();
        for (digest, plain) in built.digests().into_iter().zip(&case.envelopes) {
            if authentic(case, plain) {
                let seat = if case.panel_closed { 0 } else { plain.seat };
                said.entry((plain.key, seat, plain.try_no)).or_default().insert(digest, verdict(plain));
            }
        }
        let refused = |digest: &Digest, code: RefusalCode| {
            decision.refusals.iter().any(|refusal| refusal.envelope == *digest && refusal.code == code)
        };
        let mut spoke = false;
        let supports_at: Vec<(usize, (u32, u32))> = said
            .iter()
            .filter(|(_, answers)| answers.values().all(|verdict| *verdict == "supports"))
            .map(|((key, seat, try_no), _)| (*key, (*seat, *try_no)))
            .collect();
        for ((key, seat, try_no), answers) in said {
            let place = (seat, try_no);
            let verdicts: BTreeSet<&str> = answers.values().copied().collect();
            for verdict in &verdicts {
                let same = answers.iter().filter(|(_, said)| *said == verdict).map(|(digest, _)| digest);
                let all: Vec<&Digest> = same.collect();
                let standing = all.iter().filter(|digest| !refused(digest, RefusalCode::Duplicate)).count();
                spoke |= all.len() > 1;
                ensure(standing == 1, || {
                    format!("{standing} of {} with verdict {verdict} of key {key} stand", all.len())
                })?;
            }
            if verdicts.len() > 1 {
                spoke = true;
                let standing = heard_as(decision, key_id(key));
                let elsewhere = supports_at.iter().any(|(other, at)| *other == key && *at != place);
                let fits = match standing {
                    Some(Standing::Objector) => true,
                    Some(Standing::Equivocates) => !verdicts.contains("rejects"),
                    // Another try of the same key may support; this one never does.
                    Some(_) => !verdicts.contains("rejects") && elsewhere,
                    None => false,
                };
                ensure(fits, || format!("key {key} said {verdicts:?} and is {standing:?}"))?;
                let named = answers.keys().filter(|digest| refused(digest, RefusalCode::Equivocation)).count();
                ensure(named == verdicts.len(), || format!("{named} of {} are named", verdicts.len()))?;
            }
        }
        Ok(if spoke { Finding::Holds } else { Finding::Vacuous })
    });
}

#[test]
fn law_7_a_tighter_policy_accepts_only_what_a_looser_one_accepts() {
    law(7, 5, |case, chance| {
        let tighter = tightened(&case.policy);
        let tight_policy = tighter[chance.below(tighter.len())].clone();
        // A work unit that needs an operator's rule is escalated without one: there, having a rule is not tighter.
        let gains = |before: bool, after: bool| !before && after;
        let strategy = case.work_unit.strategy;
        if (strategy == "threshold" && gains(case.policy.fraction.is_some(), tight_policy.fraction.is_some()))
            || (strategy == "custom" && gains(case.policy.groups.is_some(), tight_policy.groups.is_some()))
        {
            return Ok(Finding::Vacuous);
        }
        let mut tight = case.clone();
        tight.panel += tight_policy.panel - case.policy.panel;
        tight.policy = tight_policy;
        if !accepts(&build(&tight).decide()) {
            return Ok(Finding::Vacuous);
        }
        let loose = build(case).decide();
        ensure(accepts(&loose), || format!("{:?} accepts, and the looser policy says {:?}", tight.policy, loose))?;
        Ok(Finding::Holds)
    });
}

#[test]
fn law_8_the_bytes_are_a_function_of_the_inputs() {
    law(8, 100, |case, _| {
        let first = build(case).decide();
        let mut again = build(case);
        again.envelopes.reverse();
        let second = decide_with(&again.case(), again.now, &Memo::default()).map_err(|error| error.to_string())?;
        ensure(bytes(&first) == bytes(&second), || "other bytes from the same inputs".to_owned())?;
        if let Some(decision) = first.decision() {
            let read = Decision::parse(&decision.to_value()).map_err(|error| error.to_string())?;
            ensure(read == *decision, || "the document does not read back".to_owned())?;
        }
        Ok(Finding::Holds)
    });
}

#[test]
fn law_8_the_bytes_are_the_same_on_every_machine_and_every_day() {
    let mut all = quorum_schemas::Sha256::default();
    for seed in 0..200 {
        all.update(&bytes(&build(&generate(seed)).decide()));
    }
    // Changes only with the rules, the document or the generator, never with the machine.
    let pinned = "sha256:a358f0a7a70992cc7782071935b748c0f9773005032075ab83804252242f45f7";
    assert_eq!(all.finish().to_string(), pinned);
}
