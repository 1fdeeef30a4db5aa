//! CandidateReference v0.1: the immutable identity of a candidate, and the subject that signatures speak about.

use quorum_schemas::{Digest, Object, SchemaName, Value, validate};

use crate::error::{shown, shown_text};
use crate::work_unit::text;
use crate::{Document, HandoffError, Manifest, ManifestBinding};

/// The media type of a C6 artifact: its digest is that of a reference, not of bytes.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.idkmesh.candidate-reference+json";
/// Where a C6 manifest carries the reference.
pub(crate) const EXTENSION: &str = "org.idkmesh.candidate_reference";
/// What the extension says about its digest.
pub(crate) const SEMANTICS: &str = "candidate_reference_envelope";

/// What exactly a worker offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateReference {
    /// The head of a pull request.
    PullRequest {
        /// `owner/name`.
        repository: String,
        /// The number, from 1.
        number: u64,
        /// 40 or 64 lower-case hex digits.
        head_sha: String,
    },
    /// A bundle of bytes.
    Bundle {
        /// Where the bytes are.
        locator: String,
        /// The digest of the bytes (of the deterministic ZIP, for a directory).
        digest: Digest,
        /// What the bytes are.
        media_type: Option<String>,
    },
}

impl CandidateReference {
    /// Checks a parsed reference; `head_sha` is lower-cased, as upstream does before it digests.
    ///
    /// # Errors
    /// [`HandoffError::Schema`], [`HandoffError::OutOfRange`] or [`HandoffError::CandidateReference`] for a blank
    /// locator or media type.
    pub fn parse(value: &Value) -> Result<Self, HandoffError> {
        let document = Document::CandidateReference;
        validate(SchemaName::CandidateReference, value)
            .map_err(|violations| HandoffError::Schema { document, violations })?;
        Self::reread(value)
    }

