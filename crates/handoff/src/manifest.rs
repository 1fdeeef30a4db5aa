//! The worker's self-report. Nothing in it is believed; it names what there is to verify.

use quorum_schemas::{C1Digest, Digest, SchemaName, Value};

use crate::read::{conforms, countable, items, number, parsed, text, texts};
use crate::{Document, HandoffError};

/// A ResultManifest that follows its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    value: Value,
    digest: C1Digest,
}

impl Manifest {
    /// Parses and checks the bytes of a manifest.
    ///
    /// # Errors
    /// [`HandoffError::Parse`], [`HandoffError::Schema`] or [`HandoffError::OutOfRange`].
    pub fn parse(bytes: &[u8]) -> Result<Self, HandoffError> {
        Self::from_value(parsed(Document::ResultManifest, bytes)?)
    }

    /// Checks a parsed manifest.
    ///
    /// # Errors
    /// [`HandoffError::Schema`] or [`HandoffError::OutOfRange`].
    pub fn from_value(value: Value) -> Result<Self, HandoffError> {
        conforms(Document::ResultManifest, SchemaName::ResultManifest, &value)?;
        countable(Document::ResultManifest, &value, &[&["work_unit_version"], &["attempt"]])?;
        Ok(Self { digest: Digest::c1(&value), value })
    }

    /// The document.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Its C1 digest.
    #[must_use]
    pub fn digest(&self) -> C1Digest {
        self.digest
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        text(&self.value, &["id"])
    }

    /// The attempt, from 1.
    #[must_use]
    pub fn attempt(&self) -> u64 {
        number(&self.value, &["attempt"]).unwrap_or(1)
    }

    /// The id of the work unit that it answers.
    #[must_use]
    pub fn work_unit_id(&self) -> &str {
        text(&self.value, &["work_unit_id"])
    }

    /// The version of the work unit that it answers.
    #[must_use]
    pub fn work_unit_version(&self) -> u64 {
        number(&self.value, &["work_unit_version"]).unwrap_or(1)
    }

    /// The worker's id, as the manifest claims it.
    #[must_use]
    pub fn worker_id(&self) -> &str {
        text(&self.value, &["worker", "id"])
    }

    /// The work unit digest that the manifest declares, as it stands.
    #[must_use]
    pub fn declared_work_unit_digest(&self) -> &str {
        text(&self.value, &["provenance", "work_unit_digest"])
    }

    /// The source revision that the manifest declares.
    #[must_use]
    pub fn source_revision(&self) -> &str {
        text(&self.value, &["provenance", "source_revision"])
    }

    /// Ids of every validator that the worker asks for.
    #[must_use]
    pub fn requested_validators(&self) -> Vec<&str> {
        texts(&self.value, &["verification_request", "expected_validator_ids"])
    }

    /// Ids of the artifacts that the worker offers as evidence.
    #[must_use]
    pub fn evidence_artifact_ids(&self) -> Vec<&str> {
        texts(&self.value, &["verification_request", "evidence_artifact_ids"])
    }

    /// The produced artifacts, as they stand.
    #[must_use]
    pub fn artifacts(&self) -> &[Value] {
        items(&self.value, &["produced_artifacts"])
    }
}
