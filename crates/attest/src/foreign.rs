//! Envelopes and statements that other tools wrote: read as DSSE and in-toto allow, and never as one of ours.
//!
//! A [`ForeignEnvelope`] has no payload to look at: the bytes come out of [`ForeignEnvelope::verify`] alone, once enough
//! distinct keys signed them. Nothing turns it into an [`crate::Envelope`], so that the one form of our own documents
//! cannot be got round, and nothing here knows a trust root: whose keys count is the caller's business.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use quorum_schemas::{Digest, Value, parse, parse_with};

use crate::{AttestError, PAYLOAD_TYPE, PublicKey, STATEMENT_TYPE, limits, pae};

const ENVELOPE: &str = "foreign envelope";
const STATEMENT: &str = "foreign statement";

/// A DSSE envelope in any form that the protocol allows: members in any order, unknown members, either alphabet of
/// base64, several signatures, key ids absent or of any form. Nothing in it may be believed.
///
/// Stricter than the protocol asks, so that two readers cannot see two envelopes: JSON with a duplicate key, a byte order
/// mark, a lone surrogate or trailing bytes is refused; so is base64 without its padding or with bits beyond it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignEnvelope {
    digest: Digest,
    payload_type: String,
    payload: Vec<u8>,
    signatures: Vec<Hinted>,
}

/// A signature and what it says about its key. A key id is a hint that nobody signed: it orders the search and decides
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hinted {
    key_id: String,
    signature: Vec<u8>,
}

impl ForeignEnvelope {
    /// Reads an envelope.
    ///
    /// # Errors
    /// [`AttestError::Malformed`] with the place; [`AttestError::TooMany`] signatures.
    pub fn parse(bytes: &[u8]) -> Result<Self, AttestError> {
        let value = parse_with(bytes, quorum_schemas::limits::ENVELOPE)
            .map_err(|error| AttestError::malformed(ENVELOPE, error))?;
        let payload = decode(member(&value, "", "payload")?, "/payload")?;
        let payload_type = text(member(&value, "", "payloadType")?, "/payloadType")?.to_owned();
        let listed = member(&value, "", "signatures")?.as_array();
        let listed = listed.ok_or_else(|| AttestError::malformed(ENVELOPE, "/signatures: expected an array"))?;
        if listed.is_empty() {
            return Err(AttestError::malformed(ENVELOPE, "/signatures: none, at least one is needed"));
        }
        if listed.len() > limits::FOREIGN_SIGNATURES {
            let (found, limit) = (listed.len(), limits::FOREIGN_SIGNATURES);
            return Err(AttestError::TooMany { what: "signatures", found, limit });
        }
        let signatures = listed.iter().enumerate().map(|(n, signed)| hinted(signed, n)).collect::<Result<_, _>>()?;
        Ok(Self { digest: Digest::of(bytes), payload_type, payload, signatures })
    }

    /// The signed bytes, if at least `threshold` of `keys` signed them. A key counts once, however often it is given and
    /// however often it signed.
    ///
    /// # Errors
    /// [`AttestError::SignersThresholdInvalid`] for a threshold of 0 or above the number of distinct keys,
    /// [`AttestError::TooMany`] keys, [`AttestError::NotEnoughSigners`].
    pub fn verify(self, keys: &[PublicKey], threshold: usize) -> Result<Verified, AttestError> {
        let distinct: BTreeSet<PublicKey> = keys.iter().copied().collect();
        if distinct.len() > limits::FOREIGN_KEYS {
            let (found, limit) = (distinct.len(), limits::FOREIGN_KEYS);
            return Err(AttestError::TooMany { what: "keys", found, limit });
        }
        if threshold == 0 || threshold > distinct.len() {
            return Err(AttestError::SignersThresholdInvalid { threshold, keys: distinct.len() });
        }
        let signed = pae(&self.payload_type, &self.payload);
        let mut signers = BTreeSet::new();
        for hinted in &self.signatures {
            let mut ahead: Vec<&PublicKey> = distinct.difference(&signers).collect();
            // One failed verification costs as much as one that succeeds: the key that is hinted at goes first.
            ahead.sort_by_key(|key| key.key_id().to_string() != hinted.key_id);
            if let Some(key) = ahead.into_iter().find(|key| key.verify(&signed, &hinted.signature).is_ok()) {
                signers.insert(*key);
            }
        }
        if signers.len() < threshold {
            return Err(AttestError::NotEnoughSigners { found: signers.len(), needed: threshold });
        }
        Ok(Verified { envelope: self.digest, payload_type: self.payload_type, payload: self.payload, signers })
    }
}

/// Reads a foreign envelope and verifies it in one go.
///
/// # Errors
/// Those of [`ForeignEnvelope::parse`] and [`ForeignEnvelope::verify`].
pub fn verify_foreign(bytes: &[u8], keys: &[PublicKey], threshold: usize) -> Result<Verified, AttestError> {
    ForeignEnvelope::parse(bytes)?.verify(keys, threshold)
}

/// Bytes that enough keys signed. Only [`ForeignEnvelope::verify`] builds one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    envelope: Digest,
    payload_type: String,
    payload: Vec<u8>,
    signers: BTreeSet<PublicKey>,
}

impl Verified {
    /// SHA-256 of the envelope's bytes as received. Another envelope of the same signed bytes has another.
    #[must_use]
    pub fn envelope(&self) -> Digest {
        self.envelope
    }