    /// Takes back what [`CandidateReference::parse`] admitted in the process that handed it over; no schema is compiled
    /// for it. Never for a document from outside.
    ///
    /// # Errors
    /// As [`CandidateReference::parse`], for what needs no schema to be seen.
    pub(crate) fn reread(value: &Value) -> Result<Self, HandoffError> {
        let document = Document::CandidateReference;
        if text(value, &["type"]) == "github_pull_request" {
            crate::work_unit::in_range(document, value, &["number"])?;
            return Ok(Self::PullRequest {
                repository: text(value, &["repository"]).to_owned(),
                number: value.get("number").and_then(Value::as_u64).unwrap_or(1),
                head_sha: text(value, &["head_sha"]).to_ascii_lowercase(),
            });
        }
        for name in ["locator", "media_type"] {
            if let Some(found) = value.get(name).filter(|found| found.as_str().is_some_and(crate::derive::is_blank)) {
                return Err(HandoffError::CandidateReference {
                    document,
                    pointer: format!("/{name}"),
                    message: format!("{} is blank; name the {name} or leave it out", shown(Some(found))),
                });
            }
        }
        let digest = text(value, &["digest"]).parse().map_err(|_| HandoffError::CandidateReference {
            document,
            pointer: "/digest".to_owned(),
            message: format!("{} is no sha256 digest", shown(value.get("digest"))),
        })?;
        Ok(Self::Bundle {
            locator: text(value, &["locator"]).to_owned(),
            digest,
            media_type: value.get("media_type").and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// The normalised document.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut members = Object::new();
        members.insert("schema_version".into(), "0.1".into());
        match self {
            Self::PullRequest { repository, number, head_sha } => {
                members.insert("type".into(), "github_pull_request".into());
                members.insert("repository".into(), repository.as_str().into());
                members.insert("number".into(), (*number).into());
                members.insert("head_sha".into(), head_sha.as_str().into());
            }
            Self::Bundle { locator, digest, media_type } => {
                members.insert("type".into(), "artifact_bundle".into());
                members.insert("locator".into(), locator.as_str().into());
                members.insert("digest".into(), (*digest).into());
                if let Some(media_type) = media_type {
                    members.insert("media_type".into(), media_type.as_str().into());
                }
            }
        }
        Value::Object(members)
    }

    /// The C1 digest of the normalised document: it names the identity that was handed on, not the bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::c1(&self.to_value())
    }

    /// The locator that a C6 artifact carries.
    #[must_use]
    pub fn locator(&self) -> String {
        match self {
            Self::PullRequest { repository, number, head_sha } => {
                format!("https://github.com/{repository}/pull/{number}#idkmesh-head={head_sha}")
            }
            Self::Bundle { locator, .. } => locator.clone(),
        }
    }

    /// The reference that a manifest carries for its artifact at `index`; `None` outside the C6 profile.
    ///
    /// A manifest is in the profile when the candidate has the reference media type or the extension is there; then
    /// both must agree, or the digest would speak about a reference that nobody can see.
    pub(crate) fn of_manifest(manifest: &Manifest, index: usize) -> Result<Option<Self>, HandoffError> {
        let artifact = manifest.artifacts().get(index);
        let extension = manifest.value().at(&["extensions", EXTENSION]);
        let is_reference = artifact.is_some_and(|artifact| text(artifact, &["media_type"]) == MEDIA_TYPE);
        let place = format!("/extensions/{EXTENSION}");
        let refuse = |pointer: String, message: String| {
            Err(HandoffError::CandidateReference { document: Document::ResultManifest, pointer, message })
        };
        let Some(extension) = extension else {
            if is_reference {
                let message =
                    format!("the candidate has media type {MEDIA_TYPE}, but the extension is missing; add it");
                return refuse(place, message);
            }
            return Ok(None);
        };
        let Some(reference) = extension.get("reference") else {
            return refuse(place, format!("`reference` is missing in {}", shown(Some(extension))));
        };
        let reference = match Self::parse(reference) {
            Ok(reference) => reference,
            Err(error) => {
                let place = format!("{place}/reference");
                let inner = error.places().into_iter().next();
                let (pointer, message) = inner.map_or((String::new(), error.to_string()), |p| (p.pointer, p.message));
                return refuse(format!("{place}{pointer}"), message);
            }
        };
        let expected = reference.digest();
        if extension.get("reference_digest") != Some(&expected.into()) {
            let found = shown(extension.get("reference_digest"));
            return refuse(
                format!("{place}/reference_digest"),
                format!("{found} is not the digest of the reference, which is {expected}"),
            );
        }
        let declared = artifact.and_then(|artifact| artifact.get("digest"));
        if declared != Some(&expected.into()) {
            return refuse(
                format!("/produced_artifacts/{index}/digest"),
                format!("{} is not the digest of the candidate's reference, which is {expected}", shown(declared)),
            );
        }
        Ok(Some(reference))
    }
}

/// What a signature about a candidate speaks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateSubject {
    /// The head of a pull request.
    GitCommit {
        /// The candidate artifact's id.
        name: String,
        /// 40 or 64 lower-case hex digits.
        head_sha: String,
    },
    /// Bytes.
    Sha256 {
        /// The candidate artifact's id.
        name: String,
        /// The digest of the bytes.
        digest: Digest,
    },
}

impl CandidateSubject {
    /// The subject's name: the candidate artifact's id.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::GitCommit { name, .. } | Self::Sha256 { name, .. } => name,
        }
    }

    /// The key of the digest set: `gitCommit` or `sha256`.
    #[must_use]
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::GitCommit { .. } => "gitCommit",
            Self::Sha256 { .. } => "sha256",
        }
    }

    /// The digest in lower-case hex, without a prefix.
    #[must_use]
    pub fn hex(&self) -> String {
        match self {
            Self::GitCommit { head_sha, .. } => head_sha.clone(),
            Self::Sha256 { digest, .. } => digest.hex(),
        }
    }
}

/// The subject of every statement about this candidate: the head of a pull request, the bundle's digest of a C6
/// bundle, and the declared digest of any other artifact.
#[must_use]
pub fn candidate_subject(binding: &ManifestBinding) -> CandidateSubject {
    let name = binding.candidate_artifact_id().to_owned();
    match binding.candidate_reference() {
        Some(CandidateReference::PullRequest { head_sha, .. }) => {
            CandidateSubject::GitCommit { name, head_sha: head_sha.clone() }
        }
        Some(CandidateReference::Bundle { digest, .. }) => CandidateSubject::Sha256 { name, digest: *digest },
        None => CandidateSubject::Sha256 { name, digest: binding.candidate_digest() },
    }
}

pub(crate) fn different(what: &str, found: Option<&Value>, expected: &str) -> String {
    format!("{what} is {}, expected {}", shown(found), shown_text(expected))
}
