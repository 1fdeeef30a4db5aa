//! The trust root: one signed, versioned, expiring file that says whose keys count, and for what.

mod check;
mod draft;
mod entry;
mod payload;
mod root;

pub use draft::{Revocation, TrustDraft};
pub use entry::Entry;
pub use root::TrustRoot;
