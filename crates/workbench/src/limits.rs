//! All limits of this crate, each with its reason.

use std::time::Duration;

/// Characters of a reference in a result (upstream's bound).
pub const REF_CHARS: usize = 512;
/// Characters of a relative path: upstream's bound of a working directory.
pub const PATH_CHARS: usize = 1024;
/// Characters of an error code in a result (upstream's bound).
pub const CODE_CHARS: usize = 128;
/// Atoms of one argv, the executable among them (upstream's guest wire).
pub const ARGV_ATOMS: usize = 64;
/// Characters of one atom (upstream's guest wire).
pub const ATOM_CHARS: usize = 4096;
/// Bytes that a result may carry of both streams together: upstream's guest output budget.
pub const OUTPUT_BYTES: usize = 524_288;
/// Longest run, in milliseconds: what upstream's host channel can carry.
pub const TIMEOUT_MS: u64 = 300_000;
/// Observation roots of one run (upstream's guest wire).
pub const ROOTS: usize = 8;
/// Characters of an idempotency key: 64 hex digits and room for what is in front of them.
pub const KEY_CHARS: usize = 128;
/// Variables of an environment. A profile is written by hand.
pub const ENV_NAMES: usize = 64;
/// Largest program whose content is hashed before it is run: far above every compiler driver seen.
pub const EXECUTABLE_BYTES: u64 = 1 << 30;
/// Entries, depth and bytes of a workspace that is copied for a mutation: upstream's bounds of an observed one.
pub const COPY_ENTRIES: usize = 16_384;
/// See [`COPY_ENTRIES`].
pub const COPY_DEPTH: usize = 128;
/// See [`COPY_ENTRIES`].
pub const COPY_BYTES: u64 = 64 << 20;
/// How long a stored result is kept by default: a day, longer than any deadline of a handoff.
pub const RETENTION: Duration = Duration::from_secs(86_400);
