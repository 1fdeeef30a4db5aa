//! Leases: request and reply for verifiers, a fenced key-value bucket for coordinators.

use quorum_schemas::{Digest, Timestamp};

use crate::{Mesh, MeshError};

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

/// The request on `lease.<verifier>.<handoff>.<seat>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The wish.
    pub op: LeaseOp,
    /// Handoff id.
    pub handoff: Digest,
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
    /// `broker`.
    pub async fn reply(self, reply: &LeaseReply) -> Result<(), MeshError> {
        todo!("{reply:?}")
    }
}

/// The requests of all verifiers; replicas share them through a queue group.
#[derive(Debug)]
pub struct LeaseCalls {
    mesh: Mesh,
    subscriber: async_nats::Subscriber,
}

impl LeaseCalls {
    /// The next well-formed request; malformed ones are answered `malformed` and skipped. Cancel-safe. None once the
    /// connection is closed.
    pub async fn next(&mut self) -> Option<LeaseCall> {
        todo!()
    }
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

/// The lease bucket; only a coordinator's credentials may write it. Keys are `<64 hex of handoff>.<seat>`.
#[derive(Debug, Clone)]
pub struct LeaseStore {
    mesh: Mesh,
}

impl LeaseStore {
    /// The lease of a seat.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`.
    pub async fn get(&self, handoff: Digest, seat: u32) -> Result<Option<LeaseEntry>, MeshError> {
        todo!("{handoff} {seat}")
    }

    /// Writes if the seat's revision is still `expected` (0 = no lease yet); returns the new revision.
    ///
    /// # Errors
    /// `lease_conflict`, `permission_denied`, `timed_out` (unknown outcome: read again).
    pub async fn put(&self, handoff: Digest, seat: u32, value: &[u8], expected: u64) -> Result<u64, MeshError> {
        todo!("{handoff} {seat} {} {expected}", value.len())
    }

    /// Every lease of the bucket, for a coordinator that starts.
    ///
    /// # Errors
    /// `permission_denied`, `timed_out`.
    pub async fn all(&self) -> Result<Vec<(Digest, u32, LeaseEntry)>, MeshError> {
        todo!()
    }
}

impl Mesh {
    /// Asks for a lease and waits for the coordinator's answer.
    ///
    /// # Errors
    /// `timed_out` (the outcome is unknown: what was asked may hold), `permission_denied`, `message_malformed`.
    pub async fn lease(&self, verifier: &str, request: &LeaseRequest) -> Result<LeaseReply, MeshError> {
        todo!("{verifier} {request:?}")
    }

    /// Serves lease requests.
    ///
    /// # Errors
    /// `broker`.
    pub async fn lease_calls(&self) -> Result<LeaseCalls, MeshError> {
        todo!()
    }

    /// The lease bucket.
    #[must_use]
    pub fn lease_store(&self) -> LeaseStore {
        LeaseStore { mesh: self.clone() }
    }
}
