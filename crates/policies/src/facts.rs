//! What a decision is computed from beside the documents: who received what when, and who holds which seat.

use std::collections::BTreeMap;

use quorum_attest::KeyId;
use quorum_schemas::{C1Digest, Digest, SchemaName, Timestamp, Value, validate};
use serde::{Deserialize, Serialize};

use crate::PoliciesError;
use crate::axes::words;

/// The version of the rules that this program decides by; facts of other rules are refused.
pub const RULES_VERSION: u64 = 1;

/// When an envelope came, and whether its bundle was recomputed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// The receiver's clock; on the mesh the stream's.
    pub received_at: Timestamp,
    /// Whether the bundle's digest and every digest in the result's evidence were recomputed from it.
    pub bundle_checked: bool,
}

/// The current state of one seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeatFact {
    /// The key that holds, or last held, the seat.
    pub holder: KeyId,
    /// The controller's number of the seat's current attempt, from 1.
    pub try_no: u32,
    /// The fencing token of the current lease.
    pub epoch: u64,
    /// Whether the current try still has no authentic evidence and tries are left.
    pub open: bool,
}

words! {
    /// What the keys of a decision stand on.
    Assurance {
        /// Keys that this process made for itself: nobody else vouches for them.
        Local => "local",
        /// Keys of a trust root that somebody else keeps.
        TrustRoot => "trust_root",
    }
}

/// An earlier attempt at the same work unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierAttempt {
    /// The manifest's attempt.
    pub attempt: u64,
    /// Its handoff.
    pub handoff_id: C1Digest,
    /// What was recommended, if it was decided.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recommendation: Option<crate::Recommendation>,
}

/// The facts of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Every envelope that was received, by the digest of its bytes: the evidence horizon, in full.
    pub received: BTreeMap<Digest, Received>,
    /// Seats that were ever taken. A seat of the panel that is not here is open until the panel closes.
    pub seats: BTreeMap<u32, SeatFact>,
    /// Off the mesh there are no seats: the panel is closed, seat numbers and epochs are ignored.
    pub panel_closed: bool,
    /// The last sequence of the evidence stream that was looked at; none off the mesh.
    pub horizon: Option<u64>,
    /// What the keys stand on.
    pub assurance: Assurance,
    /// Earlier attempts at the same work unit, by attempt.
    pub earlier_attempts: Vec<EarlierAttempt>,
    /// [`RULES_VERSION`] of the program that collected them.
    pub rules_version: u64,
}

impl Facts {
    /// Facts off the mesh: one clock reading for all envelopes, no seats.
    #[must_use]
    pub fn closed(received: BTreeMap<Digest, Received>, assurance: Assurance) -> Self {
        Self {
            received,
            seats: BTreeMap::new(),
            panel_closed: true,
            horizon: None,
            assurance,
            earlier_attempts: Vec::new(),
            rules_version: RULES_VERSION,
        }
    }
}

/// Who the manifest's worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerIdentity {
    /// The manifest is signed by this key, whose trust-root entry is the worker that the manifest names.
    Authenticated {
        /// The worker's key.
        key_id: KeyId,
    },
    /// Nobody signed: every attribute of the worker is unknown.
    Unauthenticated,
}

impl WorkerIdentity {
    /// `authenticated` or `unauthenticated`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Authenticated { .. } => "authenticated",
            Self::Unauthenticated => "unauthenticated",
        }
    }
}

