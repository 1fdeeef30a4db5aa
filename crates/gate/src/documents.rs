//! The work unit and the worker's manifest, bare or signed, and who the worker is.

use quorum_attest::{Authentic, Envelope, PredicateType, TrustRoot, authenticate};
use quorum_handoff::{
    CandidateSubject, Document, HandoffError, Intake, WorkUnit, WorkerTrust, candidate_subject, intake_values,
};
use quorum_policies::WorkerIdentity;
use quorum_schemas::limits::{DOCUMENT, ENVELOPE};
use quorum_schemas::{ParseError, Timestamp, Value, parse, parse_with};

use crate::{GateCode, GateError};

/// A document as it came.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    /// Whether it came in an envelope.
    pub(crate) signed: bool,
}

impl Received {
    /// The name of its file in a record.
    pub(crate) fn file_name(&self, stem: &str) -> String {
        quorum_policies::record::document(stem, self.signed)
    }
}

/// Both documents, admitted.
#[derive(Debug)]
pub(crate) struct Documents {
    pub(crate) work_unit: Received,
    pub(crate) manifest: Received,
    pub(crate) intake: Intake,
    pub(crate) worker: WorkerIdentity,
}

/// Reads a work unit alone, as building a manifest for it needs.
///
/// # Errors
/// A control file's: `json_*`, `schema_invalid`, `signed_document_needs_trust`, and those of [`authenticate`].
pub(crate) fn work_unit(bytes: &[u8], trust: Option<&TrustRoot>, at: Timestamp) -> Result<WorkUnit, GateError> {
    let opened = open(bytes, PredicateType::WorkUnit, trust, at)?;
    WorkUnit::from_value(opened.value).map_err(|error| refused(&[error]))
}

/// Admits both documents together.
///
/// # Errors
/// Exit 2 where the work unit is at fault, exit 6 where the manifest is; all reasons in one message, worst first.
pub(crate) fn admit(
    work_unit: Vec<u8>,
    manifest: Vec<u8>,
    trust: Option<&TrustRoot>,
    at: Timestamp,
) -> Result<Documents, GateError> {
    let opened_unit = open(&work_unit, PredicateType::WorkUnit, trust, at)?;
    let opened = open(&manifest, PredicateType::ResultManifest, trust, at)?;
    let intake = intake_values(opened_unit.value, opened.value, None).map_err(|errors| refused(&errors))?;
    let worker = worker(&intake, opened.authentic.as_ref())?;
    if let Some(signed) = &opened_unit.authentic {
        let digest = intake.work_unit.digest();
        about(signed, "sha256", &digest.hex()).map_err(|found| {
            GateError::control(GateCode::WrongSubject, format!("the work unit's envelope is about {found}"))
        })?;
    }
    Ok(Documents {
        work_unit: Received { bytes: work_unit, signed: opened_unit.authentic.is_some() },
        manifest: Received { bytes: manifest, signed: opened.authentic.is_some() },
        intake,
        worker,
    })
}

struct Opened {
    value: Value,
    authentic: Option<Authentic>,
}

/// A document, out of its envelope if it is in one.
fn open(bytes: &[u8], kind: PredicateType, trust: Option<&TrustRoot>, at: Timestamp) -> Result<Opened, GateError> {
    let fault = |code: &'static str, message: String| match kind {
        PredicateType::ResultManifest => GateError::worker(code, message),
        _ => GateError::control(code, message),
    };
    let name = if kind == PredicateType::ResultManifest { "result manifest" } else { "work unit" };
    let unreadable = |error: ParseError| fault(error.reason.code(), format!("{name}: {error}"));
    let outer = parse_with(bytes, ENVELOPE).map_err(unreadable)?;
    if outer.get("payloadType").is_none() {
        // A bare document has the smaller limit.
        let value = if bytes.len() > DOCUMENT.bytes { parse(bytes).map_err(unreadable)? } else { outer };
        return Ok(Opened { value, authentic: None });
    }
    let Some(trust) = trust else {
        return Err(GateError::control(
            GateCode::SignedDocumentNeedsTrust,
            format!("the {name} is signed, and nothing says whose key that is; give --trust, or the bare document"),
        ));
    };
    let authentic = Envelope::parse(bytes)
        .and_then(|envelope| authenticate(&envelope, trust, kind, at))
        .map_err(|error| fault(error.code(), format!("{name}: {error}")))?;
    Ok(Opened { value: authentic.predicate().clone(), authentic: Some(authentic) })
}

