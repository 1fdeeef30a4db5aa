//! All limits of this room, each with its reason.

use std::time::Duration;

/// How long a manifest waits for its WorkUnit and its candidate, in seconds: design section 6.
pub const WAIT_SECONDS: i64 = 60;

/// Largest configuration file; real ones have twenty lines.
pub const CONFIG_BYTES: u64 = 64 * 1024;

/// Largest key, trust, policy or secret file; the largest real one is a trust root of a few hundred entries.
pub const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// How far the coordinator's clock may be off the stream's, in microseconds: design section 5.
pub const CLOCK_SKEW_MICROS: i64 = 5_000_000;

/// How often offers and leases are looked at. Well below the shortest lease that makes sense.
pub const TICK: Duration = Duration::from_millis(200);

/// How often the streams are looked through for what another replica was handed.
pub const RESYNC: Duration = Duration::from_secs(2);

/// How often clock and trust root are checked.
pub const READINESS: Duration = Duration::from_secs(10);

/// How long to wait for the broker at the start; a mesh's parts may start in any order.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// First and longest pause before the actor is built again after a fault of the broker.
pub const RETRY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Attempts at one compare-and-set. Each failure means that another write succeeded, and a panel has at most 32 seats.
pub const CAS_ATTEMPTS: u32 = 64;

/// Revisions of one decision. Each one only weakens, so that real ones stop after a few.
pub const REVISIONS: u32 = 100;

/// Deliveries that wait for the actor; more stay at the broker.
pub const QUEUE: usize = 64;

/// Messages that are heard from one verifier for seats or tries that the panel does not have: as many as one place holds,
/// so that an objection stands wherever it was published first.
pub const STRAYS: u32 = 2;
