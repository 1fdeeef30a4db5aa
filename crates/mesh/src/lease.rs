//! Leases: request and reply for verifiers, a fenced key-value bucket for coordinators.

use async_nats::{HeaderMap, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use quorum_schemas::{C1Digest, Object, Timestamp, Value, c1, limits::Limits, parse_with};

use crate::place::ROOT;
use crate::publish::Put;
use crate::streams::LEASE_BUCKET;
use crate::{Mesh, MeshError, StreamName, limits, token};

const MESSAGE: Limits = Limits { bytes: limits::LEASE_BYTES, depth: 4 };

/// What a verifier asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseOp {
    /// Take the seat.
    Claim,
    /// Keep it.
    Renew,
    /// Give it back.
    Release,
}

impl LeaseOp {
    /// The word of the protocol.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Renew => "renew",
            Self::Release => "release",
        }
    }
}

/// The request on `lease.<verifier>.<handoff>.<seat>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The wish.
    pub op: LeaseOp,
    /// Handoff id.
    pub handoff: C1Digest,
    /// The seat.
    pub seat: u32,
    /// The try.
    pub try_no: u32,
    /// The epoch of the lease that is renewed or released.
    pub epoch: Option<u64>,
}

/// The answer: `{ok, epoch, until}` or `{code}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseReply {
    /// The seat is the asker's until then, under this epoch.
    Granted {
        /// Fencing token.
        epoch: u64,
        /// End of the lease on the stream's clock.
        until: Timestamp,
    },
    /// Refused, with a stable code.
    Refused {
        /// The code.
        code: String,
    },
}

fn malformed(reason: impl Into<String>) -> MeshError {
    MeshError::MessageMalformed { place: "lease".into(), reason: reason.into() }
}

fn member<'a>(value: &'a Value, key: &str) -> Result<&'a Value, MeshError> {
    value.get(key).ok_or_else(|| malformed(format!("`{key}` is missing")))
}

fn number(value: &Value, key: &str) -> Result<u64, MeshError> {
    member(value, key)?.as_u64().ok_or_else(|| malformed(format!("`{key}` is not a number")))
}

fn small(value: &Value, key: &str) -> Result<u32, MeshError> {
    u32::try_from(number(value, key)?).map_err(|_| malformed(format!("`{key}` is too large")))
}

impl LeaseRequest {
    fn to_bytes(&self) -> Vec<u8> {
        let mut members = Object::from([
            ("op".to_owned(), self.op.as_str().into()),
            ("handoff".to_owned(), self.handoff.into()),
            ("seat".to_owned(), u64::from(self.seat).into()),
            ("try".to_owned(), u64::from(self.try_no).into()),
        ]);
        if let Some(epoch) = self.epoch {
            members.insert("epoch".to_owned(), epoch.into());
        }
        c1(&Value::Object(members))
    }

    fn parse(body: &[u8]) -> Result<Self, MeshError> {
        let value = parse_with(body, MESSAGE).map_err(|error| malformed(error.to_string()))?;
        let text = |key: &str| member(&value, key)?.as_str().ok_or_else(|| malformed(format!("`{key}` is not a text")));
        let op = text("op")?;
        let request = Self {
            op: [LeaseOp::Claim, LeaseOp::Renew, LeaseOp::Release]
                .into_iter()
                .find(|known| known.as_str() == op)
                .ok_or_else(|| malformed("`op` is not claim, renew or release"))?,
            handoff: text("handoff")?.parse().map_err(|_| malformed("`handoff` is not a digest"))?,
            seat: small(&value, "seat")?,
            try_no: small(&value, "try")?,
            epoch: value.get("epoch").map(|_| number(&value, "epoch")).transpose()?,
        };
        if request.to_bytes() == body { Ok(request) } else { Err(malformed("not the form that this mesh writes")) }
    }

    fn subject(&self, verifier: &str) -> Result<String, MeshError> {
        Ok(format!("{ROOT}.lease.{}.{}.{}", token::encode(verifier)?, self.handoff.hex(), self.seat))
    }
}

