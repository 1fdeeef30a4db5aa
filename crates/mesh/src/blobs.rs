//! Candidates, baselines and bundles in chunks of 512 KiB, named by digest.

use async_nats::HeaderMap;
use bytes::Bytes;
use quorum_schemas::{Digest, Object, Sha256, Value};

use crate::{Mesh, MeshError, Place, StreamName, limits};

/// Total size of the blob, on every chunk.
const SIZE_HEADER: &str = "Quorum-Size";

/// Whose blob it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobRole {
    /// Candidates.
    Worker,
    /// Baselines.
    Author,
    /// Evidence bundles.
    Verifier,
    /// Trust roots, policies and verification summaries, so that a record can be put together from the mesh alone.
    Coordinator,
}

impl BlobRole {
    /// The token.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Author => "author",
            Self::Verifier => "verifier",
            Self::Coordinator => "coordinator",
        }
    }

    /// The role of a token.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        [Self::Worker, Self::Author, Self::Verifier, Self::Coordinator].into_iter().find(|role| role.as_str() == token)
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
        Value::Object(Object::from([
            ("role".to_owned(), self.role.as_str().into()),
            ("publisher".to_owned(), self.publisher.as_str().into()),
            ("sha256".to_owned(), self.sha256.hex().into()),
            ("bytes".to_owned(), self.bytes.into()),
        ]))
    }

    /// Reads [`BlobRef::to_value`] strictly.
    ///
    /// # Errors
    /// `message_malformed`.
    pub fn parse(value: &Value) -> Result<Self, MeshError> {
        let malformed = |reason: &str| MeshError::MessageMalformed { place: "blob".into(), reason: reason.into() };
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        if value.as_object().is_none_or(|members| members.len() != 4) {
            return Err(malformed("a blob is {role, publisher, sha256, bytes}"));
        }
        let blob = Self {
            role: text("role").and_then(BlobRole::from_token).ok_or_else(|| malformed("`role` is unknown"))?,
            publisher: text("publisher").ok_or_else(|| malformed("`publisher` is not a text"))?.to_owned(),
            sha256: text("sha256")
                .and_then(|hex| Digest::from_hex(hex).ok())
                .ok_or_else(|| malformed("`sha256` is not 64 hex digits"))?,
            bytes: value.get("bytes").and_then(Value::as_u64).ok_or_else(|| malformed("`bytes` is not a number"))?,
        };
        if blob.bytes > limits::BLOB_BYTES {
            return Err(too_large(&blob.to_string(), blob.bytes));
        }
        Ok(blob)
    }

    fn chunk(&self, chunk: u32) -> Place {
        Place::Blob { role: self.role, publisher: self.publisher.clone(), sha256: self.sha256, chunk }
    }

    /// Number of chunks; an empty blob has one, so that it can be told from a missing one.
    fn chunks(&self) -> u32 {
        u32::try_from(self.bytes.div_ceil(limits::CHUNK_BYTES as u64).max(1)).unwrap_or(u32::MAX)
    }
}

impl std::fmt::Display for BlobRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.role.as_str(), self.publisher, self.sha256)
    }
}

fn too_large(what: &str, found: u64) -> MeshError {
    MeshError::TooLarge { what: format!("blob {what}"), found, limit: limits::BLOB_BYTES }
}

impl Mesh {
    /// Publishes a blob, create-only, chunk by chunk; repeating it after a crash completes it.
    ///
    /// # Errors
    /// `too_large` and those of [`Mesh::publish`].
    pub async fn put_blob(&self, role: BlobRole, publisher: &str, bytes: &[u8]) -> Result<BlobRef, MeshError> {
        let size = bytes.len() as u64;
        let blob = BlobRef { role, publisher: publisher.to_owned(), sha256: Digest::of(bytes), bytes: size };
        if size > limits::BLOB_BYTES {
            return Err(too_large(&blob.to_string(), size));
        }
        let empty: &[u8] = &[];
        let chunks = bytes.chunks(limits::CHUNK_BYTES).chain((size == 0).then_some(empty));
        for (number, chunk) in (0..).zip(chunks) {
            let mut headers = HeaderMap::new();
            headers.insert(SIZE_HEADER, size.to_string());
            self.publish_with(&blob.chunk(number), headers, Bytes::copy_from_slice(chunk)).await?;
        }
        Ok(blob)
    }

