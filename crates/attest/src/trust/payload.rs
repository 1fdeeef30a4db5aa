//! The payload of a trust root as a value, and back.

use quorum_schemas::{Digest, Object, SchemaName, Timestamp, Value, c1, parse_with, validate};

use super::entry::Entry;
use crate::{AttestError, PublicKey, limits};

const WHAT: &str = "trust root";
const SCHEMA_VERSION: &str = "0.1";

/// What the root keys sign. Lists are sorted, so that the bytes are a function of the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) version: u64,
    pub(super) issued_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) threshold: u64,
    pub(super) root_keys: Vec<PublicKey>,
    pub(super) entries: Vec<Entry>,
    pub(super) policies: Vec<Digest>,
}

impl Payload {
    pub(super) fn sort(&mut self) {
        self.root_keys.sort_unstable();
        let place = |entry: &Entry| (entry.role, entry.id.clone(), entry.valid_from, entry.public_key);
        self.entries.sort_by_cached_key(place);
        self.policies.sort_unstable();
    }

    /// Reads bytes that are exactly what [`Payload::to_bytes`] writes.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, AttestError> {
        let value = parse_with(bytes, limits::TRUST_PAYLOAD).map_err(|error| AttestError::malformed(WHAT, error))?;
        validate(SchemaName::TrustRoot, &value)
            .map_err(|violations| AttestError::SchemaInvalid { what: WHAT, violations })?;
        let payload = Self::read(&value)?;
        payload.check()?;
        let mut sorted = payload.clone();
        sorted.sort();
        if c1(&sorted.to_value()) != bytes {
            let reason = "not in our own form: canonical bytes, times in UTC, root keys, entries (by role, id and \
                          valid_from) and policies sorted";
            return Err(AttestError::malformed(WHAT, reason));
        }
        Ok(payload)
    }

    /// The bytes to sign, checked as a reader would check them.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, AttestError> {
        self.check()?;
        let value = self.to_value();
        validate(SchemaName::TrustRoot, &value)
            .map_err(|violations| AttestError::SchemaInvalid { what: WHAT, violations })?;
        let bytes = c1(&value);
        if bytes.len() > limits::TRUST_PAYLOAD.bytes {
            let limit = limits::TRUST_PAYLOAD.bytes;
            return Err(AttestError::TooMany { what: "bytes of a trust root", found: bytes.len(), limit });
        }
        Ok(bytes)
    }

    fn to_value(&self) -> Value {
        let root_keys: Vec<Value> = self.root_keys.iter().map(|key| key.spki_base64().into()).collect();
        let entries: Vec<Value> = self.entries.iter().map(entry_value).collect();
        let policies: Vec<Value> = self.policies.iter().map(|digest| (*digest).into()).collect();
        Value::Object(Object::from([
            ("schema_version".to_owned(), SCHEMA_VERSION.into()),
            ("version".to_owned(), self.version.into()),
            ("issued_at".to_owned(), self.issued_at.into()),
            ("expires_at".to_owned(), self.expires_at.into()),
            ("threshold".to_owned(), self.threshold.into()),
            ("root_keys".to_owned(), root_keys.into()),
            ("entries".to_owned(), entries.into()),
            ("policies".to_owned(), policies.into()),
        ]))
    }

    fn read(value: &Value) -> Result<Self, AttestError> {
        let list = |name: &str| value.get(name).and_then(Value::as_array).unwrap_or_default();
        let root_keys = list("root_keys").iter().map(read_key).collect::<Result<_, _>>()?;
        let entries = list("entries").iter().map(read_entry).collect::<Result<_, _>>()?;
        let policies = list("policies").iter().map(read_parsed).collect::<Result<_, _>>()?;
        Ok(Self {
            version: read_number(value, "version")?,
            issued_at: read_time(value, "issued_at")?,
            expires_at: read_time(value, "expires_at")?,
            threshold: read_number(value, "threshold")?,
            root_keys,
            entries,
            policies,
        })
    }
}

fn entry_value(entry: &Entry) -> Value {
    let attributes = entry.attributes.iter().map(|(axis, value)| (axis.clone(), value.as_str().into())).collect();
    let mut members = Object::from([
        ("role".to_owned(), entry.role.as_str().into()),
        ("id".to_owned(), entry.id.as_str().into()),
        ("public_key".to_owned(), entry.public_key.spki_base64().into()),
        ("valid_from".to_owned(), entry.valid_from.into()),
        ("valid_until".to_owned(), entry.valid_until.into()),
        ("attributes".to_owned(), Value::Object(attributes)),
    ]);
    let optional = [
        ("retired_at", entry.retired_at),
        ("compromised_since", entry.compromised_since),
        ("revoked_at", entry.revoked_at),
    ];
    for (name, time) in optional {
        if let Some(time) = time {
            members.insert(name.to_owned(), time.into());
        }
    }
    Value::Object(members)
}

fn read_entry(value: &Value) -> Result<Entry, AttestError> {
    let optional = |name: &str| value.get(name).map(read_parsed).transpose();
    let attributes = value.get("attributes").and_then(Value::as_object).into_iter().flatten();
    Ok(Entry {
        role: read_text(value, "role")?.parse()?,
        id: read_text(value, "id")?.to_owned(),
        public_key: PublicKey::from_spki_base64(read_text(value, "public_key")?)?,
        valid_from: read_time(value, "valid_from")?,
        valid_until: read_time(value, "valid_until")?,
        retired_at: optional("retired_at")?,
        compromised_since: optional("compromised_since")?,
        revoked_at: optional("revoked_at")?,
        attributes: attributes
            .map(|(axis, value)| (axis.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect(),
    })
}

fn read_key(value: &Value) -> Result<PublicKey, AttestError> {
    PublicKey::from_spki_base64(value.as_str().unwrap_or_default())
}

fn read_text<'a>(value: &'a Value, name: &str) -> Result<&'a str, AttestError> {
    let text = value.get(name).and_then(Value::as_str);
    text.ok_or_else(|| AttestError::malformed(WHAT, format!("/{name}: expected a string")))
}

fn read_number(value: &Value, name: &str) -> Result<u64, AttestError> {
    let number = value.get(name).and_then(Value::as_u64);
    number.ok_or_else(|| AttestError::malformed(WHAT, format!("/{name}: expected an integer")))
}

fn read_time(value: &Value, name: &str) -> Result<Timestamp, AttestError> {
    read_text(value, name)?.parse().map_err(|error| AttestError::malformed(WHAT, format!("/{name}: {error}")))
}

fn read_parsed<T: std::str::FromStr<Err = quorum_schemas::SchemasError>>(value: &Value) -> Result<T, AttestError> {
    value.as_str().unwrap_or_default().parse().map_err(|error| AttestError::malformed(WHAT, error))
}
