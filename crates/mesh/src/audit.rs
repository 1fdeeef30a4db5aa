//! Audit records: what was refused, leased, contradicted or given up.

use quorum_schemas::{C1Digest, Digest, Object, SchemasError, Value, c1, parse};

use crate::{Mesh, MeshError, Place, Published};

/// The body of an audit message: C1 of {kind, code, place, digest, publisher, handoff?}.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// `refusal`, `lease`, `equivocation`, `dead-letter` or another kind in `[a-z0-9-]`.
    pub kind: String,
    /// Stable reason code.
    pub code: String,
    /// Subject or JSON pointer of what it is about.
    pub place: String,
    /// Digest of what it is about.
    pub digest: Digest,
    /// Who published that.
    pub publisher: String,
    /// The handoff, where there is one.
    pub handoff: Option<C1Digest>,
}

impl AuditRecord {
    /// The C1 body.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        c1(&self.to_value())
    }

    /// As a document.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut members = Object::from([
            ("kind".to_owned(), self.kind.as_str().into()),
            ("code".to_owned(), self.code.as_str().into()),
            ("place".to_owned(), self.place.as_str().into()),
            ("digest".to_owned(), self.digest.into()),
            ("publisher".to_owned(), self.publisher.as_str().into()),
        ]);
        if let Some(handoff) = self.handoff {
            members.insert("handoff".to_owned(), handoff.into());
        }
        Value::Object(members)
    }

    /// Reads a body strictly.
    ///
    /// # Errors
    /// `message_malformed`.
    pub fn parse(body: &[u8]) -> Result<Self, MeshError> {
        let malformed = |reason: String| MeshError::MessageMalformed { place: "audit record".into(), reason };
        let value = parse(body).map_err(|error| malformed(error.to_string()))?;
        let text = |key: &str| {
            let text = value.get(key).and_then(Value::as_str).map(str::to_owned);
            text.ok_or_else(|| malformed(format!("`{key}` is not a text")))
        };
        let unreadable = |error: SchemasError| malformed(error.to_string());
        let record = Self {
            kind: text("kind")?,
            code: text("code")?,
            place: text("place")?,
            digest: text("digest")?.parse().map_err(unreadable)?,
            publisher: text("publisher")?,
            handoff: value.get("handoff").map(|_| text("handoff")?.parse().map_err(unreadable)).transpose()?,
        };
        // Unknown members and other spellings would not come out again.
        if record.to_bytes() == body { Ok(record) } else { Err(malformed("not the form that this mesh writes".into())) }
    }

    /// Where it is published: named by its own digest, so that a record stands once.
    #[must_use]
    pub fn place(&self) -> Place {
        Place::Audit { kind: self.kind.clone(), record: Digest::of(&self.to_bytes()) }
    }
}

impl Mesh {
    /// Publishes an audit record; the same record again is a success.
    ///
    /// # Errors
    /// Those of [`Mesh::publish`].
    pub async fn audit(&self, record: &AuditRecord) -> Result<Published, MeshError> {
        self.publish(&record.place(), &record.to_bytes()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_6_audit_record_round_trips_and_refuses_other_forms() {
        let mut record = AuditRecord {
            kind: "refusal".into(),
            code: "wrong_role".into(),
            place: "idkmesh.v1.x".into(),
            digest: Digest::of(b"x"),
            publisher: "v".into(),
            handoff: Some(Digest::c1(&"h".into())),
        };
        assert_eq!(AuditRecord::parse(&record.to_bytes()).unwrap(), record);
        record.handoff = None;
        let bytes = record.to_bytes();
        assert_eq!(AuditRecord::parse(&bytes).unwrap(), record);
        let text = String::from_utf8(bytes).unwrap();
        for bad in [text.replace("\"code\"", "\"note\":\"\",\"code\""), text.replace(':', ": "), "{}".into()] {
            assert_eq!(AuditRecord::parse(bad.as_bytes()).unwrap_err().code(), "message_malformed");
        }
    }
}
