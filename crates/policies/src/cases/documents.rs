//! From the words of a case to real documents, keys and signed envelopes.

use std::collections::BTreeMap;

use quorum_attest::{
    Entry, KeyId, PAYLOAD_TYPE, PredicateType, Role, SigningKey, Statement, Subject, TrustDraft, TrustRoot, sign,
};
use quorum_handoff::{Intake, candidate_subject, intake_values};
use quorum_schemas::{Digest, Timestamp, Value};
use serde_json::{Value as Json, json};

use super::file::{
    CaseFile, CaseText, DeclaresWord, EvidenceText, FaultWord, Says, StrategyWord, TermsText, TrustWord, When,
};
use crate::{Assurance, Case, Facts, PoliciesError, Policy, Received, SeatFact, WorkerIdentity};

/// The one required check of every case.
const CHECK: &str = "check";
/// 2026-01-01T12:00:00Z: every case is decided then.
const NOW: i64 = 1_767_268_800;
const YEAR: i64 = 366 * 24 * 3600;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((NOW + seconds) * 1_000_000)
}

fn before(seconds: u64) -> Timestamp {
    at(i64::try_from(seconds).map_or(i64::MIN / 4_000_000, |seconds| -seconds))
}

/// The same key for the same name, in every file.
fn key(name: &str) -> SigningKey {
    SigningKey::from_seed(Digest::of(format!("quorum policy test: {name}").as_bytes()).as_bytes())
}

/// Everything that a [`Case`] borrows.
pub(crate) struct Documents {
    intake: Intake,
    trust: TrustRoot,
    worker: WorkerIdentity,
    facts: Facts,
    envelopes: Vec<Vec<u8>>,
    deadline: Timestamp,
    /// The name of the one who said it, by envelope.
    pub(crate) authors: BTreeMap<Digest, String>,
    /// Names of keys.
    pub(crate) names: BTreeMap<KeyId, String>,
}

impl Documents {
    pub(crate) fn now() -> Timestamp {
        at(0)
    }

    pub(crate) fn of(file: &CaseFile, case: &CaseText, policy: &Policy) -> Result<Self, PoliciesError> {
        let unusable = |reason: String| PoliciesError::CasesValue {
            line: 1,
            message: format!("case {:?} gives no documents: {reason}", case.name),
        };
        let terms = case.work_unit.or(&file.work_unit);
        let unit = work_unit(&terms);
        let manifest = manifest(&unit);
        let intake =
            intake_values(unit.into(), manifest.into(), None).map_err(|errors| unusable(format!("{errors:?}")))?;
        let worker = case.worker.as_ref().unwrap_or(&file.worker);
        let trust = trust(file, worker.attributes(), policy).map_err(|error| unusable(error.to_string()))?;
        let names: BTreeMap<KeyId, String> =
            file.verifiers.keys().map(|name| (key(name).public().key_id(), name.clone())).collect();
        let mut holders: Vec<&str> = Vec::new();
        for said in &case.evidence {
            if !holders.contains(&said.by.as_str()) {
                holders.push(&said.by);
            }
        }
        let mut received = BTreeMap::new();
        let mut authors = BTreeMap::new();
        let mut envelopes = Vec::with_capacity(case.evidence.len());
        for (index, said) in case.evidence.iter().enumerate() {
            let seat = holders.iter().position(|name| *name == said.by).unwrap_or_default();
            let bytes = envelope(&intake, said, seat, index);
            let digest = Digest::of(&bytes);
            received.insert(digest, Received { received_at: before(said.age), bundle_checked: said.bundle });
            authors.insert(digest, said.by.clone());
            envelopes.push(bytes);
        }
        let mut facts = Facts::closed(received, Assurance::TrustRoot);
        facts.panel_closed = case.when.is_none();
        if case.when.is_some() {
            let seat = |name: &&str| SeatFact { holder: key(name).public().key_id(), try_no: 1, epoch: 1, open: false };
            facts.seats = (0_u32..).zip(holders.iter().map(seat)).collect();
        }
        Ok(Self {
            intake,
            trust,
            worker: if worker.signed() {
                WorkerIdentity::Authenticated { key_id: key("worker").public().key_id() }
            } else {
                WorkerIdentity::Unauthenticated
            },
            facts,
            envelopes,
            deadline: at(if case.when == Some(When::BeforeDeadline) { 60 } else { 0 }),
            authors,
            names,
        })
    }

