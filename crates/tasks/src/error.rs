//! Why terms or a record are refused.

use quorum_schemas::{ErrorEntry, error_codes};

use crate::Denied;

/// A refusal of input that does not describe a handoff's seats.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TasksError {
    /// The panel is empty or larger than [`crate::limits::SEATS`].
    #[error("panel is {0}: a panel has 1 to {max} seats; lower `panel` in the policy", max = crate::limits::SEATS)]
    PanelOutOfRange(u32),
    /// The number of tries is zero or larger than [`crate::limits::TRIES`].
    #[error("max_tries is {0}: a seat has 1 to {max} tries; change `max_tries` in the policy", max = crate::limits::TRIES)]
    TriesOutOfRange(u32),
    /// A lease or an offer that lasts no time.
    #[error("{name} is {micros} microseconds: it must be positive; change the coordinator's timings")]
    TimeOutOfRange {
        /// Which setting.
        name: &'static str,
        /// Its value.
        micros: i64,
    },
    /// A stored record cannot be read.
    #[error(
        "the lease record cannot be read at `{place}`: {reason}; it was not written by a coordinator of this version"
    )]
    RecordMalformed {
        /// JSON pointer.
        place: String,
        /// What is wrong there.
        reason: String,
    },
}

error_codes! {
    impl TasksError in "tasks" {
        Self::PanelOutOfRange(_) => "panel_out_of_range", "The panel is empty or larger than a handoff may have.",
            "Change `panel` in the policy.", exit 5;
        Self::TriesOutOfRange(_) => "tries_out_of_range", "The number of tries is zero or too large.",
            "Change `max_tries` in the policy.", exit 5;
        Self::TimeOutOfRange { .. } => "time_out_of_range", "A lease or an offer that lasts no time.",
            "Change the coordinator's timings.", exit 5;
        Self::RecordMalformed { .. } => "record_malformed", "A stored lease record cannot be read.",
            "Use one version of quorum for all coordinators; find out who wrote it.", exit 5;
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    [TasksError::ENTRIES, Denied::ENTRIES].concat()
}