/// Everything of a case that no document says; written as `facts.json` and embedded in the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct FactSheet {
    /// The time that the decision was taken at.
    pub now: Timestamp,
    /// Seats of the panel.
    pub panel: u32,
    /// From then on open seats are not waited for.
    pub deadline: Timestamp,
    /// Who the worker is.
    pub worker: WorkerIdentity,
    /// The facts.
    pub facts: Facts,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    schema_version: String,
    now: Timestamp,
    panel: u32,
    deadline: Timestamp,
    worker_identity: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    worker_key_id: Option<String>,
    assurance: Assurance,
    panel_closed: bool,
    received: Vec<WireReceived>,
    seats: Vec<WireSeat>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    evidence_horizon: Option<u64>,
    earlier_attempts: Vec<EarlierAttempt>,
    rules_version: u64,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireReceived {
    envelope: Digest,
    received_at: Timestamp,
    bundle_checked: bool,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSeat {
    seat: u32,
    holder: String,
    r#try: u32,
    epoch: u64,
    open: bool,
}

impl FactSheet {
    /// The document `facts-v0.1`; its C1 bytes are `facts.json`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let value = serde_json::to_value(self).expect("strings, numbers and lists always serialise");
        Value::from_serde(value)
    }

    /// Reads the document `facts-v0.1`.
    ///
    /// # Errors
    /// [`PoliciesError::SchemaInvalid`] or [`PoliciesError::Malformed`].
    pub fn parse(value: &Value) -> Result<Self, PoliciesError> {
        validate(SchemaName::Facts, value)
            .map_err(|violations| PoliciesError::SchemaInvalid { document: "facts", violations })?;
        serde_json::from_value(value.to_serde())
            .map_err(|error| PoliciesError::Malformed { document: "facts", reason: error.to_string() })
    }
}

impl From<FactSheet> for Wire {
    fn from(sheet: FactSheet) -> Self {
        let facts = sheet.facts;
        let received = facts.received.iter().map(|(envelope, fact)| WireReceived {
            envelope: *envelope,
            received_at: fact.received_at,
            bundle_checked: fact.bundle_checked,
        });
        let seats = facts.seats.iter().map(|(seat, fact)| WireSeat {
            seat: *seat,
            holder: fact.holder.to_string(),
            r#try: fact.try_no,
            epoch: fact.epoch,
            open: fact.open,
        });
        Self {
            schema_version: "0.1".to_owned(),
            now: sheet.now,
            panel: sheet.panel,
            deadline: sheet.deadline,
            worker_identity: sheet.worker.as_str().to_owned(),
            worker_key_id: match sheet.worker {
                WorkerIdentity::Authenticated { key_id } => Some(key_id.to_string()),
                WorkerIdentity::Unauthenticated => None,
            },
            assurance: facts.assurance,
            panel_closed: facts.panel_closed,
            received: received.collect(),
            seats: seats.collect(),
            evidence_horizon: facts.horizon,
            earlier_attempts: facts.earlier_attempts,
            rules_version: facts.rules_version,
        }
    }
}

impl TryFrom<Wire> for FactSheet {
    type Error = String;

    fn try_from(wire: Wire) -> Result<Self, String> {
        let key = |text: &str| text.parse::<KeyId>().map_err(|error| error.to_string());
        let worker = match (wire.worker_identity.as_str(), &wire.worker_key_id) {
            ("authenticated", Some(id)) => WorkerIdentity::Authenticated { key_id: key(id)? },
            ("unauthenticated", None) => WorkerIdentity::Unauthenticated,
            (word, _) => return Err(format!("worker_identity `{word}` and worker_key_id do not fit")),
        };
        let mut received = BTreeMap::new();
        for fact in wire.received {
            let known = Received { received_at: fact.received_at, bundle_checked: fact.bundle_checked };
            if received.insert(fact.envelope, known).is_some() {
                return Err(format!("envelope {} is listed twice", fact.envelope));
            }
        }
        let mut seats = BTreeMap::new();
        for fact in wire.seats {
            let known = SeatFact { holder: key(&fact.holder)?, try_no: fact.r#try, epoch: fact.epoch, open: fact.open };
            if seats.insert(fact.seat, known).is_some() {
                return Err(format!("seat {} is listed twice", fact.seat));
            }
        }
        let facts = Facts {
            received,
            seats,
            panel_closed: wire.panel_closed,
            horizon: wire.evidence_horizon,
            assurance: wire.assurance,
            earlier_attempts: wire.earlier_attempts,
            rules_version: wire.rules_version,
        };
        Ok(Self { now: wire.now, panel: wire.panel, deadline: wire.deadline, worker, facts })
    }
}
