//! CandidateReference v0.1: the immutable identity of a candidate, and the subject that signatures speak about.

use quorum_schemas::{C1Digest, Digest, Object, Value};

use crate::ReferenceRule::{self, *};
use crate::error::{shown, shown_text};
use crate::read::{
    countable, git_revision, nonblank, not_count, not_digest, not_object, not_revision, not_text, positive, text,
};
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
    /// Reads a reference, refusing at the first of the rules C1 to C11 that is broken, in upstream's order.
    ///
    /// `head_sha` is lower-cased before it is digested, as upstream does. An explicit `null` counts as present. What is
    /// admitted here follows the schema `candidate-reference-v0.1`, which needs no compiling for it; tested.
    ///
    /// # Errors
    /// [`HandoffError::Reference`], or [`HandoffError::OutOfRange`] for a number that cannot be counted.
    pub fn parse(value: &Value) -> Result<Self, HandoffError> {
        let members = value.as_object().ok_or_else(|| refused(C1, "", not_object(Some(value))))?;
        let at = |name: &str| value.get(name);
        let needs = |rule, name: &str, what: &str| {
            refused(rule, &format!("/{name}"), format!("{what} is needed, found {}", shown(at(name))))
        };
        if at("schema_version").and_then(Value::as_str) != Some("0.1") {
            return Err(needs(C2, "schema_version", "\"0.1\""));
        }
        let (required, optional): (&[&str], &[&str]) = match at("type").and_then(Value::as_str) {
            Some("github_pull_request") => (&["schema_version", "type", "repository", "number", "head_sha"], &[]),
            Some("artifact_bundle") => (&["schema_version", "type", "locator", "digest"], &["media_type"]),
            _ => return Err(needs(C3, "type", "\"github_pull_request\" or \"artifact_bundle\"")),
        };
        if let Some(missing) = required.iter().find(|name| !members.contains_key(**name)) {
            return Err(refused(C4, &format!("/{missing}"), format!("the member \"{missing}\" is missing")));
        }
        if let Some(extra) = members.keys().find(|name| !required.contains(&&***name) && !optional.contains(&&***name))
        {
            let message = format!("a reference of this type has no member {}", shown_text(extra));
            return Err(refused(C5, "", message));
        }
        if required.contains(&"head_sha") { Self::parse_pull_request(value) } else { Self::parse_bundle(value) }
    }

    /// C6 to C8.
    fn parse_pull_request(value: &Value) -> Result<Self, HandoffError> {
        let at = |name: &str| value.get(name);
        let repository =
            at("repository").and_then(Value::as_str).filter(|text| is_repository(text)).ok_or_else(|| {
                let message =
                    format!("`owner/name` of letters, digits and `_.-` is needed, found {}", shown(at("repository")));
                refused(C6, "/repository", message)
            })?;
        countable(Document::CandidateReference, value, &[&["number"]])?;
        let number = positive(at("number")).ok_or_else(|| refused(C7, "/number", not_count(at("number"), 1)))?;
        let head_sha =
            git_revision(at("head_sha")).ok_or_else(|| refused(C8, "/head_sha", not_revision(at("head_sha"))))?;
        Ok(Self::PullRequest { repository: repository.to_owned(), number, head_sha })
    }

    /// C9 to C11.
    fn parse_bundle(value: &Value) -> Result<Self, HandoffError> {
        let at = |name: &str| value.get(name);
        let locator = nonblank(at("locator")).ok_or_else(|| refused(C9, "/locator", not_text(at("locator"))))?;
        let digest = at("digest")
            .and_then(Value::as_str)
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| refused(C10, "/digest", not_digest(at("digest"))))?;
        let media_type = match at("media_type") {
            None => None,
            found => Some(nonblank(found).ok_or_else(|| refused(C11, "/media_type", not_text(found)))?.to_owned()),
        };
        Ok(Self::Bundle { locator: locator.to_owned(), digest, media_type })
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
    pub fn digest(&self) -> C1Digest {
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
        let reference = Self::parse(reference)
            .map_err(|error| error.moved(Document::ResultManifest, &format!("{place}/reference")))?;
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

/// `owner/name`, of letters, digits and `_.-`.
fn is_repository(text: &str) -> bool {
    let named = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
    };
    text.split_once('/').is_some_and(|(owner, name)| named(owner) && named(name))
}

fn refused(rule: ReferenceRule, pointer: &str, message: String) -> HandoffError {
    HandoffError::Reference { rule, document: Document::CandidateReference, pointer: pointer.to_owned(), message }
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
