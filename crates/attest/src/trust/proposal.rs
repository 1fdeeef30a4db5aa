//! A version on its way from holder to holder of the root keys.

use quorum_schemas::Digest;

use super::payload::Payload;
use super::root::{TrustRoot, count_signatures};
use crate::dsse::{self, Parts, Signed};
use crate::{AttestError, KeyId, SigningKey, TRUST_PAYLOAD_TYPE, limits, pae};

/// A possible next version that not all who must have signed. Its content is fixed: every signature is over the same
/// bytes, so whoever changes them on the way spoils those that are there. It is no trust root before
/// [`TrustProposal::finish`] says so; [`TrustRoot::load`] refuses its file.
#[derive(Debug, Clone)]
pub struct TrustProposal {
    pub(super) payload: Payload,
    pub(super) previous: Option<TrustRoot>,
    parts: Parts,
}

/// How many signatures are still missing; a holder of a key of both versions gives one to each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lacking {
    /// Of root keys of the new version.
    pub own: u64,
    /// Of root keys of the previous version; 0 for version 1.
    pub previous: u64,
}

impl Lacking {
    /// Whether nothing is missing.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self == Self { own: 0, previous: 0 }
    }
}

impl TrustProposal {
    /// A proposal that nobody has signed yet.
    pub(super) fn new(payload: Payload, previous: Option<TrustRoot>) -> Result<Self, AttestError> {
        let parts =
            Parts { payload_type: TRUST_PAYLOAD_TYPE.to_owned(), payload: payload.to_bytes()?, signatures: Vec::new() };
        let proposal = Self { payload, previous, parts };
        // Without a previous version it stands for itself, under whatever number.
        if proposal.previous.is_some() {
            proposal.check_version()?;
        }
        Ok(proposal)
    }

    /// Reads a proposal for the version after `previous`, or for version 1. Every signature in it is verified, and is of
    /// a root key of one of both versions.
    ///
    /// # Errors
    /// [`AttestError::Malformed`], [`AttestError::WrongType`], [`AttestError::SchemaInvalid`], the checks of the
    /// content, [`AttestError::VersionNotSuccessor`], [`AttestError::UnknownSigner`], [`AttestError::BadSignature`].
    pub fn read(bytes: &[u8], previous: Option<&TrustRoot>) -> Result<Self, AttestError> {
        let parts = dsse::read(bytes, limits::TRUST_FILE, limits::TRUST_SIGNATURES)?;
        if parts.payload_type != TRUST_PAYLOAD_TYPE {
            let found = limits::shorten(&parts.payload_type);
            return Err(AttestError::WrongType { expected: TRUST_PAYLOAD_TYPE, found });
        }
        let payload = Payload::parse(&parts.payload)?;
        let proposal = Self { payload, previous: previous.cloned(), parts };
        proposal.check_version()?;
        proposal.lacking()?;
        let stranger = proposal.signers().find(|key_id| !proposal.may_sign(key_id));
        match stranger {
            Some(key_id) => Err(AttestError::UnknownSigner { key_id }),
            None => Ok(proposal),
        }
    }

    fn check_version(&self) -> Result<(), AttestError> {
        let (current, found) = (self.previous.as_ref().map_or(0, TrustRoot::version), self.payload.version);
        if current.checked_add(1) == Some(found) {
            return Ok(());
        }
        Err(AttestError::VersionNotSuccessor { current, found })
    }

    fn may_sign(&self, key_id: &KeyId) -> bool {
        let previous = self.previous.as_ref().map(TrustRoot::root_keys).unwrap_or_default();
        self.payload.root_keys.iter().chain(previous).any(|key| key.key_id() == *key_id)
    }

    /// Adds the signature of one more holder. A key that has signed changes nothing.
    ///
    /// # Errors
    /// [`AttestError::UnknownSigner`] for a key that is no root key of either version; [`AttestError::TooMany`].
    pub fn sign(&mut self, key: &SigningKey) -> Result<(), AttestError> {
        let key_id = key.public().key_id();
        if !self.may_sign(&key_id) {
            return Err(AttestError::UnknownSigner { key_id });
        }
        if self.signers().any(|signer| signer == key_id) {
            return Ok(());
        }
        if self.parts.signatures.len() == limits::TRUST_SIGNATURES {
            let (found, limit) = (limits::TRUST_SIGNATURES + 1, limits::TRUST_SIGNATURES);
            return Err(AttestError::TooMany { what: "signatures of a trust root", found, limit });
        }
        let signature = key.sign_bytes(&pae(TRUST_PAYLOAD_TYPE, &self.parts.payload));
        self.parts.signatures.push(Signed { key_id, signature });
        self.parts.signatures.sort_by_key(|signed| signed.key_id);
        Ok(())
    }

    /// Whose signatures are missing, in numbers.
    ///
    /// # Errors
    /// [`AttestError::BadSignature`]: the bytes were changed after somebody signed them.
    pub fn lacking(&self) -> Result<Lacking, AttestError> {
        let missing =
            |of: &Payload| Ok::<_, AttestError>(of.threshold.saturating_sub(count_signatures(&self.parts, of)?));
        let previous = self.previous.as_ref().map(|root| missing(&root.payload)).transpose()?;
        Ok(Lacking { own: missing(&self.payload)?, previous: previous.unwrap_or(0) })
    }

    /// The trust root, once all who must have signed: read back as its readers will read it.
    ///
    /// # Errors
    /// Those of [`TrustRoot::load`] and [`TrustRoot::accept_successor`], above all [`AttestError::ThresholdNotMet`].
    pub fn finish(&self) -> Result<TrustRoot, AttestError> {
        match &self.previous {
            Some(previous) => previous.accept_successor(&self.bytes()),
            None => TrustRoot::load(&self.bytes()),
        }
    }

    /// The file. With no signature at all nobody can read it.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        dsse::write(TRUST_PAYLOAD_TYPE, &self.parts.payload, &self.parts.signatures)
    }

    /// SHA-256 of the content that is signed: what holders tell each other, since it is the same for all of them.
    #[must_use]
    pub fn content(&self) -> Digest {
        Digest::of(&self.parts.payload)
    }

    /// The version that it would be.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.payload.version
    }

    /// The key ids that have signed, sorted.
    pub fn signers(&self) -> impl Iterator<Item = KeyId> + '_ {
        self.parts.signatures.iter().map(|signed| signed.key_id)
    }
}
