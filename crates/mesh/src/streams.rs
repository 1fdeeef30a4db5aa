//! The streams of design section 6 as one table.

use std::time::Duration;

use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

use crate::limits;

/// Bucket of the leases; only coordinators may write it.
pub const LEASE_BUCKET: &str = "idkmesh-leases";

/// A stream of the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamName {
    /// WorkUnits.
    Work,
    /// ResultManifests.
    Results,
    /// Signed handoffs.
    Handoffs,
    /// Offers of seats to verifiers.
    Offers,
    /// Signed evidence.
    Evidence,
    /// Signed decisions.
    Decisions,
    /// Refusals, lease events, equivocations, dead letters.
    Audit,
    /// Candidates, baselines and bundles in chunks.
    Blobs,
    /// The key-value bucket of the leases.
    Leases,
}

impl StreamName {
    /// Every stream that `mesh apply` makes.
    pub const ALL: [Self; 9] = [
        Self::Work,
        Self::Results,
        Self::Handoffs,
        Self::Offers,
        Self::Evidence,
        Self::Decisions,
        Self::Audit,
        Self::Blobs,
        Self::Leases,
    ];

    /// The name at the server.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Work => "IDKMESH_WORK",
            Self::Results => "IDKMESH_RESULTS",
            Self::Handoffs => "IDKMESH_HANDOFFS",
            Self::Offers => "IDKMESH_OFFERS",
            Self::Evidence => "IDKMESH_EVIDENCE",
            Self::Decisions => "IDKMESH_DECISIONS",
            Self::Audit => "IDKMESH_AUDIT",
            Self::Blobs => "IDKMESH_BLOBS",
            Self::Leases => "KV_idkmesh-leases",
        }
    }

    /// The subjects that it stores.
    #[must_use]
    pub fn filter(self) -> &'static str {
        match self {
            Self::Work => "idkmesh.v1.work.>",
            Self::Results => "idkmesh.v1.result.>",
            Self::Handoffs => "idkmesh.v1.handoff.>",
            Self::Offers => "idkmesh.v1.offer.>",
            Self::Evidence => "idkmesh.v1.evidence.>",
            Self::Decisions => "idkmesh.v1.decision.>",
            Self::Audit => "idkmesh.v1.audit.>",
            Self::Blobs => "idkmesh.v1.blob.>",
            Self::Leases => "$KV.idkmesh-leases.>",
        }
    }

    /// Messages that one subject may hold. Two where a second one proves an equivocation; one elsewhere, so that the
    /// server itself keeps a subject written once.
    #[must_use]
    pub fn cap(self) -> i64 {
        match self {
            Self::Results | Self::Evidence => limits::EQUIVOCATION_CAP,
            _ => 1,
        }
    }

    /// Share of the store, in MiB, of a mesh of ordinary size.
    fn mebibytes(self) -> i64 {
        match self {
            Self::Blobs => 8 * 1024,
            Self::Leases => 64,
            _ => 512,
        }
    }

    /// The whole configuration. A full stream refuses (`discard: new`) and never loses; only the lease bucket
    /// replaces its values, which is what a key-value bucket is for.
    #[must_use]
    pub fn config(self, replicas: usize) -> Config {
        let lease = self == Self::Leases;
        Config {
            name: self.as_str().to_owned(),
            subjects: vec![self.filter().to_owned()],
            retention: RetentionPolicy::Limits,
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            discard_new_per_subject: !lease,
            max_messages_per_subject: self.cap(),
            max_bytes: self.mebibytes() * 1024 * 1024,
            max_messages: -1,
            max_consumers: -1,
            max_age: Duration::ZERO,
            max_message_size: i32::try_from(limits::MESSAGE_BYTES + limits::HEADER_BYTES).unwrap_or(i32::MAX),
            num_replicas: replicas,
            duplicate_window: Duration::from_secs(120),
            deny_delete: true,
            deny_purge: true,
            allow_direct: true,
            ..Config::default()
        }
    }
}

/// Bytes of store that all streams together may reserve.
#[must_use]
pub fn reserved_bytes() -> i64 {
    StreamName::ALL.iter().map(|stream| stream.mebibytes() * 1024 * 1024).sum()
}
