//! What a verifier may know of a manifest. The type has no room for status, self-report, metrics, resources or logs,
//! so that none of them can reach a check or a decision.

use quorum_schemas::{C1Digest, Digest, Object, Value};

use crate::error::shown;
use crate::read::{number, object, text, texts};
use crate::{CandidateReference, Document, Handoff, HandoffError, Manifest};

/// One artifact that the manifest names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundArtifact {
    /// Its id.
    pub id: String,
    /// Its declared digest.
    pub digest: Digest,
}

/// The blinded manifest: identity, artifacts and requested validators, nothing that the worker says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestBinding {
    id: String,
    digest: C1Digest,
    attempt: u64,
    worker_id: String,
    work_unit_id: String,
    work_unit_version: u64,
    work_unit_digest: C1Digest,
    source_revision: String,
    requested_validators: Vec<String>,
    artifacts: Vec<BoundArtifact>,
    candidate: usize,
    locator: String,
    reference: Option<CandidateReference>,
}

impl ManifestBinding {
    /// The binding of a manifest whose handoff has been derived.
    ///
    /// # Errors
    /// [`HandoffError::CandidateReference`] when the manifest is in the C6 profile and its reference is malformed or
    /// is not the candidate's.
    pub fn of(manifest: &Manifest, handoff: &Handoff) -> Result<Self, HandoffError> {
        let artifacts: Vec<BoundArtifact> = manifest
            .artifacts()
            .iter()
            .map(|artifact| BoundArtifact {
                id: text(artifact, &["id"]).to_owned(),
                digest: text(artifact, &["digest"]).parse().expect("the schema admits only sha256 digests; tested"),
            })
            .collect();
        let candidate = artifacts.iter().position(|artifact| artifact.id == handoff.candidate_artifact_id());
        let candidate = candidate.expect("a derived handoff names an artifact of its manifest (H31)");
        Ok(Self {
            id: manifest.id().to_owned(),
            digest: manifest.digest(),
            attempt: manifest.attempt(),
            worker_id: manifest.worker_id().to_owned(),
            work_unit_id: handoff.work_unit_id().to_owned(),
            work_unit_version: handoff.work_unit_version(),
            work_unit_digest: handoff.work_unit_digest(),
            source_revision: manifest.source_revision().to_owned(),
            requested_validators: manifest.requested_validators().into_iter().map(str::to_owned).collect(),
            locator: manifest.artifacts().get(candidate).map(|a| text(a, &["locator"])).unwrap_or_default().to_owned(),
            reference: CandidateReference::of_manifest(manifest, candidate)?,
            artifacts,
            candidate,
        })
    }

