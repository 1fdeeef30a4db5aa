//! The one function that daemon, gate and auditor call.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::{Hashed, KeyId, Role, TrustRoot};
use quorum_handoff::{Handoff, ManifestBinding, Strategy, WorkUnit, WorkerTrust, check_binding};
use quorum_schemas::{Digest, Timestamp};

use crate::admit::{Evidence, Memo, admit, refusal};
use crate::conjunction::{Terms, effective_rule};
use crate::table::table;
use crate::voices::{Supporter, Voices, voices};
use crate::{
    Decision, EffectiveRule, Explanation, Facts, GroupProof, Outcome, Pending, PoliciesError, Policy, RULES_VERSION,
    Refusal, RefusalCode, Standing, Tally, Verdict, WorkerIdentity, limits, proof, why,
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
    decide_with(case, now, &Memo::default())
}

/// [`decide`] for tests that judge the same envelopes again and again.
///
/// # Errors
/// As [`decide`].
#[doc(hidden)]
pub fn decide_with(case: &Case<'_>, now: Timestamp, memo: &Memo) -> Result<Outcome, PoliciesError> {
    Admitted::admit_with(case, now, memo)?.decide()
}

/// [`decide`] for a revision, with another time for ages: evidence and trust make it, not the mere passing of time. Nor
/// does it ask whether the policy is still admitted: one that was withdrawn makes no new decision, and a revision only
/// takes away.
pub(crate) fn decide_aged(
    case: &Case<'_>,
    now: Timestamp,
    aged_at: Timestamp,
    memo: &Memo,
) -> Result<Outcome, PoliciesError> {
    Admitted::aged(case, now, aged_at, memo)?.decide()
}

/// The evidence of one case after its signatures, schemas and rules were checked: what costs time is done, and what is
/// left is to count. It belongs to its case and time, so that it can be weighed as often as anyone likes.
#[derive(Debug, Clone)]
pub struct Admitted<'a> {
    case: Case<'a>,
    now: Timestamp,
    /// By envelope digest.
    authentic: Vec<Evidence>,
    /// Of what has no effect at all.
    refusals: Vec<Refusal>,
}

impl<'a> Admitted<'a> {
    /// Authenticates and judges every envelope of `case` at `now`.
    ///
    /// # Errors
    /// As [`decide`], but for [`PoliciesError::TooManySupporters`].
    pub fn admit(case: &Case<'a>, now: Timestamp) -> Result<Self, PoliciesError> {
        Self::admit_with(case, now, &Memo::default())
    }

    /// [`Self::admit`] for tests that judge the same envelopes again and again.
    ///
    /// # Errors
    /// As [`Self::admit`].
    #[doc(hidden)]
    pub fn admit_with(case: &Case<'a>, now: Timestamp, memo: &Memo) -> Result<Self, PoliciesError> {
        if !case.trust.admits_policy(&case.policy.digest()) {
            let (policy, trust_version) = (case.policy.digest(), case.trust.version());
            return Err(PoliciesError::NotAdmitted { policy, trust_version });
        }
        Self::aged(case, now, now, memo)
    }

    pub(crate) fn aged(
        case: &Case<'a>,
        now: Timestamp,
        aged_at: Timestamp,
        memo: &Memo,
    ) -> Result<Self, PoliciesError> {
        check_case(case)?;
        let (authentic, refusals) = hear(case, aged_at, memo)?;
        Ok(Self { case: *case, now, authentic, refusals })
    }

    /// What [`decide`] says of the case.
    ///
    /// # Errors
    /// [`PoliciesError::TooManySupporters`].
    pub fn decide(&self) -> Result<Outcome, PoliciesError> {
        let case = &self.case;
        let open_seats = open_seats(case);
        if !open_seats.is_empty() && self.now < case.deadline {
            return Ok(Outcome::Pending(Pending { open_seats, deadline: case.deadline }));
        }
        let weighed = self.weigh()?;
        let (row, recommendation) = table(&weighed);
        Ok(Outcome::Decided(Box::new(why::decision(case, self.now, weighed, row, recommendation))))
    }

    /// The proof tree of [`Self::decide`]: every row of the table that was tried, every key and what it counts as.
    ///
    /// # Errors
    /// As [`Self::decide`].
    pub fn explain(&self) -> Result<Explanation, PoliciesError> {
        let open_seats = open_seats(&self.case);
        Ok(proof::explanation(&self.case, self.now, &open_seats, &self.weigh()?))
    }

