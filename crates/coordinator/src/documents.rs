//! From bytes on a stream to documents that somebody was allowed to publish there, or to a refusal.

use quorum_attest::{
    AttestError, Authentic, Entry, Envelope, KeyId, PAYLOAD_TYPE, PredicateType, SigningKey, Statement, Subject,
    TrustRoot, authenticate, sign,
};
use quorum_handoff::{CandidateSubject, Handoff, Intake, ManifestBinding, WorkUnit, candidate_subject};
use quorum_mesh::{Place, Stored};
use quorum_schemas::{C1Digest, Digest, Object, SchemaName, Timestamp, Value, validate};

use crate::CoordinatorError;
use crate::RefusedCode;

/// Why a published document has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Stable code.
    pub(crate) code: &'static str,
    /// JSON Pointer into the document; empty when the whole is meant.
    pub(crate) pointer: String,
    /// For the log.
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn new(code: impl Into<&'static str>, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), pointer: pointer.into(), message: message.into() }
    }
}

impl From<AttestError> for Refused {
    fn from(error: AttestError) -> Self {
        Self::new(error.code(), "", error.to_string())
    }
}

/// A WorkUnit of an author.
#[derive(Debug, Clone)]
pub(crate) struct WorkUnitDoc {
    pub(crate) envelope: Vec<u8>,
    pub(crate) work_unit: WorkUnit,
    pub(crate) author: String,
    pub(crate) received_at: Timestamp,
}

/// Reads a WorkUnit from its place.
pub(crate) fn read_work_unit(stored: &Stored, trust: &TrustRoot) -> Result<WorkUnitDoc, Refused> {
    let authentic = open(stored, trust, PredicateType::WorkUnit)?;
    let work_unit = WorkUnit::from_value(authentic.predicate().clone())
        .map_err(|error| handoff_refusal(std::slice::from_ref(&error)))?;
    let subject = Subject::sha256(work_unit.id(), work_unit.digest());
    subject_is(&authentic, &subject)?;
    match stored.place() {
        Ok(Place::Work { work, version }) if work == work_unit.id() && version == work_unit.version() => {}
        _ => return Err(wrong_place(stored, format!("work unit {} version {}", work_unit.id(), work_unit.version()))),
    }
    Ok(WorkUnitDoc {
        envelope: stored.body.to_vec(),
        work_unit,
        author: authentic.signer().id.clone(),
        received_at: stored.received_at,
    })
}

/// A manifest of a worker, not yet held against its WorkUnit.
#[derive(Debug, Clone)]
pub(crate) struct ManifestDoc {
    pub(crate) envelope: Vec<u8>,
    pub(crate) subject: String,
    /// The signed subject; held against the derived one in [`check_candidate`].
    pub(crate) about: Vec<Subject>,
    pub(crate) value: Value,
    pub(crate) digest: C1Digest,
    pub(crate) worker: Entry,
    pub(crate) worker_key: KeyId,
    pub(crate) work: String,
    pub(crate) version: u64,
    pub(crate) attempt: u64,
    pub(crate) received_at: Timestamp,
}

/// Reads a manifest from its place: signer key, subject token and `worker.id` must be one entry of the trust root.
pub(crate) fn read_manifest(stored: &Stored, trust: &TrustRoot) -> Result<ManifestDoc, Refused> {
    let authentic = open(stored, trust, PredicateType::ResultManifest)?;
    let Ok(Place::Result { worker, work, version, attempt }) = stored.place() else {
        return Err(wrong_place(stored, "a result".to_owned()));
    };
    let value = authentic.predicate().clone();
    let signer = authentic.signer().clone();
    let named = value.at(&["worker", "id"]).and_then(Value::as_str).unwrap_or_default();
    if named != signer.id || worker != signer.id {
        let message = format!("signed by {:?}, published as {worker:?}, worker.id {named:?}", signer.id);
        return Err(Refused::new(RefusedCode::WorkerMismatch, "/worker/id", message));
    }
    let says = |key| value.get(key).and_then(Value::as_u64);
    let same = value.get("work_unit_id").and_then(Value::as_str) == Some(work.as_str())
        && says("work_unit_version") == Some(version)
        && says("attempt").unwrap_or(1) == attempt;
    if !same {
        return Err(wrong_place(stored, "another work unit, version or attempt".to_owned()));
    }
    Ok(ManifestDoc {
        envelope: stored.body.to_vec(),
        subject: stored.subject.clone(),
        about: authentic.statement().subject.clone(),
        digest: Digest::c1(&value),
        value,
        worker_key: signer.public_key.key_id(),
        worker: signer,
        work,
        version,
        attempt,
        received_at: stored.received_at,
    })
}

/// What the manifest's signature is about must be the candidate that is derived from it.
pub(crate) fn check_candidate(manifest: &ManifestDoc, binding: &ManifestBinding) -> Result<(), Refused> {
    let expected = subject(binding);
    if manifest.about == [expected.clone()] {
        return Ok(());
    }
    let message = format!("signed about {:?}, the candidate is {expected:?}", manifest.about);
    Err(Refused::new(RefusedCode::WrongCandidate, "", message))
}

/// The subject of every statement about a candidate.
pub(crate) fn subject(binding: &ManifestBinding) -> Subject {
    match candidate_subject(binding) {
        CandidateSubject::GitCommit { name, head_sha } => Subject::git_commit(name, &head_sha),
        CandidateSubject::Sha256 { name, digest } => Subject::sha256(name, digest),
    }
}

