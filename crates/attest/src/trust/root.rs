//! A trust root that was loaded: its own threshold of root keys signed it.

use std::collections::BTreeMap;

use quorum_schemas::{Digest, Timestamp};

use super::entry::Entry;
use super::payload::Payload;
use crate::dsse::{self, Parts};
use crate::{AttestError, KeyId, PublicKey, Role, TRUST_PAYLOAD_TYPE, limits, pae};

/// A trust root whose form and signatures were checked. Whether it is the right one is the holder's business: daemons
/// hold it against a [`crate::TrustHistory`]; the gate takes a least version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRoot {
    bytes: Vec<u8>,
    digest: Digest,
    parts: Parts,
    pub(super) payload: Payload,
    keys: BTreeMap<KeyId, usize>,
}

impl TrustRoot {
    /// Reads the bytes of `trust.json`: C1, up to 16 signatures ordered by key id, of which a threshold of distinct
    /// keys must be of the root keys it names. A signature by another key is left to
    /// [`TrustRoot::accept_successor`].
    ///
    /// # Errors
    /// [`AttestError::Malformed`], [`AttestError::WrongType`], [`AttestError::SchemaInvalid`], the checks of the
    /// content, [`AttestError::BadSignature`], [`AttestError::ThresholdNotMet`].
    pub fn load(bytes: &[u8]) -> Result<Self, AttestError> {
        let parts = dsse::read(bytes, limits::TRUST_FILE, limits::TRUST_SIGNATURES)?;
        if parts.payload_type != TRUST_PAYLOAD_TYPE {
            let found = limits::shorten(&parts.payload_type);
            return Err(AttestError::WrongType { expected: TRUST_PAYLOAD_TYPE, found });
        }
        let payload = Payload::parse(&parts.payload)?;
        check_threshold("this", &parts, &payload)?;
        let keys = payload.entries.iter().enumerate().map(|(n, entry)| (entry.public_key.key_id(), n)).collect();
        Ok(Self { bytes: bytes.to_vec(), digest: Digest::of(bytes), parts, payload, keys })
    }

    /// Whether this root may be used at `now`: issued_at <= now < expires_at.
    ///
    /// # Errors
    /// [`AttestError::TrustRootNotYetValid`], [`AttestError::TrustRootExpired`].
    pub fn check_current(&self, now: Timestamp) -> Result<(), AttestError> {
        let (version, issued_at, expires_at) = (self.version(), self.issued_at(), self.expires_at());
        if now < issued_at {
            return Err(AttestError::TrustRootNotYetValid { version, issued_at, now });
        }
        if now >= expires_at {
            return Err(AttestError::TrustRootExpired { version, expires_at, now });
        }
        Ok(())
    }

    /// Reads the next version: this version + 1, signed by a threshold of this root's keys and by a threshold of its
    /// own, and by nobody else.
    ///
    /// # Errors
    /// As [`TrustRoot::load`]; [`AttestError::VersionNotSuccessor`]; [`AttestError::ThresholdNotMet`];
    /// [`AttestError::UnknownSigner`] for a signature by a key of neither.
    pub fn accept_successor(&self, bytes: &[u8]) -> Result<Self, AttestError> {
        let next = Self::load(bytes)?;
        if Some(next.version()) != self.version().checked_add(1) {
            return Err(AttestError::VersionNotSuccessor { current: self.version(), found: next.version() });
        }
        check_threshold("the previous", &next.parts, &self.payload)?;
        let known = |key_id: &KeyId| {
            self.root_keys().iter().chain(next.root_keys()).any(|root_key| root_key.key_id() == *key_id)
        };
        match next.parts.signatures.iter().find(|signed| !known(&signed.key_id)) {
            Some(stranger) => Err(AttestError::UnknownSigner { key_id: stranger.key_id }),
            None => Ok(next),
        }
    }

    /// Whether both say the same under the same version; they may have been signed by other root keys.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.parts.payload == other.parts.payload
    }

    /// The entry that has this key.
    #[must_use]
    pub fn by_key(&self, key: &PublicKey) -> Option<&Entry> {
        self.by_key_id(&key.key_id())
    }

    /// The entry that has the key of this id.
    #[must_use]
    pub fn by_key_id(&self, key_id: &KeyId) -> Option<&Entry> {
        self.keys.get(key_id).map(|index| &self.payload.entries[*index])
    }

    /// The entry of this role and id; where a key was replaced, the newest one.
    #[must_use]
    pub fn by_id(&self, role: Role, id: &str) -> Option<&Entry> {
        self.all_by_id(role, id).last()
    }

    /// Every key that this id ever had in this role, the oldest first.
    #[must_use]
    pub fn all_by_id(&self, role: Role, id: &str) -> &[Entry] {
        // `Payload::sort` ordered them.
        let entries = &self.payload.entries;
        let from = entries.partition_point(|entry| (entry.role, entry.id.as_str()) < (role, id));
        let until = entries.partition_point(|entry| (entry.role, entry.id.as_str()) <= (role, id));
        &entries[from..until]
    }

    /// The key that this id has in this role at `at`; there is never more than one.
    #[must_use]
    pub fn by_id_at(&self, role: Role, id: &str, at: Timestamp) -> Option<&Entry> {
        self.all_by_id(role, id).iter().find(|entry| entry.check_valid(at).is_ok())
    }

    /// Whether a policy file with this SHA-256 may be used.
    #[must_use]
    pub fn admits_policy(&self, digest: &Digest) -> bool {
        self.payload.policies.binary_search(digest).is_ok()
    }

    /// The version; the first is 1.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.payload.version
    }

    /// First instant of its validity.
    #[must_use]
    pub fn issued_at(&self) -> Timestamp {
        self.payload.issued_at
    }

    /// First instant after its validity.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.payload.expires_at
    }

    /// How many distinct root keys must sign.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        self.payload.threshold
    }

    /// The root keys, sorted by their bytes.
    #[must_use]
    pub fn root_keys(&self) -> &[PublicKey] {
        &self.payload.root_keys
    }

    /// The entries, sorted by role, id and the begin of their validity.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.payload.entries
    }

    /// The admissible policies, sorted.
    #[must_use]
    pub fn policies(&self) -> &[Digest] {
        &self.payload.policies
    }

    /// The key ids that signed this file, sorted. Those of root keys were verified; see [`TrustRoot::load`].
    pub fn signers(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.parts.signatures.iter().map(|signed| signed.key_id)
    }

    /// SHA-256 of the file: what a daemon pins.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Counts the distinct public keys of `authority` that signed `parts`. One bad signature under the name of a root key
/// refuses the whole file: somebody tampered with it.
pub(super) fn check_threshold(whose: &'static str, parts: &Parts, authority: &Payload) -> Result<(), AttestError> {
    let found = count_signatures(parts, authority)?;
    if found < authority.threshold {
        return Err(AttestError::ThresholdNotMet { whose, needed: authority.threshold, found });
    }
    Ok(())
}

/// How many distinct root keys of `authority` signed `parts`.
pub(super) fn count_signatures(parts: &Parts, authority: &Payload) -> Result<u64, AttestError> {
    let message = pae(&parts.payload_type, &parts.payload);
    let mut found = 0;
    // `check_keys` made the root keys distinct as bytes, so each is counted once.
    for key in &authority.root_keys {
        let key_id = key.key_id();
        if let Some(signed) = parts.signatures.iter().find(|signed| signed.key_id == key_id) {
            key.verify(&message, &signed.signature)?;
            found += 1;
        }
    }
    Ok(found)
}
