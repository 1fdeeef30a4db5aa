//! Manifests in the profile `c6-result-manifest-v0.1`, for a pull request and for a bundle alike (R1 to R17).
//!
//! One builder over a document of arguments, so that whatever a caller was handed is refused by its numbered rule; the
//! typed front [`build_c6_manifest`] is what the gate and `quorum manifest` use.

mod arguments;

use std::collections::BTreeMap;

use quorum_schemas::{C1Digest, Object, Timestamp, Value};

use crate::BuildRule::{self, *};
use crate::error::shown_text;
use crate::read::{is_blank, nonblank, not_array, not_object, not_text, object};
use crate::reference::{EXTENSION, MEDIA_TYPE, SEMANTICS};
use crate::{CandidateReference, Document, HandoffError, Manifest, WorkUnit, WorkUnitSourceBinding};
use arguments::Arguments;

/// The id of the one artifact.
const ARTIFACT: &str = "candidate";
/// What the artifact says of itself: upstream's words, which are part of the manifest's digest.
const DESCRIPTION: &str = "Normalized CandidateReference v0.1 identity. The SHA-256 digest binds the reference \
                           envelope; it is not a verifier verdict.";
/// What stands where a worker said nothing: upstream's words, which are part of the manifest's digest.
const NO_SELF_REPORT: &str = "No worker-authored self-report was supplied during normalization.";
/// Where a manifest says how it was made.
const NORMALIZATION: &str = "org.idkmesh.normalization";
/// How it was made.
const PROFILE: &str = "c6-result-manifest-v0.1";

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

/// The arguments of [`build_c6_manifest`]: a worker that says nothing of itself.
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

/// Builds a manifest of a work unit that is bound to a git revision, as upstream's builder does.
///
/// `arguments` is an object of `manifest_id`, `attempt`, `worker`, `status`, `started_at`, `finished_at`, `resources`
/// and `candidate`, and of what there is of `self_report` with `self_report_source`, `logs`, `metrics`, `environment`,
/// `worker_config_digest` and `verification_notes`, each in the form in which it stands in the manifest; a
/// `self_report_source` that is not given is `absent`. Times are written in UTC, with six digits of a second's
/// fraction where there is one. Upstream's builder also lets its caller choose the artifact's id; the profile fixes it.
///
/// # Errors
/// [`HandoffError::Build`] with the first broken rule of R1 to R17 in the order of their numbers,
/// [`HandoffError::Argument`] for an argument that is none, [`HandoffError::OutOfRange`] for a count that is none.
pub fn build_result_manifest(work_unit: &Value, binding: &Value, arguments: &Value) -> Result<Manifest, HandoffError> {
    let binding = WorkUnitSourceBinding::parse(binding).map_err(|error| caused(R1, &error))?;
    binding.validate(work_unit, Some(binding.source_revision())).map_err(|error| caused(R2, &error))?;
    let identity = Identity {
        work_unit_id: binding.work_unit_id(),
        work_unit_version: binding.work_unit_version(),
        work_unit_digest: binding.work_unit_digest(),
        source_revision: binding.source_revision(),
    };
    assemble(work_unit, &identity, arguments)
}

/// Builds a manifest of a worker that says nothing of itself: all validators of the work unit are requested.
///
/// Where git knows what the work started from, `binding` is that knowledge, and the manifest carries the bound
/// revision. Without it nobody vouches for the revision, and it need not be git's; upstream's builder has no such form.
///
/// # Errors
/// [`HandoffError::Build`] with R2 to R16, [`HandoffError::Argument`] for a blank or foreign source revision.
pub fn build_c6_manifest_bound(
    input: &C6Manifest<'_>,
    binding: Option<&WorkUnitSourceBinding>,
) -> Result<Manifest, HandoffError> {
    if let Some(binding) = binding {
        let (unit, revision) = (input.work_unit.value(), Some(input.source_revision.as_str()));
        binding.validate(unit, revision).map_err(|error| caused(R2, &error))?;
    } else {
        check_unbound(input)?;
    }
    let identity = Identity {
        work_unit_id: input.work_unit.id(),
        work_unit_version: input.work_unit.version(),
        work_unit_digest: input.work_unit.digest(),
        source_revision: binding.map_or(input.source_revision.as_str(), WorkUnitSourceBinding::source_revision),
    };
    assemble(input.work_unit.value(), &identity, &input.arguments())
}

/// [`build_c6_manifest_bound`] for work that no git revision is known of.
///
/// # Errors
/// As there.
pub fn build_c6_manifest(input: &C6Manifest<'_>) -> Result<Manifest, HandoffError> {
    build_c6_manifest_bound(input, None)
}

impl C6Manifest<'_> {
    fn arguments(&self) -> Value {
        let mut worker = Object::new();
        worker.insert("id".into(), self.worker.id.as_str().into());
        worker.insert("type".into(), self.worker.kind.as_str().into());
        worker.insert("adapter".into(), self.worker.adapter.as_str().into());
        if let Some(version) = &self.worker.adapter_version {
            worker.insert("adapter_version".into(), version.as_str().into());
        }
        let micros = self.finished_at.micros_since(self.started_at).max(0);
        let mut environment = Object::new();
        if !self.tool_versions.is_empty() {
            let tools = self.tool_versions.iter().map(|(tool, version)| (tool.clone(), version.as_str().into()));
            environment.insert("tool_versions".into(), Value::Object(tools.collect()));
        }
        object([
            ("manifest_id", self.id.as_str().into()),
            ("attempt", self.attempt.into()),
            ("worker", Value::Object(worker)),
            ("status", self.status.as_str().into()),
            ("started_at", self.started_at.into()),
            ("finished_at", self.finished_at.into()),
            ("resources", object([("wall_seconds", Value::Float(micros as f64 / 1e6))])),
            ("candidate", self.reference.to_value()),
            ("environment", Value::Object(environment)),
        ])
    }
}