    pub(crate) fn case<'a>(&'a self, policy: &'a Policy) -> Case<'a> {
        Case {
            handoff: &self.intake.handoff,
            work_unit: &self.intake.work_unit,
            binding: &self.intake.binding,
            worker: self.worker,
            trust: &self.trust,
            policy,
            panel: policy.panel,
            deadline: self.deadline,
            facts: &self.facts,
            envelopes: &self.envelopes,
        }
    }
}

fn trust(
    file: &CaseFile,
    worker: BTreeMap<String, String>,
    policy: &Policy,
) -> Result<TrustRoot, quorum_attest::AttestError> {
    let (from, until) = (at(-YEAR), at(YEAR));
    let root = key("root");
    let mut draft = TrustDraft::new(from, until, 1, vec![root.public()]);
    let mut entry = Entry::new(Role::Worker, "worker", key("worker").public(), from, until);
    entry.attributes = worker;
    draft.add(entry)?;
    for (name, verifier) in &file.verifiers {
        let mut entry = Entry::new(Role::Verifier, name.clone(), key(name).public(), from, until);
        entry.attributes = verifier.attributes();
        entry.retired_at = verifier.retired.map(|ago| before(ago.0));
        entry.revoked_at = verifier.revoked.map(|ago| before(ago.0));
        entry.compromised_since = verifier.compromised.map(|ago| before(ago.0));
        draft.add(entry)?;
    }
    draft.admit_policy(policy.digest())?;
    TrustRoot::load(&draft.sign(&[&root])?)
}

fn work_unit(terms: &TermsText) -> Json {
    let strategy = terms.strategy.unwrap_or(StrategyWord::Quorum);
    let mut policy = json!({
        "strategy": strategy.as_str(),
        "independent_from_worker": terms.independent_from_worker.unwrap_or(true),
        "minimum_independent_verifiers": terms.minimum_independent_verifiers.unwrap_or(1),
    });
    if let Some(quorum) = terms.quorum.or((strategy == StrategyWord::Quorum).then_some(1)) {
        policy["quorum"] = quorum.into();
    }
    json!({
        "schema_version": "0.2", "id": "policy/case", "version": 1, "kind": "coding", "objective": "A case.",
        "inputs": [], "outputs": [{"id": "answer", "type": "file", "description": "The answer."}], "dependencies": [],
        "requirements": {"capabilities": [], "resources": {"cpu_cores_min": 0, "memory_mb_min": 0, "gpu": "none"}},
        "constraints": {"allowed_paths": ["answer.json"], "forbidden_paths": [], "policies": []},
        "uncertainty": [],
        "security": {"risk_class": "low", "data_classification": "public",
            "minimum_worker_trust": terms.minimum_worker_trust.unwrap_or(TrustWord::Untrusted).as_str(),
            "sandbox_required": terms.sandbox_required.unwrap_or(false)},
        "permissions": {"network": "none", "filesystem_write": ["answer.json"], "secrets": [],
            "process_execution": false},
        "verification_policy": policy,
        "validators": [{"id": CHECK, "type": "test", "required": true}],
        "evidence_requirements": [{"type": "artifact_hash", "required": true}],
        "budget": {"project_spend_usd_max": 0, "paid_fallback_allowed": false},
        "provenance": {"created_by": "policy-test", "creator_type": "system", "source": "a case",
            "source_revision": "rev-1"},
        "failure_semantics": {"retryable": false, "max_attempts": 1, "on_failure": "stop"}
    })
}

fn manifest(unit: &Json) -> Json {
    let digest = Digest::c1(&Value::from_serde(unit.clone())).to_string();
    json!({
        "schema_version": "0.1", "id": "policy/case/1", "work_unit_id": "policy/case", "work_unit_version": 1,
        "attempt": 1, "worker": {"id": "worker", "type": "system", "adapter": "shell"}, "status": "succeeded",
        "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:01Z",
        "produced_artifacts": [
            {"id": "answer", "type": "file", "locator": "answer.json", "digest": format!("sha256:{}", "a".repeat(64))}
        ],
        "logs": [], "metrics": {}, "resources": {"wall_seconds": 1},
        "self_report": {"summary": "Done.", "claims": []},
        "provenance": {"work_unit_digest": digest, "source_revision": "rev-1", "environment": {}},
        "verification_request": {"expected_validator_ids": [CHECK], "evidence_artifact_ids": ["answer"]}
    })
}