impl LeaseReply {
    fn to_bytes(&self) -> Vec<u8> {
        c1(&Value::Object(match self {
            Self::Granted { epoch, until } => Object::from([
                ("ok".to_owned(), true.into()),
                ("epoch".to_owned(), (*epoch).into()),
                ("until".to_owned(), (*until).into()),
            ]),
            Self::Refused { code } => Object::from([("code".to_owned(), code.as_str().into())]),
        }))
    }

    fn parse(body: &[u8]) -> Result<Self, MeshError> {
        let value = parse_with(body, MESSAGE).map_err(|error| malformed(error.to_string()))?;
        if value.get("ok").and_then(Value::as_bool) == Some(true) {
            let until = member(&value, "until")?.as_str().and_then(|text| text.parse().ok());
            let until = until.ok_or_else(|| malformed("`until` is not a time"))?;
            return Ok(Self::Granted { epoch: number(&value, "epoch")?, until });
        }
        let code = member(&value, "code")?.as_str().ok_or_else(|| malformed("`code` is not a text"))?;
        Ok(Self::Refused { code: code.to_owned() })
    }
}

/// A request as a coordinator receives it. The server's permissions vouch for `verifier`: nobody else may publish there.
#[derive(Debug)]
pub struct LeaseCall {
    /// Verifier id.
    pub verifier: String,
    /// What it asks.
    pub request: LeaseRequest,
    mesh: Mesh,
    reply: async_nats::Subject,
}

impl LeaseCall {
    /// Answers; once.
    ///
    /// # Errors
    /// `closed`.
    pub async fn reply(self, reply: &LeaseReply) -> Result<(), MeshError> {
        self.mesh.client.publish(self.reply, reply.to_bytes().into()).await.map_err(|_| MeshError::Closed)
    }
}

/// The requests of all verifiers; replicas share them through a queue group.
#[derive(Debug)]
pub struct LeaseCalls {
    mesh: Mesh,
    subscriber: Subscriber,
}

impl LeaseCalls {
    /// The next well-formed request; malformed ones are answered `malformed` and skipped. Cancel-safe. None once the
    /// connection is closed.
    pub async fn next(&mut self) -> Option<LeaseCall> {
        loop {
            let message = self.subscriber.next().await?;
            let Some(reply) = message.reply.clone() else { continue };
            match read_call(&message) {
                Ok((verifier, request)) => {
                    return Some(LeaseCall { verifier, request, mesh: self.mesh.clone(), reply });
                }
                Err(error) => {
                    tracing::warn!(%error, subject = %message.subject, "a malformed lease request");
                    let refusal = LeaseReply::Refused { code: "malformed".into() };
                    // The asker will time out if even this does not reach it.
                    self.mesh.client.publish(reply, refusal.to_bytes().into()).await.ok();
                }
            }
        }
    }
}

fn read_call(message: &async_nats::Message) -> Result<(String, LeaseRequest), MeshError> {
    let rest = message.subject.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix(".lease."));
    let verifier = rest.and_then(|rest| rest.split('.').next()).unwrap_or_default();
    let verifier = token::decode(verifier)?;
    let request = LeaseRequest::parse(&message.payload)?;
    if request.subject(&verifier)? == message.subject.as_str() {
        return Ok((verifier, request));
    }
    Err(malformed("the body names another seat than the subject"))
}

/// A value of the lease bucket with its revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseEntry {
    /// The value as written.
    pub value: Vec<u8>,
    /// The revision: the fencing token.
    pub revision: u64,
    /// The stream's clock at writing.
    pub written_at: Timestamp,
}

/// The lease bucket; only a coordinator's credentials may write it. Keys are `[a-z0-9=.-]`, for example
/// `<64 hex of handoff>.<seat>`.
#[derive(Debug, Clone)]
pub struct LeaseStore {
    mesh: Mesh,
}

impl LeaseStore {
    /// The value of a key.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`.
    pub async fn get(&self, key: &str) -> Result<Option<LeaseEntry>, MeshError> {
        let stored = self.mesh.last(StreamName::Leases, &subject(key)?).await?;
        Ok(stored.map(|stored| LeaseEntry {
            value: stored.body.to_vec(),
            revision: stored.sequence,
            written_at: stored.received_at,
        }))
    }

