//! All limits of this crate, each with its reason.

/// Characters of an error message: room for two of Linux's longest file names, and still only some lines of a terminal.
pub(crate) const MESSAGE_CHARS: usize = 1000;
