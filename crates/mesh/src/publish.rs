//! Create-only publication with read-back.

use quorum_schemas::{Digest, Timestamp};

use crate::{Mesh, MeshError, Place, Stored};

/// What the stream holds after a publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Digest of the body.
    pub digest: Digest,
    /// Stream sequence.
    pub sequence: u64,
    /// The stream's clock at storing.
    pub stored_at: Timestamp,
    /// False if these very bytes stood there already.
    pub fresh: bool,
}

impl Mesh {
    /// Publishes `body` at `place` if nothing stands there, reads it back and compares digests. Publishing the same
    /// bytes again is a success with `fresh: false`; retries inside `patience` bridge a restart of the server.
    ///
    /// # Errors
    /// `already_published` (other bytes), `permission_denied`, `stream_full`, `too_large`, `timed_out`,
    /// `read_back_differs`.
    pub async fn publish(&self, place: &Place, body: &[u8]) -> Result<Published, MeshError> {
        todo!("{place:?} {}", body.len())
    }

    /// Publishes without the create-only condition, as a hostile client would; for the demo and for tests.
    ///
    /// # Errors
    /// As [`Mesh::publish`], without the read-back.
    #[doc(hidden)]
    pub async fn publish_unconditionally(&self, subject: &str, body: &[u8]) -> Result<u64, MeshError> {
        todo!("{subject} {}", body.len())
    }

    /// The last message at `place`, or none.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`, `broker`.
    pub async fn read(&self, place: &Place) -> Result<Option<Stored>, MeshError> {
        todo!("{place:?}")
    }
}
