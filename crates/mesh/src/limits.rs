//! All limits of this room, each with its reason.

use std::time::Duration;

/// Longest identity in a subject: three bytes per byte in the worst case keep every subject far below the
/// broker's 4 KiB control line.
pub const ID_BYTES: usize = 96;

/// One blob chunk; well below every broker's default `max_payload` of 1 MiB.
pub const CHUNK_BYTES: usize = 512 * 1024;

/// Largest blob: candidates and bundles are held in memory by one check.
pub const BLOB_BYTES: u64 = 256 * 1024 * 1024;

/// Largest message: an offer carries two envelopes of at most 1.4 MiB each.
pub const MESSAGE_BYTES: u64 = 4 * 1024 * 1024;

/// The oldest nats-server that keeps every field this mesh sets.
pub const MINIMUM_SERVER: (u64, u64) = (2, 12);
/// [`MINIMUM_SERVER`] for messages.
pub const MINIMUM_SERVER_TEXT: &str = "2.12";

/// How long a publication waits for its acknowledgement; the slowest fsync seen was 40 ms.
pub const ACK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a lease request waits. Shorter than the renewal period of 5 s, so that one lost reply costs one renewal.
pub const LEASE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a read-back waits for a replica that lags behind the leader.
pub const READ_BACK: Duration = Duration::from_secs(3);

/// Messages that prove an equivocation; the third and later ones would only be a flood.
pub const EQUIVOCATION_CAP: i64 = 2;

/// Deliveries of one message before it is a dead letter: crashes and restarts use it up, patience does not,
/// because who waits sends in-progress acknowledgements.
pub const MAX_DELIVER: i64 = 20;

/// How long a delivery may stay without any acknowledgement before a reader gets it again: what a killed reader held
/// waits so long.
pub const ACK_WAIT: Duration = Duration::from_secs(15);

/// The broker's idle heartbeat on a pull; two missed ones rebuild the pull.
pub const HEARTBEAT: Duration = Duration::from_secs(5);

/// How long one pull request stands at the server.
pub const PULL_EXPIRES: Duration = Duration::from_secs(30);

/// Largest body of a lease request or reply.
pub const LEASE_BYTES: usize = 4096;

/// Pause between two attempts to reach the server.
pub const RECONNECT: Duration = Duration::from_millis(100);

/// How long a publication is tried again while the server is away or restarting; create-only subjects make it safe.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Messages of one pull of a coordinator: all of them are handled well within [`ACK_WAIT`].
pub const INTAKE_BATCH: usize = 32;

/// Unacknowledged messages of one consumer; far more than one pull, so that poison never blocks what comes behind it.
pub const MAX_ACK_PENDING: i64 = 1000;

/// Room for the headers of a message beside its body.
pub const HEADER_BYTES: u64 = 64 * 1024;

/// Pull requests that may stand at one consumer: one for each replica, and some that a killed reader left behind.
pub const MAX_WAITING: i64 = 512;

/// Bytes of a credentials file: two short lines of which each is shorter than a subject.
pub const CREDENTIALS_BYTES: u64 = 4096;