/// Who the worker is: the entry whose key signed, or nobody.
fn worker(intake: &Intake, authentic: Option<&Authentic>) -> Result<WorkerIdentity, GateError> {
    let Some(authentic) = authentic else {
        let asked = intake.work_unit.minimum_worker_trust();
        if asked > WorkerTrust::Untrusted {
            return Err(GateError::worker(
                GateCode::WorkerUnauthenticated,
                format!(
                    "the manifest is not signed, and the work unit asks for a worker that is `{}`; sign it with `quorum manifest --key`",
                    asked.as_str()
                ),
            ));
        }
        return Ok(WorkerIdentity::Unauthenticated);
    };
    let signer = authentic.signer();
    let named = intake.manifest.worker_id();
    if signer.id != named {
        return Err(GateError::worker(
            GateCode::WorkerMismatch,
            format!("/worker/id: the manifest names `{named}`, and `{}` signed it", signer.id),
        ));
    }
    let subject = candidate_subject(&intake.binding);
    about(authentic, subject.algorithm(), &subject.hex()).map_err(|found| {
        GateError::worker(
            GateCode::WrongSubject,
            format!("the manifest's envelope is about {found}, not about its candidate"),
        )
    })?;
    Ok(WorkerIdentity::Authenticated { key_id: signer.public_key.key_id() })
}

/// Whether a statement speaks about exactly this digest; else what it speaks about.
fn about(authentic: &Authentic, algorithm: &str, hex: &str) -> Result<(), String> {
    let subjects = &authentic.statement().subject;
    let fits = |subject: &quorum_attest::Subject| {
        subject.digest.len() == 1 && subject.digest.get(algorithm).is_some_and(|found| found == hex)
    };
    if subjects.len() == 1 && subjects.iter().all(fits) {
        return Ok(());
    }
    let found: Vec<String> = subjects
        .iter()
        .flat_map(|subject| &subject.digest)
        .map(|(algorithm, hex)| format!("{algorithm}:{hex}"))
        .collect();
    Err(found.join(", "))
}

/// The subject of every statement about the candidate.
pub(crate) fn subject(intake: &Intake) -> quorum_attest::Subject {
    match candidate_subject(&intake.binding) {
        CandidateSubject::GitCommit { name, head_sha } => quorum_attest::Subject::git_commit(name, &head_sha),
        CandidateSubject::Sha256 { name, digest } => quorum_attest::Subject::sha256(name, digest),
    }
}

/// All refusals as one message.
pub(crate) fn refused(errors: &[HandoffError]) -> GateError {
    /// Places that one message lists.
    const LISTED: usize = 6;
    let Some(first) = errors.first() else {
        return GateError::infrastructure(
            GateCode::RefusedWithoutReason,
            "the documents were refused without a reason",
        );
    };
    let mut places: Vec<String> = Vec::new();
    for error in errors {
        let listed = error.places();
        if listed.is_empty() {
            places.push(error.to_string());
        }
        places.extend(listed.into_iter().map(|place| {
            let pointer = if place.pointer.is_empty() { "/" } else { place.pointer.as_str() };
            format!("{} {pointer}: {}", place.document, place.message)
        }));
    }
    places.dedup();
    let more = places.len().saturating_sub(LISTED);
    places.truncate(LISTED);
    let mut message = places.join("; ");
    if more > 0 {
        message.push_str(&format!("; and {more} more"));
    }
    let of_work_unit = errors.iter().any(|error| error.document() == Some(Document::WorkUnit));
    if of_work_unit || first.document().is_none() {
        let first = errors.iter().find(|error| error.document() == Some(Document::WorkUnit)).unwrap_or(first);
        return GateError::control(first.code(), message);
    }
    GateError::worker(first.code(), message)
}
