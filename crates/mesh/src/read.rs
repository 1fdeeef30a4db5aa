//! Reading what stands in a stream: by subject, and from end to end.

use async_nats::Message;
use bytes::Bytes;
use quorum_schemas::Timestamp;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use crate::place::ROOT;
use crate::request::ApiError;
use crate::{Mesh, MeshError, Stored, StreamName, limits};

impl Mesh {
    /// The last message of a subject. The subject stands in the request's own subject, so that permissions can tell
    /// whose message it is.
    pub(crate) async fn last(&self, stream: StreamName, subject: &str) -> Result<Option<Stored>, MeshError> {
        Ok(self.last_message(stream, subject).await?.map(|(stored, _)| stored))
    }

    pub(crate) async fn last_message(
        &self,
        stream: StreamName,
        subject: &str,
    ) -> Result<Option<(Stored, Message)>, MeshError> {
        let api = format!("$JS.API.DIRECT.GET.{}.{subject}", stream.as_str());
        self.direct(&api, Bytes::new()).await
    }

    async fn direct(&self, api: &str, body: Bytes) -> Result<Option<(Stored, Message)>, MeshError> {
        let deadline = Instant::now() + limits::PATIENCE;
        loop {
            match self.request(api, None, body.clone(), limits::ACK_TIMEOUT).await {
                Ok(message) => return stored(api, message),
                Err(error @ MeshError::TimedOut { .. }) if Instant::now() >= deadline => return Err(error),
                Err(MeshError::TimedOut { .. }) => tokio::time::sleep(limits::RECONNECT).await,
                Err(error) => return Err(error),
            }
        }
    }

    /// Every message of `stream` from sequence `from` (1 = all) whose subject matches `filter` (`None` = all), in
    /// order, until the stream's end at the time of the call. For coordinator and auditor.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`, `broker`.
    pub async fn scan(&self, stream: StreamName, filter: Option<&str>, from: u64) -> Result<Vec<Stored>, MeshError> {
        let end = self.last_sequence(stream).await?;
        let filter = filter.unwrap_or(stream.filter());
        let api = format!("$JS.API.DIRECT.GET.{}", stream.as_str());
        let mut found = Vec::new();
        let mut next = from.max(1);
        while next <= end {
            let body = Bytes::from(json!({"seq": next, "next_by_subj": filter}).to_string());
            match self.direct(&api, body).await? {
                Some((stored, _)) if stored.sequence <= end => {
                    next = stored.sequence + 1;
                    found.push(stored);
                }
                _ => break,
            }
        }
        Ok(found)
    }

    /// The last sequence of `stream`.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`.
    pub async fn last_sequence(&self, stream: StreamName) -> Result<u64, MeshError> {
        let info = self.stream_info(stream).await?.map_err(|error| absent(stream.as_str(), &error))?;
        info["state"]["last_seq"].as_u64().ok_or_else(|| MeshError::broker(stream.as_str(), "no last_seq"))
    }

    /// The server's clock now, as its answer to a stream inquiry says.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`.
    pub async fn server_time(&self) -> Result<Timestamp, MeshError> {
        let stream = StreamName::Evidence;
        let info = self.stream_info(stream).await?.map_err(|error| absent(stream.as_str(), &error))?;
        let text = info["ts"].as_str().unwrap_or_default();
        text.parse().map_err(|error| MeshError::broker("server time", error))
    }

    /// Waits until the server has handled everything sent so far, and with that told its refusals; also a readiness
    /// probe. It asks for a message that cannot exist, which every role may do.
    ///
    /// # Errors
    /// `timed_out`.
    pub async fn round_trip(&self) -> Result<(), MeshError> {
        let api = format!("$JS.API.DIRECT.GET.{}.{ROOT}.decision.ping", StreamName::Decisions.as_str());
        self.direct(&api, Bytes::new()).await.map(drop)
    }

    pub(crate) async fn at_sequence(&self, stream: StreamName, sequence: u64) -> Result<Option<Stored>, MeshError> {
        let api = format!("$JS.API.DIRECT.GET.{}", stream.as_str());
        let body = Bytes::from(json!({"seq": sequence}).to_string());
        Ok(self.direct(&api, body).await?.map(|(stored, _)| stored))
    }

    pub(crate) async fn stream_info(&self, stream: StreamName) -> Result<Result<Json, ApiError>, MeshError> {
        self.api(&format!("$JS.API.STREAM.INFO.{}", stream.as_str()), &Json::Null).await
    }
}

pub(crate) fn absent(object: &str, error: &ApiError) -> MeshError {
    if error.code == 404 {
        return MeshError::NotFound(format!("{object} (run `quorum mesh apply`)"));
    }
    MeshError::broker(object, format!("{} (error {})", error.text, error.number))
}

/// The message in an answer of the direct-get API; none for status 404. The server appends its headers to those of the
/// publisher: the last value of a name is the server's, and a stored message has a sequence whatever its publisher wrote
/// into the status line.
fn stored(api: &str, message: Message) -> Result<Option<(Stored, Message)>, MeshError> {
    let last = |name: &str| message.headers.as_ref().and_then(|headers| headers.get_last(name));
    if let (Some(status), None) = (message.status, last("Nats-Sequence")) {
        return match status.as_u16() {
            404 => Ok(None),
            code => {
                let text = message.description.as_deref().unwrap_or("no description");
                Err(MeshError::broker(api, format!("status {code}: {text}")))
            }
        };
    }
    let header = |name: &str| {
        let value = last(name).map(|value| value.as_str().to_owned());
        value.ok_or_else(|| MeshError::broker(api, format!("no header {name}")))
    };
    let stored = Stored {
        subject: header("Nats-Subject")?,
        sequence: header("Nats-Sequence")?.parse().map_err(|error| MeshError::broker(api, error))?,
        received_at: header("Nats-Time-Stamp")?.parse().map_err(|error| MeshError::broker(api, error))?,
        body: message.payload.clone(),
    };
    Ok(Some((stored, message)))
}
