//! Seats, tries, leases and deadlines of one handoff as a pure state machine.
//!
//! [`step`] takes a state and an event that carries its own time and returns the next state and what the caller has to
//! do about it. Nothing here reads a clock, a file or the network, so the same events always give the same state.
//!
//! The durable part of a state is its [`Record`]: the caller writes it by compare-and-set to a key of the handoff, and
//! the revision of that write is the *epoch* of a newly granted lease. Whatever is not in the record (which seats have
//! been answered) follows from the evidence stream. So a caller that is killed at any instant rebuilds the same state.

mod denied;
mod error;
pub mod limits;
mod order;
mod record;
mod state;
mod step;
mod terms;

pub use denied::Denied;
pub use error::{TasksError, errors};
pub use order::offer_order;
pub use record::{HoldRecord, Record, SeatRecord};
pub use state::{Closed, Hold, Seat, State};
pub use step::{Effect, Event, step};
pub use terms::{Terms, Verifier, Worker};