    fn weigh(&self) -> Result<Weighed<'_>, PoliciesError> {
        weigh(&self.case, fold_panel(&self.case, &self.authentic, &self.refusals))
    }
}

/// Evidence as it is counted, beside what else one key said.
#[derive(Debug, Clone)]
pub(crate) struct Counted<'e> {
    pub(crate) evidence: &'e Evidence,
    /// One key, one seat and try, different verdicts.
    pub(crate) equivocation: Option<Refusal>,
}

impl Counted<'_> {
    /// Whether it may support.
    pub(crate) fn supports(&self) -> bool {
        self.evidence.admitted_support() && self.equivocation.is_none()
    }

    /// What weighs against it.
    pub(crate) fn weight(&self) -> impl Iterator<Item = &Refusal> {
        self.evidence.weight.iter().chain(&self.equivocation)
    }
}

/// Every key that was heard, and what it counts as.
pub(crate) struct Weighed<'e> {
    pub(crate) rule: EffectiveRule,
    pub(crate) tally: Tally,
    pub(crate) voices: Voices,
    /// All authentic evidence by key.
    pub(crate) heard: BTreeMap<KeyId, Vec<Counted<'e>>>,
    /// What each key of `heard` counts as, in the same order.
    pub(crate) standing: Vec<Standing>,
    pub(crate) refusals: Vec<Refusal>,
    /// Operators of the supporters that are not the worker's neighbours.
    pub(crate) operators: BTreeSet<&'e str>,
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

/// Every envelope's evidence, by digest, and the refusals of those that have none.
fn hear<'c>(case: &Case<'c>, aged_at: Timestamp, memo: &Memo) -> Result<(Vec<Evidence>, Vec<Refusal>), PoliciesError> {
    let hashed = |bytes: &'c Vec<u8>| {
        let bytes = Hashed::new(bytes);
        (bytes.digest(), bytes)
    };
    let envelopes: BTreeMap<Digest, Hashed<'c>> = case.envelopes.iter().map(hashed).collect();
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
    Ok((authentic, refusals))
}

/// Who was heard, after duplicates and equivocations.
struct Panel<'e> {
    heard: ByKey<'e>,
    equivocates: BTreeSet<KeyId>,
    refusals: Vec<Refusal>,
}

type ByKey<'e> = BTreeMap<KeyId, Vec<Counted<'e>>>;

fn fold_panel<'e>(case: &Case<'_>, authentic: &'e [Evidence], refused: &[Refusal]) -> Panel<'e> {
    let mut refusals = refused.to_vec();
    let (standing, duplicates) = without_duplicates(case, authentic);
    refusals.extend(duplicates);
    let (heard, equivocates) = name_equivocations(case, standing);
    refusals.extend(heard.values().flatten().flat_map(|counted| counted.weight().cloned()));
    refusals.sort();
    Panel { heard, equivocates, refusals }
}

/// Same key, seat, try and verdict in other bytes: one stands, the others have no effect. Of those that weigh the same
/// it is the one with the lowest digest; a digest alone may not choose between evidence of different weight, since it
/// changes with every word of the worker's manifest (law 1).
fn without_duplicates<'e>(case: &Case<'_>, authentic: &'e [Evidence]) -> (Vec<&'e Evidence>, Vec<Refusal>) {
    let place = |evidence: &Evidence| (evidence.key_id, evidence.place(case.facts.panel_closed), evidence.verdict);
    let mut standing: Vec<&Evidence> = authentic.iter().collect();
    standing.sort_by_key(|evidence| (place(evidence), evidence.precedence()));
    let mut refusals = Vec::new();
    standing.dedup_by(|other, first| {
        let same = place(other) == place(first);
        if same {
            let message = format!("the same verdict of the same key, seat and try as {}", first.envelope);
            refusals.push(refusal(other.envelope, Some(other.key_id), RefusalCode::Duplicate, "", &message));
        }
        same
    });
    (standing, refusals)
}

