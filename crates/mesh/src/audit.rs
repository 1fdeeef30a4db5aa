//! Audit records: what was refused, leased, contradicted or given up.

use quorum_schemas::{Digest, Value};

use crate::{Mesh, MeshError, Place, Published};

/// The body of an audit message: C1 of {kind, code, place, digest, publisher, handoff?, detail?}.
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
    pub handoff: Option<Digest>,
}

impl AuditRecord {
    /// The C1 body.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        todo!()
    }

    /// As a document.
    #[must_use]
    pub fn to_value(&self) -> Value {
        todo!()
    }

    /// Reads a body strictly.
    ///
    /// # Errors
    /// `message_malformed`.
    pub fn parse(body: &[u8]) -> Result<Self, MeshError> {
        todo!("{}", body.len())
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
