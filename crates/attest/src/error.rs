//! Why something is not authentic, not a key or not a trust root: one variant per reason.

use quorum_schemas::{Digest, ErrorEntry, SchemaViolation, Timestamp, error_codes};
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
    /// At any time one id of a role has one key.
    #[error(
        "duplicate_id: {role} `{id}` would have two keys at the same time; choose another id, or let the first key end \
         before the second begins (`quorum trust replace-key`)"
    )]
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
    #[error(
        "threshold_not_met: {found} root keys of {whose} version signed, {needed} must; {} missing \
         (`quorum trust sign` adds one)", signatures(.needed.saturating_sub(*.found))
    )]
    ThresholdNotMet {
        /// `this` or `the previous`.
        whose: &'static str,
        /// The threshold.
        needed: u64,
        /// Distinct keys with a valid signature.
        found: u64,
    },
    /// A threshold of signers that can never be met, or that anyone meets.
    #[error(
        "signers_threshold_invalid: threshold {threshold}, distinct keys {keys}; it must be 1 to the number of keys"
    )]
    SignersThresholdInvalid {
        /// The threshold.
        threshold: usize,
        /// Distinct keys given.
        keys: usize,
    },
    /// Too few distinct keys signed a foreign envelope.
    #[error("not_enough_signers: {found} of the keys signed these bytes, {needed} must")]
    NotEnoughSigners {
        /// Distinct keys with a signature that verifies.
        found: usize,
        /// The threshold.
        needed: usize,
    },
    /// Versions follow each other without gaps and never go back.
    #[error("version_not_successor: version {found} does not follow version {current}; expected {}", .current.saturating_add(1))]
    VersionNotSuccessor {
        /// The version held.
        current: u64,
        /// The version offered.
        found: u64,
    },
    /// An older trust root than one that was used before, however valid it still is.
    #[error(
        "trust_rollback: version {found} of the trust root, but version {known} was used before; bring the newest one"
    )]
    TrustRollback {
        /// The version offered.
        found: u64,
        /// The version used before.
        known: u64,
    },
    /// Another content under a version number that was used before or is pinned.
    #[error(
        "trust_forked: version {version} of the trust root is {found}, but {known} was used before or is pinned; find \
         out who signed the second one"
    )]
    TrustForked {
        /// The version of both.
        version: u64,
        /// The digest offered.
        found: Digest,
        /// The digest known.
        known: Digest,
    },
    /// A version in between is not there, so that the chain of signatures cannot be followed.
    #[error(
        "trust_gap: version {found} of the trust root after version {known}, and version {missing} is missing; put it \
         beside the newest one as `trust.{missing}.json`"
    )]
    TrustGap {
        /// The version offered.
        found: u64,
        /// The version used before; 0 if none.
        known: u64,
        /// The first version that is not there.
        missing: u64,
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

error_codes! {
    impl AttestError in "attest" {
        Self::Malformed { .. } => "malformed",
            "The document is not in our own form: canonical bytes, the members of the format and nothing else.",
            "Write it with quorum, and do not edit or reformat it afterwards.";
        Self::SchemaInvalid { .. } => "schema_invalid", "The document does not follow its schema.",
            "Correct the places that the message names; `quorum schema show` prints schemas.";
        Self::WrongType { .. } => "wrong_type", "Another kind of document than the one expected here.",
            "Give the document that the option or the place asks for.";
        Self::UnknownSigner { .. } => "unknown_signer", "No entry of the trust root has the key that signed.",
            "Have the key added with `quorum trust add`, or sign with a key that is listed.";
        Self::WrongRole { .. } => "wrong_role", "The key's role may not sign this kind of document.",
            "Sign with a key of the right role; `quorum trust show` lists roles.";
        Self::IdMismatch { .. } => "id_mismatch", "The document names somebody else than its signer as its author.",
            "Sign with the key of the one that the document names.";
        Self::BadSignature { .. } => "bad_signature",
            "The signature does not verify: the bytes were changed, or another key signed them.",
            "Get the original file again; if it is the original, do not trust it.";
        Self::KeyNotValidThen { .. } => "key_not_valid_then",
            "The document was received outside the time for which its key is valid.",
            "Sign with a valid key, or have the trust root extend the entry.";
        Self::KeyRevoked { .. } => "key_revoked", "The document was received after its key was revoked.",
            "Sign with another key.";
        Self::KeyMalformed { .. } => "key_malformed", "The file or text is not an Ed25519 key in the form named.",
            "Make a key with `quorum keys new`; `quorum keys show --pem` prints the public one.";
        Self::KeyNotCanonical { .. } => "key_not_canonical",
            "The public key is encoded in a form beside which another could stand.",
            "Make a new key with `quorum keys new`.";
        Self::WeakKey { .. } => "weak_key", "The public key has small order: anybody can make signatures for it.",
            "Make a new key with `quorum keys new`.";
        Self::KeyIdMalformed { .. } => "key_id_malformed", "The text is not a key id of 64 lower-case hex digits.",
            "`quorum keys show` prints the id of a key.";
        Self::RoleUnknown { .. } => "role_unknown", "The word is not a role.",
            "Use author, worker, coordinator, verifier or gate.";
        Self::TrustRootExpired { .. } => "trust_root_expired", "The trust root's time is over.",
            "Install its successor, which the holders of the root keys sign.", exit 2;
        Self::TrustRootNotYetValid { .. } => "trust_root_not_yet_valid", "The trust root is issued in the future.",
            "Check this machine's clock.", exit 2;
        Self::DuplicatePublicKey { .. } => "duplicate_public_key",
            "One public key stands twice in the trust root, so one holder could count as two.",
            "Give every entry a key of its own.";
        Self::DuplicateId { .. } => "duplicate_id", "One id of a role has two keys at the same time.",
            "Choose another id, or replace the key with `quorum trust replace-key`.";
        Self::DuplicatePolicy { .. } => "duplicate_policy", "A list of policies names one of them twice.",
            "Name it once.";
        Self::ThresholdInvalid { .. } => "threshold_invalid", "The threshold is 0 or above the number of root keys.",
            "Choose a threshold from 1 to the number of root keys.";
        Self::ThresholdNotMet { .. } => "threshold_not_met", "Too few distinct root keys signed.",
            "Have more holders sign: `--propose FILE` writes a proposal, to which `quorum trust sign` adds signatures.";
        Self::SignersThresholdInvalid { .. } => "signers_threshold_invalid",
            "The threshold of signers is 0 or above the number of distinct keys.",
            "Choose a threshold from 1 to the number of keys.";
        Self::NotEnoughSigners { .. } => "not_enough_signers", "Too few of the keys signed the envelope of another tool.",
            "Check that the keys are the signers' and that the payload and its type were not changed.";
        Self::VersionNotSuccessor { .. } => "version_not_successor",
            "Versions of a trust root follow each other by one, and this one does not.",
            "Bring the versions in between, in order.";
        Self::TrustRollback { .. } => "trust_rollback",
            "The trust root is older than one that was used before, however valid it still is.",
            "Bring the newest version; find out why an old one was handed out.";
        Self::TrustForked { .. } => "trust_forked",
            "The version of the trust root says something else than the one that was used before or is pinned.",
            "Find out who signed the second one before anything else.";
        Self::TrustGap { .. } => "trust_gap",
            "A version of the trust root between the one used before and the newest is not there.",
            "Put every version in between beside the newest one as `trust.<version>.json`.";
        Self::IdInvalid { .. } => "id_invalid", "An id that the mesh could not carry.",
            "Choose an id that fits the message's bounds.";
        Self::AttributeInvalid { .. } => "attribute_invalid", "An attribute that could not be compared.",
            "Write it as AXIS=VALUE within the bounds that the message names.";
        Self::TimesInconsistent { .. } => "times_inconsistent", "Two times of the trust root contradict each other.",
            "Correct the one that the message names.";
        Self::TooMany { .. } => "too_many", "More of something than the limit allows.", "Use fewer.";
        Self::EntryUnknown { .. } => "entry_unknown", "The trust root has no such entry.",
            "`quorum trust show` lists the entries.";
        Self::RevocationWeakened { .. } => "revocation_weakened", "A revocation never moves later.",
            "Give an earlier time, or leave it as it is.";
    }
}

impl AttestError {
    /// The message without its code, for who shows the code apart.
    #[must_use]
    pub fn words(&self) -> String {
        let message = self.to_string();
        let words = message.strip_prefix(self.code()).and_then(|rest| rest.strip_prefix(": "));
        words.map(str::to_owned).unwrap_or(message)
    }

    pub(crate) fn malformed(what: &'static str, reason: impl ToString) -> Self {
        Self::Malformed { what, reason: reason.to_string() }
    }
}

fn list(violations: &[SchemaViolation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn signatures(missing: u64) -> String {
    format!("{missing} signature{} {}", if missing == 1 { "" } else { "s" }, if missing == 1 { "is" } else { "are" })
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|id| format!("; did you mean `{id}`?")).unwrap_or_default()
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    AttestError::ENTRIES.to_vec()
}
