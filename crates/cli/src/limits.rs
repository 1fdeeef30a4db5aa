//! All limits of this crate, each with its reason.

use std::time::Duration;

/// Characters of an error message: room for two of Linux's longest file names, and still only some lines of a terminal.
pub(crate) const MESSAGE_CHARS: usize = 1000;

/// Time between two words about work that goes on: quick work says nothing, and slow work is never taken for dead.
pub(crate) const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Columns of an example in the help, which is at most 100 wide.
pub(crate) const EXAMPLE_COLUMNS: usize = 96;
