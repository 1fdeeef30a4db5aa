//! Durable consumers, live subscriptions and dead letters.

use std::time::Duration;

use async_nats::Subscriber;
use bytes::Bytes;
use futures::StreamExt as _;
use quorum_schemas::{Digest, Timestamp};
use serde_json::{Value as Json, json};
use tokio::sync::broadcast::Receiver;
use tokio::time::Instant;

use crate::request::lost;
use crate::{Mesh, MeshError, Place, StreamName, limits, provision, token};

/// A message as the stream holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The subject as text; parse it with [`Stored::place`].
    pub subject: String,
    /// Stream sequence.
    pub sequence: u64,
    /// The stream's clock at storing: this is `received_at` everywhere.
    pub received_at: Timestamp,
    /// The body.
    pub body: Bytes,
}

impl Stored {
    /// Digest of the body.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.body)
    }

    /// The subject as a type.
    ///
    /// # Errors
    /// `subject_unknown`, `token_malformed`.
    pub fn place(&self) -> Result<Place, MeshError> {
        Place::parse(&self.subject)
    }
}

/// One delivery of a durable consumer; unacknowledged, it comes again after 15 s.
#[derive(Debug)]
pub struct Delivery {
    /// The message.
    pub stored: Stored,
    /// How often it was delivered, this time included. Never a try number.
    pub delivered: u64,
    mesh: Mesh,
    reply: String,
}

impl Delivery {
    /// Acknowledges and waits for the server's confirmation.
    ///
    /// # Errors
    /// `timed_out`: the message may come again.
    pub async fn ack(&self) -> Result<(), MeshError> {
        self.mesh.request(&self.reply, None, Bytes::from_static(b"+ACK"), limits::ACK_TIMEOUT).await.map(drop)
    }

    /// Gives it back; it comes again after `delay`.
    ///
    /// # Errors
    /// `closed`.
    pub async fn nak(&self, delay: Duration) -> Result<(), MeshError> {
        self.say(format!("-NAK {{\"delay\": {}}}", delay.as_nanos())).await
    }

    /// Says that the work on it goes on; resets the 15 s.
    ///
    /// # Errors
    /// `closed`.
    pub async fn progress(&self) -> Result<(), MeshError> {
        self.say("+WPI".to_owned()).await
    }

    /// Ends it for good; the caller has recorded why.
    ///
    /// # Errors
    /// `timed_out`.
    pub async fn term(&self) -> Result<(), MeshError> {
        self.mesh.request(&self.reply, None, Bytes::from_static(b"+TERM"), limits::ACK_TIMEOUT).await.map(drop)
    }

    /// Whether this is the last delivery that the consumer makes.
    #[must_use]
    pub fn last(&self) -> bool {
        self.delivered >= limits::MAX_DELIVER.unsigned_abs()
    }

    async fn say(&self, text: String) -> Result<(), MeshError> {
        self.mesh.client.publish(self.reply.clone(), text.into()).await.map_err(|_| MeshError::Closed)
    }
}

/// The deliveries of one durable consumer. A pull that shows no sign of life for two heartbeats, or whose connection
/// was made anew, is built again.
#[derive(Debug)]
pub struct Deliveries {
    mesh: Mesh,
    stream: StreamName,
    durable: String,
    batch: usize,
    pull: Option<Pull>,
    /// Since when nobody answers for the consumer.
    absent_since: Option<Instant>,
}

/// One standing pull request.
#[derive(Debug)]
struct Pull {
    subscriber: Subscriber,
    connections: tokio::sync::watch::Receiver<u64>,
    /// Messages that the request may still bring.
    left: usize,
    alive_until: Instant,
}

/// What came out of a pull.
enum Sign {
    Message(async_nats::Message),
    Heartbeat,
    /// The request has ended; make another one.
    Over,
    /// Nobody answers for the consumer: the server starts, or there is none.
    Absent,
}

