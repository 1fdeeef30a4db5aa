//! DSSE (secure-systems-lab/dsse v1): the bytes are signed, nothing is re-serialised. We write one form and read only
//! that form, so that an envelope has one digest.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quorum_schemas::limits::Limits;
use quorum_schemas::{Digest, Object, Value, c1, parse_c1};

use crate::{AttestError, KeyId, PublicKey, SigningKey, limits};

/// Payload type of every statement.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Payload type of a trust root.
pub const TRUST_PAYLOAD_TYPE: &str = "application/vnd.idkmesh-quorum.trust-root+json";

const WHAT: &str = "envelope";

/// The bytes that are signed: DSSE's pre-authentication encoding.
#[must_use]
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

/// Signs `payload` and writes the envelope: C1 bytes, no newline, exactly one signature.
#[must_use]
pub fn sign(payload_type: &str, payload: &[u8], key: &SigningKey) -> Vec<u8> {
    let signature = key.sign_bytes(&pae(payload_type, payload));
    write(payload_type, payload, &[Signed { key_id: key.public().key_id(), signature }])
}

/// Bytes beside their digest: who has hashed an envelope to find it need not hash it again to read it.
#[derive(Debug, Clone, Copy)]
pub struct Hashed<'a> {
    bytes: &'a [u8],
    digest: Digest,
}

impl<'a> Hashed<'a> {
    /// Hashes `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, digest: Digest::of(bytes) }
    }

    /// SHA-256 of the bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// An envelope in our own form. Its signature has not been checked: nothing in it may be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    bytes: Vec<u8>,
    digest: Digest,
    parts: Parts,
}

impl Envelope {
    /// Reads C1 bytes with exactly one signature, standard base64 with padding, and a key id of ours.
    ///
    /// # Errors
    /// [`AttestError::Malformed`] with the place.
    pub fn parse(bytes: &[u8]) -> Result<Self, AttestError> {
        Self::parse_hashed(Hashed::new(bytes))
    }

    /// [`Envelope::parse`] of bytes that are hashed already.
    ///
    /// # Errors
    /// As [`Envelope::parse`].
    pub fn parse_hashed(Hashed { bytes, digest }: Hashed<'_>) -> Result<Self, AttestError> {
        let parts = read(bytes, quorum_schemas::limits::ENVELOPE, 1)?;
        Ok(Self { bytes: bytes.to_vec(), digest, parts })
    }

    /// The bytes as received.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 of the bytes: the name of the envelope.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The key that the envelope claims.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        self.parts.signatures[0].key_id
    }

    /// What the payload claims to be.
    #[must_use]
    pub fn payload_type(&self) -> &str {
        &self.parts.payload_type
    }

    /// The signed bytes.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.parts.payload
    }

    /// Whether `key` made the signature. Role, type and time of a signer are [`crate::authenticate`]'s.
    ///
    /// # Errors
    /// [`AttestError::BadSignature`].
    pub fn verify(&self, key: &PublicKey) -> Result<(), AttestError> {
        key.verify(&pae(self.payload_type(), self.payload()), &self.parts.signatures[0].signature)
    }
}

/// One signature of an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signed {
    pub(crate) key_id: KeyId,
    pub(crate) signature: [u8; 64],
}

/// The parts of an envelope; at least one signature, ordered by key id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) payload_type: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) signatures: Vec<Signed>,
}

pub(crate) fn write(payload_type: &str, payload: &[u8], signatures: &[Signed]) -> Vec<u8> {
    let signatures: Vec<Value> = signatures
        .iter()
        .map(|signed| {
            Value::Object(Object::from([
                ("keyid".to_owned(), signed.key_id.to_string().into()),
                ("sig".to_owned(), STANDARD.encode(signed.signature).into()),
            ]))
        })
        .collect();
    c1(&Value::Object(Object::from([
        ("payload".to_owned(), STANDARD.encode(payload).into()),
        ("payloadType".to_owned(), payload_type.into()),
        ("signatures".to_owned(), signatures.into()),
    ])))
}

pub(crate) fn read(bytes: &[u8], size: Limits, most_signatures: usize) -> Result<Parts, AttestError> {
    let malformed = |reason: &dyn ToString| AttestError::malformed(WHAT, reason.to_string());
    let value = parse_c1(bytes, size).map_err(|error| malformed(&error))?;
    let value = value.ok_or_else(|| malformed(&"the bytes are not the canonical form of their value"))?;
    let [payload, payload_type, signatures] = members(&value, "", ["payload", "payloadType", "signatures"])?;
    let payload_type = text(payload_type, "/payloadType")?.to_owned();
    let payload = decode(payload, "/payload")?;
    let listed = signatures.as_array().ok_or_else(|| malformed(&"/signatures: expected an array"))?;
    if listed.is_empty() || listed.len() > most_signatures {
        let most = if most_signatures == 1 { String::new() } else { format!(" to {most_signatures}") };
        let reason = format!("/signatures: {} found, expected 1{most}", listed.len());
        return Err(malformed(&reason));
    }
    let signatures =
        listed.iter().enumerate().map(|(n, signed)| read_signature(signed, n)).collect::<Result<Vec<_>, _>>()?;
    if !signatures.is_sorted_by(|left, right| left.key_id < right.key_id) {
        return Err(malformed(&"/signatures: not ordered by key id, or one key signed twice"));
    }
    Ok(Parts { payload_type, payload, signatures })
}

fn read_signature(value: &Value, index: usize) -> Result<Signed, AttestError> {
    let place = format!("/signatures/{index}");
    let [key_id, signature] = members(value, &place, ["keyid", "sig"])?;
    let key_id = text(key_id, &format!("{place}/keyid"))?
        .parse()
        .map_err(|error| AttestError::malformed(WHAT, format!("{place}/keyid: {error}")))?;
    let signature = decode(signature, &format!("{place}/sig"))?;
    let found = signature.len();
    let signature = signature.try_into().map_err(|_| {
        AttestError::malformed(WHAT, format!("{place}/sig: {found} bytes, an Ed25519 signature has 64"))
    })?;
    Ok(Signed { key_id, signature })
}

/// Exactly the members named, in their order.
fn members<'a, const N: usize>(value: &'a Value, place: &str, names: [&str; N]) -> Result<[&'a Value; N], AttestError> {
    let malformed = |reason: String| AttestError::malformed(WHAT, format!("{place}/: {reason}"));
    let object = value.as_object().ok_or_else(|| malformed("expected an object".to_owned()))?;
    if let Some(extra) = object.keys().find(|key| !names.contains(&key.as_str())) {
        return Err(malformed(format!("the member `{}` does not belong here", limits::shorten(extra))));
    }
    let mut found = [value; N];
    for (slot, name) in found.iter_mut().zip(names) {
        *slot = object.get(name).ok_or_else(|| malformed(format!("the member `{name}` is missing")))?;
    }
    Ok(found)
}

fn text<'a>(value: &'a Value, place: &str) -> Result<&'a str, AttestError> {
    value.as_str().ok_or_else(|| AttestError::malformed(WHAT, format!("{place}: expected a string")))
}

fn decode(value: &Value, place: &str) -> Result<Vec<u8>, AttestError> {
    STANDARD
        .decode(text(value, place)?)
        .map_err(|error| AttestError::malformed(WHAT, format!("{place}: not standard base64 with padding: {error}")))
}
