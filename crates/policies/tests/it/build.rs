//! From plain cases to real documents, keys and signed envelopes. Signing and trust roots are memoised per thread:
//! they are functions of their arguments.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use quorum_attest::{
    Entry, KeyId, PAYLOAD_TYPE, PredicateType, PublicKey, Role, SigningKey, Statement, Subject, TrustDraft, TrustRoot,
    sign,
};
use quorum_handoff::{Intake, candidate_subject, intake_values};
use quorum_policies::{
    Admitted, Assurance, Case, Decision, Explanation, Facts, Memo, Outcome, PoliciesError, Policy, RULES_VERSION,
    Received, SeatFact, WorkerIdentity, decide_with, revise_with,
};
use quorum_schemas::{C1Digest, Digest, Timestamp, Value};
use serde_json::{Value as Json, json};

use crate::cases::{
    self, Fault, POOL, PlainCase, PlainEnvelope, PlainGroup, PlainMember, PlainPolicy, PlainVerifier, PlainWorkUnit,
    PlainWorker, REQUIRED,
};

/// The base time of all cases: 2026-01-01T00:00:00Z.
const BASE: i64 = 1_767_225_600;

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((BASE + seconds) * 1_000_000)
}

/// The pool's keys are verifiers, then the worker, a stranger and the root.
const WORKER: usize = POOL;
const STRANGER: usize = POOL + 1;
const ROOT: usize = POOL + 2;

type Intakes = BTreeMap<(PlainWorkUnit, u8), Rc<Intake>>;
type Envelopes = BTreeMap<(C1Digest, PlainEnvelope), Rc<Vec<u8>>>;

thread_local! {
    static KEYS: Vec<(SigningKey, KeyId)> = (0..POOL + 3)
        .map(|index| {
            let key = SigningKey::from_seed(&[u8::try_from(index + 1).expect("a small pool"); 32]);
            let id = key.public().key_id();
            (key, id)
        })
        .collect();
    static MEMO: Memo = Memo::default();
    static POLICIES: RefCell<HashMap<String, Policy>> = RefCell::new(HashMap::new());
    static ADMITTED: Vec<Digest> = (0..cases::POLICIES)
        .map(cases::policy_of)
        .flat_map(|policy| cases::tightened(&policy).into_iter().chain([policy]))
        .map(|policy| Digest::of(policy_toml(&policy).as_bytes()))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    static TRUST: RefCell<HashMap<String, Rc<TrustRoot>>> = RefCell::new(HashMap::new());
    static INTAKES: RefCell<Intakes> = const { RefCell::new(BTreeMap::new()) };
    static ENVELOPES: RefCell<Envelopes> = const { RefCell::new(BTreeMap::new()) };
}

pub(crate) fn key_id(index: usize) -> KeyId {
    KEYS.with(|keys| keys[index].1)
}

pub(crate) fn worker_key_id() -> KeyId {
    key_id(WORKER)
}

/// The pool index of a key id.
pub(crate) fn key_index(key: KeyId) -> Option<usize> {
    KEYS.with(|keys| keys.iter().position(|(_, id)| *id == key))
}

pub(crate) fn verifier_name(index: usize) -> String {
    format!("verifier-{index}")
}

/// Everything that a [`Case`] borrows.
#[derive(Clone)]
pub(crate) struct Built {
    pub(crate) intake: Rc<Intake>,
    pub(crate) trust: Rc<TrustRoot>,
    pub(crate) policy: Policy,
    pub(crate) worker: WorkerIdentity,
    pub(crate) facts: Facts,
    /// In the order of the plain envelopes.
    pub(crate) envelopes: Vec<Vec<u8>>,
    pub(crate) panel: u32,
    pub(crate) deadline: Timestamp,
    pub(crate) now: Timestamp,
}

impl Built {
    pub(crate) fn case(&self) -> Case<'_> {
        Case {
            handoff: &self.intake.handoff,
            work_unit: &self.intake.work_unit,
            binding: &self.intake.binding,
            worker: self.worker,
            trust: &self.trust,
            policy: &self.policy,
            panel: self.panel,
            deadline: self.deadline,
            facts: &self.facts,
            envelopes: &self.envelopes,
        }
    }

    pub(crate) fn try_decide(&self) -> Result<Outcome, PoliciesError> {
        MEMO.with(|memo| decide_with(&self.case(), self.now, memo))
    }

    pub(crate) fn decide(&self) -> Outcome {
        self.try_decide().expect("the generator makes cases that can be judged")
    }

    pub(crate) fn explain(&self) -> Explanation {
        let admitted = MEMO.with(|memo| Admitted::admit_with(&self.case(), self.now, memo));
        admitted.and_then(|admitted| admitted.explain()).expect("as decide")
    }

    pub(crate) fn revise(&self, previous: &Decision) -> Option<Decision> {
        MEMO.with(|memo| revise_with(&self.case(), self.now, previous, memo)).expect("as decide")
    }

    /// Digests of the envelopes' bytes, in the order of the plain envelopes.
    pub(crate) fn digests(&self) -> Vec<Digest> {
        self.envelopes.iter().map(|bytes| Digest::of(bytes)).collect()
    }
}