impl Deliveries {
    /// The next delivery; waits for ever. Cancel-safe.
    ///
    /// # Errors
    /// `permission_denied`, `not_found` (no such consumer: run `quorum mesh apply`); all else is bridged by pulling
    /// anew.
    pub async fn next(&mut self) -> Result<Delivery, MeshError> {
        loop {
            let Some(pull) = &mut self.pull else {
                match self.request().await {
                    Ok(pull) => self.pull = Some(pull),
                    Err(error @ (MeshError::PermissionDenied { .. } | MeshError::NotFound(_))) => return Err(error),
                    Err(error) => {
                        tracing::warn!(%error, consumer = self.durable, "pull failed, trying again");
                        tokio::time::sleep(limits::RECONNECT).await;
                    }
                }
                continue;
            };
            match pull.next().await {
                Sign::Heartbeat => self.absent_since = None,
                Sign::Over => self.pull = None,
                Sign::Absent => {
                    self.pull = None;
                    let since = *self.absent_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= limits::PATIENCE {
                        let object = format!("{}.{}", self.stream.as_str(), self.durable);
                        return Err(MeshError::NotFound(format!("{object} (run `quorum mesh apply`)")));
                    }
                    tokio::time::sleep(limits::RECONNECT).await;
                }
                Sign::Message(message) => {
                    self.absent_since = None;
                    if pull.left == 0 {
                        self.pull = None;
                    }
                    match self.delivery(message) {
                        Some(delivery) => return Ok(delivery),
                        None => {
                            tracing::warn!(consumer = self.durable, "a delivery without its reply subject, skipped")
                        }
                    }
                }
            }
        }
    }

    async fn request(&self) -> Result<Pull, MeshError> {
        let object = format!("{}.{}", self.stream.as_str(), self.durable);
        let mut denials = self.mesh.denials.subscribe();
        let mut connections = self.mesh.connections.clone();
        connections.borrow_and_update();
        let inbox = self.mesh.client.new_inbox();
        let subscriber = self.mesh.client.subscribe(inbox.clone()).await.map_err(|_| MeshError::Closed)?;
        let body = json!({
            "batch": self.batch,
            "expires": nanos(limits::PULL_EXPIRES),
            "idle_heartbeat": nanos(limits::HEARTBEAT),
        });
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{object}");
        let publish = self.mesh.client.publish_with_reply(subject.clone(), inbox, body.to_string().into());
        publish.await.map_err(|_| MeshError::Closed)?;
        self.mesh.denied(&mut denials, &subject).await?;
        Ok(Pull { subscriber, connections, left: self.batch, alive_until: Instant::now() + limits::HEARTBEAT * 2 })
    }

    fn delivery(&self, message: async_nats::Message) -> Option<Delivery> {
        let reply = message.reply?.to_string();
        let (delivered, sequence, time) = acknowledgement_subject(&reply)?;
        let stored = Stored {
            subject: message.subject.to_string(),
            sequence,
            received_at: Timestamp::from_micros(time.div_euclid(1_000)),
            body: message.payload,
        };
        Some(Delivery { stored, delivered, mesh: self.mesh.clone(), reply })
    }
}

impl Pull {
    async fn next(&mut self) -> Sign {
        tokio::select! {
            biased;
            message = self.subscriber.next() => {
                let Some(message) = message else { return Sign::Over };
                self.alive_until = Instant::now() + limits::HEARTBEAT * 2;
                match message.status.filter(|_| !is_stored(&message)).map(|status| status.as_u16()) {
                    None => {
                        self.left = self.left.saturating_sub(1);
                        Sign::Message(message)
                    }
                    Some(100) => Sign::Heartbeat,
                    // No responders.
                    Some(503) => Sign::Absent,
                    // 404, 408 (expired), 409 (consumer deleted, leadership change).
                    Some(_) => Sign::Over,
                }
            }
            () = lost(&mut self.connections) => Sign::Over,
            () = tokio::time::sleep_until(self.alive_until) => Sign::Over,
        }
    }
}

