//! One handoff in the coordinator's hands: documents, seats, evidence, decisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorum_attest::{Envelope, KeyId, PredicateType, Role, TrustRoot, authenticate};
use quorum_handoff::WorkUnit;
use quorum_mesh::BlobRef;
use quorum_policies::{
    Assurance, Decision, EarlierAttempt, Facts, Outcome, PoliciesError, Policy, RULES_VERSION, Received, Refusal,
    SeatFact, Verdict, WorkerIdentity, decide,
};
use quorum_schemas::{C1Digest, Digest, Timestamp, Value};
use quorum_tasks::{Event, State, Terms, Verifier, Worker, step};

use crate::config::{Loaded, Timing};
use crate::documents::{HandoffDoc, ManifestDoc, WorkUnitDoc};
use crate::{CoordinatorError, clock, limits};

/// One envelope that was published as evidence of this handoff.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sequence: u64,
    pub(crate) received: Received,
    /// The bundle that it names, if the bundle was checked.
    pub(crate) bundle: Option<Digest>,
}

/// A published revision.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    pub(crate) stored_at: Timestamp,
}

/// One handoff.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) doc: HandoffDoc,
    pub(crate) work_unit: WorkUnit,
    pub(crate) work_unit_envelope: Vec<u8>,
    pub(crate) manifest_envelope: Vec<u8>,
    pub(crate) worker_key: KeyId,
    pub(crate) policy: Arc<Policy>,
    pub(crate) candidate: BlobRef,
    pub(crate) baseline: Option<BlobRef>,
    pub(crate) terms: Terms,
    pub(crate) state: State,
    /// By digest of the envelope.
    pub(crate) items: BTreeMap<Digest, Item>,
    pub(crate) decisions: Vec<Decided>,
    /// What a coordinator published for this handoff is unusable; a person has to look at it.
    pub(crate) stuck: bool,
    /// Messages by each verifier for seats or tries that this panel does not have.
    strays: BTreeMap<String, u32>,
}

/// What the policy engine hears in the evidence so far.
pub(crate) struct Hearing {
    /// Authentic evidence in the order of the stream, as the seats' state machine takes it.
    pub(crate) events: Vec<Event>,
    /// Every refusal.
    pub(crate) refusals: Vec<Refusal>,
}

/// The parts of a case that admission found.
pub(crate) struct Parts<'a> {
    pub(crate) manifest: &'a ManifestDoc,
    pub(crate) work_unit: &'a WorkUnitDoc,
    pub(crate) policy: Arc<Policy>,
    pub(crate) candidate: BlobRef,
    pub(crate) baseline: Option<BlobRef>,
}

impl Case {
    pub(crate) fn new(
        doc: HandoffDoc,
        parts: Parts<'_>,
        loaded: &Loaded,
        timing: &Timing,
    ) -> Result<Self, CoordinatorError> {
        let Parts { manifest, work_unit, policy, candidate, baseline } = parts;
        let worker = Worker { id: manifest.worker.id.clone(), attributes: manifest.worker.attributes.clone() };
        let axes: Vec<String> = policy.independent_on.iter().map(|axis| axis.as_str().to_owned()).collect();
        let terms = Terms::new(
            &loaded.secret,
            doc.handoff.id(),
            (doc.panel, policy.max_tries),
            &axes,
            (timing.lease_micros, timing.offer_micros),
            doc.deadline,
            &worker,
            verifiers(&loaded.trust),
        )?;
        Ok(Self {
            state: State::new(&terms),
            terms,
            work_unit: work_unit.work_unit.clone(),
            work_unit_envelope: work_unit.envelope.clone(),
            manifest_envelope: manifest.envelope.clone(),
            worker_key: manifest.worker_key,
            policy,
            candidate,
            baseline,
            doc,
            items: BTreeMap::new(),
            decisions: Vec::new(),
            stuck: false,
            strays: BTreeMap::new(),
        })
    }

    /// Whether the seats are still played for.
    pub(crate) fn is_live(&self) -> bool {
        self.decisions.is_empty() && !self.stuck
    }

    pub(crate) fn id(&self) -> C1Digest {
        self.doc.handoff.id()
    }

    /// Whether one more message for this seat and try is heard. The stream bounds what the places of a panel hold; what a
    /// verifier publishes beside them is bounded here, or one key could make a decision too large to be published.
    pub(crate) fn hears(&mut self, verifier: &str, seat: u32, try_no: u32) -> bool {
        if seat < self.doc.panel && (1..=self.policy.max_tries).contains(&try_no) {
            return true;
        }
        let strays = self.strays.entry(verifier.to_owned()).or_insert(0);
        *strays = strays.saturating_add(1);
        *strays <= limits::STRAYS
    }

    /// Applies an event that needs no broker.
    pub(crate) fn note(&mut self, event: &Event) -> Vec<quorum_tasks::Effect> {
        let (state, effects) = step(&self.terms, &self.state, event);
        self.state = state;
        effects
    }