    /// The document, as a signed handoff carries it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let artifacts = self
            .artifacts
            .iter()
            .map(|artifact| object([("id", artifact.id.as_str().into()), ("digest", artifact.digest.into())]));
        let mut candidate = Object::new();
        candidate.insert("artifact_id".into(), self.candidate_artifact_id().into());
        candidate.insert("locator".into(), self.locator.as_str().into());
        if let Some(reference) = &self.reference {
            candidate.insert("reference".into(), reference.to_value());
        }
        object([
            ("result_manifest_id", self.id.as_str().into()),
            ("result_manifest_digest", self.digest.into()),
            ("attempt", self.attempt.into()),
            ("worker_id", self.worker_id.as_str().into()),
            ("work_unit_id", self.work_unit_id.as_str().into()),
            ("work_unit_version", self.work_unit_version.into()),
            ("work_unit_digest", self.work_unit_digest.into()),
            ("source_revision", self.source_revision.as_str().into()),
            (
                "requested_validator_ids",
                self.requested_validators.iter().map(String::as_str).collect::<Vec<_>>().into(),
            ),
            ("artifacts", Value::Array(artifacts.collect())),
            ("candidate", Value::Object(candidate)),
        ])
    }

    /// Reads the document back; no schema is compiled for it.
    ///
    /// # Errors
    /// [`HandoffError::Reference`] for its reference, [`HandoffError::Schema`] for any member missing, of another kind,
    /// or unknown.
    pub fn parse(value: &Value) -> Result<Self, HandoffError> {
        let malformed = |pointer: &str| HandoffError::Schema {
            document: Document::ManifestBinding,
            violations: vec![quorum_schemas::SchemaViolation {
                pointer: pointer.to_owned(),
                message: format!("unusable here: {}", shown(value.get(pointer.trim_start_matches('/')))),
            }],
        };
        let word = |name: &str| match text(value, &[name]) {
            "" => Err(malformed(&format!("/{name}"))),
            found => Ok(found.to_owned()),
        };
        let digest = |name: &str| -> Result<C1Digest, HandoffError> {
            text(value, &[name]).parse().map_err(|_| malformed(&format!("/{name}")))
        };
        let count = |name: &str| number(value, &[name]).ok_or_else(|| malformed(&format!("/{name}")));
        let items = value.get("artifacts").and_then(Value::as_array).ok_or_else(|| malformed("/artifacts"))?;
        let artifacts = items
            .iter()
            .map(|item| {
                let digest = text(item, &["digest"]).parse().map_err(|_| malformed("/artifacts"))?;
                Ok(BoundArtifact { id: text(item, &["id"]).to_owned(), digest })
            })
            .collect::<Result<Vec<_>, HandoffError>>()?;
        let candidate_id = text(value, &["candidate", "artifact_id"]);
        let candidate = artifacts.iter().position(|artifact| artifact.id == candidate_id);
        let reference = value.at(&["candidate", "reference"]).map(CandidateReference::parse).transpose()?;
        let binding = Self {
            id: word("result_manifest_id")?,
            digest: digest("result_manifest_digest")?,
            attempt: count("attempt")?,
            worker_id: word("worker_id")?,
            work_unit_id: word("work_unit_id")?,
            work_unit_version: count("work_unit_version")?,
            work_unit_digest: digest("work_unit_digest")?,
            source_revision: word("source_revision")?,
            requested_validators: texts(value, &["requested_validator_ids"]).into_iter().map(str::to_owned).collect(),
            locator: text(value, &["candidate", "locator"]).to_owned(),
            candidate: candidate.ok_or_else(|| malformed("/candidate"))?,
            reference,
            artifacts,
        };
        if binding.to_value() != *value {
            return Err(malformed(""));
        }
        if binding
            .reference
            .as_ref()
            .is_some_and(|reference| reference.digest().of_bytes() != binding.candidate_digest())
        {
            return Err(malformed("/candidate"));
        }
        Ok(binding)
    }

    /// The manifest's id.
    #[must_use]
    pub fn result_manifest_id(&self) -> &str {
        &self.id
    }

    /// The manifest's C1 digest.
    #[must_use]
    pub fn result_manifest_digest(&self) -> C1Digest {
        self.digest
    }

    /// The worker's attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// The worker's id, as claimed.
    #[must_use]
    pub fn worker_id(&self) -> &str {
        &self.worker_id
    }

    /// The work unit's id.
    #[must_use]
    pub fn work_unit_id(&self) -> &str {
        &self.work_unit_id
    }

    /// The work unit's version.
    #[must_use]
    pub fn work_unit_version(&self) -> u64 {
        self.work_unit_version
    }

    /// The work unit's C1 digest.
    #[must_use]
    pub fn work_unit_digest(&self) -> C1Digest {
        self.work_unit_digest
    }

    /// The source revision that the manifest declares.
    #[must_use]
    pub fn source_revision(&self) -> &str {
        &self.source_revision
    }

    /// Validators that the worker asked for; beyond the required ones they bind nobody.
    #[must_use]
    pub fn requested_validators(&self) -> &[String] {
        &self.requested_validators
    }

    /// Every artifact of the manifest.
    #[must_use]
    pub fn artifacts(&self) -> &[BoundArtifact] {
        &self.artifacts
    }

    /// The id of the candidate among them.
    #[must_use]
    pub fn candidate_artifact_id(&self) -> &str {
        &self.artifacts[self.candidate].id
    }

    /// The declared digest of the candidate (of its reference, in the C6 profile).
    #[must_use]
    pub fn candidate_digest(&self) -> Digest {
        self.artifacts[self.candidate].digest
    }

    /// Where the candidate is, as the manifest says: a path inside the candidate root outside the C6 profile.
    #[must_use]
    pub fn candidate_locator(&self) -> &str {
        &self.locator
    }

    /// The candidate's reference, in the C6 profile.
    #[must_use]
    pub fn candidate_reference(&self) -> Option<&CandidateReference> {
        self.reference.as_ref()
    }
}
