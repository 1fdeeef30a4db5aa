//! All limits of this crate, each with its reason.

use std::time::Duration;

/// A command without a stated deadline. Long enough for a test suite, short enough to notice.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);
/// Longest deadline. A seat's deadline is minutes; beyond a day nobody is waiting.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(86_400);
/// Bytes kept of one stream; the bound of upstream's process result (512 KiB).
pub const OUTPUT_DEFAULT: usize = 512 * 1024;
/// Largest settable bound of one stream: it is held in memory.
pub const OUTPUT_MAX: usize = 64 * 1024 * 1024;
/// What is beyond a stream's bound is read and dropped, so that a chatty tool is not blocked, up to this many bytes
/// more; then the run is ended as a flood.
pub const FLOOD_SLACK: usize = 16 * 1024 * 1024;
/// Largest standard input: one document or one report.
pub const STDIN_MAX: usize = 64 * 1024 * 1024;
/// Arguments of a command.
pub const ARGV_MAX: usize = 4096;
/// Largest file that a command may write: fills no disk by one file.
pub const FILE_SIZE: u64 = 1 << 30;
/// Open descriptors of one process.
pub const OPEN_FILES: u64 = 1024;
/// Processes and threads of a sandbox: a parallel test runner on a large machine, not a fork bomb.
pub const PROCESSES: u64 = 512;
/// Bytes of each private temporary directory: it is memory.
pub const TMPFS_BYTES: u64 = 256 * 1024 * 1024;
/// How long the helper may take to set a sandbox up; it takes milliseconds.
pub const SETUP: Duration = Duration::from_secs(20);
/// How long the helper may take from the kill order until the last process is reaped.
pub const QUIESCE: Duration = Duration::from_secs(20);
/// Largest report of the helper on its private channel.
pub const REPORT: usize = 64 * 1024;
/// Largest description that the helper reads: bounded by the kernel's own bound for arguments and environment.
pub const DESCRIPTION: usize = 8 * 1024 * 1024;
