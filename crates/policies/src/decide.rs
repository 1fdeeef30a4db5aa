//! The one function that daemon, gate and auditor call.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::{KeyId, Role, TrustRoot};
use quorum_handoff::{Handoff, ManifestBinding, Strategy, WorkUnit, WorkerTrust, check_binding};
use quorum_schemas::{Digest, Timestamp};

use crate::admit::{Evidence, Memo, admit, min_isolation, refusal};
use crate::voices::{Supporter, Voices, voices};
use crate::{
    Decision, EffectiveRule, Facts, Outcome, Pending, PoliciesError, Policy, RULES_VERSION, Recommendation, Refusal,
    RefusalCode, Row, Standing, Tally, Verdict, WorkerIdentity, limits, why,
};

/// Everything that a decision is a function of, beside the time.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// What is to be verified.
    pub handoff: &'a Handoff,
    /// What was asked.
    pub work_unit: &'a WorkUnit,
    /// What may be known of the manifest.
    pub binding: &'a ManifestBinding,
    /// Who the worker is.
    pub worker: WorkerIdentity,
    /// Whose keys count.
    pub trust: &'a TrustRoot,
    /// The operator's rule.
    pub policy: &'a Policy,
    /// Seats: the signed handoff's on the mesh, the policy's off the mesh.
    pub panel: u32,
    /// From then on open seats are not waited for.
    pub deadline: Timestamp,
    /// Receptions and seats.
    pub facts: &'a Facts,
    /// The bytes of every envelope received as evidence, in any order.
    pub envelopes: &'a [Vec<u8>],
}

/// Weighs the evidence of `case` at `now` (design section 5).
///
/// # Errors
/// Only when the case itself cannot be judged: the policy is not admitted, its parts do not belong together, facts are
/// missing, the worker must be signed and is not. What is wrong with evidence is a refusal inside the decision.
pub fn decide(case: &Case<'_>, now: Timestamp) -> Result<Outcome, PoliciesError> {
    decide_aged(case, now, now, &Memo::default())
}

/// [`decide`] for tests that judge the same envelopes again and again.
///
/// # Errors
/// As [`decide`].
#[doc(hidden)]
pub fn decide_with(case: &Case<'_>, now: Timestamp, memo: &Memo) -> Result<Outcome, PoliciesError> {
    decide_aged(case, now, now, memo)
}

/// [`decide`] with another time for ages: a revision is made by evidence or trust, not by the mere passing of time.
pub(crate) fn decide_aged(
    case: &Case<'_>,
    now: Timestamp,
    aged_at: Timestamp,
    memo: &Memo,
) -> Result<Outcome, PoliciesError> {
    check_case(case)?;
    let panel = hear(case, aged_at, memo)?;
    let open_seats = open_seats(case);
    if !open_seats.is_empty() && now < case.deadline {
        return Ok(Outcome::Pending(Pending { open_seats, deadline: case.deadline }));
    }
    let weighed = weigh(case, panel)?;
    let (row, recommendation) = table(&weighed);
    Ok(Outcome::Decided(Box::new(why::decision(case, now, &weighed, row, recommendation))))
}

/// Every key that was heard, and what it counts as.
pub(crate) struct Weighed {
    pub(crate) rule: EffectiveRule,
    pub(crate) tally: Tally,
    pub(crate) voices: Voices,
    /// All authentic evidence by key.
    pub(crate) heard: BTreeMap<KeyId, Vec<Evidence>>,
    pub(crate) standing: BTreeMap<KeyId, Standing>,
    pub(crate) refusals: Vec<Refusal>,
    /// Operators of the supporters that are not the worker's neighbours.
    pub(crate) operators: BTreeSet<String>,
    pub(crate) exhausted: usize,
    pub(crate) has_operator_rule: bool,
}

