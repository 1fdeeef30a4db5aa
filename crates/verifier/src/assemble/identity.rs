//! Who answers, and how far it is from the worker.

use std::collections::BTreeMap;

use quorum_attest::{Entry, KeyId};
use quorum_schemas::{C1Digest, Digest, Value};

/// The seat that is answered; off the mesh seat 0, try 1, epoch 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeatTry {
    /// The seat, from 0.
    pub seat: u32,
    /// The try, from 1.
    pub try_no: u32,
    /// The fencing token of the lease.
    pub epoch: u64,
}

impl SeatTry {
    /// What every verifier off the mesh answers.
    pub const OFF_THE_MESH: Self = Self { seat: 0, try_no: 1, epoch: 0 };
}

/// What is known of the worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerFacts {
    /// Its key, if it signed.
    pub key_id: Option<KeyId>,
    /// Its attributes in the trust root; empty for an unauthenticated worker.
    pub attributes: BTreeMap<String, String>,
}

/// What is known of the verifier, and of the worker beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierIdentity {
    /// Its id; the plan's verifier.
    pub id: String,
    /// Its key; `None` when another job signs with a key that is not known here.
    pub key_id: Option<KeyId>,
    /// Its attributes in the trust root.
    pub attributes: BTreeMap<String, String>,
    /// The worker.
    pub worker: WorkerFacts,
}

impl VerifierIdentity {
    /// From the entries of a trust root, where there are any.
    #[must_use]
    pub fn of(id: &str, verifier: Option<&Entry>, worker: Option<&Entry>) -> Self {
        let attributes = |entry: &Entry| entry.attributes.clone();
        Self {
            id: id.to_owned(),
            key_id: verifier.map(|entry| entry.public_key.key_id()),
            attributes: verifier.map(attributes).unwrap_or_default(),
            worker: WorkerFacts {
                key_id: worker.map(|entry| entry.public_key.key_id()),
                attributes: worker.map(attributes).unwrap_or_default(),
            },
        }
    }

    /// Own id and key differ from the worker's.
    pub(super) fn independent_from(&self, worker_id: &str) -> bool {
        let same_key = self.key_id.is_some() && self.key_id == self.worker.key_id;
        self.id != worker_id && !same_key
    }

    /// Equal on this axis, or unknown on both sides.
    pub(super) fn shares(&self, axis: &str) -> bool {
        self.attributes.get(axis) == self.worker.attributes.get(axis)
    }
}

/// The id of a result: `vr/` and 32 hex digits of the SHA-256 of `[handoff id, key id, seat, try]` in C1, so that one try
/// has one id whoever computes it.
pub(super) fn result_id(handoff_id: C1Digest, key_id: Option<&KeyId>, place: SeatTry) -> String {
    let key = key_id.map_or(Value::Null, |key| key.to_string().into());
    let parts = vec![handoff_id.into(), key, u64::from(place.seat).into(), u64::from(place.try_no).into()];
    format!("vr/{}", &Digest::c1(&Value::Array(parts)).hex()[..32])
}
