//! A trust root before it is signed.

use quorum_schemas::{Digest, Timestamp};

use super::entry::Entry;
use super::payload::Payload;
use super::root::TrustRoot;
use crate::dsse::{self, Signed};
use crate::{AttestError, PublicKey, Role, SigningKey, TRUST_PAYLOAD_TYPE, limits, pae};

/// How far a revocation reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation {
    /// From when on nothing of the key is admitted.
    pub at: Timestamp,
    /// From when on somebody else may have had it, if that is known to be earlier.
    pub compromised_since: Option<Timestamp>,
}

/// The editable content of a trust root.
#[derive(Debug, Clone)]
pub struct TrustDraft {
    payload: Payload,
    previous: Option<TrustRoot>,
}

impl From<&TrustRoot> for TrustDraft {
    fn from(root: &TrustRoot) -> Self {
        Self { payload: root.payload.clone(), previous: Some(root.clone()) }
    }
}

impl TrustDraft {
    /// Version 1, without entries and policies.
    #[must_use]
    pub fn new(issued_at: Timestamp, expires_at: Timestamp, threshold: u64, root_keys: Vec<PublicKey>) -> Self {
        let (entries, policies) = (Vec::new(), Vec::new());
        let payload = Payload { version: 1, issued_at, expires_at, threshold, root_keys, entries, policies };
        Self { payload, previous: None }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// As [`TrustDraft::add_all`].
    pub fn add(&mut self, entry: Entry) -> Result<(), AttestError> {
        self.add_all([entry])
    }

    /// Adds entries, all or none; the whole root is checked once.
    ///
    /// # Errors
    /// [`AttestError::DuplicatePublicKey`], [`AttestError::DuplicateId`], [`AttestError::TooMany`] and the checks of an
    /// entry; the draft is then unchanged.
    pub fn add_all(&mut self, entries: impl IntoIterator<Item = Entry>) -> Result<(), AttestError> {
        self.edit(|payload| {
            payload.entries.extend(entries);
            Ok(())
        })
    }

    /// Revokes a key. A revocation that stands may only move earlier.
    ///
    /// # Errors
    /// [`AttestError::EntryUnknown`], [`AttestError::RevocationWeakened`], [`AttestError::TimesInconsistent`].
    pub fn revoke(&mut self, role: Role, id: &str, revocation: Revocation) -> Result<(), AttestError> {
        self.edit(|payload| {
            let entry = find(payload, role, id)?;
            let weaker =
                |old: Option<Timestamp>, new: Option<Timestamp>| old.is_some_and(|old| new.is_none_or(|new| new > old));
            if let Some(revoked_at) = entry.revoked_at
                && (weaker(Some(revoked_at), Some(revocation.at))
                    || weaker(entry.compromised_since, revocation.compromised_since))
            {
                return Err(AttestError::RevocationWeakened { role, id: id.to_owned(), revoked_at });
            }
            entry.revoked_at = Some(revocation.at);
            entry.compromised_since = revocation.compromised_since;
            Ok(())
        })
    }

    /// Lays a key down in good order: what was received before `at` stays.
    ///
    /// # Errors
    /// [`AttestError::EntryUnknown`].
    pub fn retire(&mut self, role: Role, id: &str, at: Timestamp) -> Result<(), AttestError> {
        self.edit(|payload| {
            find(payload, role, id)?.retired_at = Some(at);
            Ok(())
        })
    }

    /// Admits the policy file with this SHA-256. Admitting it again changes nothing.
    ///
    /// # Errors
    /// [`AttestError::TooMany`].
    pub fn admit_policy(&mut self, digest: Digest) -> Result<(), AttestError> {
        self.edit(|payload| {
            if !payload.policies.contains(&digest) {
                payload.policies.push(digest);
            }
            Ok(())
        })
    }

    /// No longer admits a policy. `false` if it was not admitted.
    pub fn withdraw_policy(&mut self, digest: &Digest) -> bool {
        let before = self.payload.policies.len();
        self.payload.policies.retain(|admitted| admitted != digest);
        self.payload.policies.len() < before
    }

    /// Rotates the root keys.
    ///
    /// # Errors
    /// [`AttestError::ThresholdInvalid`], [`AttestError::DuplicatePublicKey`], [`AttestError::TooMany`].
    pub fn set_root_keys(&mut self, threshold: u64, root_keys: Vec<PublicKey>) -> Result<(), AttestError> {
        self.edit(|payload| {
            payload.threshold = threshold;
            payload.root_keys = root_keys;
            Ok(())
        })
    }

    /// Makes this the draft of the version after the one it was made from.
    pub fn next_version(&mut self, issued_at: Timestamp, expires_at: Timestamp) {
        let current = self.previous.as_ref().map_or(self.payload.version, TrustRoot::version);
        self.payload.version = current.saturating_add(1);
        self.payload.issued_at = issued_at;
        self.payload.expires_at = expires_at;
    }

    /// The version that signing would write.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.payload.version
    }