/// What belongs together belongs together, before anything is counted.
fn check_case(case: &Case<'_>) -> Result<(), PoliciesError> {
    let inconsistent =
        |what, found: String, expected: String| PoliciesError::CaseInconsistent { what, found, expected };
    if case.facts.rules_version != RULES_VERSION {
        return Err(PoliciesError::RulesUnknown { found: case.facts.rules_version, known: RULES_VERSION });
    }
    if !case.trust.admits_policy(&case.policy.digest()) {
        let (policy, trust_version) = (case.policy.digest(), case.trust.version());
        return Err(PoliciesError::NotAdmitted { policy, trust_version });
    }
    if !(1..=limits::PANEL).contains(&case.panel) {
        return Err(PoliciesError::PanelOutOfRange(case.panel));
    }
    if case.panel < case.policy.panel {
        let expected = format!("at least the policy's {}", case.policy.panel);
        return Err(inconsistent("the panel", case.panel.to_string(), expected));
    }
    if let Some(violation) = check_binding(case.handoff, case.binding, case.work_unit).into_iter().next() {
        return Err(inconsistent("the manifest binding or work unit", violation.to_string(), "the same".to_owned()));
    }
    check_worker(case)
}

/// An authenticated worker is the trust root's entry of the manifest's worker id; an unsigned one is possible only
/// where work unit and policy allow it.
fn check_worker(case: &Case<'_>) -> Result<(), PoliciesError> {
    match case.worker {
        WorkerIdentity::Authenticated { key_id } => match case.trust.by_key_id(&key_id) {
            Some(entry) if entry.role == Role::Worker && entry.id == case.binding.worker_id() => Ok(()),
            entry => Err(PoliciesError::CaseInconsistent {
                what: "the worker's key",
                found: entry.map_or_else(|| "unknown".to_owned(), |entry| format!("{} {:?}", entry.role, entry.id)),
                expected: format!("worker {:?}", case.binding.worker_id()),
            }),
        },
        WorkerIdentity::Unauthenticated => {
            let asked = case.work_unit.minimum_worker_trust();
            if asked != WorkerTrust::Untrusted {
                return Err(PoliciesError::WorkerUnauthenticated { asked_by: "the work unit" });
            }
            if case.policy.require_signed_worker {
                return Err(PoliciesError::WorkerUnauthenticated { asked_by: "the policy" });
            }
            Ok(())
        }
    }
}

/// Who was heard, after duplicates and equivocations.
struct Panel {
    heard: BTreeMap<KeyId, Vec<Evidence>>,
    equivocates: BTreeSet<KeyId>,
    refusals: Vec<Refusal>,
}

fn hear(case: &Case<'_>, aged_at: Timestamp, memo: &Memo) -> Result<Panel, PoliciesError> {
    let envelopes: BTreeMap<Digest, &Vec<u8>> = case.envelopes.iter().map(|bytes| (Digest::of(bytes), bytes)).collect();
    if let Some(withheld) = case.facts.received.keys().find(|digest| !envelopes.contains_key(digest)) {
        return Err(PoliciesError::EnvelopeMissing(*withheld));
    }
    let mut authentic = Vec::new();
    let mut refusals = Vec::new();
    for (digest, bytes) in envelopes {
        let fact = case.facts.received.get(&digest).ok_or(PoliciesError::FactMissing(digest))?;
        match admit(case, bytes, *fact, aged_at, memo) {
            Ok(evidence) => authentic.push(evidence),
            Err(refused) => refusals.extend(refused),
        }
    }
    let (standing, duplicates) = without_duplicates(case, authentic);
    refusals.extend(duplicates);
    let (heard, equivocates) = name_equivocations(case, standing);
    refusals.extend(heard.values().flatten().flat_map(|evidence| evidence.weight.iter().cloned()));
    refusals.sort();
    Ok(Panel { heard, equivocates, refusals })
}

/// Same key, seat, try and verdict in other bytes: one stands, the others have no effect. Of those that weigh the same
/// it is the one with the lowest digest; a digest alone may not choose between evidence of different weight, since it
/// changes with every word of the worker's manifest (law 1).
fn without_duplicates(case: &Case<'_>, authentic: Vec<Evidence>) -> (Vec<Evidence>, Vec<Refusal>) {
    let mut same: BTreeMap<(KeyId, (u64, u64), Verdict), Vec<Evidence>> = BTreeMap::new();
    for evidence in authentic {
        let place = (evidence.key_id, evidence.place(case.facts.panel_closed), evidence.verdict);
        same.entry(place).or_default().push(evidence);
    }
    let mut standing = Vec::new();
    let mut refusals = Vec::new();
    for mut all in same.into_values() {
        all.sort_by_key(Evidence::precedence);
        let mut all = all.into_iter();
        let Some(first) = all.next() else { continue };
        for other in all {
            let message = format!("the same verdict of the same key, seat and try as {}", first.envelope);
            refusals.push(refusal(other.envelope, Some(other.key_id), RefusalCode::Duplicate, "", &message));
        }
        standing.push(first);
    }
    (standing, refusals)
}

