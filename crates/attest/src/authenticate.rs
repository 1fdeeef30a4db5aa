//! From an envelope to a statement that somebody really made.

use quorum_schemas::{Digest, Timestamp, Value};

use crate::{AttestError, Entry, Envelope, PAYLOAD_TYPE, PredicateType, Statement, TrustRoot};

/// A statement whose signature, type, role and time were checked. Only [`authenticate`] builds one.
#[derive(Debug, Clone, PartialEq)]
pub struct Authentic {
    envelope: Digest,
    statement: Statement,
    signer: Entry,
    received_at: Timestamp,
}

impl Authentic {
    /// Digest of the envelope's bytes.
    #[must_use]
    pub fn envelope(&self) -> Digest {
        self.envelope
    }

    /// What was signed.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// The predicate of the statement.
    #[must_use]
    pub fn predicate(&self) -> &Value {
        &self.statement.predicate
    }

    /// Who signed, as the trust root knows it.
    #[must_use]
    pub fn signer(&self) -> &Entry {
        &self.signer
    }

    /// When the envelope was received: the time at which it was judged.
    #[must_use]
    pub fn received_at(&self) -> Timestamp {
        self.received_at
    }
}

/// Checks `envelope` against `trust`: the signer must stand in it, in a role that may say `expected`, with a signature
/// that verifies, and must have been valid when the envelope was received. Times claimed inside the payload are not
/// looked at. Whether the trust root itself is current is [`TrustRoot::check_current`].
///
/// # Errors
/// The first of [`AttestError::WrongType`] (payload type), [`AttestError::Malformed`], [`AttestError::WrongType`]
/// (predicate type), [`AttestError::UnknownSigner`], [`AttestError::WrongRole`], [`AttestError::BadSignature`],
/// [`AttestError::KeyNotValidThen`], [`AttestError::KeyRevoked`].
pub fn authenticate(
    envelope: &Envelope,
    trust: &TrustRoot,
    expected: PredicateType,
    received_at: Timestamp,
) -> Result<Authentic, AttestError> {
    if envelope.payload_type() != PAYLOAD_TYPE {
        let found = crate::limits::shorten(envelope.payload_type());
        return Err(AttestError::WrongType { expected: PAYLOAD_TYPE, found });
    }
    let statement = Statement::parse(envelope.payload())?;
    if statement.predicate_type != expected {
        let found = statement.predicate_type.uri().to_owned();
        return Err(AttestError::WrongType { expected: expected.uri(), found });
    }
    let key_id = envelope.key_id();
    let signer = trust.by_key_id(&key_id).ok_or(AttestError::UnknownSigner { key_id })?;
    if !expected.allowed_roles().contains(&signer.role) {
        return Err(AttestError::WrongRole { role: signer.role, id: signer.id.clone(), predicate_type: expected });
    }
    envelope.verify(&signer.public_key)?;
    signer.check_valid(received_at)?;
    Ok(Authentic { envelope: envelope.digest(), statement, signer: signer.clone(), received_at })
}
