//! A C6 manifest for a worker that has none: the unsigned manifest that the gate builds, and `quorum manifest`.

use std::collections::BTreeMap;

use quorum_schemas::{Object, Timestamp, Value};

use crate::derive::is_blank;
use crate::reference::{EXTENSION, MEDIA_TYPE, SEMANTICS};
use crate::{CandidateReference, HandoffError, Manifest, WorkUnit};

/// Who did the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The worker's id.
    pub id: String,
    /// human, agent, system or hybrid.
    pub kind: String,
    /// What ran it.
    pub adapter: String,
    /// Which version of that.
    pub adapter_version: Option<String>,
}

/// The arguments of [`build_c6_manifest`].
#[derive(Debug, Clone, PartialEq)]
pub struct C6Manifest<'a> {
    /// The manifest's id: 3 to 128 characters of `a-z0-9._/-`, starting with a letter or digit.
    pub id: String,
    /// The work unit that is answered.
    pub work_unit: &'a WorkUnit,
    /// The revision that the work started from. Must equal the work unit's where it declares one.
    pub source_revision: String,
    /// What is offered.
    pub reference: CandidateReference,
    /// Who did the work.
    pub worker: Worker,
    /// From 1.
    pub attempt: u64,
    /// succeeded, failed, error, timeout or cancelled.
    pub status: String,
    /// When the work began.
    pub started_at: Timestamp,
    /// When the work ended; not before it began.
    pub finished_at: Timestamp,
    /// Tools of the environment and their versions.
    pub tool_versions: BTreeMap<String, String>,
}

/// Builds a manifest in the profile `c6-result-manifest-v0.1`: one artifact `candidate` whose digest is that of its
/// reference, all validators of the work unit requested, and no self-report of the worker's own.
///
/// # Errors
/// [`HandoffError::Argument`] for blank words, an unfit order of times or a foreign source revision;
/// [`HandoffError::Schema`] for what the manifest's schema refuses.
pub fn build_c6_manifest(input: &C6Manifest<'_>) -> Result<Manifest, HandoffError> {
    check_arguments(input)?;
    let digest = input.reference.digest();
    let ids: Vec<&str> = input.work_unit.validators().iter().map(|validator| validator.id.as_str()).collect();
    let artifact = object([
        ("id", "candidate".into()),
        ("type", "other".into()),
        ("locator", input.reference.locator().into()),
        ("digest", digest.into()),
        ("media_type", MEDIA_TYPE.into()),
        ("description", "The immutable identity of the candidate; the digest is that of its reference.".into()),
    ]);
    let mut worker = Object::new();
    worker.insert("id".into(), input.worker.id.as_str().into());
    worker.insert("type".into(), input.worker.kind.as_str().into());
    worker.insert("adapter".into(), input.worker.adapter.as_str().into());
    if let Some(version) = &input.worker.adapter_version {
        worker.insert("adapter_version".into(), version.as_str().into());
    }
    let micros = input.finished_at.micros_since(input.started_at);
    let value = object([
        ("schema_version", "0.1".into()),
        ("id", input.id.as_str().into()),
        ("work_unit_id", input.work_unit.id().into()),
        ("work_unit_version", input.work_unit.version().into()),
        ("attempt", input.attempt.into()),
        ("worker", Value::Object(worker)),
        ("status", input.status.as_str().into()),
        ("started_at", input.started_at.into()),
        ("finished_at", input.finished_at.into()),
        ("produced_artifacts", Value::Array(vec![artifact])),
        ("logs", Value::Array(Vec::new())),
        ("metrics", Value::Object(Object::new())),
        ("resources", object([("wall_seconds", Value::Float(micros as f64 / 1e6))])),
        ("self_report", no_self_report()),
        ("provenance", provenance(input)),
        (
            "verification_request",
            object([("expected_validator_ids", ids.into()), ("evidence_artifact_ids", vec!["candidate"].into())]),
        ),
        ("extensions", extensions(&input.reference)),
    ]);
    Manifest::from_value(value)
}

fn no_self_report() -> Value {
    object([
        ("summary", "No worker-authored self-report was supplied during normalization.".into()),
        ("claims", Value::Array(Vec::new())),
    ])
}

fn provenance(input: &C6Manifest<'_>) -> Value {
    let mut environment = Object::new();
    if !input.tool_versions.is_empty() {
        let tools = input.tool_versions.iter().map(|(tool, version)| (tool.clone(), version.as_str().into()));
        environment.insert("tool_versions".into(), Value::Object(tools.collect()));
    }
    object([
        ("work_unit_digest", input.work_unit.digest().into()),
        ("source_revision", input.source_revision.as_str().into()),
        ("environment", Value::Object(environment)),
    ])
}

fn extensions(reference: &CandidateReference) -> Value {
    object([
        (
            EXTENSION,
            object([
                ("reference", reference.to_value()),
                ("reference_digest", reference.digest().into()),
                ("digest_semantics", SEMANTICS.into()),
            ]),
        ),
        (
            "org.idkmesh.normalization",
            object([("profile", "c6-result-manifest-v0.1".into()), ("self_report_source", "absent".into())]),
        ),
    ])
}

fn check_arguments(input: &C6Manifest<'_>) -> Result<(), HandoffError> {
    let refuse = |argument, message: String| Err(HandoffError::Argument { argument, message });
    for (argument, word) in
        [("worker", &input.worker.id), ("adapter", &input.worker.adapter), ("source_revision", &input.source_revision)]
    {
        if is_blank(word) {
            return refuse(argument, format!("`{word}` is blank"));
        }
    }
    if input.finished_at < input.started_at {
        let message = format!("{} is before {}", input.finished_at, input.started_at);
        return refuse("finished_at", message);
    }
    if let Some(declared) = input.work_unit.source_revision()
        && declared != input.source_revision
    {
        let message = format!("`{}` differs from the work unit's `{declared}`", input.source_revision);
        return refuse("source_revision", message);
    }
    Ok(())
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