    /// Reads a blob whole and verifies size and digest.
    ///
    /// # Errors
    /// `not_found` (a chunk is missing), `blob_corrupt`, `too_large`, `permission_denied`, `timed_out`.
    pub async fn get_blob(&self, blob: &BlobRef) -> Result<Vec<u8>, MeshError> {
        let mut bytes = Vec::new();
        self.each_chunk(blob, |chunk| bytes.extend_from_slice(chunk)).await?;
        Ok(bytes)
    }

    /// Verifies what [`Mesh::get_blob`] would, chunk by chunk, and keeps nothing.
    ///
    /// # Errors
    /// As [`Mesh::get_blob`]; `message_malformed` for a chunk whose header block others could not read.
    pub async fn check_blob(&self, blob: &BlobRef) -> Result<(), MeshError> {
        self.each_chunk(blob, |_| {}).await
    }

    async fn each_chunk(&self, blob: &BlobRef, mut take: impl FnMut(&[u8])) -> Result<(), MeshError> {
        if blob.bytes > limits::BLOB_BYTES {
            return Err(too_large(&blob.to_string(), blob.bytes));
        }
        let corrupt = |reason: String| MeshError::BlobCorrupt { blob: blob.to_string(), reason };
        let (mut left, mut digest) = (blob.bytes, Sha256::default());
        for number in 0..blob.chunks() {
            let (body, size) = self
                .chunk(blob, number)
                .await?
                .ok_or_else(|| MeshError::NotFound(format!("chunk {number} of {} of blob {blob}", blob.chunks())))?;
            if size != blob.bytes {
                return Err(corrupt(format!("chunk {number} says {size} bytes in all, expected {}", blob.bytes)));
            }
            let wanted = left.min(limits::CHUNK_BYTES as u64);
            if body.len() as u64 != wanted {
                return Err(corrupt(format!("chunk {number} has {} bytes, expected {wanted}", body.len())));
            }
            digest.update(&body);
            left -= wanted;
            take(&body);
        }
        let found = digest.finish();
        if found == blob.sha256 { Ok(()) } else { Err(corrupt(format!("the bytes are {found}"))) }
    }

    /// Finds a blob by publisher and digest: its size as the first chunk's header says.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`, `message_malformed`, `too_large`.
    pub async fn find_blob(
        &self,
        role: BlobRole,
        publisher: &str,
        sha256: Digest,
    ) -> Result<Option<BlobRef>, MeshError> {
        let mut blob = BlobRef { role, publisher: publisher.to_owned(), sha256, bytes: 0 };
        let Some((_, size)) = self.chunk(&blob, 0).await? else { return Ok(None) };
        if size > limits::BLOB_BYTES {
            return Err(too_large(&blob.to_string(), size));
        }
        blob.bytes = size;
        Ok(Some(blob))
    }

    async fn chunk(&self, blob: &BlobRef, number: u32) -> Result<Option<(Bytes, u64)>, MeshError> {
        let subject = blob.chunk(number).subject()?;
        let Some((stored, headers)) = self.last_message(StreamName::Blobs, &subject).await? else { return Ok(None) };
        let size = headers.as_ref().and_then(|headers| headers.get(SIZE_HEADER));
        let size = size.and_then(|text| text.as_str().parse().ok()).ok_or_else(|| MeshError::MessageMalformed {
            place: subject,
            reason: format!("no header {SIZE_HEADER}"),
        })?;
        Ok(Some((stored.body, size)))
    }
}
