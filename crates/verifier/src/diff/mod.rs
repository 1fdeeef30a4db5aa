//! Strict reading of unified diffs as `git diff` writes them.
//!
//! Nothing is skipped: every byte of the input belongs to a header, a hunk or a marker that this module knows, else the
//! whole diff is refused. Other readers of diffs are lenient on purpose (decision 0010), so a check that believed them
//! would judge other lines than `git apply` applies.

mod error;
mod header;
mod hunk;
mod name;
mod read;

pub use error::{DiffError, DiffReason};
pub use read::{Diff, FileChange, parse};
