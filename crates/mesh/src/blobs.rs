//! Candidates, baselines and bundles in chunks of 512 KiB, named by digest.

use quorum_schemas::{Digest, Value};

use crate::{Mesh, MeshError};

/// Whose blob it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobRole {
    /// Candidates.
    Worker,
    /// Baselines.
    Author,
    /// Evidence bundles.
    Verifier,
}

impl BlobRole {
    /// The token.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Author => "author",
            Self::Verifier => "verifier",
        }
    }

    /// The role of a token.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        [Self::Worker, Self::Author, Self::Verifier].into_iter().find(|role| role.as_str() == token)
    }
}

/// Where a blob stands and what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobRef {
    /// Role of the publisher.
    pub role: BlobRole,
    /// Publisher id.
    pub publisher: String,
    /// Digest of all bytes.
    pub sha256: Digest,
    /// Number of bytes.
    pub bytes: u64,
}

impl BlobRef {
    /// `{role, publisher, sha256, bytes}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        todo!()
    }

    /// Reads [`BlobRef::to_value`] strictly.
    ///
    /// # Errors
    /// `message_malformed`.
    pub fn parse(value: &Value) -> Result<Self, MeshError> {
        todo!("{value:?}")
    }
}

impl Mesh {
    /// Publishes a blob, create-only, chunk by chunk; repeating it after a crash completes it.
    ///
    /// # Errors
    /// `too_large` and those of [`Mesh::publish`].
    pub async fn put_blob(&self, role: BlobRole, publisher: &str, bytes: &[u8]) -> Result<BlobRef, MeshError> {
        todo!("{role:?} {publisher} {}", bytes.len())
    }

    /// Reads a blob whole and verifies size and digest.
    ///
    /// # Errors
    /// `not_found` (a chunk is missing), `blob_corrupt`, `too_large`, `permission_denied`, `timed_out`.
    pub async fn get_blob(&self, blob: &BlobRef) -> Result<Vec<u8>, MeshError> {
        todo!("{blob:?}")
    }

    /// Finds a blob by publisher and digest: its size as the first chunk's header says.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`, `message_malformed`.
    pub async fn find_blob(&self, role: BlobRole, publisher: &str, sha256: Digest) -> Result<Option<BlobRef>, MeshError> {
        todo!("{role:?} {publisher} {sha256}")
    }
}