/// The signed bytes; `index` makes the same words of one key different bytes.
fn envelope(intake: &Intake, said: &EvidenceText, seat: usize, index: usize) -> Vec<u8> {
    if said.fault == Some(FaultWord::Malformed) {
        return format!("evidence {index} of {}", said.by).into_bytes();
    }
    let candidate = candidate_subject(&intake.binding);
    let hex = if said.fault == Some(FaultWord::WrongCandidate) { "c".repeat(64) } else { candidate.hex() };
    let statement = Statement {
        subject: vec![Subject {
            name: candidate.name().to_owned(),
            digest: [(candidate.algorithm().to_owned(), hex)].into(),
        }],
        predicate_type: PredicateType::Evidence,
        predicate: predicate(intake, said, seat, index).into(),
    };
    let signer = match said.fault {
        Some(FaultWord::WrongRole) => key("worker"),
        Some(FaultWord::UnknownSigner) => key("stranger to every trust root"),
        _ => key(&said.by),
    };
    let bytes = sign(PAYLOAD_TYPE, &statement.to_bytes(), &signer);
    if said.fault != Some(FaultWord::BadSignature) {
        return bytes;
    }
    let other = sign(PAYLOAD_TYPE, b"other bytes", &signer);
    let signature = |bytes: &[u8]| -> String {
        let envelope: Json = serde_json::from_slice(bytes).unwrap_or_default();
        envelope["signatures"][0]["sig"].as_str().unwrap_or_default().to_owned()
    };
    String::from_utf8_lossy(&bytes).replace(&signature(&bytes), &signature(&other)).into_bytes()
}

fn predicate(intake: &Intake, said: &EvidenceText, seat: usize, index: usize) -> Json {
    let zero = format!("sha256:{}", "0".repeat(64));
    let mut check = json!({
        "id": CHECK, "kind": "command", "channel": said.channel.as_str(), "isolation": said.isolation.as_str()
    });
    if said.says == Says::TimedOut {
        check["timed_out"] = true.into();
        check["limit_ms"] = 1000.into();
        check["baseline_ms"] = 500.into();
    }
    let handoff = match said.fault {
        Some(FaultWord::WrongHandoff) => zero.clone(),
        _ => intake.handoff.id().to_string(),
    };
    json!({
        "result": result(intake, said, index), "handoff_id": handoff, "seat": seat, "try": 1,
        "epoch": if said.stale { 0 } else { 1 }, "plan_digest": zero, "bundle_digest": zero,
        "isolation": said.isolation.as_str(), "engines": {}, "checks": [check], "candidate_tree": zero,
        "read_worker_status": false
    })
}

fn result(intake: &Intake, said: &EvidenceText, index: usize) -> Json {
    let zero = format!("sha256:{}", "0".repeat(64));
    let (status, recommendation, check) = match said.says {
        Says::Supports => ("passed", "accept_candidate", "passed"),
        Says::Rejects => ("failed", "reject_candidate", "failed"),
        Says::Abstains => ("inconclusive", "insufficient_evidence", "inconclusive"),
        Says::Absent => ("error", "insufficient_evidence", "error"),
        Says::TimedOut => ("timeout", "insufficient_evidence", "error"),
    };
    let binding = &intake.binding;
    let declares = |word: DeclaresWord| said.declares.contains(&word);
    let finished = before(said.age).to_string();
    json!({
        "schema_version": "0.1", "id": format!("vr/{index:03}"), "result_manifest_id": binding.result_manifest_id(),
        "work_unit_id": intake.work_unit.id(), "work_unit_version": 1, "attempt": 1,
        "verifier": {"id": said.by, "type": "system", "adapter": "quorum"},
        "independence": {"independent_from_worker": !declares(DeclaresWord::NotIndependent),
            "worker_id_observed": binding.worker_id(),
            "shared_model_family": declares(DeclaresWord::SharedModelFamily),
            "shared_runtime": declares(DeclaresWord::SharedRuntime)},
        "status": status, "started_at": finished, "finished_at": finished,
        "checks": [{"id": CHECK, "type": "test", "required": true, "status": check, "summary": "s",
            "evidence_ids": ["e"]}],
        "evidence": [{"id": "e", "type": "trace", "locator": "bundle:log", "digest": zero}],
        "findings": [], "metrics": {}, "resources": {"wall_seconds": 1},
        "provenance": {"result_manifest_digest": binding.result_manifest_digest().to_string(),
            "work_unit_digest": intake.work_unit.digest().to_string(), "source_revision": binding.source_revision(),
            "verifier_config_digest": zero, "environment": {}},
        "decision_support": {"recommendation": recommendation, "confidence": 1.0, "rationale": "a case"}
    })
}
