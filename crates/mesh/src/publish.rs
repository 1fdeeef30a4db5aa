//! Create-only publication with read-back.

use async_nats::HeaderMap;
use bytes::Bytes;
use quorum_schemas::{Digest, Timestamp};
use serde_json::Value as Json;
use tokio::time::Instant;

use crate::request::{ApiError, WRONG_LAST_SEQUENCE};
use crate::{Mesh, MeshError, Place, Stored, StreamName, limits};

/// Publication succeeds only if the subject's last sequence is this; 0 = nothing stands there.
const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
/// Publication succeeds only into this stream.
const EXPECTED_STREAM: &str = "Nats-Expected-Stream";

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

/// The end of one publication by compare-and-set.
pub(crate) enum Put {
    Stored(u64),
    /// `asked_again`: an earlier attempt of the same call may be what stands there.
    Conflict {
        asked_again: bool,
    },
}

impl Mesh {
    /// Publishes `body` at `place` if nothing stands there, reads it back and compares digests. Publishing the same
    /// bytes again is a success with `fresh: false`; it bridges a restart of the server of up to 30 s.
    ///
    /// # Errors
    /// `already_published` (other bytes), `permission_denied`, `stream_full`, `too_large`, `timed_out`,
    /// `read_back_differs`.
    pub async fn publish(&self, place: &Place, body: &[u8]) -> Result<Published, MeshError> {
        self.publish_with(place, HeaderMap::new(), Bytes::copy_from_slice(body)).await
    }

    pub(crate) async fn publish_with(
        &self,
        place: &Place,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Published, MeshError> {
        let subject = place.subject()?;
        let stream = place.stream();
        let offered = Digest::of(&body);
        let put = self.put(stream, &subject, headers, body, 0).await?;
        let stored = self.read_back(stream, &subject).await?;
        let found = stored.digest();
        match put {
            Put::Stored(sequence) if found == offered && stored.sequence == sequence => {}
            Put::Conflict { .. } if found == offered => {}
            Put::Conflict { .. } => return Err(MeshError::AlreadyPublished { subject, offered, stored: found }),
            Put::Stored(_) => return Err(MeshError::ReadBackDiffers { subject, offered, stored: found }),
        }
        let fresh = matches!(put, Put::Stored(_));
        Ok(Published { digest: offered, sequence: stored.sequence, stored_at: stored.received_at, fresh })
    }

    /// Publishes without the create-only condition, as a hostile client would; for the demo and for tests.
    ///
    /// # Errors
    /// As [`Mesh::publish`], without the read-back.
    #[doc(hidden)]
    pub async fn publish_unconditionally(&self, subject: &str, body: &[u8]) -> Result<u64, MeshError> {
        let answer = self.request(subject, None, Bytes::copy_from_slice(body), limits::ACK_TIMEOUT).await?;
        match acknowledgement(subject, &answer)? {
            Ok(sequence) => Ok(sequence),
            Err(error) => Err(refused(subject, error)),
        }
    }

    /// The last message at `place`, or none.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`, `broker`.
    pub async fn read(&self, place: &Place) -> Result<Option<Stored>, MeshError> {
        self.last(place.stream(), &place.subject()?).await
    }

    /// Compare-and-set of one subject. After an unknown outcome it asks again; its own earlier success then looks like
    /// a conflict, which the caller resolves by reading.
    pub(crate) async fn put(
        &self,
        stream: StreamName,
        subject: &str,
        mut headers: HeaderMap,
        body: Bytes,
        expected: u64,
    ) -> Result<Put, MeshError> {
        let size = body.len() as u64;
        if size > limits::MESSAGE_BYTES {
            return Err(MeshError::TooLarge { what: subject.to_owned(), found: size, limit: limits::MESSAGE_BYTES });
        }
        headers.insert(EXPECTED, expected.to_string());
        headers.insert(EXPECTED_STREAM, stream.as_str());
        let deadline = Instant::now() + limits::PATIENCE;
        let mut asked_again = false;
        loop {
            let outcome = self.request(subject, Some(headers.clone()), body.clone(), limits::ACK_TIMEOUT).await;
            let error = match outcome {
                Ok(answer) => match acknowledgement(subject, &answer)? {
                    Ok(sequence) => return Ok(Put::Stored(sequence)),
                    Err(error) if error.number == WRONG_LAST_SEQUENCE => return Ok(Put::Conflict { asked_again }),
                    Err(error) if error.not_yet() => MeshError::broker(subject, error.text),
                    Err(error) => return Err(refused(subject, error)),
                },
                Err(error @ MeshError::TimedOut { .. }) => error,
                Err(error) => return Err(error),
            };
            if Instant::now() >= deadline {
                return Err(error);
            }
            asked_again = true;
            tokio::time::sleep(limits::RECONNECT).await;
        }
    }

    /// What an acknowledged subject holds; a replica that lags behind gets a moment.
    async fn read_back(&self, stream: StreamName, subject: &str) -> Result<Stored, MeshError> {
        let deadline = Instant::now() + limits::READ_BACK;
        loop {
            if let Some(stored) = self.last(stream, subject).await? {
                return Ok(stored);
            }
            if Instant::now() >= deadline {
                return Err(MeshError::NotFound(subject.to_owned()));
            }
            tokio::time::sleep(limits::RECONNECT).await;
        }
    }
}

/// The sequence of an acknowledgement, or the API's error.
fn acknowledgement(subject: &str, answer: &async_nats::Message) -> Result<Result<u64, ApiError>, MeshError> {
    let json: Json = serde_json::from_slice(&answer.payload).map_err(|error| MeshError::broker(subject, error))?;
    if let Some(error) = ApiError::of(&json) {
        return Ok(Err(error));
    }
    let sequence =
        json["seq"].as_u64().ok_or_else(|| MeshError::broker(subject, "an acknowledgement without `seq`"))?;
    Ok(Ok(sequence))
}

fn refused(subject: &str, error: ApiError) -> MeshError {
    // The server has one number for several full stores; its texts all name the limit.
    if error.text.contains("maximum") || error.text.contains("insufficient") || error.text.contains("exceeded") {
        return MeshError::StreamFull { subject: subject.to_owned(), reason: error.text };
    }
    MeshError::broker(subject, format!("{} (error {})", error.text, error.number))
}