pub(crate) fn build(plain: &PlainCase) -> Built {
    let policy = policy_of(&plain.policy);
    let intake = intake_of(plain.work_unit, plain.noise);
    let trust = ADMITTED.with(|admitted| {
        let own = [policy.digest()];
        let policies = if admitted.contains(&own[0]) { admitted.as_slice() } else { own.as_slice() };
        trust_root(&plain.worker, &plain.verifiers, policies)
    });
    let envelopes: Vec<Vec<u8>> =
        plain.envelopes.iter().map(|envelope| envelope_of(&intake, envelope).to_vec()).collect();
    let mut received = BTreeMap::new();
    for (bytes, envelope) in envelopes.iter().zip(&plain.envelopes) {
        let fact = Received { received_at: at(envelope.received), bundle_checked: envelope.bundle_checked };
        // The same bytes twice were received once: the first time counts.
        received.entry(Digest::of(bytes)).or_insert(fact);
    }
    let seats = plain.seats.iter().map(|(seat, fact)| {
        let (holder, try_no, epoch, open) = (key_id(fact.holder), fact.try_no, fact.epoch, fact.open);
        (*seat, SeatFact { holder, try_no, epoch, open })
    });
    let facts = Facts {
        received,
        seats: seats.collect(),
        panel_closed: plain.panel_closed,
        horizon: None,
        assurance: Assurance::TrustRoot,
        earlier_attempts: Vec::new(),
        rules_version: RULES_VERSION,
    };
    Built {
        worker: if plain.worker.authenticated {
            WorkerIdentity::Authenticated { key_id: worker_key_id() }
        } else {
            WorkerIdentity::Unauthenticated
        },
        intake,
        trust,
        policy,
        facts,
        envelopes,
        panel: plain.panel,
        deadline: at(plain.deadline),
        now: at(plain.now),
    }
}

fn policy_of(plain: &PlainPolicy) -> Policy {
    let text = policy_toml(plain);
    if let Some(known) = POLICIES.with_borrow(|known| known.get(&text).cloned()) {
        return known;
    }
    let policy = Policy::parse(text.as_bytes()).expect("the generator writes good policies");
    POLICIES.with_borrow_mut(|known| known.insert(text, policy.clone()));
    policy
}

pub(crate) fn policy_toml(policy: &PlainPolicy) -> String {
    let mut text = format!(
        "schema_version = \"0.1\"\nid = \"random\"\nquorum = {}\npanel = {}\ntolerate = {}\nreject_quorum = {}\n\
         max_age = \"{}s\"\nindependent_on = {:?}\nmin_isolation = \"{}\"\nmin_channel = \"{}\"\n",
        policy.quorum,
        policy.panel,
        policy.tolerate,
        policy.reject_quorum,
        policy.max_age,
        policy.independent_on,
        policy.min_isolation,
        policy.min_channel
    );
    if let Some((upper, lower)) = policy.fraction {
        text.push_str(&format!("fraction = \"{upper}/{lower}\"\n"));
    }
    if let Some(groups) = &policy.groups {
        text.push_str(&format!("groups = {}\n", group_toml(groups)));
    }
    text
}

fn group_toml(group: &PlainGroup) -> String {
    let members: Vec<String> = group
        .of
        .iter()
        .map(|member| match member {
            PlainMember::Operator(name) => format!("{name:?}"),
            PlainMember::Group(group) => group_toml(group),
        })
        .collect();
    format!("{{ k = {}, of = [{}] }}", group.k, members.join(", "))
}

/// A trust root of these entries that admits these policies.
pub(crate) fn trust_root(
    worker: &PlainWorker,
    verifiers: &BTreeMap<usize, PlainVerifier>,
    policies: &[Digest],
) -> Rc<TrustRoot> {
    let memo = format!("{worker:?} {verifiers:?} {} {:?}", policies.len(), policies.first());
    if let Some(known) = TRUST.with_borrow(|known| known.get(&memo).cloned()) {
        return known;
    }
    let trust = Rc::new(fresh_trust_root(worker, verifiers, policies));
    TRUST.with_borrow_mut(|known| known.insert(memo, Rc::clone(&trust)));
    trust
}