/// One key, one seat and try, different verdicts: none of them supports, and all are named. What stands is in the order
/// of keys, places and verdicts.
fn name_equivocations<'e>(case: &Case<'_>, standing: Vec<&'e Evidence>) -> (ByKey<'e>, BTreeSet<KeyId>) {
    let place = |evidence: &Evidence| (evidence.key_id, evidence.place(case.facts.panel_closed));
    let mut heard = ByKey::new();
    let mut equivocates = BTreeSet::new();
    for said in standing.chunk_by(|one, other| place(one) == place(other)) {
        for evidence in said {
            let mut equivocation = None;
            if said.len() > 1 {
                let words: Vec<&str> = said.iter().map(|evidence| evidence.verdict.as_str()).collect();
                let (seat, try_no) = (evidence.seat, evidence.try_no);
                let message = format!("one key, seat {seat} try {try_no}: {}", words.join(" and "));
                let (envelope, key) = (evidence.envelope, Some(evidence.key_id));
                equivocation = Some(refusal(envelope, key, RefusalCode::Equivocation, "", &message));
                equivocates.insert(evidence.key_id);
            }
            heard.entry(evidence.key_id).or_default().push(Counted { evidence, equivocation });
        }
    }
    (heard, equivocates)
}

fn open_seats(case: &Case<'_>) -> Vec<u32> {
    if case.facts.panel_closed {
        return Vec::new();
    }
    (0..case.panel).filter(|seat| case.facts.seats.get(seat).is_none_or(|fact| fact.open)).collect()
}

/// Folds each key to one standing and counts.
fn weigh<'e>(case: &Case<'_>, panel: Panel<'e>) -> Result<Weighed<'e>, PoliciesError> {
    let Panel { heard, equivocates, refusals } = panel;
    let mut standing: Vec<Standing> =
        heard.iter().map(|(key, evidence)| fold(evidence, equivocates.contains(key))).collect();
    let supporters: Vec<Supporter<'_>> = heard
        .iter()
        .zip(&standing)
        .filter(|(_, standing)| **standing == Standing::Voice)
        .map(|((key, evidence), _)| Supporter {
            key_id: *key,
            id: &evidence[0].evidence.signer.id,
            attributes: &evidence[0].evidence.signer.attributes,
            declared: evidence
                .iter()
                .filter(|counted| counted.supports())
                .fold(crate::voices::Declared::default(), |all, counted| all.and(counted.evidence.declared)),
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
        .filter_map(|supporter| supporter.attributes.get("operator").map(String::as_str))
        .collect();
    for (key, standing) in heard.keys().zip(&mut standing) {
        if *standing == Standing::Voice && voices.chosen.binary_search(key).is_err() {
            let neighbour = voices.worker_neighbours.contains(key);
            *standing = if neighbour { Standing::SharesWithWorker } else { Standing::SharesWithVoice };
        }
    }
    let rule = effective_rule(case.policy, Some(&Terms::of_case(case)), case.panel);
    let tally = tally(&rule, &standing);
    let exhausted =
        heard.values().filter(|all| all.iter().any(|counted| counted.evidence.timed_out_within_limits)).count();
    let has_operator_rule = match case.handoff.strategy() {
        Strategy::AllRequired | Strategy::Quorum => true,
        Strategy::Threshold => case.policy.fraction.is_some(),
        Strategy::Custom => case.policy.groups.is_some(),
    };
    Ok(Weighed { rule, tally, voices, heard, standing, refusals, operators, exhausted, has_operator_rule })
}

/// What one key counts as. A supporter is called a voice until the voices are counted.
fn fold(said: &[Counted<'_>], equivocates: bool) -> Standing {
    let any = |verdict| said.iter().any(|counted| counted.evidence.verdict == verdict);
    if any(Verdict::Rejects) {
        Standing::Objector
    } else if said.iter().any(Counted::supports) {
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

fn tally(rule: &EffectiveRule, standing: &[Standing]) -> Tally {
    let count = |wanted: &[Standing]| standing.iter().filter(|standing| wanted.contains(standing)).count() as u64;
    let s = count(&[Standing::Voice]);
    let o = count(&[Standing::Objector]);
    let a = count(&[Standing::RefusedSupport, Standing::Equivocates, Standing::Abstains, Standing::Absent]);
    let n = u64::from(rule.panel).max(s + o + a);
    Tally { s, o, a, n, q: rule.quorum, tolerate: rule.tolerate }
}

impl Weighed<'_> {
    pub(crate) fn fraction_holds(&self) -> bool {
        self.rule.fraction.is_none_or(|fraction| fraction.holds(self.tally.s, self.tally.n))
    }

    pub(crate) fn groups_hold(&self) -> bool {
        self.rule.groups.as_ref().is_none_or(|groups| groups.holds(&self.operators))
    }

    /// How the groups came to hold or not, if the policy has any.
    pub(crate) fn group_proof(&self) -> Option<GroupProof> {
        self.rule.groups.as_ref().map(|groups| groups.proof(&self.operators))
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
