//! Why something is not authentic, not a key or not a trust root: one variant per reason.

use quorum_schemas::{SchemaViolation, Timestamp};
use thiserror::Error;

use crate::{KeyId, PredicateType, Role};

/// Every refusal of this crate. No message ever contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AttestError {
    /// Not in our own form: canonical bytes, the members of the format and nothing else.
    #[error("malformed: {what}: {reason}")]
    Malformed {
        /// Which document.
        what: &'static str,
        /// What is wrong and where.
        reason: String,
    },
    /// The payload of a trust root does not follow its schema.
    #[error("schema_invalid: {what}: {}", list(.violations))]
    SchemaInvalid {
        /// Which document.
        what: &'static str,
        /// Every violation.
        violations: Vec<SchemaViolation>,
    },
    /// Another kind of document than the one expected here.
    #[error("wrong_type: expected {expected}, the signed bytes are {found}")]
    WrongType {
        /// Payload type or predicate type.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// No entry of the trust root has this key.
    #[error("unknown_signer: no entry of the trust root has the key {key_id}; `quorum trust show` lists them")]
    UnknownSigner {
        /// What the envelope claims.
        key_id: KeyId,
    },
    /// A key signs only what its role may say.
    #[error("wrong_role: {role} `{id}` may not sign {predicate_type}")]
    WrongRole {
        /// Role of the signer.
        role: Role,
        /// Id of the signer.
        id: String,
        /// What it signed.
        predicate_type: PredicateType,
    },
    /// A document that names somebody else than its signer as its author.
    #[error("id_mismatch: {pointer} is `{found}`, the key is of {role} `{id}`; sign with the key of `{found}`")]
    IdMismatch {
        /// JSON Pointer in the statement.
        pointer: String,
        /// Who stands there.
        found: String,
        /// Role of the signer.
        role: Role,
        /// Id of the signer.
        id: String,
    },
    /// The signature is not one of this key over these bytes.
    #[error(
        "bad_signature: the signature of {key_id} does not verify; the bytes were changed or signed by another key"
    )]
    BadSignature {
        /// Key whose signature it claims to be.
        key_id: KeyId,
    },
    /// Received outside the validity of the key, or after it was retired.
    #[error("key_not_valid_then: {role} `{id}` at {received_at}: {bound}")]
    KeyNotValidThen {
        /// Role of the signer.
        role: Role,
        /// Id of the signer.
        id: String,
        /// When the envelope was received.
        received_at: Timestamp,
        /// Which bound, with its time.
        bound: String,
    },
    /// Received at or after the revocation of the key.
    #[error("key_revoked: {role} `{id}` was revoked at {revoked_at}, the envelope was received at {received_at}")]
    KeyRevoked {
        /// Role of the signer.
        role: Role,
        /// Id of the signer.
        id: String,
        /// Time of the revocation.
        revoked_at: Timestamp,
        /// When the envelope was received.
        received_at: Timestamp,
    },
    /// Not an Ed25519 key in the form named.
    #[error("key_malformed: not {form}: {reason}")]
    KeyMalformed {
        /// The form expected.
        form: &'static str,
        /// What is wrong; never the contents.
        reason: &'static str,
    },
    /// An encoding of a point that another encoding of the same key could stand beside.
    #[error("key_not_canonical: the public key {hex} is not the canonical encoding of its point; make a new key")]
    KeyNotCanonical {
        /// The 32 bytes.
        hex: String,
    },
    /// A point of small order: signatures under it verify for messages that nobody signed.
    #[error("weak_key: the public key {hex} has small order; make a new key with `quorum keys new`")]
    WeakKey {
        /// The 32 bytes.
        hex: String,
    },
    /// Not 64 lower-case hex digits.
    #[error("key_id_malformed: `{found}` is not a key id (64 lower-case hex digits); `quorum keys show` prints it")]
    KeyIdMalformed {
        /// The text.
        found: String,
    },
    /// No such role.
    #[error("role_unknown: `{found}` is not a role; the roles are author, worker, coordinator, verifier, gate")]
    RoleUnknown {
        /// The text.
        found: String,
    },
    /// The trust root's time is over.
    #[error("trust_root_expired: version {version} expired at {expires_at}, it is {now}; install its successor")]
    TrustRootExpired {
        /// Version of the root.
        version: u64,
        /// End of its validity.
        expires_at: Timestamp,
        /// The time of the caller.
        now: Timestamp,
    },
    /// The trust root is of the future, or the clock is wrong.
    #[error("trust_root_not_yet_valid: version {version} was issued at {issued_at}, it is {now}; check the clock")]
    TrustRootNotYetValid {
        /// Version of the root.
        version: u64,
        /// Begin of its validity.
        issued_at: Timestamp,
        /// The time of the caller.
        now: Timestamp,
    },
    /// One public key may stand in a trust root once: otherwise one holder could count as two.
    #[error("duplicate_public_key: the key {key_id} stands twice, at {first} and at {second}; use another key")]
    DuplicatePublicKey {
        /// The key.
        key_id: KeyId,
        /// Where it stands.
        first: String,
        /// Where it stands again.
        second: String,
    },
    /// One id names one entry of a role.
    #[error("duplicate_id: {role} `{id}` stands twice; choose another id")]
    DuplicateId {
        /// The role.
        role: Role,
        /// The id.
        id: String,
    },
    /// A list of digests that names one of them twice.
    #[error("duplicate_policy: the policy {digest} is listed twice")]
    DuplicatePolicy {
        /// The digest.
        digest: String,
    },
    /// A threshold that can never be met, or that anyone meets.
    #[error("threshold_invalid: threshold {threshold}, root keys {root_keys}; it must be 1 to the number of keys")]
    ThresholdInvalid {
        /// The threshold.
        threshold: u64,
        /// Number of root keys.
        root_keys: usize,
    },
    /// Too few distinct root keys signed.
    #[error("threshold_not_met: {found} root keys of {whose} version signed, {needed} must")]
    ThresholdNotMet {
        /// `this` or `the previous`.
        whose: &'static str,
        /// The threshold.
        needed: u64,
        /// Distinct keys with a valid signature.
        found: u64,
    },
    /// Versions follow each other without gaps and never go back.
    #[error("version_not_successor: version {found} does not follow version {current}; expected {}", .current.saturating_add(1))]
    VersionNotSuccessor {
        /// The version held.
        current: u64,
        /// The version offered.
        found: u64,
    },
    /// A name that the mesh could not carry.
    #[error("id_invalid: `{id}` at {place}: {reason}")]
    IdInvalid {
        /// Where.
        place: String,
        /// The id.
        id: String,
        /// Why.
        reason: &'static str,
    },
    /// An attribute that could not be compared.
    #[error("attribute_invalid: `{axis}` at {place}: {reason}")]
    AttributeInvalid {
        /// Where.
        place: String,
        /// The axis.
        axis: String,
        /// Why.
        reason: &'static str,
    },
    /// Times that contradict each other.
    #[error("times_inconsistent: {place}: {reason}")]
    TimesInconsistent {
        /// Where.
        place: String,
        /// What contradicts what.
        reason: String,
    },
    /// More than a limit of this crate.
    #[error("too_many: {found} {what}, the limit is {limit}")]
    TooMany {
        /// What.
        what: &'static str,
        /// How many.
        found: usize,
        /// How many may be.
        limit: usize,
    },
    /// No such entry.
    #[error("entry_unknown: the trust root has no {role} `{id}`{}", suggestion(.nearest.as_deref()))]
    EntryUnknown {
        /// The role.
        role: Role,
        /// The id asked for.
        id: String,
        /// The nearest id of that role.
        nearest: Option<String>,
    },
    /// A revocation never moves later.
    #[error("revocation_weakened: {role} `{id}` is already revoked at {revoked_at}; a revocation only moves earlier")]
    RevocationWeakened {
        /// The role.
        role: Role,
        /// The id.
        id: String,
        /// The time that stands.
        revoked_at: Timestamp,
    },
}

