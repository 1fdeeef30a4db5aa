//! All limits of this crate, each with its reason.

use std::time::Duration;

/// Largest plan file, in bytes. A plan is written by hand; the largest part is a `required_json` value.
pub const PLAN_BYTES: usize = 1 << 20;

/// Checks in one plan. A WorkUnit with more required validators than this is not reviewed by people any more.
pub const PLAN_CHECKS: usize = 64;

/// Words in the argv of one check, as upstream's VerifierPlan bounds it.
pub const ARGV_WORDS: usize = 64;

/// Bytes of one word of an argv, as upstream's VerifierPlan bounds it.
pub const ARGV_WORD_BYTES: usize = 4096;

/// Test ids that one check may expect.
pub const EXPECTED_IDS: usize = 10_000;

/// Files in one tree or ZIP. Below the 65 535 entries that a ZIP without zip64 can hold.
pub const TREE_FILES: usize = 50_000;

/// Bytes of one path in a tree or ZIP; Linux itself stops at 4096 with the root in front.
pub const PATH_BYTES: usize = 1024;

/// Longest segment of a path: what Linux file systems hold. A longer one could not be written, and that would look like a
/// fault of ours that is worth another try.
pub const NAME_BYTES: usize = 255;

/// Nesting of directories in a tree; the walk recurses.
pub const TREE_DEPTH: usize = 128;

/// Bytes of all files of one tree, and of one candidate ZIP. Far below the 4 GiB where a ZIP needs zip64.
pub const TREE_BYTES: u64 = 1 << 30;

/// Bytes of a file that are read at once while it is hashed.
pub const READ_BYTES: usize = 64 << 10;

/// Bytes of one evidence bundle: it travels in chunks through the broker and stays forever.
pub const BUNDLE_BYTES: usize = 32 << 20;

/// Files in one evidence bundle.
pub const BUNDLE_FILES: usize = 1024;

/// Bytes kept of one output stream of a check; the rest is counted and cut.
pub const LOG_BYTES: usize = 1 << 20;

/// Bytes of one report file that a harness writes.
pub const REPORT_BYTES: u64 = 8 << 20;

/// Test cases in one report.
pub const REPORT_CASES: usize = 100_000;

/// Default of `max_bytes` of `required_json` and `schema`.
pub const CANDIDATE_JSON_BYTES: u64 = 1 << 20;

/// Default of `max_bytes` of `unified_diff`: a patch that people would still review.
pub const PATCH_BYTES: u64 = 1 << 20;

/// Default time limit of a command or engine check.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest time limit that a plan may give one check, as upstream's VerifierPlan bounds it.
pub const CHECK_TIMEOUT_MAX: Duration = Duration::from_secs(1800);

/// Bytes of the request that goes to the check child: four documents of at most 1 MiB, a commit object in hex, and the
/// paths of two trees' submodules. Who reads a tree bounds the last two, so that only a candidate beyond every use of git
/// comes here.
pub const REQUEST_BYTES: usize = 16 << 20;

/// Bytes of the report that comes back from the check child: a bundle in base64 and some JSON.
pub const CHILD_REPORT_BYTES: usize = 64 << 20;

/// Bytes kept of what a dying check child wrote to stderr.
pub const CHILD_STDERR_BYTES: usize = 16 << 10;

/// Characters of one summary or diagnostic that reaches a document. With [`PLAN_CHECKS`] and [`FINDINGS`] a statement stays
/// below the 1 MiB of a document even when every character is escaped.
pub const TEXT_CHARS: usize = 500;

/// Findings kept in one result; the rest is counted.
pub const FINDINGS: usize = 40;

/// Bytes of evidence files after which further ones are cut to [`CUT_BYTES`], so that a bundle never grows past its limit.
pub const EVIDENCE_BYTES: usize = 12 << 20;

/// What stays of an evidence file that is cut.
pub const CUT_BYTES: usize = 16 << 10;