/// [`trust_root`] for a root that no other case has.
pub(crate) fn fresh_trust_root(
    worker: &PlainWorker,
    verifiers: &BTreeMap<usize, PlainVerifier>,
    policies: &[Digest],
) -> TrustRoot {
    let (from, until) = (at(-86_400), at(86_400 * 365));
    let public = |index: usize| KEYS.with(|keys| keys[index].0.public());
    let mut draft = TrustDraft::new(from, until, 1, vec![public(ROOT)]);
    let mut entry = Entry::new(Role::Worker, "worker-1", public(WORKER), from, until);
    entry.attributes.clone_from(&worker.attributes);
    draft.add(entry).expect("a fresh entry");
    for (index, verifier) in verifiers {
        let mut entry = Entry::new(Role::Verifier, verifier_name(*index), public(*index), from, until);
        entry.attributes.clone_from(&verifier.attributes);
        entry.retired_at = verifier.retired_at.map(at);
        entry.revoked_at = verifier.revoked_at.map(at);
        entry.compromised_since = verifier.compromised_since.map(at);
        draft.add(entry).expect("a fresh entry");
    }
    for policy in policies {
        draft.admit_policy(*policy).expect("few policies");
    }
    let bytes = KEYS.with(|keys| draft.sign(&[&keys[ROOT].0])).expect("the root key signs");
    TrustRoot::load(&bytes).expect("it was just signed")
}

/// The next version of a root, changed by `change`, and with its root keys handed over to another key.
pub(crate) fn next_trust_root(root: &TrustRoot, change: impl FnOnce(&mut TrustDraft)) -> TrustRoot {
    let mut draft = TrustDraft::from(root);
    draft.next_version(root.issued_at(), root.expires_at());
    change(&mut draft);
    let heir = SigningKey::from_seed(&[250; 32]);
    draft.set_root_keys(1, vec![heir.public()]).expect("one key that stands nowhere else");
    let bytes = KEYS.with(|keys| draft.sign(&[&keys[ROOT].0, &heir])).expect("old and new root key sign");
    root.accept_successor(&bytes).expect("it was just signed")
}

/// A key that no case has seen.
pub(crate) fn spare_key(index: usize) -> PublicKey {
    SigningKey::from_seed(&[u8::try_from(200 + index).expect("a small pool"); 32]).public()
}

/// Work unit and manifest of these numbers; `noise` chooses what the worker says about itself.
pub(crate) fn intake_of(work_unit: PlainWorkUnit, noise: u8) -> Rc<Intake> {
    if let Some(known) = INTAKES.with_borrow(|known| known.get(&(work_unit, noise)).cloned()) {
        return known;
    }
    let unit = work_unit_json(work_unit);
    let manifest = manifest_json(&unit, noise);
    let intake = Rc::new(intake_values(unit.into(), manifest.into(), None).expect("a derivable pair"));
    INTAKES.with_borrow_mut(|known| known.insert((work_unit, noise), Rc::clone(&intake)));
    intake
}

pub(crate) fn work_unit_json(plain: PlainWorkUnit) -> Json {
    let mut policy = json!({
        "strategy": plain.strategy, "independent_from_worker": plain.independent_from_worker,
        "minimum_independent_verifiers": plain.minimum_independent_verifiers,
    });
    if let Some(quorum) = plain.quorum {
        policy["quorum"] = quorum.into();
    }
    json!({
        "schema_version": "0.2", "id": "acme/answer", "version": 3, "kind": "coding", "objective": "Answer.",
        "inputs": [], "outputs": [{"id": "answer", "type": "file", "description": "The answer."}], "dependencies": [],
        "requirements": {"capabilities": [], "resources": {"cpu_cores_min": 0, "memory_mb_min": 0, "gpu": "none"}},
        "constraints": {"allowed_paths": ["answer.json"], "forbidden_paths": [], "policies": []},
        "uncertainty": [],
        "security": {"risk_class": "low", "data_classification": "public", "minimum_worker_trust": "untrusted",
            "sandbox_required": plain.sandbox_required},
        "permissions": {"network": "none", "filesystem_write": ["answer.json"], "secrets": [],
            "process_execution": false},
        "verification_policy": policy,
        "validators": [
            {"id": REQUIRED[0], "type": "test", "required": true},
            {"id": "optional", "type": "lint", "required": false},
            {"id": REQUIRED[1], "type": "review", "required": true}
        ],
        "evidence_requirements": [{"type": "artifact_hash", "required": true}],
        "budget": {"project_spend_usd_max": 0, "paid_fallback_allowed": false},
        "provenance": {"created_by": "acme", "creator_type": "human", "source": "a test", "source_revision": "rev-1"},
        "failure_semantics": {"retryable": true, "max_attempts": 2, "on_failure": "stop"}
    })
}

