//! The trust root: one signed, versioned, expiring file that says whose keys count, and for what.

mod check;
mod diff;
mod draft;
mod entry;
mod history;
mod payload;
mod proposal;
mod root;

pub use diff::TrustChange;
pub use draft::{Revocation, TrustDraft};
pub use entry::Entry;
pub use history::TrustHistory;
pub use proposal::{Lacking, TrustProposal};
pub use root::TrustRoot;
