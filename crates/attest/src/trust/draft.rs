//! A trust root before it is signed.

use quorum_schemas::{Digest, Timestamp};

use super::entry::Entry;
use super::payload::Payload;
use super::proposal::TrustProposal;
use super::root::TrustRoot;
use crate::{AttestError, KeyId, PublicKey, Role, SigningKey};

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

    /// Revokes a key: the one named by `key`, else the newest of this id. A revocation that stands may only move earlier.
    ///
    /// # Errors
    /// [`AttestError::EntryUnknown`], [`AttestError::RevocationWeakened`], [`AttestError::TimesInconsistent`].
    pub fn revoke(
        &mut self,
        (role, id): (Role, &str),
        key: Option<KeyId>,
        revocation: Revocation,
    ) -> Result<(), AttestError> {
        self.edit(|payload| revoke(find(payload, role, id, key)?, revocation))
    }

    /// Lays a key down in good order: what was received before `at` stays. The key named by `key`, else the newest.
    ///
    /// # Errors
    /// [`AttestError::EntryUnknown`].
    pub fn retire(&mut self, (role, id): (Role, &str), key: Option<KeyId>, at: Timestamp) -> Result<(), AttestError> {
        self.edit(|payload| {
            find(payload, role, id, key)?.retired_at = Some(at);
            Ok(())
        })
    }

    /// Rotates the key of an entry: the newest key of this id is retired at `at`, or revoked with `revocation`, and
    /// `key` takes its place from then until `valid_until`, with the same attributes.
    ///
    /// # Errors
    /// [`AttestError::EntryUnknown`], [`AttestError::DuplicatePublicKey`], [`AttestError::RevocationWeakened`],
    /// [`AttestError::TimesInconsistent`], [`AttestError::TooMany`].
    pub fn replace_key(
        &mut self,
        (role, id): (Role, &str),
        key: PublicKey,
        (at, valid_until): (Timestamp, Timestamp),
        revocation: Option<Revocation>,
    ) -> Result<(), AttestError> {
        self.edit(|payload| {
            let old = find(payload, role, id, None)?;
            match revocation {
                Some(revocation) => revoke(old, revocation)?,
                None => old.retired_at = Some(old.retired_at.map_or(at, |retired| retired.min(at))),
            }
            let mut entry = Entry::new(role, id, key, at, valid_until);
            entry.attributes.clone_from(&old.attributes);
            payload.entries.push(entry);
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
    /// Those of [`TrustDraft::propose`] and [`TrustProposal::finish`]: above all [`AttestError::ThresholdNotMet`].
    pub fn sign(&self, keys: &[&SigningKey]) -> Result<Vec<u8>, AttestError> {
        let needed = self.payload.threshold;
        if keys.is_empty() {
            return Err(AttestError::ThresholdNotMet { whose: "this", needed, found: 0 });
        }
        Ok(self.propose(keys)?.finish()?.bytes().to_vec())
    }

    /// Signs with some of the keys that must; the other holders add theirs to the proposal.
    ///
    /// # Errors
    /// The checks of the content; [`AttestError::VersionNotSuccessor`]; [`AttestError::UnknownSigner`] for a key that is
    /// no root key of either version.
    pub fn propose(&self, keys: &[&SigningKey]) -> Result<TrustProposal, AttestError> {
        let mut payload = self.payload.clone();
        payload.sort();
        let mut proposal = TrustProposal::new(payload, self.previous.clone())?;
        keys.iter().try_for_each(|key| proposal.sign(key))?;
        Ok(proposal)
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

fn revoke(entry: &mut Entry, revocation: Revocation) -> Result<(), AttestError> {
    let weaker =
        |old: Option<Timestamp>, new: Option<Timestamp>| old.is_some_and(|old| new.is_none_or(|new| new > old));
    if let Some(revoked_at) = entry.revoked_at
        && (weaker(Some(revoked_at), Some(revocation.at))
            || weaker(entry.compromised_since, revocation.compromised_since))
    {
        return Err(AttestError::RevocationWeakened { role: entry.role, id: entry.id.clone(), revoked_at });
    }
    entry.revoked_at = Some(revocation.at);
    entry.compromised_since = revocation.compromised_since;
    Ok(())
}

/// The entry of this id that has this key, else its newest.
fn find<'a>(payload: &'a mut Payload, role: Role, id: &str, key: Option<KeyId>) -> Result<&'a mut Entry, AttestError> {
    let nearest = payload
        .entries
        .iter()
        .filter(|entry| entry.role == role)
        .map(|entry| (strsim::damerau_levenshtein(&entry.id, id), entry.id.clone()))
        .min()
        .filter(|(distance, _)| (1..=3).contains(distance))
        .map(|(_, id)| id);
    let named = payload.entries.iter_mut().filter(|entry| entry.role == role && entry.id == id);
    named
        .filter(|entry| key.is_none_or(|key| entry.public_key.key_id() == key))
        .max_by_key(|entry| entry.valid_from)
        .ok_or_else(|| AttestError::EntryUnknown { role, id: id.to_owned(), nearest })
}
