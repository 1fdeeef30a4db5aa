//! The work unit: what was asked, and under which policy the answer is to be verified.

use quorum_schemas::{C1Digest, Digest, SchemaName, Value};

use crate::read::{conforms, countable, items, number, parsed, text, texts};
use crate::{Document, HandoffError};

/// How many verifiers must agree, as the work unit asks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// No objection is borne.
    AllRequired,
    /// A count of supports.
    Quorum,
    /// A fraction, which only an operator's policy can state.
    Threshold,
    /// Groups, which only an operator's policy can state.
    Custom,
}

impl Strategy {
    /// The word in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllRequired => "all_required",
            Self::Quorum => "quorum",
            Self::Threshold => "threshold",
            Self::Custom => "custom",
        }
    }

    /// Reads the word; `None` for any other.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::AllRequired, Self::Quorum, Self::Threshold, Self::Custom].into_iter().find(|s| s.as_str() == word)
    }
}

/// How much a worker must be known before its manifest is admitted; ordered from weak to strong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkerTrust {
    /// Anyone; only here an unsigned manifest is possible.
    Untrusted,
    /// Known by a key.
    Identified,
    /// Known and trusted.
    Trusted,
    /// Attested.
    Attested,
}

impl WorkerTrust {
    /// The word in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Identified => "identified",
            Self::Trusted => "trusted",
            Self::Attested => "attested",
        }
    }
}

/// One validator of a work unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validator {
    /// Its id.
    pub id: String,
    /// Its type: test, review, schema, lint, security, formal, reproduction, benchmark, other.
    pub kind: String,
    /// Whether a result must have a check for it.
    pub required: bool,
}

/// A work unit that follows its schema (version 0.2 with or without the later budget, or the historical 0.1).
///
/// Version 0.1 has no verification policy, so no handoff can be derived from it (H33); its accessors then answer with
/// the strictest reading.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkUnit {
    value: Value,
    digest: C1Digest,
    validators: Vec<Validator>,
}

impl WorkUnit {
    /// Parses and checks the bytes of a work unit.
    ///
    /// # Errors
    /// [`HandoffError::Parse`], [`HandoffError::Schema`] or [`HandoffError::OutOfRange`].
    pub fn parse(bytes: &[u8]) -> Result<Self, HandoffError> {
        Self::from_value(parsed(Document::WorkUnit, bytes)?)
    }

    /// Checks a parsed work unit.
    ///
    /// # Errors
    /// [`HandoffError::Schema`] or [`HandoffError::OutOfRange`].
    pub fn from_value(value: Value) -> Result<Self, HandoffError> {
        conforms(Document::WorkUnit, SchemaName::of_work_unit(&value), &value)?;
        Self::reread(value)
    }

    /// Takes back a value that [`WorkUnit::from_value`] admitted in the process that handed it over; no schema is
    /// compiled for it. Never for a document from outside: a shape that the schema refuses is not refused here.
    ///
    /// # Errors
    /// [`HandoffError::OutOfRange`].
    pub fn reread(value: Value) -> Result<Self, HandoffError> {
        countable(Document::WorkUnit, &value, COUNTED)?;
        let validators = items(&value, &["validators"])
            .iter()
            .map(|validator| Validator {
                id: text(validator, &["id"]).to_owned(),
                kind: text(validator, &["type"]).to_owned(),
                required: validator.get("required").and_then(Value::as_bool).unwrap_or(true),
            })
            .collect();
        Ok(Self { digest: Digest::c1(&value), value, validators })
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

    /// Its version, from 1.
    #[must_use]
    pub fn version(&self) -> u64 {
        number(&self.value, &["version"]).unwrap_or(1)
    }

    /// `0.1` or `0.2`.
    #[must_use]
    pub fn schema_version(&self) -> &str {
        text(&self.value, &["schema_version"])
    }

    /// The validators in the order of the document.
    #[must_use]
    pub fn validators(&self) -> &[Validator] {
        &self.validators
    }

    /// The validator with this id.
    #[must_use]
    pub fn validator(&self, id: &str) -> Option<&Validator> {
        self.validators.iter().find(|validator| validator.id == id)
    }

    /// The verification strategy.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        Strategy::from_word(text(&self.value, &["verification_policy", "strategy"])).unwrap_or(Strategy::AllRequired)
    }