    /// Signs and returns the bytes of `trust.json`. A key given twice signs once. The result is read back as its
    /// readers will read it, so that nothing is written that they would refuse.
    ///
    /// # Errors
    /// Those of [`TrustRoot::load`]; for a draft made from a root also those of [`TrustRoot::accept_successor`];
    /// [`AttestError::UnknownSigner`] for a key that is no root key of either version.
    pub fn sign(&self, keys: &[&SigningKey]) -> Result<Vec<u8>, AttestError> {
        let mut payload = self.payload.clone();
        payload.sort();
        let payload_bytes = payload.to_bytes()?;
        let message = pae(TRUST_PAYLOAD_TYPE, &payload_bytes);
        let previous = self.previous.as_ref().map(TrustRoot::root_keys).unwrap_or_default();
        let mut signatures = Vec::new();
        for key in keys {
            let public = key.public();
            let key_id = public.key_id();
            if !payload.root_keys.contains(&public) && !previous.contains(&public) {
                return Err(AttestError::UnknownSigner { key_id });
            }
            signatures.push(Signed { key_id, signature: key.sign_bytes(&message) });
        }
        signatures.sort_by_key(|signed| signed.key_id);
        signatures.dedup_by_key(|signed| signed.key_id);
        if signatures.is_empty() {
            let needed = payload.threshold;
            return Err(AttestError::ThresholdNotMet { whose: "this", needed, found: 0 });
        }
        if signatures.len() > limits::TRUST_SIGNATURES {
            let (found, limit) = (signatures.len(), limits::TRUST_SIGNATURES);
            return Err(AttestError::TooMany { what: "signatures of a trust root", found, limit });
        }
        let bytes = dsse::write(TRUST_PAYLOAD_TYPE, &payload_bytes, &signatures);
        match &self.previous {
            Some(previous) => previous.accept_successor(&bytes)?,
            None => TrustRoot::load(&bytes)?,
        };
        Ok(bytes)
    }

    /// Applies a change to a copy, and keeps it only if the result is a possible trust root.
    fn edit(&mut self, change: impl FnOnce(&mut Payload) -> Result<(), AttestError>) -> Result<(), AttestError> {
        let mut changed = self.payload.clone();
        change(&mut changed)?;
        changed.check()?;
        self.payload = changed;
        Ok(())
    }
}

fn find<'a>(payload: &'a mut Payload, role: Role, id: &str) -> Result<&'a mut Entry, AttestError> {
    let nearest = payload
        .entries
        .iter()
        .filter(|entry| entry.role == role)
        .map(|entry| (strsim::damerau_levenshtein(&entry.id, id), entry.id.clone()))
        .min()
        .filter(|(distance, _)| *distance <= 3)
        .map(|(_, id)| id);
    payload
        .entries
        .iter_mut()
        .find(|entry| entry.role == role && entry.id == id)
        .ok_or_else(|| AttestError::EntryUnknown { role, id: id.to_owned(), nearest })
}