/// Five self-reports, from modest to loud; the candidate and the request are the same in all.
pub(crate) const NOISES: u8 = 5;

pub(crate) fn manifest_json(unit: &Json, noise: u8) -> Json {
    let digest = Digest::c1(&Value::from_serde(unit.clone())).to_string();
    let mut manifest = json!({
        "schema_version": "0.1", "id": "acme/answer/1", "work_unit_id": "acme/answer", "work_unit_version": 3,
        "attempt": 1, "worker": {"id": "worker-1", "type": "agent", "adapter": "shell"}, "status": "succeeded",
        "started_at": "2026-01-01T00:00:01Z", "finished_at": "2026-01-01T00:00:30Z",
        "produced_artifacts": [
            {"id": "answer", "type": "file", "locator": "answer.json", "digest": format!("sha256:{}", "a".repeat(64))}
        ],
        "logs": [], "metrics": {}, "resources": {"wall_seconds": 1.5},
        "self_report": {"summary": "Done.", "claims": []},
        "provenance": {"work_unit_digest": digest, "source_revision": "rev-1", "environment": {}},
        "verification_request": {"expected_validator_ids": REQUIRED, "evidence_artifact_ids": ["answer"]}
    });
    match noise {
        0 => {}
        1 => manifest["status"] = "failed".into(),
        2 => {
            let claims = ["accepted", "verified", "merge_authorized"];
            manifest["self_report"] = json!({"summary": "All validators passed.", "claims": claims,
                "confidence": {"value": 1.0, "meaning": "probability_of_success"}});
        }
        3 => {
            manifest["metrics"] = json!({"tests_passed": 9999, "score": 1.0});
            manifest["resources"] = json!({"wall_seconds": 0, "tokens": 0, "compute_units": 0.0});
            manifest["logs"] = json!([{"type": "stdout", "locator": "stdout.txt"}]);
        }
        _ => {
            manifest["status"] = "timeout".into();
            manifest["extensions"] = json!({"com.example.trust_me": {"recommendation": "accept_candidate"}});
        }
    }
    manifest
}

/// The signed bytes of an envelope.
pub(crate) fn envelope_of(intake: &Intake, plain: &PlainEnvelope) -> Rc<Vec<u8>> {
    // What is received and whether the bundle is there is no part of the bytes.
    let said = PlainEnvelope { received: 0, bundle_checked: true, ..plain.clone() };
    let memo = (intake.handoff.id(), said);
    if let Some(known) = ENVELOPES.with_borrow(|known| known.get(&memo).cloned()) {
        return known;
    }
    let bytes = Rc::new(signed(intake, &memo.1));
    ENVELOPES.with_borrow_mut(|known| known.insert(memo, Rc::clone(&bytes)));
    bytes
}

fn signed(intake: &Intake, plain: &PlainEnvelope) -> Vec<u8> {
    if plain.fault == Fault::Malformed {
        return format!("not an envelope {plain:?}").into_bytes();
    }
    let candidate = candidate_subject(&intake.binding);
    let mut hex = candidate.hex();
    if plain.fault == Fault::WrongCandidate {
        hex = "c".repeat(64);
    }
    let subject =
        Subject { name: candidate.name().to_owned(), digest: [(candidate.algorithm().to_owned(), hex)].into() };
    let statement = Statement {
        subject: vec![subject],
        predicate_type: PredicateType::Evidence,
        predicate: predicate(intake, plain).into(),
    };
    let signer = match plain.fault {
        Fault::WrongRole => WORKER,
        Fault::UnknownSigner => STRANGER,
        _ => plain.key,
    };
    let envelope = sign_as(&statement, signer);
    if plain.fault == Fault::BadSignature {
        let other = KEYS.with(|keys| sign(PAYLOAD_TYPE, b"other bytes", &keys[signer].0));
        return with_signature_of(&envelope, &other);
    }
    envelope
}

/// A statement, signed by a key of the pool.
pub(crate) fn sign_as(statement: &Statement, key: usize) -> Vec<u8> {
    KEYS.with(|keys| sign(PAYLOAD_TYPE, &statement.to_bytes(), &keys[key].0))
}