/// Whether it came from a stream, whatever its publisher wrote into the status line.
fn is_stored(message: &async_nats::Message) -> bool {
    message.reply.as_ref().is_some_and(|reply| reply.starts_with("$JS.ACK."))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Delivery count, stream sequence and time in nanoseconds of `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.
/// <delivered>.<stream sequence>.<consumer sequence>.<time>.<pending>[.<token>]`.
fn acknowledgement_subject(reply: &str) -> Option<(u64, u64, i64)> {
    let tokens: Vec<&str> = reply.strip_prefix("$JS.ACK.")?.split('.').collect();
    let numbers = if tokens.len() == 7 { tokens.get(2..)? } else { tokens.get(4..)? };
    Some((numbers.first()?.parse().ok()?, numbers.get(1)?.parse().ok()?, numbers.get(3)?.parse().ok()?))
}

impl Mesh {
    /// Offers to one verifier, one at a time.
    ///
    /// # Errors
    /// `id_empty`, `id_too_long`.
    pub fn offers(&self, verifier: &str) -> Result<Deliveries, MeshError> {
        let durable = provision::offers_consumer(&token::encode(verifier)?);
        Ok(Deliveries {
            mesh: self.clone(),
            stream: StreamName::Offers,
            durable,
            batch: 1,
            pull: None,
            absent_since: None,
        })
    }

    /// The coordinators' consumer of a stream: WORK, RESULTS or EVIDENCE. Replicas share it.
    #[must_use]
    pub fn intake(&self, stream: StreamName) -> Deliveries {
        let durable = provision::COORDINATOR_CONSUMER.to_owned();
        Deliveries { mesh: self.clone(), stream, durable, batch: limits::INTAKE_BATCH, pull: None, absent_since: None }
    }

    /// Messages as they are published, for live pages and waiting clients; nothing is replayed and nothing is
    /// promised: pair it with [`Mesh::read`].
    ///
    /// # Errors
    /// `closed`, `permission_denied`.
    pub async fn watch(&self, filter: &str) -> Result<Watch, MeshError> {
        Ok(Watch { subscriber: self.subscribe(filter, None).await? })
    }

    /// Messages that a consumer gave up on, as the server announces them. For coordinators.
    ///
    /// # Errors
    /// `closed`, `permission_denied`.
    pub async fn dead_letters(&self) -> Result<DeadLetters, MeshError> {
        let subscriber = self.subscribe("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>", Some("coordinators")).await?;
        Ok(DeadLetters { mesh: self.clone(), subscriber })
    }

    /// Subscribes and waits until the server has either taken or refused it.
    pub(crate) async fn subscribe(&self, subject: &str, queue: Option<&str>) -> Result<Subscriber, MeshError> {
        let mut denials = self.denials.subscribe();
        let subscriber = match queue {
            None => self.client.subscribe(subject.to_owned()).await,
            Some(queue) => self.client.queue_subscribe(subject.to_owned(), queue.to_owned()).await,
        };
        let subscriber = subscriber.map_err(|_| MeshError::Closed)?;
        self.denied(&mut denials, subject).await?;
        Ok(subscriber)
    }

    /// Waits for a round trip on the same connection: the server's refusal of `subject` would have come before its answer.
    async fn denied(&self, denials: &mut Receiver<String>, subject: &str) -> Result<(), MeshError> {
        self.round_trip().await?;
        let quoted = format!("\"{subject}\"");
        while let Ok(server) = denials.try_recv() {
            if server.contains(&quoted) {
                return Err(MeshError::PermissionDenied { subject: subject.to_owned(), server });
            }
        }
        Ok(())
    }
}

/// A live subscription.
#[derive(Debug)]
pub struct Watch {
    subscriber: Subscriber,
}

impl Watch {
    /// The next subject and body. Cancel-safe. None once the connection is closed.
    pub async fn next(&mut self) -> Option<(String, Bytes)> {
        self.subscriber.next().await.map(|message| (message.subject.to_string(), message.payload))
    }
}

/// The server's announcements of exhausted deliveries.
#[derive(Debug)]
pub struct DeadLetters {
    mesh: Mesh,
    subscriber: Subscriber,
}

/// One message that no delivery could finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Consumer that gave up.
    pub consumer: String,
    /// Stream and sequence of the message.
    pub sequence: (String, u64),
    /// The message, if it could be read.
    pub stored: Option<Stored>,
    /// How often it was delivered.
    pub deliveries: u64,
}

impl DeadLetters {
    /// The next one. None once the connection is closed.
    pub async fn next(&mut self) -> Option<DeadLetter> {
        loop {
            let message = self.subscriber.next().await?;
            let Ok(advisory) = serde_json::from_slice::<Json>(&message.payload) else { continue };
            let (Some(stream), Some(sequence)) = (advisory["stream"].as_str(), advisory["stream_seq"].as_u64()) else {
                continue;
            };
            let name = StreamName::ALL.into_iter().find(|name| name.as_str() == stream);
            let stored = match name {
                Some(name) => self.mesh.at_sequence(name, sequence).await.unwrap_or(None),
                None => None,
            };
            return Some(DeadLetter {
                consumer: advisory["consumer"].as_str().unwrap_or_default().to_owned(),
                sequence: (stream.to_owned(), sequence),
                stored,
                deliveries: advisory["deliveries"].as_u64().unwrap_or_default(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_6_deliveries_read_both_forms_of_the_acknowledgement_subject() {
        for (subject, wanted) in [
            ("$JS.ACK.S.c.3.7.9.1700000000000000123.4", Some((3, 7, 1_700_000_000_000_000_123))),
            ("$JS.ACK._.hash.S.c.3.7.9.17.4", Some((3, 7, 17))),
            ("$JS.ACK.hub.hash.S.c.3.7.9.17.4.token", Some((3, 7, 17))),
            ("_INBOX.x", None),
            ("$JS.ACK.S.c.x.7.9.17.4", None),
        ] {
            assert_eq!(acknowledgement_subject(subject), wanted, "{subject}");
        }
    }
}