    /// Writes if the key's revision is still `expected` (0 = no value yet); returns the new revision. If an earlier
    /// attempt of this very call was stored and its acknowledgement lost, that is a success.
    ///
    /// # Errors
    /// `lease_conflict`, `permission_denied`, `timed_out` (unknown outcome: read again).
    pub async fn put(&self, key: &str, value: &[u8], expected: u64) -> Result<u64, MeshError> {
        let subject = subject(key)?;
        let body = Bytes::copy_from_slice(value);
        match self.mesh.put(StreamName::Leases, &subject, HeaderMap::new(), body, expected).await? {
            Put::Stored(revision) => Ok(revision),
            Put::Conflict { asked_again: true } => match self.get(key).await? {
                Some(entry) if entry.value == value => Ok(entry.revision),
                _ => Err(MeshError::LeaseConflict { key: key.to_owned(), expected }),
            },
            Put::Conflict { asked_again: false } => Err(MeshError::LeaseConflict { key: key.to_owned(), expected }),
        }
    }

    /// Every key and value of the bucket, for a coordinator that starts.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`.
    pub async fn all(&self) -> Result<Vec<(String, LeaseEntry)>, MeshError> {
        let prefix = subject("")?;
        let stored = self.mesh.scan(StreamName::Leases, None, 1).await?;
        Ok(stored
            .into_iter()
            .map(|stored| {
                let key = stored.subject.strip_prefix(&prefix).unwrap_or(&stored.subject).to_owned();
                let entry = LeaseEntry {
                    value: stored.body.to_vec(),
                    revision: stored.sequence,
                    written_at: stored.received_at,
                };
                (key, entry)
            })
            .collect())
    }
}

fn subject(key: &str) -> Result<String, MeshError> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"=.-".contains(&byte);
    if key.bytes().all(plain) {
        Ok(format!("$KV.{LEASE_BUCKET}.{key}"))
    } else {
        Err(MeshError::TokenMalformed(key.into()))
    }
}

impl Mesh {
    /// Asks for a lease and waits for the coordinator's answer.
    ///
    /// # Errors
    /// `timed_out` (the outcome is unknown: what was asked may hold), `permission_denied`, `message_malformed`.
    pub async fn lease(&self, verifier: &str, request: &LeaseRequest) -> Result<LeaseReply, MeshError> {
        let subject = request.subject(verifier)?;
        let answer = self.request(&subject, None, request.to_bytes().into(), limits::LEASE_TIMEOUT).await?;
        LeaseReply::parse(&answer.payload)
    }

    /// Serves lease requests.
    ///
    /// # Errors
    /// `closed`, `permission_denied`.
    pub async fn lease_calls(&self) -> Result<LeaseCalls, MeshError> {
        let subscriber = self.subscribe(&format!("{ROOT}.lease.>"), Some("coordinators")).await?;
        Ok(LeaseCalls { mesh: self.clone(), subscriber })
    }

    /// The lease bucket.
    #[must_use]
    pub fn lease_store(&self) -> LeaseStore {
        LeaseStore { mesh: self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_6_lease_messages_round_trip_and_refuse_other_forms() {
        for epoch in [None, Some(7)] {
            let request =
                LeaseRequest { op: LeaseOp::Renew, handoff: C1Digest::c1(&"h".into()), seat: 1, try_no: 2, epoch };
            assert_eq!(LeaseRequest::parse(&request.to_bytes()).unwrap(), request);
        }
        for reply in [
            LeaseReply::Granted { epoch: 9, until: Timestamp::from_micros(1_700_000_000_000_000) },
            LeaseReply::Refused { code: "held".into() },
        ] {
            assert_eq!(LeaseReply::parse(&reply.to_bytes()).unwrap(), reply);
        }
        let good = String::from_utf8(
            LeaseRequest { op: LeaseOp::Claim, handoff: C1Digest::c1(&"h".into()), seat: 1, try_no: 1, epoch: None }
                .to_bytes(),
        )
        .unwrap();
        for (from, to) in
            [("claim", "seize"), ("\"seat\":1", "\"seat\":1.0"), ("\"op\"", "\"a\":1,\"op\""), ("sha256:", "")]
        {
            assert!(LeaseRequest::parse(good.replace(from, to).as_bytes()).is_err(), "{to}");
        }
    }
}