fn check_unbound(input: &C6Manifest<'_>) -> Result<(), HandoffError> {
    let refuse = |message: String| Err(HandoffError::Argument { argument: "source_revision", message });
    if is_blank(&input.source_revision) {
        return refuse(format!("{} is blank", shown_text(&input.source_revision)));
    }
    match input.work_unit.source_revision() {
        Some(declared) if declared != input.source_revision => refuse(format!(
            "{} differs from the work unit's {}",
            shown_text(&input.source_revision),
            shown_text(declared)
        )),
        _ => Ok(()),
    }
}

/// What the manifest answers.
struct Identity<'a> {
    work_unit_id: &'a str,
    work_unit_version: u64,
    work_unit_digest: C1Digest,
    source_revision: &'a str,
}

fn assemble(work_unit: &Value, identity: &Identity<'_>, arguments: &Value) -> Result<Manifest, HandoffError> {
    let arguments = Arguments::read(arguments, || validator_ids(work_unit))?;
    let reference = &arguments.reference;
    let mut provenance = Object::new();
    provenance.insert("work_unit_digest".into(), identity.work_unit_digest.into());
    provenance.insert("source_revision".into(), identity.source_revision.into());
    provenance.insert("environment".into(), arguments.environment);
    if let Some(digest) = arguments.worker_config_digest {
        provenance.insert("worker_config_digest".into(), digest.into());
    }
    let mut request = Object::new();
    request.insert("expected_validator_ids".into(), arguments.validators.into());
    request.insert("evidence_artifact_ids".into(), vec![ARTIFACT].into());
    if let Some(notes) = arguments.verification_notes {
        request.insert("notes".into(), notes.into());
    }
    Manifest::from_value(object([
        ("schema_version", "0.1".into()),
        ("id", arguments.id.into()),
        ("work_unit_id", identity.work_unit_id.into()),
        ("work_unit_version", identity.work_unit_version.into()),
        ("attempt", arguments.attempt.into()),
        ("worker", arguments.worker),
        ("status", arguments.status.into()),
        ("started_at", arguments.started_at.into()),
        ("finished_at", arguments.finished_at.into()),
        ("produced_artifacts", Value::Array(vec![artifact(reference)])),
        ("logs", arguments.logs),
        ("metrics", arguments.metrics),
        ("resources", arguments.resources),
        ("self_report", arguments.self_report.unwrap_or_else(no_self_report)),
        ("provenance", Value::Object(provenance)),
        ("verification_request", Value::Object(request)),
        ("extensions", extensions(reference, arguments.self_report_source)),
    ]))
}

fn artifact(reference: &CandidateReference) -> Value {
    object([
        ("id", ARTIFACT.into()),
        ("type", "other".into()),
        ("locator", reference.locator().into()),
        ("digest", reference.digest().into()),
        ("media_type", MEDIA_TYPE.into()),
        ("description", DESCRIPTION.into()),
    ])
}

fn no_self_report() -> Value {
    object([("summary", NO_SELF_REPORT.into()), ("claims", Value::Array(Vec::new()))])
}

fn extensions(reference: &CandidateReference, self_report_source: &str) -> Value {
    let identity = object([
        ("reference", reference.to_value()),
        ("reference_digest", reference.digest().into()),
        ("digest_semantics", SEMANTICS.into()),
    ]);
    let made = object([("profile", PROFILE.into()), ("self_report_source", self_report_source.into())]);
    object([(EXTENSION, identity), (NORMALIZATION, made)])
}

/// R14: every validator of the work unit, required or not, in its order.
fn validator_ids(work_unit: &Value) -> Result<Vec<&str>, HandoffError> {
    let refuse = |pointer: &str, message| Err(refused(R14, Document::WorkUnit, pointer, message));
    let found = work_unit.get("validators");
    let Some(items) = found.and_then(Value::as_array).filter(|items| !items.is_empty()) else {
        return refuse("/validators", not_array(found).replace("an array", "a non-empty array"));
    };
    let mut ids = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("/validators/{index}");
        if item.as_object().is_none() {
            return refuse(&place, not_object(Some(item)));
        }
        let Some(id) = nonblank(item.get("id")) else {
            return refuse(&format!("{place}/id"), not_text(item.get("id")));
        };
        if ids.contains(&id) {
            return refuse(&format!("{place}/id"), format!("the validator id {} appears twice", shown_text(id)));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn refused(rule: BuildRule, document: Document, pointer: &str, message: String) -> HandoffError {
    HandoffError::Build { rule, document, pointer: pointer.to_owned(), message }
}

/// The rule of the builder under which another rule's refusal falls; the message keeps that rule's number.
fn caused(rule: BuildRule, error: &HandoffError) -> HandoffError {
    let place = error.places().into_iter().next();
    let (document, pointer, message) = place.map_or_else(
        || (Document::BuildArguments, String::new(), error.to_string()),
        |place| (place.document, place.pointer, format!("{}: {}", error.code(), place.message)),
    );
    HandoffError::Build { rule, document, pointer, message }
}
