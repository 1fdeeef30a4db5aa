//! Durable consumers and scans.

use async_nats::jetstream::consumer::pull;
use bytes::Bytes;
use quorum_schemas::{Digest, Timestamp};
use std::time::Duration;

use crate::{Mesh, MeshError, Place, StreamName};

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

/// One delivery of a durable consumer; unacknowledged, it comes again after 30 s.
#[derive(Debug)]
pub struct Delivery {
    /// The message.
    pub stored: Stored,
    /// How often it was delivered, this time included. Never a try number.
    pub delivered: u64,
    message: async_nats::jetstream::Message,
}

impl Delivery {
    /// Acknowledges and waits for the server's confirmation.
    ///
    /// # Errors
    /// `timed_out`: the message may come again.
    pub async fn ack(&self) -> Result<(), MeshError> {
        todo!()
    }

    /// Gives it back; it comes again after `delay`.
    ///
    /// # Errors
    /// `broker`.
    pub async fn nak(&self, delay: Duration) -> Result<(), MeshError> {
        todo!("{delay:?}")
    }

    /// Says that the work on it goes on; resets the 30 s.
    ///
    /// # Errors
    /// `broker`.
    pub async fn progress(&self) -> Result<(), MeshError> {
        todo!()
    }

    /// Ends it for good; the caller has recorded why.
    ///
    /// # Errors
    /// `timed_out`.
    pub async fn term(&self) -> Result<(), MeshError> {
        todo!()
    }

    /// Whether this is the last delivery that the consumer makes.
    #[must_use]
    pub fn last(&self) -> bool {
        self.delivered >= crate::limits::MAX_DELIVER.unsigned_abs()
    }
}

/// The deliveries of one durable consumer, rebuilt on missed heartbeats and after reconnects.
pub struct Deliveries {
    mesh: Mesh,
    stream: StreamName,
    durable: String,
    batch: usize,
    pull: Option<pull::Stream>,
}

impl Deliveries {
    /// The next delivery; waits for ever. Cancel-safe.
    ///
    /// # Errors
    /// `permission_denied`, `not_found` (no such consumer: run `quorum mesh apply`), `closed`; everything else is
    /// bridged by rebuilding.
    pub async fn next(&mut self) -> Result<Delivery, MeshError> {
        todo!()
    }
}

impl Mesh {
    /// Offers to one verifier, one at a time.
    ///
    /// # Errors
    /// `id_empty`, `id_too_long`.
    pub fn offers(&self, verifier: &str) -> Result<Deliveries, MeshError> {
        todo!("{verifier}")
    }

    /// The coordinators' consumer of a stream: WORK, RESULTS or EVIDENCE. Replicas share it.
    #[must_use]
    pub fn intake(&self, stream: StreamName) -> Deliveries {
        todo!("{stream:?}")
    }

    /// Every message of `stream` from sequence `from` (1 = all) whose subject matches `filter` (`None` = all), in
    /// order, until the stream's end at the time of the call. For coordinator and auditor.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`, `broker`.
    pub async fn scan(&self, stream: StreamName, filter: Option<&str>, from: u64) -> Result<Vec<Stored>, MeshError> {
        todo!("{stream:?} {filter:?} {from}")
    }

    /// Messages as they are published, for live pages and waiting clients; nothing is replayed and nothing is
    /// promised: pair it with [`Mesh::read`].
    ///
    /// # Errors
    /// `broker`.
    pub async fn watch(&self, filter: &str) -> Result<Watch, MeshError> {
        todo!("{filter}")
    }

    /// The stream's clock minus this machine's, and the last sequence of `stream`, by asking the server.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`.
    pub async fn last_sequence(&self, stream: StreamName) -> Result<u64, MeshError> {
        todo!("{stream:?}")
    }

    /// The server's clock now, read from its answer to a stream inquiry.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`.
    pub async fn server_time(&self) -> Result<Timestamp, MeshError> {
        todo!()
    }

    /// Messages that a consumer of the coordinators gave up on, as the server announces them.
    ///
    /// # Errors
    /// `broker`.
    pub async fn dead_letters(&self) -> Result<DeadLetters, MeshError> {
        todo!()
    }
}

/// A live subscription.
#[derive(Debug)]
pub struct Watch {
    subscriber: async_nats::Subscriber,
}

impl Watch {
    /// The next subject and body. Cancel-safe.
    pub async fn next(&mut self) -> Option<(String, Bytes)> {
        todo!()
    }
}

/// The server's announcements of exhausted deliveries.
#[derive(Debug)]
pub struct DeadLetters {
    mesh: Mesh,
    subscriber: async_nats::Subscriber,
}

/// One message that no delivery could finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Consumer that gave up.
    pub consumer: String,
    /// The message, if it could be read.
    pub stored: Option<Stored>,
    /// How often it was delivered.
    pub deliveries: u64,
}

impl DeadLetters {
    /// The next one. Cancel-safe.
    pub async fn next(&mut self) -> Option<DeadLetter> {
        todo!()
    }
}
