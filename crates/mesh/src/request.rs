//! One request to the broker, with the server's refusals as typed errors.

use std::time::Duration;

use async_nats::{HeaderMap, Message, RequestErrorKind};
use bytes::Bytes;
use serde_json::Value as Json;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use crate::{Mesh, MeshError, limits};

/// JetStream's error number for a failed expected-last-subject-sequence.
pub(crate) const WRONG_LAST_SEQUENCE: u64 = 10071;

/// Error numbers and statuses of a server that is starting, or has no leader yet: ask again.
const NOT_YET: [u64; 2] = [10008, 10009];

/// An error object of the JetStream API.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) code: u64,
    pub(crate) number: u64,
    pub(crate) text: String,
}

impl ApiError {
    pub(crate) fn of(answer: &Json) -> Option<Self> {
        let error = answer.get("error")?;
        Some(Self {
            code: error["code"].as_u64().unwrap_or(0),
            number: error["err_code"].as_u64().unwrap_or(0),
            text: error["description"].as_str().unwrap_or("no description").to_owned(),
        })
    }

    pub(crate) fn not_yet(&self) -> bool {
        self.code == 503 || NOT_YET.contains(&self.number)
    }
}

impl Mesh {
    /// Sends a request and waits for its answer, for the server's refusal of the subject, or for a lost connection
    /// (then the outcome is unknown).
    pub(crate) async fn request(
        &self,
        subject: &str,
        headers: Option<HeaderMap>,
        body: Bytes,
        timeout: Duration,
    ) -> Result<Message, MeshError> {
        let mut denials = self.denials.subscribe();
        let mut connections = self.connections.clone();
        connections.borrow_and_update();
        let unknown = || MeshError::TimedOut {
            subject: subject.to_owned(),
            millis: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
        };
        let mut request = async_nats::Request::new().payload(body).timeout(Some(timeout));
        if let Some(headers) = headers {
            request = request.headers(headers);
        }
        let send = self.client.send_request(subject.to_owned(), request);
        let quoted = format!("\"{subject}\"");
        let denied = async {
            loop {
                match denials.recv().await {
                    Ok(text) if text.contains(&quoted) => return text,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            biased;
            answer = send => answer.map_err(|error| match error.kind() {
                RequestErrorKind::TimedOut | RequestErrorKind::NoResponders => unknown(),
                RequestErrorKind::MaxPayloadExceeded => MeshError::TooLarge {
                    what: subject.to_owned(),
                    found: 0,
                    limit: limits::MESSAGE_BYTES,
                },
                _ => MeshError::broker(subject, error),
            }),
            server = denied => Err(MeshError::PermissionDenied { subject: subject.to_owned(), server }),
            _ = lost(&mut connections) => Err(unknown()),
        }
    }

    /// A request of the JetStream API whose answer is JSON; asks again while the server says that it is not ready.
    pub(crate) async fn api(&self, subject: &str, body: &Json) -> Result<Result<Json, ApiError>, MeshError> {
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let deadline = Instant::now() + limits::PATIENCE;
        loop {
            let outcome = self.request(subject, None, body.clone(), limits::ACK_TIMEOUT).await;
            let error = match outcome {
                Ok(message) => {
                    let answer: Json =
                        serde_json::from_slice(&message.payload).map_err(|error| MeshError::broker(subject, error))?;
                    match ApiError::of(&answer) {
                        None => return Ok(Ok(answer)),
                        Some(error) if error.not_yet() => MeshError::broker(subject, error.text),
                        Some(error) => return Ok(Err(error)),
                    }
                }
                Err(error @ MeshError::TimedOut { .. }) => error,
                Err(error) => return Err(error),
            };
            if Instant::now() >= deadline {
                return Err(error);
            }
            tokio::time::sleep(limits::RECONNECT).await;
        }
    }
}

/// Resolves when the connection was made anew; never if the client is gone, since then the request itself fails.
pub(crate) async fn lost(connections: &mut tokio::sync::watch::Receiver<u64>) {
    if connections.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