type ByKey = BTreeMap<KeyId, Vec<Evidence>>;

/// One key, one seat and try, different verdicts: none of them supports, and all are named.
fn name_equivocations(case: &Case<'_>, standing: Vec<Evidence>) -> (ByKey, BTreeSet<KeyId>) {
    let mut verdicts: BTreeMap<(KeyId, (u64, u64)), BTreeSet<Verdict>> = BTreeMap::new();
    for evidence in &standing {
        let place = (evidence.key_id, evidence.place(case.facts.panel_closed));
        verdicts.entry(place).or_default().insert(evidence.verdict);
    }
    let mut heard = ByKey::new();
    let mut equivocates = BTreeSet::new();
    for mut evidence in standing {
        let said = &verdicts[&(evidence.key_id, evidence.place(case.facts.panel_closed))];
        if said.len() > 1 {
            let words: Vec<&str> = said.iter().map(|verdict| verdict.as_str()).collect();
            let message = format!("one key, seat {} try {}: {}", evidence.seat, evidence.try_no, words.join(" and "));
            evidence.refuse(RefusalCode::Equivocation, "", message);
            equivocates.insert(evidence.key_id);
        }
        heard.entry(evidence.key_id).or_default().push(evidence);
    }
    (heard, equivocates)
}

fn open_seats(case: &Case<'_>) -> Vec<u32> {
    if case.facts.panel_closed {
        return Vec::new();
    }
    (0..case.panel).filter(|seat| case.facts.seats.get(seat).is_none_or(|fact| fact.open)).collect()
}

fn effective_rule(case: &Case<'_>) -> EffectiveRule {
    let (policy, handoff) = (case.policy, case.handoff);
    let strategy = handoff.strategy();
    EffectiveRule {
        strategy: strategy.as_str().to_owned(),
        quorum: policy.quorum.max(handoff.quorum().unwrap_or(1)).max(handoff.minimum_independent_verifiers()).max(1),
        panel: case.panel,
        tolerate: if strategy == Strategy::AllRequired { 0 } else { policy.tolerate },
        reject_quorum: policy.reject_quorum,
        fraction: policy.fraction,
        groups: policy.groups.clone(),
        independent_on: policy.independent_on.clone(),
        min_isolation: min_isolation(case),
        min_channel: policy.min_channel,
        max_age_seconds: policy.max_age_seconds,
    }
}

/// Folds each key to one standing and counts.
fn weigh(case: &Case<'_>, panel: Panel) -> Result<Weighed, PoliciesError> {
    let Panel { heard, equivocates, refusals } = panel;
    let mut standing: BTreeMap<KeyId, Standing> =
        heard.iter().map(|(key, evidence)| (*key, fold(evidence, equivocates.contains(key)))).collect();
    let supporters: Vec<Supporter<'_>> = heard
        .iter()
        .filter(|(key, _)| standing[key] == Standing::Voice)
        .map(|(key, evidence)| Supporter {
            key_id: *key,
            attributes: &evidence[0].signer.attributes,
            declared: evidence
                .iter()
                .filter(|evidence| evidence.admitted_support())
                .fold(crate::voices::Declared::default(), |all, evidence| all.and(evidence.declared)),
        })
        .collect();
    if supporters.len() > limits::PANEL as usize {
        return Err(PoliciesError::TooManySupporters(supporters.len()));
    }
    let unknown = BTreeMap::new();
    let worker = match case.worker {
        WorkerIdentity::Authenticated { key_id } => case.trust.by_key_id(&key_id).map(|entry| &entry.attributes),
        WorkerIdentity::Unauthenticated => None,
    };
    let voices = voices(&supporters, worker.unwrap_or(&unknown), &case.policy.independent_on);
    let operators = supporters
        .iter()
        .filter(|supporter| !voices.worker_neighbours.contains(&supporter.key_id))
        .filter_map(|supporter| supporter.attributes.get("operator").cloned())
        .collect();
    for (key, standing) in &mut standing {
        if *standing == Standing::Voice && !voices.chosen.contains(key) {
            let neighbour = voices.worker_neighbours.contains(key);
            *standing = if neighbour { Standing::SharesWithWorker } else { Standing::SharesWithVoice };
        }
    }
    let rule = effective_rule(case);
    let tally = tally(&rule, &standing);
    let exhausted = heard.values().filter(|all| all.iter().any(|evidence| evidence.timed_out_within_limits)).count();
    let has_operator_rule = match case.handoff.strategy() {
        Strategy::AllRequired | Strategy::Quorum => true,
        Strategy::Threshold => case.policy.fraction.is_some(),
        Strategy::Custom => case.policy.groups.is_some(),
    };
    Ok(Weighed { rule, tally, voices, heard, standing, refusals, operators, exhausted, has_operator_rule })
}

