//! Subjects as types: what a message is, and where it stands.

use quorum_schemas::{C1Digest, Digest};

use crate::{BlobRole, MeshError, StreamName, token};

/// Root of every subject of the mesh.
pub const ROOT: &str = "idkmesh.v1";

/// One subject of design section 6.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A WorkUnit.
    Work {
        /// WorkUnit id.
        work: String,
        /// Its version.
        version: u64,
    },
    /// A ResultManifest.
    Result {
        /// Worker id.
        worker: String,
        /// WorkUnit id.
        work: String,
        /// Its version.
        version: u64,
        /// ResultManifest.attempt.
        attempt: u64,
    },
    /// A signed handoff.
    Handoff {
        /// Handoff id.
        handoff: C1Digest,
    },
    /// A seat offered to one verifier.
    Offer {
        /// Verifier id.
        verifier: String,
        /// Handoff id.
        handoff: C1Digest,
        /// The seat.
        seat: u32,
        /// The try.
        try_no: u32,
    },
    /// Signed evidence for a seat and try.
    Evidence {
        /// Verifier id.
        verifier: String,
        /// Handoff id.
        handoff: C1Digest,
        /// The seat.
        seat: u32,
        /// The try.
        try_no: u32,
    },
    /// A revision of a decision; the first is 1.
    Decision {
        /// Handoff id.
        handoff: C1Digest,
        /// The revision.
        revision: u32,
    },
    /// An audit record.
    Audit {
        /// Kind, for example `refusal`.
        kind: String,
        /// Digest of the record's bytes.
        record: Digest,
    },
    /// A chunk of a blob.
    Blob {
        /// Role of the publisher.
        role: BlobRole,
        /// Publisher id.
        publisher: String,
        /// Digest of the whole blob.
        sha256: Digest,
        /// Number of the chunk, from 0.
        chunk: u32,
    },
}

impl Place {
    /// The stream that stores it.
    #[must_use]
    pub fn stream(&self) -> StreamName {
        match self {
            Self::Work { .. } => StreamName::Work,
            Self::Result { .. } => StreamName::Results,
            Self::Handoff { .. } => StreamName::Handoffs,
            Self::Offer { .. } => StreamName::Offers,
            Self::Evidence { .. } => StreamName::Evidence,
            Self::Decision { .. } => StreamName::Decisions,
            Self::Audit { .. } => StreamName::Audit,
            Self::Blob { .. } => StreamName::Blobs,
        }
    }

    /// The subject.
    ///
    /// # Errors
    /// `id_empty`, `id_too_long` for an identity that has no token.
    pub fn subject(&self) -> Result<String, MeshError> {
        let t = token::encode;
        Ok(match self {
            Self::Work { work, version } => format!("{ROOT}.work.{}.{version}", t(work)?),
            Self::Result { worker, work, version, attempt } => {
                format!("{ROOT}.result.{}.{}.{version}.{attempt}", t(worker)?, t(work)?)
            }
            Self::Handoff { handoff } => format!("{ROOT}.handoff.{}", handoff.hex()),
            Self::Offer { verifier, handoff, seat, try_no } => {
                format!("{ROOT}.offer.{}.{}.{seat}.{try_no}", t(verifier)?, handoff.hex())
            }
            Self::Evidence { verifier, handoff, seat, try_no } => {
                format!("{ROOT}.evidence.{}.{}.{seat}.{try_no}", t(verifier)?, handoff.hex())
            }
            Self::Decision { handoff, revision } => format!("{ROOT}.decision.{}.{revision}", handoff.hex()),
            Self::Audit { kind, record } => format!("{ROOT}.audit.{}.{}", t(kind)?, record.hex()),
            Self::Blob { role, publisher, sha256, chunk } => {
                format!("{ROOT}.blob.{}.{}.{}.{chunk}", role.as_str(), t(publisher)?, sha256.hex())
            }
        })
    }

    /// Reads a subject back; the inverse of [`Place::subject`].
    ///
    /// # Errors
    /// `subject_unknown` or `token_malformed` for every subject that [`Place::subject`] does not write.
    pub fn parse(subject: &str) -> Result<Self, MeshError> {
        let unknown = || MeshError::SubjectUnknown(subject.to_owned());
        let handoff_id = |hex: &str| C1Digest::from_hex(hex).map_err(|_| unknown());
        let digest = |hex: &str| <Digest>::from_hex(hex).map_err(|_| unknown());
        let tokens: Vec<&str> = subject
            .strip_prefix(ROOT)
            .and_then(|rest| rest.strip_prefix('.'))
            .ok_or_else(unknown)?
            .split('.')
            .collect();
        let d = token::decode;
        let place = match tokens.as_slice() {
            ["work", work, version] => Self::Work { work: d(work)?, version: version.parse().map_err(|_| unknown())? },
            ["result", worker, work, version, attempt] => Self::Result {
                worker: d(worker)?,
                work: d(work)?,
                version: version.parse().map_err(|_| unknown())?,
                attempt: attempt.parse().map_err(|_| unknown())?,
            },
            ["handoff", handoff] => Self::Handoff { handoff: handoff_id(handoff)? },
            ["offer", verifier, handoff, seat, try_no] => Self::Offer {
                verifier: d(verifier)?,
                handoff: handoff_id(handoff)?,
                seat: seat.parse().map_err(|_| unknown())?,
                try_no: try_no.parse().map_err(|_| unknown())?,
            },
            ["evidence", verifier, handoff, seat, try_no] => Self::Evidence {
                verifier: d(verifier)?,
                handoff: handoff_id(handoff)?,
                seat: seat.parse().map_err(|_| unknown())?,
                try_no: try_no.parse().map_err(|_| unknown())?,
            },
            ["decision", handoff, revision] => {
                Self::Decision { handoff: handoff_id(handoff)?, revision: revision.parse().map_err(|_| unknown())? }
            }
            ["audit", kind, record] => Self::Audit { kind: d(kind)?, record: digest(record)? },
            ["blob", role, publisher, sha256, chunk] => Self::Blob {
                role: BlobRole::from_token(role).ok_or_else(unknown)?,
                publisher: d(publisher)?,
                sha256: digest(sha256)?,
                chunk: chunk.parse().map_err(|_| unknown())?,
            },
            _ => return Err(unknown()),
        };
        // `007` and `+7` parse as numbers and are still not subjects that this mesh writes.
        if place.subject()? == subject { Ok(place) } else { Err(unknown()) }
    }
}
