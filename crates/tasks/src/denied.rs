//! Why a lease is not given.

use std::fmt;

use quorum_schemas::error_codes;

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

error_codes! {
    impl Denied in "tasks" {
        Self::UnknownSeat => "unknown_seat", "The panel has no such seat.", "Nothing: the verifier forgets the offer.";
        Self::NotEligible => "not_eligible",
            "The verifier is not in the trust root, or shares an axis of the policy with the worker.",
            "Have it added, or let others verify this worker.";
        Self::NotOffered => "not_offered", "The verifier was never offered this seat and try.", "Wait for an offer.";
        Self::StaleTry => "stale_try", "The try is not the current one of the seat.",
            "Nothing: the current try is offered anew.";
        Self::SeatTaken => "seat_taken", "Another verifier holds the seat.",
            "Nothing: it is offered again if that verifier fails.";
        Self::SeatClosed => "seat_closed", "The seat was answered, or its tries are used up.", "Nothing.";
        Self::HoldsOtherSeat => "holds_other_seat", "The verifier holds another seat of this handoff.",
            "Nothing: one verifier has one voice.";
        Self::NotIndependent => "not_independent",
            "The verifier shares an axis of the policy with the holder of another seat.",
            "Run verifiers that differ on the policy's axes.";
        Self::StaleEpoch => "stale_epoch", "The epoch is not that of the running lease, or the lease has lapsed.",
            "Nothing: claim the seat again if it is offered.";
        Self::DeadlinePassed => "deadline_passed", "The deadline of the handoff has passed.",
            "Raise `deadline` in the policy if it is too short.";
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
