//! All limits of this crate, each with its reason.

use std::time::Duration;

use quorum_schemas::limits::Limits;

/// Bytes of an engine's standard output that are kept and parsed: a report with every finding of a large design.
pub const STDOUT: usize = 8 * 1024 * 1024;
/// Bytes of standard error that are kept: events, one line each.
pub const STDERR: usize = 1024 * 1024;
/// The engine's payload. Depth as for every document: deeper is `unparsable_output`.
pub const PAYLOAD: Limits = Limits { bytes: STDOUT, depth: 64 };
/// A descriptor: a few pages of JSON.
pub const DESCRIPTOR: Limits = Limits { bytes: 1 << 20, depth: 32 };
/// Bytes of `stderr_tail`; the seed does not say, a screenful does.
pub const STDERR_TAIL: usize = 4096;
/// Events kept in one envelope; more are counted.
pub const EVENTS: usize = 10_000;
/// Largest artifact that is hashed: read once, never held.
pub const ARTIFACT_BYTES: u64 = 1 << 30;
/// Most artifacts of one run.
pub const ARTIFACTS: usize = 1024;
/// How long an engine may take to say its version.
pub const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest argument value: a path.
pub const ARGUMENT_BYTES: usize = 4096;
/// A document or a rules file of the shipped engine.
pub const RULES_DOCUMENT: Limits = Limits { bytes: 16 * 1024 * 1024, depth: 64 };
/// Violations that the shipped engine lists; all are counted.
pub const VIOLATIONS: usize = 1000;