/// What one key counts as. A supporter is called a voice until the voices are counted.
fn fold(evidence: &[Evidence], equivocates: bool) -> Standing {
    let any = |verdict| evidence.iter().any(|evidence| evidence.verdict == verdict);
    if any(Verdict::Rejects) {
        Standing::Objector
    } else if evidence.iter().any(Evidence::admitted_support) {
        Standing::Voice
    } else if equivocates {
        Standing::Equivocates
    } else if any(Verdict::Supports) {
        Standing::RefusedSupport
    } else if any(Verdict::Abstains) {
        Standing::Abstains
    } else {
        Standing::Absent
    }
}

fn tally(rule: &EffectiveRule, standing: &BTreeMap<KeyId, Standing>) -> Tally {
    let count = |wanted: &[Standing]| standing.values().filter(|standing| wanted.contains(standing)).count() as u64;
    let s = count(&[Standing::Voice]);
    let o = count(&[Standing::Objector]);
    let a = count(&[Standing::RefusedSupport, Standing::Equivocates, Standing::Abstains, Standing::Absent]);
    let n = u64::from(rule.panel).max(s + o + a);
    Tally { s, o, a, n, q: rule.quorum, tolerate: rule.tolerate }
}

/// Rows 2 to 6, first match; row 1 came before the count.
fn table(weighed: &Weighed) -> (Row, Recommendation) {
    let (tally, rule) = (weighed.tally, &weighed.rule);
    if !weighed.has_operator_rule {
        (Row::NoOperatorRule, Recommendation::Escalate)
    } else if tally.s >= tally.q && tally.o <= tally.tolerate && weighed.fraction_holds() && weighed.groups_hold() {
        (Row::QuorumMet, Recommendation::AcceptCandidate)
    } else if tally.o >= 1 && tally.s >= 1 {
        (Row::SupportAndObjection, Recommendation::Escalate)
    } else if tally.o >= rule.reject_quorum {
        (Row::RejectQuorumMet, Recommendation::RejectCandidate)
    } else if weighed.exhausted >= limits::EXHAUSTED_KEYS {
        (Row::ExhaustsVerifiers, Recommendation::Escalate)
    } else {
        (Row::NotEnough, Recommendation::InsufficientEvidence)
    }
}

impl Weighed {
    pub(crate) fn fraction_holds(&self) -> bool {
        self.rule.fraction.is_none_or(|fraction| fraction.holds(self.tally.s, self.tally.n))
    }

    pub(crate) fn groups_hold(&self) -> bool {
        let operators = self.operators.iter().map(String::as_str).collect();
        self.rule.groups.as_ref().is_none_or(|groups| groups.holds(&operators))
    }
}

impl Decision {
    /// Whether the candidate's checks ran where the candidate could forge their results: named in every report.
    #[must_use]
    pub fn relies_on_in_process(&self) -> bool {
        self.heard
            .iter()
            .filter(|heard| heard.standing == Standing::Voice)
            .flat_map(|heard| &heard.evidence)
            .any(|evidence| evidence.verdict == Verdict::Supports && evidence.channel == crate::Channel::InProcess)
    }
}