    /// What the signed bytes are.
    #[must_use]
    pub fn payload_type(&self) -> &str {
        &self.payload_type
    }

    /// The bytes that were signed.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The keys that signed, each once.
    #[must_use]
    pub fn signers(&self) -> &BTreeSet<PublicKey> {
        &self.signers
    }

    /// The signed bytes as an in-toto statement.
    ///
    /// # Errors
    /// [`AttestError::WrongType`] for another payload type or version of the statement, [`AttestError::Malformed`] with
    /// the place.
    pub fn statement(&self) -> Result<ForeignStatement, AttestError> {
        if self.payload_type != PAYLOAD_TYPE {
            let found = limits::shorten(&self.payload_type);
            return Err(AttestError::WrongType { expected: PAYLOAD_TYPE, found });
        }
        ForeignStatement::read(&self.payload)
    }
}

/// An in-toto Statement v1 of any predicate type, as its parsing rules ask: members that it does not name are ignored.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignStatement {
    /// The bytes spoken of, each by at least one digest.
    pub subject: Vec<ForeignSubject>,
    /// The URI of what is said.
    pub predicate_type: String,
    /// What is said; `None` where nothing is said beyond the type.
    pub predicate: Option<Value>,
}

/// A subject of a foreign statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSubject {
    /// A name; may be absent.
    pub name: Option<String>,
    /// Any algorithm to its value, as written.
    pub digest: BTreeMap<String, String>,
}

impl ForeignStatement {
    fn read(bytes: &[u8]) -> Result<Self, AttestError> {
        let malformed = |reason: &str| AttestError::malformed(STATEMENT, reason);
        let value = parse(bytes).map_err(|error| AttestError::malformed(STATEMENT, error))?;
        let word = |name: &str| value.get(name).and_then(Value::as_str).filter(|word| !word.is_empty());
        let found = word("_type").ok_or_else(|| malformed("/_type: expected a string"))?;
        if found != STATEMENT_TYPE {
            return Err(AttestError::WrongType { expected: STATEMENT_TYPE, found: limits::shorten(found) });
        }
        let predicate_type = word("predicateType").ok_or_else(|| malformed("/predicateType: expected a URI"))?;
        let listed = value.get("subject").and_then(Value::as_array).unwrap_or_default();
        if listed.is_empty() {
            return Err(malformed("/subject: expected an array of at least one subject"));
        }
        if listed.len() > limits::FOREIGN_SUBJECTS {
            let (found, limit) = (listed.len(), limits::FOREIGN_SUBJECTS);
            return Err(AttestError::TooMany { what: "subjects", found, limit });
        }
        let subject = listed.iter().enumerate().map(|(n, subject)| foreign_subject(subject, n));
        let predicate = match value.get("predicate") {
            None | Some(Value::Null) => None,
            Some(predicate) if predicate.as_object().is_some() => Some(predicate.clone()),
            Some(_) => return Err(malformed("/predicate: expected an object")),
        };
        Ok(Self { subject: subject.collect::<Result<_, _>>()?, predicate_type: predicate_type.to_owned(), predicate })
    }
}

fn foreign_subject(value: &Value, index: usize) -> Result<ForeignSubject, AttestError> {
    let malformed = |reason: &str| AttestError::malformed(STATEMENT, format!("/subject/{index}{reason}"));
    let name = match value.get("name") {
        None => None,
        Some(name) => Some(name.as_str().ok_or_else(|| malformed("/name: expected a string"))?.to_owned()),
    };
    let listed = value.get("digest").and_then(Value::as_object).filter(|listed| !listed.is_empty());
    let listed = listed.ok_or_else(|| malformed("/digest: expected at least one digest"))?;
    let digest = listed.iter().map(|(algorithm, found)| Some((algorithm.clone(), found.as_str()?.to_owned())));
    let digest = digest.collect::<Option<_>>().ok_or_else(|| malformed("/digest: expected strings"))?;
    Ok(ForeignSubject { name, digest })
}

fn hinted(value: &Value, index: usize) -> Result<Hinted, AttestError> {
    let place = format!("/signatures/{index}");
    let signature = decode(member(value, &place, "sig")?, &format!("{place}/sig"))?;
    let key_id = value.get("keyid").map(|key_id| text(key_id, &format!("{place}/keyid")));
    Ok(Hinted { key_id: key_id.transpose()?.unwrap_or_default().to_owned(), signature })
}

fn member<'a>(value: &'a Value, place: &str, name: &str) -> Result<&'a Value, AttestError> {
    let object = value.as_object();
    let object = object.ok_or_else(|| AttestError::malformed(ENVELOPE, format!("{place}/: expected an object")))?;
    let missing = || AttestError::malformed(ENVELOPE, format!("{place}/: the member `{name}` is missing"));
    object.get(name).ok_or_else(missing)
}

fn text<'a>(value: &'a Value, place: &str) -> Result<&'a str, AttestError> {
    value.as_str().ok_or_else(|| AttestError::malformed(ENVELOPE, format!("{place}: expected a string")))
}

/// Either alphabet, with padding; one text is of one alphabet.
fn decode(value: &Value, place: &str) -> Result<Vec<u8>, AttestError> {
    let text = text(value, place)?;
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).map_err(|_| {
        AttestError::malformed(
            ENVELOPE,
            format!("{place}: not base64 with padding, of the standard or the URL alphabet"),
        )
    })
}