    /// The count of supports that the work unit asks for, if it states one.
    #[must_use]
    pub fn quorum(&self) -> Option<u64> {
        number(&self.value, &["verification_policy", "quorum"])
    }

    /// How many independent verifiers the work unit asks for.
    #[must_use]
    pub fn minimum_independent_verifiers(&self) -> u64 {
        number(&self.value, &["verification_policy", "minimum_independent_verifiers"]).unwrap_or(1)
    }

    /// Whether a verifier must be independent from the worker.
    #[must_use]
    pub fn independent_from_worker(&self) -> bool {
        self.flag(&["verification_policy", "independent_from_worker"], true)
    }

    /// How much the worker must be known.
    #[must_use]
    pub fn minimum_worker_trust(&self) -> WorkerTrust {
        match text(&self.value, &["security", "minimum_worker_trust"]) {
            "untrusted" => WorkerTrust::Untrusted,
            "identified" => WorkerTrust::Identified,
            "trusted" => WorkerTrust::Trusted,
            _ => WorkerTrust::Attested,
        }
    }

    /// Whether checks that run candidate code must be sandboxed.
    #[must_use]
    pub fn sandbox_required(&self) -> bool {
        self.flag(&["security", "sandbox_required"], true)
    }

    /// Globs that the worker may write.
    #[must_use]
    pub fn allowed_paths(&self) -> Vec<&str> {
        texts(&self.value, &["constraints", "allowed_paths"])
    }

    /// Globs that the worker must not write, whatever else is allowed.
    #[must_use]
    pub fn forbidden_paths(&self) -> Vec<&str> {
        texts(&self.value, &["constraints", "forbidden_paths"])
    }

    /// The second list of globs that a write must match.
    #[must_use]
    pub fn filesystem_write(&self) -> Vec<&str> {
        texts(&self.value, &["permissions", "filesystem_write"])
    }

    /// How often a worker may try, from 1.
    #[must_use]
    pub fn max_attempts(&self) -> u64 {
        number(&self.value, &["failure_semantics", "max_attempts"]).unwrap_or(1)
    }

    /// The evidence types that the work unit asks for, with whether each is required, in document order.
    #[must_use]
    pub fn evidence_requirements(&self) -> Vec<(&str, bool)> {
        items(&self.value, &["evidence_requirements"])
            .iter()
            .map(|item| (text(item, &["type"]), item.get("required").and_then(Value::as_bool).unwrap_or(true)))
            .collect()
    }

    /// The source revision that the work unit declares.
    #[must_use]
    pub fn source_revision(&self) -> Option<&str> {
        self.value.at(&["provenance", "source_revision"]).and_then(Value::as_str)
    }

    /// The digest of the input with id `baseline`, which on the mesh is the author's blob of the tree before the work.
    #[must_use]
    pub fn baseline_digest(&self) -> Option<Digest> {
        let baseline = items(&self.value, &["inputs"])
            .iter()
            .find(|input| input.get("id").and_then(Value::as_str) == Some("baseline"))?;
        baseline.get("digest").and_then(Value::as_str)?.parse().ok()
    }

    fn flag(&self, path: &[&str], strict: bool) -> bool {
        self.value.at(path).and_then(Value::as_bool).unwrap_or(strict)
    }
}

/// Integers that we count with.
const COUNTED: &[&[&str]] = &[
    &["version"],
    &["verification_policy", "quorum"],
    &["verification_policy", "minimum_independent_verifiers"],
    &["failure_semantics", "max_attempts"],
];