/// Evidence with this predicate about the candidate, signed by a key of the pool.
pub(crate) fn evidence_as(intake: &Intake, predicate: Json, predicate_type: PredicateType, key: usize) -> Vec<u8> {
    let candidate = candidate_subject(&intake.binding);
    let digest = [(candidate.algorithm().to_owned(), candidate.hex())].into();
    let subject = vec![Subject { name: candidate.name().to_owned(), digest }];
    sign_as(&Statement { subject, predicate_type, predicate: predicate.into() }, key)
}

/// The first envelope with the signature of the second.
pub(crate) fn with_signature_of(envelope: &[u8], other: &[u8]) -> Vec<u8> {
    let (mut envelope, other): (Json, Json) =
        (serde_json::from_slice(envelope).expect("JSON"), serde_json::from_slice(other).expect("JSON"));
    envelope["signatures"] = other["signatures"].clone();
    quorum_schemas::c1(&envelope.into())
}

/// The evidence predicate of a plain envelope.
pub(crate) fn predicate(intake: &Intake, plain: &PlainEnvelope) -> Json {
    let zero = format!("sha256:{}", "0".repeat(64));
    let plan = format!("sha256:{}", "1".repeat(64));
    let mut checks = Vec::new();
    let mut described = Vec::new();
    for (id, check) in REQUIRED.iter().zip(&plain.checks) {
        checks.push(check_json(id, check.status));
        let mut entry = json!({"id": id, "kind": "command", "channel": check.channel, "isolation": check.isolation});
        if let Some((limit, baseline)) = check.timed_out {
            entry["timed_out"] = true.into();
            entry["limit_ms"] = limit.into();
            if let Some(baseline) = baseline {
                entry["baseline_ms"] = baseline.into();
            }
        }
        described.push(entry);
    }
    if plain.fault == Fault::IncompleteChecks {
        checks.pop();
        described.pop();
    }
    if let Some(status) = plain.extra_check {
        checks.push(check_json("extra", status));
    }
    let handoff_id = if plain.fault == Fault::WrongHandoff { zero.clone() } else { intake.handoff.id().to_string() };
    let mut result = result_json(intake, plain, checks, &plan);
    if plain.fault == Fault::SchemaInvalid {
        result.as_object_mut().expect("an object").remove("metrics");
    }
    json!({
        "result": result, "handoff_id": handoff_id, "seat": plain.seat, "try": plain.try_no, "epoch": plain.epoch,
        "plan_digest": if plain.fault == Fault::Inconsistent { &zero } else { &plan }, "bundle_digest": zero,
        "isolation": plain.isolation, "engines": {}, "checks": described, "candidate_tree": zero,
        "read_worker_status": false
    })
}

fn check_json(id: &str, status: &str) -> Json {
    json!({"id": id, "type": "test", "required": true, "status": status, "summary": "s", "evidence_ids": ["e1"]})
}

fn result_json(intake: &Intake, plain: &PlainEnvelope, checks: Vec<Json>, plan: &str) -> Json {
    let zero = format!("sha256:{}", "0".repeat(64));
    let binding = &intake.binding;
    let mut manifest_id = binding.result_manifest_id().to_owned();
    if plain.fault == Fault::WrongManifest {
        manifest_id.push_str("/other");
    }
    let version = intake.work_unit.version() + u64::from(plain.fault == Fault::WrongWorkUnit);
    json!({
        "schema_version": "0.1", "id": format!("vr/{}", plain.key), "result_manifest_id": manifest_id,
        "work_unit_id": intake.work_unit.id(), "work_unit_version": version, "attempt": binding.attempt(),
        "verifier": {"id": verifier_name(plain.key), "type": "system", "adapter": "quorum"},
        "independence": {"independent_from_worker": plain.independent_from_worker,
            "worker_id_observed": binding.worker_id(), "shared_model_family": plain.shared_model_family,
            "shared_runtime": plain.shared_runtime},
        "status": plain.status, "started_at": at(plain.started).to_string(), "finished_at": at(plain.finished).to_string(),
        "checks": checks,
        "evidence": [{"id": "e1", "type": "trace", "locator": "bundle:log", "digest": zero}],
        "findings": [], "metrics": {}, "resources": {"wall_seconds": 1.0},
        "provenance": {"result_manifest_digest": binding.result_manifest_digest().to_string(),
            "work_unit_digest": intake.work_unit.digest().to_string(), "source_revision": binding.source_revision(),
            "verifier_config_digest": plan, "environment": {}},
        "decision_support": {"recommendation": plain.recommendation, "confidence": 1.0,
            "rationale": format!("wording {}", plain.wording)}
    })
}
