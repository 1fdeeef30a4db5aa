//! Typed refusals of evidence: nothing is dropped silently.

use quorum_attest::KeyId;
use quorum_schemas::Digest;
use serde::{Deserialize, Serialize};

use crate::axes::words;
use crate::text;

words! {
    /// What a refusal takes away.
    RefusalKind {
        /// The envelope has no effect at all.
        Authenticity => "authenticity",
        /// The envelope cannot support; a reject in it still objects.
        Weight => "weight",
    }
}

words! {
/// The reasons for which evidence is refused (design section 5), in the order in which they are listed.
RefusalCode {
    /// Not an envelope in our own form, or no statement in it.
    Malformed => "malformed",
    /// The statement, the predicate or the result does not follow its schema (idk_v1).
    SchemaInvalid => "schema_invalid",
    /// Not evidence.
    WrongType => "wrong_type",
    /// Signed by a key whose role may not sign evidence.
    WrongRole => "wrong_role",
    /// Signed by a key that the trust root does not name.
    UnknownSigner => "unknown_signer",
    /// The signature does not verify.
    BadSignature => "bad_signature",
    /// Received outside the key's validity, or after it retired.
    KeyNotValidThen => "key_not_valid_then",
    /// Received after the key's revocation.
    KeyRevoked => "key_revoked",
    /// For another handoff.
    WrongHandoff => "wrong_handoff",
    /// For another candidate.
    WrongCandidate => "wrong_candidate",
    /// Binds another work unit (the rest of idk_p5 and idk_v6, idk_p7, idk_v7).
    WrongWorkUnit => "wrong_work_unit",
    /// Binds another manifest or attempt (idk_p4, idk_p6, idk_v5, the attempt of idk_p5 and idk_v6).
    WrongManifest => "wrong_manifest",
    /// Contradicts itself (idk_p8, idk_p9, idk_v8, idk_v11, idk_v14, idk_v15, idk_v16, a repeated check id, a plan
    /// digest or a verifier id other than the signed one).
    Inconsistent => "inconsistent",
    /// A required check is missing (idk_v9).
    IncompleteChecks => "incomplete_checks",
    /// The same key said the same in other bytes; of those that weigh the same the lowest envelope digest stands.
    Duplicate => "duplicate",
    /// A claimed time lies more than 120 s after the reception.
    ClockSkew => "clock_skew",
    /// Older than the policy's `max_age`.
    TooOld => "too_old",
    /// Weaker isolation than the policy or the work unit asks.
    IsolationTooWeak => "isolation_too_weak",
    /// A required check's result came over a weaker channel than the policy asks.
    ChannelTooWeak => "channel_too_weak",
    /// Not for the seat, try and epoch that its key holds.
    StaleEpoch => "stale_epoch",
    /// The work unit wants independence and the result disclaims it (idk_v12).
    NotIndependent => "not_independent",
    /// The verifier is the worker (idk_p10, idk_v13).
    SelfVerification => "self_verification",
    /// The bundle was not recomputed.
    BundleMissing => "bundle_missing",
    /// One key, one seat and try, different verdicts.
    Equivocation => "equivocation",
    /// Received after the time since which the key counts as compromised.
    SignerSinceRevoked => "signer_since_revoked",
}
}

impl RefusalCode {
    /// Whether it voids the envelope or only its support.
    #[must_use]
    pub fn kind(self) -> RefusalKind {
        if self <= Self::Duplicate { RefusalKind::Authenticity } else { RefusalKind::Weight }
    }
}

/// One reason why one envelope was not admitted, or not with full weight.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// Digest of the envelope's bytes.
    pub envelope: Digest,
    /// [`RefusalCode::kind`] of the code.
    pub kind: RefusalKind,
    /// The reason.
    pub code: RefusalCode,
    /// The signing key, as far as it is known.
    #[serde(with = "text::maybe_key", skip_serializing_if = "Option::is_none", default)]
    pub signer: Option<KeyId>,
    /// JSON Pointer into the statement, empty when the whole is meant.
    pub pointer: String,
    /// What is wrong, naming the values.
    pub message: String,
}