/// The first of several refusals by schema and derivation, which are listed worst first.
pub(crate) fn handoff_refusal(errors: &[quorum_handoff::HandoffError]) -> Refused {
    let Some(first) = errors.first() else {
        return Refused::new(RefusedCode::SchemaInvalid, "", "refused without a reason");
    };
    let pointer = first.places().into_iter().next().map(|place| place.pointer).unwrap_or_default();
    let message = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Refused::new(first.code(), pointer, message)
}

/// A signed handoff as it stands on the stream: what it says about issue and deadline is the truth.
#[derive(Debug, Clone)]
pub(crate) struct HandoffDoc {
    pub(crate) envelope: Vec<u8>,
    pub(crate) handoff: Handoff,
    pub(crate) binding: ManifestBinding,
    pub(crate) policy_digest: Digest,
    pub(crate) panel: u32,
    pub(crate) issued_at: Timestamp,
    pub(crate) deadline: Timestamp,
}

/// What a coordinator adds to the derived handoff.
pub(crate) struct Issue {
    pub(crate) work_unit_envelope: Digest,
    pub(crate) policy_digest: Digest,
    pub(crate) trust_version: u64,
    pub(crate) panel: u32,
    pub(crate) issued_at: Timestamp,
    pub(crate) deadline: Timestamp,
}

/// Signs a handoff.
pub(crate) fn write_handoff(intake: &Intake, issue: &Issue, key: &SigningKey) -> Result<Vec<u8>, CoordinatorError> {
    let predicate = Value::Object(Object::from([
        ("handoff".into(), intake.handoff.value().clone()),
        ("handoff_id".into(), intake.handoff.id().into()),
        ("manifest_binding".into(), intake.binding.to_value()),
        ("work_unit_envelope".into(), issue.work_unit_envelope.into()),
        ("policy_digest".into(), issue.policy_digest.into()),
        ("trust_version".into(), issue.trust_version.into()),
        ("panel".into(), u64::from(issue.panel).into()),
        ("issued_at".into(), issue.issued_at.into()),
        ("deadline".into(), issue.deadline.into()),
    ]));
    validate(SchemaName::HandoffPredicate, &predicate).map_err(|violations| {
        let reason = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        CoordinatorError::OwnDocument { place: "the handoff to be signed".into(), reason }
    })?;
    let predicate_type = PredicateType::Handoff;
    let statement = Statement { subject: vec![subject(&intake.binding)], predicate_type, predicate };
    Ok(sign(PAYLOAD_TYPE, &statement.to_bytes(), key))
}

/// Reads a handoff that a coordinator published.
pub(crate) fn read_handoff(stored: &Stored, trust: &TrustRoot) -> Result<HandoffDoc, Refused> {
    let authentic = open(stored, trust, PredicateType::Handoff)?;
    let predicate = authentic.predicate();
    validate(SchemaName::HandoffPredicate, predicate).map_err(|violations| {
        let first = violations.first().map(|v| v.pointer.clone()).unwrap_or_default();
        let message = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        Refused::new(RefusedCode::SchemaInvalid, first, message)
    })?;
    let malformed = |key: &str| Refused::new(RefusedCode::Malformed, format!("/{key}"), "unusable");
    let get = |key: &str| predicate.get(key).ok_or_else(|| malformed(key));
    let digest =
        |key: &str| get(key)?.as_str().and_then(|text| text.parse::<Digest>().ok()).ok_or_else(|| malformed(key));
    let time =
        |key: &str| get(key)?.as_str().and_then(|text| text.parse::<Timestamp>().ok()).ok_or_else(|| malformed(key));
    let refusal = |error: quorum_handoff::HandoffError| handoff_refusal(std::slice::from_ref(&error));
    let handoff = Handoff::parse(get("handoff")?).map_err(refusal)?;
    let binding = ManifestBinding::parse(get("manifest_binding")?).map_err(refusal)?;
    let panel = get("panel")?.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| malformed("panel"))?;
    if get("handoff_id")? != &handoff.id().into() {
        return Err(malformed("handoff_id"));
    }
    subject_is(&authentic, &subject(&binding))?;
    match stored.place() {
        Ok(Place::Handoff { handoff: place }) if place == handoff.id() => {}
        _ => return Err(wrong_place(stored, format!("handoff {}", handoff.id()))),
    }
    Ok(HandoffDoc {
        envelope: stored.body.to_vec(),
        policy_digest: digest("policy_digest")?,
        issued_at: time("issued_at")?,
        deadline: time("deadline")?,
        handoff,
        binding,
        panel,
    })
}

/// Signs a decision.
pub(crate) fn write_decision(predicate: Value, binding: &ManifestBinding, key: &SigningKey) -> Vec<u8> {
    let predicate_type = PredicateType::Decision;
    let statement = Statement { subject: vec![subject(binding)], predicate_type, predicate };
    sign(PAYLOAD_TYPE, &statement.to_bytes(), key)
}

/// Opens an envelope that was published at a place.
pub(crate) fn open(stored: &Stored, trust: &TrustRoot, expected: PredicateType) -> Result<Authentic, Refused> {
    let envelope = Envelope::parse(&stored.body)?;
    Ok(authenticate(&envelope, trust, expected, stored.received_at)?)
}

fn subject_is(authentic: &Authentic, expected: &Subject) -> Result<(), Refused> {
    let about = &authentic.statement().subject;
    let same = about.len() == 1 && about[0].digest == expected.digest;
    if same {
        return Ok(());
    }
    Err(Refused::new(RefusedCode::Inconsistent, "", format!("signed about {about:?}, it should be {expected:?}")))
}

fn wrong_place(stored: &Stored, what: String) -> Refused {
    Refused::new(RefusedCode::WrongPlace, "", format!("{} holds {what}", stored.subject))
}