impl AttestError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "malformed",
            Self::SchemaInvalid { .. } => "schema_invalid",
            Self::WrongType { .. } => "wrong_type",
            Self::UnknownSigner { .. } => "unknown_signer",
            Self::WrongRole { .. } => "wrong_role",
            Self::IdMismatch { .. } => "id_mismatch",
            Self::BadSignature { .. } => "bad_signature",
            Self::KeyNotValidThen { .. } => "key_not_valid_then",
            Self::KeyRevoked { .. } => "key_revoked",
            Self::KeyMalformed { .. } => "key_malformed",
            Self::KeyNotCanonical { .. } => "key_not_canonical",
            Self::WeakKey { .. } => "weak_key",
            Self::KeyIdMalformed { .. } => "key_id_malformed",
            Self::RoleUnknown { .. } => "role_unknown",
            Self::TrustRootExpired { .. } => "trust_root_expired",
            Self::TrustRootNotYetValid { .. } => "trust_root_not_yet_valid",
            Self::DuplicatePublicKey { .. } => "duplicate_public_key",
            Self::DuplicateId { .. } => "duplicate_id",
            Self::DuplicatePolicy { .. } => "duplicate_policy",
            Self::ThresholdInvalid { .. } => "threshold_invalid",
            Self::ThresholdNotMet { .. } => "threshold_not_met",
            Self::VersionNotSuccessor { .. } => "version_not_successor",
            Self::IdInvalid { .. } => "id_invalid",
            Self::AttributeInvalid { .. } => "attribute_invalid",
            Self::TimesInconsistent { .. } => "times_inconsistent",
            Self::TooMany { .. } => "too_many",
            Self::EntryUnknown { .. } => "entry_unknown",
            Self::RevocationWeakened { .. } => "revocation_weakened",
        }
    }

    pub(crate) fn malformed(what: &'static str, reason: impl ToString) -> Self {
        Self::Malformed { what, reason: reason.to_string() }
    }
}

fn list(violations: &[SchemaViolation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|id| format!("; did you mean `{id}`?")).unwrap_or_default()
}
