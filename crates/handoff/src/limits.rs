//! All limits of this crate, each with its reason.

/// Characters of a value that a message shows. Longer ones are cut: a worker's text must not drown the reason.
pub const SHOWN_CHARACTERS: usize = 96;
