//! The verifier's daemon: takes offers, claims leases, runs its own plan in a keyless child, signs once, publishes.
//!
//! The order is what makes a crash harmless: an answer is signed, stored and synced before anything of it is published;
//! after a restart the stored bytes are published again, and nothing is ever signed twice for one seat and try.

mod answers;
mod config;
mod daemon;
mod error;
mod job;
mod offer;
mod trust;

pub mod limits;

pub use config::{Config, Loaded, PlanRule};
pub use daemon::{run, serve};
pub use error::{VerifierdError, errors};