    /// The facts about the evidence up to `until`.
    pub(crate) fn facts(&self, trust: &TrustRoot, until: Timestamp, horizon: u64, earlier: &[EarlierAttempt]) -> Facts {
        let items = self.items.iter().filter(|(_, item)| item.received.received_at <= until);
        Facts {
            received: items.map(|(digest, item)| (*digest, item.received)).collect(),
            seats: self.seat_facts(trust),
            panel_closed: false,
            horizon: Some(horizon),
            assurance: Assurance::TrustRoot,
            earlier_attempts: earlier.to_vec(),
            rules_version: RULES_VERSION,
        }
    }

    fn seat_facts(&self, trust: &TrustRoot) -> BTreeMap<u32, SeatFact> {
        (0..)
            .zip(self.state.seats())
            .filter_map(|(n, seat)| {
                let hold = seat.hold.as_ref()?;
                let epoch = hold.epoch?;
                let holder = self.holder(trust, &hold.verifier, (n, hold.try_no, epoch))?;
                Some((n, SeatFact { holder, try_no: hold.try_no, epoch, open: seat.is_open() }))
            })
            .collect()
    }

    /// The key of the verifier that holds a seat. Where it replaced its key meanwhile, the one that it answered with
    /// first; before any answer the newest.
    fn holder(&self, trust: &TrustRoot, verifier: &str, seat: (u32, u32, u64)) -> Option<KeyId> {
        let keys = trust.all_by_id(Role::Verifier, verifier);
        let newest = keys.last()?.public_key.key_id();
        if keys.len() == 1 {
            return Some(newest);
        }
        let answers = self.items.values().filter_map(|item| {
            let envelope = Envelope::parse(&item.bytes).ok()?;
            let said = authenticate(&envelope, trust, PredicateType::Evidence, item.received.received_at).ok()?;
            let says = |name: &str| said.predicate().get(name).and_then(Value::as_u64);
            let (place, wanted) =
                ((says("seat")?, says("try")?, says("epoch")?), (seat.0.into(), seat.1.into(), seat.2));
            let own = said.signer().id == verifier && place == wanted;
            own.then(|| (item.sequence, said.signer().public_key.key_id()))
        });
        Some(answers.min().map_or(newest, |(_, key)| key))
    }

    /// What the policy engine is asked about, for the evidence that `facts` name.
    pub(crate) fn decide(&self, trust: &TrustRoot, facts: &Facts, now: Timestamp) -> Result<Outcome, PoliciesError> {
        self.with(trust, facts, self.doc.deadline, |case| decide(case, now))
    }

    pub(crate) fn with<T>(
        &self,
        trust: &TrustRoot,
        facts: &Facts,
        deadline: Timestamp,
        ask: impl FnOnce(&quorum_policies::Case<'_>) -> T,
    ) -> T {
        let named = facts.received.keys().filter_map(|digest| self.items.get(digest));
        let envelopes: Vec<Vec<u8>> = named.map(|item| item.bytes.clone()).collect();
        ask(&quorum_policies::Case {
            handoff: &self.doc.handoff,
            work_unit: &self.work_unit,
            binding: &self.doc.binding,
            worker: WorkerIdentity::Authenticated { key_id: self.worker_key },
            trust,
            policy: &self.policy,
            panel: self.doc.panel,
            deadline,
            facts,
            envelopes: &envelopes,
        })
    }

    /// Asks the one function that decides what it hears, as if the panel had closed: which evidence is authentic, for
    /// which seat and try, and whether it is absent.
    pub(crate) fn hear(&self, trust: &TrustRoot) -> Result<Hearing, PoliciesError> {
        let facts = self.facts(trust, Timestamp::from_micros(i64::MAX), 0, &[]);
        let now = clock::now();
        let outcome = self.with(trust, &facts, now, |case| decide(case, now))?;
        let Outcome::Decided(decision) = outcome else {
            return Ok(Hearing { events: Vec::new(), refusals: Vec::new() });
        };
        let mut heard: Vec<(u64, Event)> = Vec::new();
        for key in &decision.heard {
            for evidence in &key.evidence {
                let Some(item) = self.items.get(&evidence.envelope) else { continue };
                if item.received.received_at > self.doc.deadline {
                    continue;
                }
                let event = Event::Evidence {
                    now,
                    verifier: key.id.clone(),
                    seat: u32::try_from(evidence.seat).unwrap_or(u32::MAX),
                    try_no: u32::try_from(evidence.r#try).unwrap_or(u32::MAX),
                    epoch: evidence.epoch,
                    absent: evidence.verdict == Verdict::Absent,
                };
                heard.push((item.sequence, event));
            }
        }
        heard.sort_by_key(|(sequence, _)| *sequence);
        Ok(Hearing { events: heard.into_iter().map(|(_, event)| event).collect(), refusals: decision.refusals })
    }
}

/// The verifiers of the trust root that are valid now.
fn verifiers(trust: &TrustRoot) -> Vec<Verifier> {
    let now = clock::now();
    let entries = trust.entries().iter().filter(|entry| entry.role == Role::Verifier);
    entries
        .filter(|entry| entry.check_valid(now).is_ok())
        .map(|entry| Verifier {
            id: entry.id.clone(),
            key: *entry.public_key.as_bytes(),
            attributes: entry.attributes.clone(),
        })
        .collect()
}
