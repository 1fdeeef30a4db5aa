//! All limits of this room, each with its reason.

use std::time::Duration;

/// A lease is renewed, and the broker told that its offer is still at work, three times in what is left of the lease; one
/// lost renewal costs no seat.
pub const RENEWALS_PER_LEASE: u32 = 3;

/// Renewals are at least this far apart, also where a clock that runs ahead says that the lease is over.
pub const RENEW_AT_LEAST: Duration = Duration::from_millis(100);

/// And at most this far: the broker delivers an offer of which it hears nothing again after 15 s, whatever the lease is.
pub const RENEW_AT_MOST: Duration = Duration::from_secs(5);

/// How often offers whose seat another verifier holds are asked for again.
pub const RETRY_EVERY: Duration = Duration::from_secs(2);

/// Offers kept waiting for a seat to become free; more stay at the broker.
pub const PARKED: usize = 64;

/// How long an offer rests after an attempt that failed for reasons of this machine; longer each time, so that the
/// deliveries that the broker makes last a quarter of an hour.
pub const REST: Duration = Duration::from_secs(5);

/// How long the start waits for the broker.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How long a shutdown may take to give the lease back.
pub const GOODBYE: Duration = Duration::from_secs(4);

/// Time for checks that are our own code, on top of what the plan gives its programs.
pub const OWN_CHECKS: Duration = Duration::from_secs(300);

/// Largest configuration file.
pub const CONFIG_BYTES: u64 = 1 << 20;

/// Largest key, trust root or plan file.
pub const FILE_BYTES: u64 = 16 << 20;
