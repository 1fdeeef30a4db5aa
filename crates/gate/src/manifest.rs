//! The manifest that we build for a worker that has none.

use quorum_attest::{PAYLOAD_TYPE, PredicateType, SigningKey, Statement, sign};
use quorum_handoff::{C6Manifest, Manifest, WorkUnit, Worker, build_c6_manifest, intake_values};
use quorum_schemas::{Digest, Timestamp, Value, c1};

use crate::candidate::Candidate;
use crate::documents::{refused, subject};
use crate::{CandidateSource, GateError, clock, control, keys, limits};

/// The source revision of a candidate that no version control speaks for, where the work unit names none.
const UNVERSIONED: &str = "unversioned";

/// Who did the work, as the caller says.
#[derive(Debug, Clone)]
pub struct WorkerClaim {
    /// The worker's id.
    pub id: String,
    /// human, agent, system or hybrid.
    pub kind: String,
    /// The attempt, from 1.
    pub attempt: u64,
}

impl Default for WorkerClaim {
    fn default() -> Self {
        Self { id: "unnamed-worker".into(), kind: "system".into(), attempt: 1 }
    }
}

/// The unsigned C6 manifest of a candidate.
///
/// # Errors
/// `candidate_unusable`, `manifest_argument_invalid`, `schema_invalid`.
pub(crate) fn build(
    work_unit: &WorkUnit,
    candidate: &Candidate,
    claim: &WorkerClaim,
    now: Timestamp,
) -> Result<Manifest, GateError> {
    let reference = candidate.reference()?;
    let source_revision = work_unit
        .source_revision()
        .map(str::to_owned)
        .or_else(|| candidate.source_revision.clone())
        .unwrap_or_else(|| UNVERSIONED.to_owned());
    // The same candidate of the same worker has the same id, another one another.
    let name = Digest::c1(&Value::Array(vec![
        work_unit.digest().into(),
        claim.id.as_str().into(),
        claim.attempt.into(),
        reference.digest().into(),
    ]));
    let input = C6Manifest {
        id: format!("result/{}", &name.hex()[..32]),
        work_unit,
        source_revision,
        reference,
        worker: Worker {
            id: claim.id.clone(),
            kind: claim.kind.clone(),
            adapter: "quorum".into(),
            adapter_version: Some(env!("CARGO_PKG_VERSION").into()),
        },
        attempt: claim.attempt,
        status: "succeeded".into(),
        started_at: now,
        finished_at: now,
        tool_versions: Default::default(),
    };
    build_c6_manifest(&input).map_err(|error| match refused(&[error]) {
        // Nobody handed this document in: what is wrong with it came from the options.
        GateError::WorkerDocument { code, message } => GateError::Control { code, message },
        other => other,
    })
}

/// Arguments of [`make_manifest`].
#[derive(Debug, Clone)]
pub struct ManifestRequest {
    /// The work unit's file, bare.
    pub work_unit: std::path::PathBuf,
    /// What is handed in.
    pub candidate: CandidateSource,
    /// Who did it.
    pub worker: WorkerClaim,
    /// The worker's private key: the manifest becomes a signed envelope.
    pub key: Option<std::path::PathBuf>,
}

/// `quorum manifest`: the bytes of a manifest, signed if a key is given.
///
/// # Errors
/// As the gate's for its inputs.
pub fn make_manifest(request: &ManifestRequest) -> Result<Vec<u8>, GateError> {
    let now = clock::now()?;
    let (candidate, _) = Candidate::open(&request.candidate)?;
    let bytes = control::read_disk(&request.work_unit, limits::CONTROL_FILE)?;
    let work_unit = crate::documents::work_unit(&bytes, None, now)?;
    let manifest = build(&work_unit, &candidate, &request.worker, now)?;
    let Some(path) = &request.key else { return Ok(c1(manifest.value())) };
    let key = keys::unlisted_key("--key", path)?;
    let value = manifest.value().clone();
    let intake = intake_values(work_unit.value().clone(), value.clone(), None).map_err(|errors| refused(&errors))?;
    Ok(envelope(subject(&intake), PredicateType::ResultManifest, value, &key))
}

fn envelope(
    subject: quorum_attest::Subject,
    predicate_type: PredicateType,
    predicate: Value,
    key: &SigningKey,
) -> Vec<u8> {
    let statement = Statement { subject: vec![subject], predicate_type, predicate };
    sign(PAYLOAD_TYPE, &statement.to_bytes(), key)
}
