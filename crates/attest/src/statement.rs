//! in-toto Statement v1: which bytes are spoken of, and what is said.

use std::collections::BTreeMap;

use quorum_schemas::limits::DOCUMENT;
use quorum_schemas::{Digest, Object, Value, c1, parse_c1};

use crate::{AttestError, PredicateType, limits};

/// `_type` of every statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

const WHAT: &str = "statement";
const SHA256: &str = "sha256";
const GIT_COMMIT: &str = "gitCommit";

/// What a statement is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// A name for people.
    pub name: String,
    /// Algorithm (`sha256` or `gitCommit`) to lower-case hex; at least one.
    pub digest: BTreeMap<String, String>,
}

impl Subject {
    /// Bytes, or a document in a canonical form, named by their SHA-256.
    #[must_use]
    pub fn sha256<F>(name: impl Into<String>, digest: Digest<F>) -> Self {
        Self { name: name.into(), digest: BTreeMap::from([(SHA256.to_owned(), digest.hex())]) }
    }

    /// A commit, named by its 40 or 64 lower-case hex digits.
    #[must_use]
    pub fn git_commit(name: impl Into<String>, commit: &str) -> Self {
        Self { name: name.into(), digest: BTreeMap::from([(GIT_COMMIT.to_owned(), commit.to_owned())]) }
    }

    fn to_value(&self) -> Value {
        let digest = self.digest.iter().map(|(algorithm, hex)| (algorithm.clone(), hex.as_str().into())).collect();
        Value::Object(Object::from([
            ("digest".to_owned(), Value::Object(digest)),
            ("name".to_owned(), self.name.as_str().into()),
        ]))
    }

    fn read(value: &Value, index: usize) -> Result<Self, AttestError> {
        let malformed = |reason: &str| AttestError::malformed(WHAT, format!("/subject/{index}{reason}"));
        let members = value.as_object().ok_or_else(|| malformed(": expected an object"))?;
        if !members.keys().eq(["digest", "name"]) {
            return Err(malformed(": expected the members `digest` and `name`"));
        }
        let name = members["name"].as_str().unwrap_or_default();
        if name.is_empty() || name.len() > limits::SUBJECT_NAME_BYTES {
            return Err(malformed("/name: expected a name of at least one and at most 4096 bytes"));
        }
        let digests = members["digest"].as_object().filter(|digests| !digests.is_empty());
        let digests = digests.ok_or_else(|| malformed("/digest: expected at least one digest"))?;
        let mut digest = BTreeMap::new();
        for (algorithm, hex) in digests {
            let hex = hex.as_str().unwrap_or_default();
            if !is_digest(algorithm, hex) {
                return Err(malformed("/digest: expected `sha256` or `gitCommit` with lower-case hex digits"));
            }
            digest.insert(algorithm.clone(), hex.to_owned());
        }
        Ok(Self { name: name.to_owned(), digest })
    }
}

fn is_digest(algorithm: &str, hex: &str) -> bool {
    let length = match algorithm {
        SHA256 => hex.len() == 64,
        GIT_COMMIT => hex.len() == 40 || hex.len() == 64,
        _ => false,
    };
    length && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// What somebody says about some bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The bytes spoken of; ours name one, the candidate (or the work unit).
    pub subject: Vec<Subject>,
    /// The kind of what is said.
    pub predicate_type: PredicateType,
    /// What is said: an object. Its schema is the business of who reads it.
    pub predicate: Value,
}

impl Statement {
    /// The bytes to sign: C1.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        c1(&self.to_value())
    }

    /// The statement as a value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        Value::Object(Object::from([
            ("_type".to_owned(), STATEMENT_TYPE.into()),
            ("predicate".to_owned(), self.predicate.clone()),
            ("predicateType".to_owned(), self.predicate_type.uri().into()),
            ("subject".to_owned(), Value::Array(self.subject.iter().map(Subject::to_value).collect())),
        ]))
    }

    /// Reads C1 bytes with exactly the members of a statement.
    ///
    /// # Errors
    /// [`AttestError::Malformed`] with the place; [`AttestError::WrongType`] for a predicate type that we do not know.
    pub fn parse(bytes: &[u8]) -> Result<Self, AttestError> {
        let malformed = |reason: String| AttestError::malformed(WHAT, reason);
        let value = parse_c1(bytes, DOCUMENT).map_err(|error| malformed(error.to_string()))?;
        let value = value.ok_or_else(|| malformed("the bytes are not the canonical form of their value".to_owned()))?;
        let Value::Object(mut members) = value else {
            return Err(malformed("/: expected an object".to_owned()));
        };
        if !members.keys().eq(["_type", "predicate", "predicateType", "subject"]) {
            return Err(malformed(
                "/: expected the members `_type`, `predicate`, `predicateType`, `subject`".to_owned(),
            ));
        }
        if members["_type"].as_str() != Some(STATEMENT_TYPE) {
            return Err(malformed(format!("/_type: expected {STATEMENT_TYPE}")));
        }
        let subject = read_subjects(&members["subject"])?;
        let uri = members["predicateType"].as_str();
        let uri = uri.ok_or_else(|| malformed("/predicateType: expected a string".to_owned()))?;
        let predicate_type = PredicateType::from_uri(uri).ok_or_else(|| AttestError::WrongType {
            expected: "a predicate type of this version",
            found: limits::shorten(uri),
        })?;
        let predicate = members.remove("predicate").unwrap_or(Value::Null);
        if predicate.as_object().is_none() {
            return Err(malformed("/predicate: expected an object".to_owned()));
        }
        Ok(Self { subject, predicate_type, predicate })
    }
}

fn read_subjects(value: &Value) -> Result<Vec<Subject>, AttestError> {
    let listed = value.as_array().unwrap_or_default();
    if listed.is_empty() || listed.len() > limits::SUBJECTS {
        let reason = format!("/subject: expected an array of 1 to {} subjects", limits::SUBJECTS);
        return Err(AttestError::malformed(WHAT, reason));
    }
    listed.iter().enumerate().map(|(index, subject)| Subject::read(subject, index)).collect()
}
