//! All limits of this crate, each with its reason.
