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
/// Roots of an observation, trees of a mutation; upstream's bound.
pub const ROOTS: usize = 8;
/// Entries of all roots of an observation; upstream's bound.
pub const ROOTS_ENTRIES: usize = 16_384;
/// Levels below a root; upstream's bound.
pub const ROOTS_DEPTH: usize = 128;
/// Bytes of all files of all roots; upstream's bound.
pub const ROOTS_BYTES: u64 = 64 * 1024 * 1024;
/// Largest value of one extended attribute; the kernel's bound.
pub const ATTRIBUTE: usize = 64 * 1024;
/// Names of differing paths in a report: enough to find out who did it.
pub const CHANGED_NAMES: usize = 64;
/// Changes of a mutation in a report.
pub const CHANGES: usize = 4096;
/// Entries of each private temporary directory: their inodes are memory too, and not part of its bytes.
pub const TMPFS_ENTRIES: u64 = 65_536;
/// Bytes of each private temporary directory: it is memory.
pub const TMPFS_BYTES: u64 = 256 * 1024 * 1024;
/// Milliseconds in which a group that is empty can be removed at the latest; it takes none or a few.
pub const GROUP_REMOVALS: u32 = 200;
/// Largest settable private directory.
pub const SCRATCH_MAX: u64 = 16 << 30;
/// Smallest settable bound of memory.
pub const MEMORY_MIN: u64 = 1 << 20;
/// Smallest settable bound of CPU time, in thousandths: the kernel keeps no shorter slice than a millisecond in a
/// hundred.
pub const CPU_MIN: u32 = 10;
/// How long the helper may take to set a sandbox up; it takes milliseconds.
pub const SETUP: Duration = Duration::from_secs(20);
/// How long the helper may take from the kill order until the last process is reaped.
pub const QUIESCE: Duration = Duration::from_secs(20);
/// Largest report of the helper on its private channel.
pub const REPORT: usize = 64 * 1024;
/// Largest description that the helper reads: bounded by the kernel's own bound for arguments and environment.
pub const DESCRIPTION: usize = 8 * 1024 * 1024;
