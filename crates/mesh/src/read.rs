//! Reading what stands in a stream: by subject, and from end to end.
//!
//! A publisher writes its header block as it likes, and the client library closes the connection at one that it cannot
//! parse. Who may read whole streams therefore asks for JSON, in which a header block is only a text; everybody else
//! reads its own messages, those of the operator, and blobs whose headers the coordinator has checked.

use std::str::FromStr as _;

use async_nats::header::{HeaderName, HeaderValue};
use async_nats::{HeaderMap, Message};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use quorum_schemas::Timestamp;
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use crate::place::ROOT;
use crate::request::ApiError;
use crate::{Mesh, MeshError, Stored, StreamName, limits};

/// JetStream's error number for a message that is not there.
const NO_MESSAGE: u64 = 10037;

/// What a publisher wrote beside the body; none if it is not a header block.
pub(crate) type Headers = Option<HeaderMap>;

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
    ) -> Result<Option<(Stored, Headers)>, MeshError> {
        if self.reads_all {
            return self.get(stream, &json!({"last_by_subj": subject})).await;
        }
        let api = format!("$JS.API.DIRECT.GET.{}.{subject}", stream.as_str());
        self.direct(&api, Bytes::new()).await
    }

    /// One message as JSON.
    async fn get(&self, stream: StreamName, which: &Json) -> Result<Option<(Stored, Headers)>, MeshError> {
        let api = format!("$JS.API.STREAM.MSG.GET.{}", stream.as_str());
        match self.api(&api, which).await? {
            Ok(answer) => from_json(&api, &answer["message"]).map(Some),
            Err(error) if error.number == NO_MESSAGE => Ok(None),
            Err(error) => Err(absent(stream.as_str(), &error)),
        }
    }

    async fn direct(&self, api: &str, body: Bytes) -> Result<Option<(Stored, Headers)>, MeshError> {
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
        let mut found = Vec::new();
        let mut next = from.max(1);
        while next <= end {
            match self.get(stream, &json!({"seq": next, "next_by_subj": filter})).await? {
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
        Ok(self.get(stream, &json!({"seq": sequence})).await?.map(|(stored, _)| stored))
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
fn stored(api: &str, message: Message) -> Result<Option<(Stored, Headers)>, MeshError> {
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
        body: message.payload,
    };
    Ok(Some((stored, Some(message.headers.unwrap_or_default()))))
}

fn from_json(api: &str, message: &Json) -> Result<(Stored, Headers), MeshError> {
    let text = |name: &str| message[name].as_str().unwrap_or_default();
    let bytes = |name: &str| STANDARD.decode(text(name)).map_err(|error| MeshError::broker(api, error));
    let stored = Stored {
        subject: text("subject").to_owned(),
        sequence: message["seq"].as_u64().ok_or_else(|| MeshError::broker(api, "a message without `seq`"))?,
        received_at: text("time").parse().map_err(|error| MeshError::broker(api, error))?,
        body: bytes("data")?.into(),
    };
    Ok((stored, header_block(&bytes("hdrs")?)))
}

/// Reads a header block at least as strictly as the client library does.
fn header_block(bytes: &[u8]) -> Headers {
    let mut headers = HeaderMap::new();
    if bytes.is_empty() {
        return Some(headers);
    }
    let lines = std::str::from_utf8(bytes).ok()?.strip_prefix("NATS/1.0\r\n")?.strip_suffix("\r\n")?;
    for line in lines.split_terminator("\r\n") {
        let (name, value) = line.split_once(':')?;
        headers.append(HeaderName::from_str(name).ok()?, HeaderValue::from_str(value.trim()).ok()?);
    }
    Some(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_6_header_blocks_are_read_strictly() {
        let value = |bytes: &[u8]| header_block(bytes).map(|h| h.get("A").map(|value| value.as_str().to_owned()));
        assert_eq!(value(b""), Some(None));
        assert_eq!(value(b"NATS/1.0\r\n\r\n"), Some(None));
        assert_eq!(value(b"NATS/1.0\r\nA: 1\r\nB:2\r\n\r\n"), Some(Some("1".into())));
        for bad in [
            &b"garbage\r\n\r\n"[..],
            b"NATS/1.0\r\n",
            b"NATS/1.0 404\r\n\r\n",
            b"NATS/1.0\r\nA\r\n\r\n",
            b"NATS/1.0\r\nA: 1\r\n more\r\n\r\n",
            b"NATS/1.0\r\nA: \xff\r\n\r\n",
            b"NATS/1.0\r\nA: 1\nB\r\n\r\n",
            b"NATS/1.0\r\n\xc3\xa9: 1\r\n\r\n",
        ] {
            assert_eq!(value(bad), None, "{}", String::from_utf8_lossy(bad));
        }
    }
}
