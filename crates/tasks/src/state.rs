//! The state of one handoff's seats.

use std::collections::BTreeSet;

use quorum_schemas::Timestamp;

use crate::record::{HoldRecord, Record, SeatRecord};
use crate::{TasksError, Terms, limits};

/// Why a seat is closed. A closed seat never opens again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// Its holder sent authentic evidence that is not absent.
    Answered,
    /// Its tries are used up.
    Exhausted,
}

/// The last lease of a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The holder's id.
    pub verifier: String,
    /// The try that it was given for.
    pub try_no: u32,
    /// The fencing token; `None` until the write that grants the lease is stored.
    pub epoch: Option<u64>,
    /// The lease runs up to here.
    pub until: Timestamp,
    /// The holder has answered this try with an absent result.
    pub absent: bool,
}

/// One seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// The current try, from 1.
    pub try_no: u32,
    /// Set once, for good.
    pub closed: Option<Closed>,
    /// The last lease, running or not.
    pub hold: Option<Hold>,
    pub(crate) offer: Option<Offer>,
    /// Who was offered the current try.
    pub(crate) offered: BTreeSet<String>,
}

impl Seat {
    fn new() -> Self {
        Self { try_no: 1, closed: None, hold: None, offer: None, offered: BTreeSet::new() }
    }

    /// The running lease: given for the current try, the seat not closed. (A lapse raises the try.)
    #[must_use]
    pub fn leased(&self) -> Option<&Hold> {
        self.hold.as_ref().filter(|hold| self.closed.is_none() && hold.try_no == self.try_no && !hold.absent)
    }

    /// A verdict of this seat can still come.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }
}

/// The newest offer of a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) verifier: String,
    pub(crate) at: Timestamp,
}

/// The state of a handoff's seats; changed only by [`crate::step`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub(crate) seats: Vec<Seat>,
    pub(crate) revision: u64,
    pub(crate) late: bool,
}

impl State {
    /// A handoff that nobody was offered yet.
    #[must_use]
    pub fn new(terms: &Terms) -> Self {
        let panel = terms.panel.min(limits::SEATS);
        Self { seats: (0..panel).map(|_| Seat::new()).collect(), revision: 0, late: false }
    }

    /// The seats by number.
    #[must_use]
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// The revision of the stored record that this state is based on; 0 if there is none yet.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the verifier is known to have been offered this try of the seat.
    #[must_use]
    pub fn was_offered(&self, verifier: &str, seat: u32, try_no: u32) -> bool {
        let seat = self.seats.get(seat as usize);
        seat.is_some_and(|seat| seat.try_no == try_no && seat.offered.contains(verifier))
    }

    /// No seat is open.
    #[must_use]
    pub fn panel_closed(&self) -> bool {
        self.seats.iter().all(|seat| !seat.is_open())
    }

    /// A tick at or after the deadline was seen.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.late
    }

    /// The durable part.
    #[must_use]
    pub fn record(&self) -> Record {
        let hold = |hold: &Hold| HoldRecord {
            verifier: hold.verifier.clone(),
            try_no: hold.try_no,
            epoch: hold.epoch,
            until: hold.until,
        };
        let seats = self.seats.iter().map(|s| SeatRecord { try_no: s.try_no, hold: s.hold.as_ref().map(hold) });
        Record { seats: seats.collect() }
    }

    /// Takes over what is stored, if it is newer than what this state is based on.
    pub(crate) fn observe(&mut self, record: &Record, revision: u64) {
        if revision <= self.revision {
            return;
        }
        self.revision = revision;
        for (seat, stored) in self.seats.iter_mut().zip(&record.seats) {
            let absent = seat.hold.as_ref().filter(|h| h.absent).and_then(|h| h.epoch);
            seat.hold = stored.hold.as_ref().map(|hold| {
                let epoch = hold.epoch.unwrap_or(revision);
                let absent = absent == Some(epoch);
                Hold {
                    verifier: hold.verifier.clone(),
                    try_no: hold.try_no,
                    epoch: Some(epoch),
                    until: hold.until,
                    absent,
                }
            });
            if stored.try_no > seat.try_no {
                seat.raise_to(stored.try_no);
            }
        }
    }

    /// The state that a stored record stands for; evidence seen so far has to be played in after it.
    ///
    /// # Errors
    /// [`TasksError::RecordMalformed`] if the record is of another panel.
    pub fn restore(terms: &Terms, record: &Record, revision: u64) -> Result<Self, TasksError> {
        let mut state = Self::new(terms);
        if record.seats.len() != state.seats.len() {
            let reason = format!("{} seats, the handoff has {}", record.seats.len(), state.seats.len());
            return Err(TasksError::RecordMalformed { place: "/seats".into(), reason });
        }
        state.observe(record, revision);
        Ok(state)
    }
}

impl Seat {
    pub(crate) fn raise_to(&mut self, try_no: u32) {
        self.try_no = try_no;
        self.offer = None;
        self.offered.clear();
    }
}
