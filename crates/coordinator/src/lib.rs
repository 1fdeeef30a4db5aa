//! The coordinator: intake, handoffs, offers, leases, decisions.
//!
//! One actor ([`run`]) linearises everything that happens: deliveries of the streams, lease requests, time. It keeps no
//! state of its own that matters: the streams and the lease bucket are the truth, and whatever goes wrong on the way to
//! the broker, the actor is thrown away and built again from them. So a `kill -9` at any instant is the ordinary case.
//! Any number of replicas may run: every publication is create-only and every lease is a compare-and-set.

mod actor;
mod admission;
mod audit;
mod board;
mod case;
mod clock;
mod codes;
mod config;
mod context;
mod decide;
mod documents;
mod error;
mod evidence;
mod export;
mod leases;
pub mod limits;
mod offers;
mod record;
mod run;

pub use codes::RefusedCode;
pub use config::{Config, Loaded, Timing};
pub use error::{CoordinatorError, errors};
pub use export::{Exported, export};
pub use run::run;
