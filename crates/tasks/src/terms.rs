//! What is fixed for the whole life of a handoff.

use std::collections::BTreeMap;

use quorum_schemas::{C1Digest, Timestamp};

use crate::{TasksError, limits, offer_order};

/// A verifier that may be offered a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verifier {
    /// The id in the trust root.
    pub id: String,
    /// The public key's 32 bytes.
    pub key: [u8; 32],
    /// The attributes in the trust root: axis to value.
    pub attributes: BTreeMap<String, String>,
}

/// The worker whose candidate is judged. An unauthenticated worker has no attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The manifest's worker id.
    pub id: String,
    /// The attributes in the trust root: axis to value.
    pub attributes: BTreeMap<String, String>,
}

/// The fixed conditions of one handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The handoff's id.
    pub handoff: C1Digest,
    /// Number of seats.
    pub panel: u32,
    /// Tries of each seat.
    pub max_tries: u32,
    /// The axes on which two verifiers must differ, and differ from the worker.
    pub axes: Vec<String>,
    /// How long a lease lasts, in microseconds.
    pub lease_micros: i64,
    /// How long an offer waits for its claim before the next verifier is offered the seat, in microseconds.
    pub offer_micros: i64,
    /// From here on nothing is offered or leased.
    pub deadline: Timestamp,
    verifiers: Vec<Verifier>,
}

impl Terms {
    /// Fixes the terms: sorts the verifiers into the order of offers and leaves out those that may never sit, because
    /// they are the worker or share one of `axes` with it.
    ///
    /// # Errors
    /// [`TasksError`] for a panel, a number of tries or a time out of range.
    #[allow(clippy::too_many_arguments, reason = "each is one fixed condition; a builder would only repeat the names")]
    pub fn new(
        secret: &[u8; 32],
        handoff: C1Digest,
        (panel, max_tries): (u32, u32),
        axes: &[String],
        (lease_micros, offer_micros): (i64, i64),
        deadline: Timestamp,
        worker: &Worker,
        verifiers: Vec<Verifier>,
    ) -> Result<Self, TasksError> {
        if panel == 0 || panel > limits::SEATS {
            return Err(TasksError::PanelOutOfRange(panel));
        }
        if max_tries == 0 || max_tries > limits::TRIES {
            return Err(TasksError::TriesOutOfRange(max_tries));
        }
        for (name, micros) in [("lease", lease_micros), ("offer", offer_micros)] {
            if micros <= 0 {
                return Err(TasksError::TimeOutOfRange { name, micros });
            }
        }
        let mut verifiers: Vec<Verifier> = verifiers
            .into_iter()
            .filter(|v| v.id != worker.id && !share(axes, &v.attributes, &worker.attributes))
            .collect();
        verifiers.sort_by_cached_key(|v| (offer_order(secret, &handoff, &v.key), v.key));
        verifiers.dedup_by(|a, b| a.key == b.key);
        Ok(Self { handoff, panel, max_tries, axes: axes.to_vec(), lease_micros, offer_micros, deadline, verifiers })
    }

    /// The verifiers that may sit, in the order of offers.
    #[must_use]
    pub fn verifiers(&self) -> &[Verifier] {
        &self.verifiers
    }

    /// The place of a verifier in the order of offers.
    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.verifiers.iter().position(|v| v.id == id)
    }

    /// Whether two verifiers may not sit on one panel.
    pub(crate) fn conflict(&self, a: &str, b: &str) -> bool {
        if a == b {
            return true;
        }
        let attributes = |id| self.position(id).map(|at| &self.verifiers[at].attributes);
        match (attributes(a), attributes(b)) {
            (Some(a), Some(b)) => share(&self.axes, a, b),
            // A holder that the trust root no longer lists: nothing is known of it, and unknown counts as shared.
            _ => !self.axes.is_empty(),
        }
    }
}

/// Whether two share a value on one of the axes; unknown is shared with every other unknown.
fn share(axes: &[String], a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> bool {
    axes.iter().any(|axis| a.get(axis) == b.get(axis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn sharing_table() {
        let axes = ["operator".to_owned(), "host".to_owned()];
        for (a, b, shared) in [
            (&[("operator", "x"), ("host", "1")][..], &[("operator", "y"), ("host", "2")][..], false),
            (&[("operator", "x"), ("host", "1")], &[("operator", "x"), ("host", "2")], true),
            (&[("operator", "x")], &[("operator", "y")], true),
            (&[("operator", "x")], &[("operator", "y"), ("host", "2")], false),
            (&[], &[], true),
        ] {
            assert_eq!(share(&axes, &attributes(a), &attributes(b)), shared, "{a:?} {b:?}");
            assert_eq!(share(&axes, &attributes(b), &attributes(a)), shared, "{b:?} {a:?}");
            assert!(!share(&[], &attributes(a), &attributes(b)), "no axes, no sharing");
        }
    }
}
