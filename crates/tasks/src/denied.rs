//! Why a lease is not given.

use std::fmt;

/// The reason of a denied claim, renewal or release; it goes to the verifier as its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Denied {
    /// The panel has no such seat.
    UnknownSeat,
    /// The verifier is not in the trust root, or it shares an axis of the policy with the worker.
    NotEligible,
    /// The verifier was never offered this seat and try.
    NotOffered,
    /// The try is not the current one of the seat.
    StaleTry,
    /// Another verifier holds the seat.
    SeatTaken,
    /// The seat was answered or its tries are used up.
    SeatClosed,
    /// The verifier holds another seat of this handoff.
    HoldsOtherSeat,
    /// The verifier shares an axis of the policy with the holder of another seat.
    NotIndependent,
    /// The epoch is not that of the running lease, or the lease has lapsed.
    StaleEpoch,
    /// The deadline of the handoff has passed.
    DeadlinePassed,
}

impl Denied {
    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::UnknownSeat => "unknown_seat",
            Self::NotEligible => "not_eligible",
            Self::NotOffered => "not_offered",
            Self::StaleTry => "stale_try",
            Self::SeatTaken => "seat_taken",
            Self::SeatClosed => "seat_closed",
            Self::HoldsOtherSeat => "holds_other_seat",
            Self::NotIndependent => "not_independent",
            Self::StaleEpoch => "stale_epoch",
            Self::DeadlinePassed => "deadline_passed",
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
