//! All limits of this crate, each with its reason.

use std::time::Duration;

/// Largest control file in bytes: the size of one document of the mesh, which is twenty times the largest real one.
pub const CONTROL_FILE: u64 = 1 << 20;

/// Largest DSSE envelope in bytes: a document in base64 and its signatures.
pub const ENVELOPE: u64 = (1 << 20) * 4 / 3 + 16 * 1024;

/// Evidence files that one decision weighs. A panel has at most 32 seats; the rest is room for equivocation and retries.
pub const EVIDENCE_FILES: usize = 256;

/// Room in bytes that is made for a file before anything of it is read, at most: that of a control file.
pub(crate) const READ_AHEAD: usize = 1 << 20;

/// Symbolic links that one path may go through, as Linux counts them.
pub const LINKS: usize = 40;

/// Bytes of a symbolic link's target: Linux ends a path at 4096 bytes, a final NUL among them.
pub const LINK_BYTES: usize = 4095;

/// Files and directories in one git tree. The largest public repositories have under half a million; a gate reads each
/// of them.
pub const TREE_ENTRIES: usize = 500_000;

/// Bytes in one git tree: more does not fit the scratch space of a CI runner (14 GB) twice, as candidate and baseline.
pub const TREE_BYTES: u64 = 4 << 30;

/// Bytes of one git tree object, which is held in memory.
pub const TREE_OBJECT: u64 = 64 << 20;

/// Commits that are hashed again to believe a merge base. A branch that is further away than the whole history of most
/// projects is rebased first; reading so many takes seconds.
pub const HISTORY_COMMITS: usize = 200_000;

/// Bytes of one git commit object: a message and signatures. A pull request's head travels to the check child.
pub const COMMIT_OBJECT: u64 = 1 << 20;

/// Bytes of the paths of all submodules of one tree, some ten thousand of them. They travel to the check child for
/// candidate and baseline, there up to six bytes each, and must leave room in the verifier's `REQUEST_BYTES`.
pub const SUBMODULE_PATH_BYTES: usize = 512 << 10;

/// Files in one recorded decision's directory that an audit reads before it says that it is no record.
pub const RECORD_FILES: usize = 2048;

/// Largest file of a recorded decision: a bundle, which the verifier bounds to the same size.
pub const RECORD_FILE: u64 = 256 << 20;

/// Time for checks that are our own code: reading the largest tree twice from a slow disk.
pub const OWN_CHECKS: Duration = Duration::from_secs(300);

/// Characters of one message in a report: GitHub cuts the message of an annotation at 64 KiB, people much earlier; the
/// whole text is in the JSON report's decision and in the record.
pub const REPORT_MESSAGE_CHARS: usize = 2000;

/// Characters of one id or path in a report: GitHub refuses an annotation with a longer title than 255.
pub const REPORT_NAME_CHARS: usize = 200;

/// Bytes of a path that an annotation names: Linux paths end at 4096 bytes, and a longer name is no file of a repository.
pub const REPORT_PATH_BYTES: usize = 4096;

/// Bytes of a Markdown report: GitHub drops a step summary over 1 MiB whole, and takes one comment of 65 536 characters.
pub const MARKDOWN_BYTES: usize = 60_000;

/// Characters of an annotation's title: GitHub refuses a longer one than 255; some are left for ` [cut]`.
pub const ANNOTATION_TITLE_CHARS: usize = 240;

/// Annotations of one Checks API request, and of one job by workflow commands: GitHub takes no more.
pub const ANNOTATIONS: usize = 50;
