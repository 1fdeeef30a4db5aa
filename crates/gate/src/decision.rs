//! From documents and evidence to a decision and its record.

use std::collections::BTreeMap;

use quorum_attest::{PAYLOAD_TYPE, PredicateType, SigningKey, Statement, TrustRoot, sign};
use quorum_policies::{
    Assurance, Case, Decision, FactSheet, Facts, Outcome, PoliciesError, Policy, Received, WorkerIdentity, decide, vsa,
};
use quorum_schemas::Timestamp;

use crate::documents::{Documents, subject};
use crate::evidence::EvidenceSet;
use crate::record::{self, Sources};
use crate::{GateCode, GateError, Record};

/// Everything that one decision is computed from, off the mesh.
pub(crate) struct Question<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) policy: &'a Policy,
    pub(crate) policy_bytes: &'a [u8],
    pub(crate) trust: &'a TrustRoot,
    pub(crate) evidence: &'a EvidenceSet,
    pub(crate) plan: Option<&'a [u8]>,
    pub(crate) assurance: Assurance,
    /// The one clock reading of the run: reception of all evidence, and the time of the decision.
    pub(crate) now: Timestamp,
}

/// Decides, and makes the record.
///
/// # Errors
/// Exit 2 for a policy that cannot be used here, exit 6 for a worker that the policy wants signed.
pub(crate) fn decide_and_record(
    question: &Question<'_>,
    key: Option<&SigningKey>,
) -> Result<(Decision, Record), GateError> {
    let evidence = question.evidence;
    let received = evidence.envelopes.iter().map(|(digest, envelope)| {
        (*digest, Received { received_at: question.now, bundle_checked: evidence.bundle_checked(envelope) })
    });
    let sheet = FactSheet {
        now: question.now,
        panel: question.policy.panel,
        deadline: question.now,
        worker: question.documents.worker,
        facts: Facts::closed(received.collect(), question.assurance),
    };
    let mut decision = recompute(question.documents, question.policy, question.trust, evidence, &sheet, None)?;
    let mut files = record::files(&Sources {
        documents: question.documents,
        policy: question.policy_bytes,
        trust: question.trust.bytes(),
        evidence,
        sheet: &sheet,
        plan: question.plan,
    });
    decision.files = record::listing(&files);
    if let Some((name, summary)) = summary(question.trust, &decision, key)? {
        files.insert(name.to_owned(), summary);
        decision.files = record::listing(&files);
    }
    let bytes = decision.to_bytes().map_err(|error| broken(&error))?;
    match key {
        None => files.insert(record::UNSIGNED_DECISION.to_owned(), bytes),
        Some(key) => files.insert(
            record::SIGNED_DECISION.to_owned(),
            sign(PAYLOAD_TYPE, &statement(question.documents, &decision), key),
        ),
    };
    Ok((decision, Record { files }))
}

/// The decision as a verification summary, in the form that the decision itself has; only accept and reject have one.
fn summary(
    trust: &TrustRoot,
    decision: &Decision,
    key: Option<&SigningKey>,
) -> Result<Option<(&'static str, Vec<u8>)>, GateError> {
    let entry = key.and_then(|key| trust.by_key(&key.public()));
    let signer = entry.map(|entry| (entry.role, entry.id.as_str()));
    let Some(statement) = vsa(decision, signer).map_err(|error| broken(&error))? else { return Ok(None) };
    let bytes = statement.to_bytes();
    Ok(Some(match key {
        None => (record::UNSIGNED_VSA, bytes),
        Some(key) => (record::SIGNED_VSA, sign(PAYLOAD_TYPE, &bytes, key)),
    }))
}

/// The decision of these documents under these facts; its file list is still empty. `recorded` is the decision that an
/// audit recomputes: a later revision is computed as one.
///
/// # Errors
/// As [`decide_and_record`].
pub(crate) fn recompute(
    documents: &Documents,
    policy: &Policy,
    trust: &TrustRoot,
    evidence: &EvidenceSet,
    sheet: &FactSheet,
    recorded: Option<&Decision>,
) -> Result<Decision, GateError> {
    if policy.require_signed_worker && matches!(sheet.worker, WorkerIdentity::Unauthenticated) {
        return Err(GateError::worker(
            GateCode::WorkerUnauthenticated,
            format!("the manifest is not signed, and the policy `{}` has require_signed_worker", policy.id),
        ));
    }
    let envelopes: Vec<Vec<u8>> = evidence.envelopes.values().cloned().collect();
    let case = Case {
        handoff: &documents.intake.handoff,
        work_unit: &documents.intake.work_unit,
        binding: &documents.intake.binding,
        worker: sheet.worker,
        trust,
        policy,
        panel: sheet.panel,
        deadline: sheet.deadline,
        facts: &sheet.facts,
        envelopes: &envelopes,
    };
    let refused = |error: PoliciesError| GateError::control(error.code(), error);
    if let Some(revision) = recorded.filter(|decision| decision.supersedes.is_some()) {
        return quorum_policies::recompute(&case, revision).map_err(refused)?.ok_or_else(|| {
            GateError::control(
                GateCode::NoRevisionDue,
                "the files give no revision of the decision that this one supersedes",
            )
        });
    }
    match decide(&case, sheet.now).map_err(refused)? {
        Outcome::Decided(decision) => Ok(*decision),
        Outcome::Pending(pending) => Err(GateError::infrastructure(
            GateCode::StillPending,
            format!("seats {:?} are open until {}", pending.open_seats, pending.deadline),
        )),
    }
}

/// The signed form of a decision.
pub(crate) fn statement(documents: &Documents, decision: &Decision) -> Vec<u8> {
    let statement = Statement {
        subject: vec![subject(&documents.intake)],
        predicate_type: PredicateType::Decision,
        predicate: decision.to_value(),
    };
    statement.to_bytes()
}

/// The decision that we wrote does not follow our own schema.
fn broken(error: &PoliciesError) -> GateError {
    GateError::infrastructure(GateCode::DecisionSchemaInvalid, error)
}

/// A map of the record's files.
pub type Files = BTreeMap<String, Vec<u8>>;
