//! The one transition function.

use quorum_schemas::Timestamp;

use crate::record::Record;
use crate::state::{Hold, Offer};
use crate::{Closed, Denied, State, Terms};

/// What happened; every event that depends on time carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Time has passed.
    Tick {
        /// Now.
        now: Timestamp,
    },
    /// A coordinator starts or comes back. Nobody could renew while it was away, so running leases get a full term.
    Resumed {
        /// Now.
        now: Timestamp,
    },
    /// The stored record was read.
    Observed {
        /// As read.
        record: Record,
        /// Its revision.
        revision: u64,
    },
    /// The record of this state was stored.
    Stored {
        /// The new revision; the epoch of a lease that this write grants.
        revision: u64,
    },
    /// An offer is on the stream, published by this or by another coordinator.
    Offered {
        /// To whom.
        verifier: String,
        /// The seat.
        seat: u32,
        /// The try.
        try_no: u32,
    },
    /// A verifier asks for a seat.
    Claim {
        /// Now.
        now: Timestamp,
        /// Who.
        verifier: String,
        /// The seat.
        seat: u32,
        /// The try that it was offered.
        try_no: u32,
    },
    /// A holder asks for more time.
    Renew {
        /// Now.
        now: Timestamp,
        /// Who.
        verifier: String,
        /// The seat.
        seat: u32,
        /// Its fencing token.
        epoch: u64,
    },
    /// A holder gives its seat back unanswered.
    Release {
        /// Now.
        now: Timestamp,
        /// Who.
        verifier: String,
        /// The seat.
        seat: u32,
        /// Its fencing token.
        epoch: u64,
    },
    /// Authentic evidence was stored on the stream.
    Evidence {
        /// Now.
        now: Timestamp,
        /// The signer.
        verifier: String,
        /// The seat that it names.
        seat: u32,
        /// The try that it names.
        try_no: u32,
        /// The epoch that it names.
        epoch: u64,
        /// The result is absent (error, timeout, cancelled): it asks for another try.
        absent: bool,
    },
}

/// What the caller has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Store [`State::record`] by compare-and-set against the old state's revision, then step [`Event::Stored`] before
    /// anything else. If another write came first: drop the new state, read, step [`Event::Observed`], start over.
    Save,
    /// Publish an offer.
    Offer {
        /// To whom.
        verifier: String,
        /// The seat.
        seat: u32,
        /// The try.
        try_no: u32,
        /// The same offer was published before.
        again: bool,
    },
    /// Answer the claim or renewal with the hold of this seat, after it is stored.
    Granted {
        /// The seat.
        seat: u32,
    },
    /// Answer the release, after it is stored.
    Released {
        /// The seat.
        seat: u32,
    },
    /// Answer with a refusal.
    Denied(Denied),
    /// A lease ran out unanswered.
    Lapsed {
        /// The seat.
        seat: u32,
        /// The holder that was.
        verifier: String,
        /// The try that is lost.
        try_no: u32,
    },
    /// A seat closed for good.
    SeatClosed {
        /// The seat.
        seat: u32,
        /// Why.
        why: Closed,
    },
    /// The last open seat closed.
    PanelClosed,
    /// The deadline has passed on the caller's clock, with seats still open. Told once.
    Deadline,
}

/// Applies one event. Total: an event that means nothing in this state changes nothing.
#[must_use]
pub fn step(terms: &Terms, state: &State, event: &Event) -> (State, Vec<Effect>) {
    let mut next = Step { terms, state: state.clone(), effects: Vec::new() };
    let was_closed = state.panel_closed();
    match event {
        Event::Tick { now } => next.pass_time(*now),
        Event::Resumed { now } => {
            next.resume(*now);
            next.pass_time(*now);
        }
        Event::Observed { record, revision } => next.state.observe(record, *revision),
        Event::Stored { revision } => next.stored(*revision),
        Event::Offered { verifier, seat, try_no } => next.offered(verifier, *seat, *try_no),
        Event::Claim { now, verifier, seat, try_no } => {
            next.pass_time(*now);
            let answer = next.claim(*now, verifier, *seat, *try_no);
            next.answer(answer);
        }
        Event::Renew { now, verifier, seat, epoch } => {
            next.pass_time(*now);
            let answer = next.renew(*now, verifier, *seat, *epoch);
            next.answer(answer);
        }
        Event::Release { now, verifier, seat, epoch } => {
            next.pass_time(*now);
            let answer = next.release(verifier, *seat, *epoch);
            next.answer(answer);
            next.make_offers(*now);
        }
        Event::Evidence { now, verifier, seat, try_no, epoch, absent } => {
            next.evidence(verifier, *seat, *try_no, *epoch, *absent);
            next.pass_time(*now);
        }
    }
    if !was_closed && next.state.panel_closed() {
        next.effects.push(Effect::PanelClosed);
    }
    (next.state, next.effects)
}

struct Step<'a> {
    terms: &'a Terms,
    state: State,
    effects: Vec<Effect>,
}

impl Step<'_> {
    /// The end of a lease that starts now.
    fn term_from(&self, now: Timestamp) -> Timestamp {
        Timestamp::from_micros(now.micros().saturating_add(self.terms.lease_micros))
    }

    fn answer(&mut self, answer: Result<Effect, Denied>) {
        match answer {
            Ok(effect) => self.effects.extend([Effect::Save, effect]),
            Err(denied) => self.effects.push(Effect::Denied(denied)),
        }
    }

    /// Lapses, offers and the deadline, in this order.
    fn pass_time(&mut self, now: Timestamp) {
        if now >= self.terms.deadline {
            if !self.state.late && !self.state.panel_closed() {
                self.effects.push(Effect::Deadline);
            }
            self.state.late = true;
        }
        if self.state.late {
            // After the deadline the seats stay as they are: they say who held what when it passed.
            return;
        }
        for n in 0..self.state.seats.len() {
            let lapsed = self.state.seats[n].leased().filter(|hold| hold.until <= now);
            if let Some(Hold { verifier, try_no, .. }) = lapsed.cloned() {
                self.effects.push(Effect::Lapsed { seat: number(n), verifier, try_no });
                self.raise(n);
            }
        }
        self.make_offers(now);
    }

    fn resume(&mut self, now: Timestamp) {
        let until = self.term_from(now);
        for seat in &mut self.state.seats {
            let (closed, try_no) = (seat.closed.is_some(), seat.try_no);
            if let Some(hold) = seat.hold.as_mut().filter(|h| !closed && h.try_no == try_no && !h.absent) {
                hold.until = hold.until.max(until);
            }
        }
    }

    /// The next try of a seat, or its end.
    fn raise(&mut self, n: usize) {
        let seat = &mut self.state.seats[n];
        if seat.try_no >= self.terms.max_tries {
            self.close(n, Closed::Exhausted);
        } else {
            seat.raise_to(seat.try_no + 1);
        }
    }

    fn close(&mut self, n: usize, why: Closed) {
        let seat = &mut self.state.seats[n];
        if seat.closed.is_none() {
            seat.closed = Some(why);
            seat.offer = None;
            self.effects.push(Effect::SeatClosed { seat: number(n), why });
        }
    }

    fn stored(&mut self, revision: u64) {
        self.state.revision = self.state.revision.max(revision);
        for hold in self.state.seats.iter_mut().filter_map(|seat| seat.hold.as_mut()) {
            hold.epoch.get_or_insert(revision);
        }
    }

    fn offered(&mut self, verifier: &str, seat: u32, try_no: u32) {
        let eligible = self.terms.position(verifier).is_some();
        if let Some(seat) = self.state.seats.get_mut(index(seat))
            && seat.try_no == try_no
            && eligible
        {
            seat.offered.insert(verifier.to_owned());
        }
    }

    /// Offers every seat that waits for a claim: at once, and again to the next verifier when an offer has waited long.
    fn make_offers(&mut self, now: Timestamp) {
        if self.state.late {
            return;
        }
        for n in 0..self.state.seats.len() {
            let seat = &self.state.seats[n];
            if seat.closed.is_some() || seat.leased().is_some() {
                continue;
            }
            let waits = seat.offer.as_ref().is_some_and(|o| now.micros_since(o.at) < self.terms.offer_micros);
            if waits {
                continue;
            }
            if let Some(verifier) = self.next_verifier(n) {
                let seat = &mut self.state.seats[n];
                let again = !seat.offered.insert(verifier.clone());
                seat.offer = Some(Offer { verifier: verifier.clone(), at: now });
                self.effects.push(Effect::Offer { verifier, seat: number(n), try_no: seat.try_no, again });
            }
        }
    }

    /// The next verifier in the order of offers that may sit here now. One that is not in the way of another seat's
    /// waiting offer goes before one that is.
    fn next_verifier(&self, n: usize) -> Option<String> {
        let verifiers = self.terms.verifiers();
        let seat = &self.state.seats[n];
        let last = seat.offer.as_ref().map(|o| &o.verifier).or(seat.hold.as_ref().map(|h| &h.verifier));
        let start = last.and_then(|id| self.terms.position(id)).map_or(n, |at| at + 1);
        let in_order = || (0..verifiers.len()).map(|k| &verifiers[(start + k) % verifiers.len()].id);
        let free = |id: &&String| self.blocked(n, id).is_none();
        let unasked = |id: &&String| {
            let others = self.state.seats.iter().enumerate().filter(|(m, seat)| *m != n && seat.is_open());
            !others.filter_map(|(_, seat)| seat.offer.as_ref()).any(|offer| self.terms.conflict(id, &offer.verifier))
        };
        in_order().filter(free).find(unasked).or_else(|| in_order().find(free)).cloned()
    }

    /// Why a verifier may not sit on seat `n`: what the other seats' holders forbid. A lapsed holder still counts, since
    /// its evidence may be on its way; its own seat is the one place that it keeps from nobody.
    fn blocked(&self, n: usize, id: &str) -> Option<Denied> {
        let others = self.state.seats.iter().enumerate().filter(|(m, _)| *m != n);
        let holders: Vec<&str> =
            others.filter_map(|(_, seat)| seat.hold.as_ref()).map(|hold| hold.verifier.as_str()).collect();
        if holders.contains(&id) {
            return Some(Denied::HoldsOtherSeat);
        }
        holders.iter().any(|holder| self.terms.conflict(id, holder)).then_some(Denied::NotIndependent)
    }

    fn claim(&mut self, now: Timestamp, verifier: &str, seat_no: u32, try_no: u32) -> Result<Effect, Denied> {
        let n = index(seat_no);
        let seat = self.state.seats.get(n).ok_or(Denied::UnknownSeat)?;
        if seat.closed.is_some() {
            return Err(Denied::SeatClosed);
        }
        if self.state.late {
            return Err(Denied::DeadlinePassed);
        }
        if self.terms.position(verifier).is_none() {
            return Err(Denied::NotEligible);
        }
        if try_no != seat.try_no {
            return Err(Denied::StaleTry);
        }
        let until = self.term_from(now);
        if let Some(hold) = seat.leased() {
            if hold.verifier != verifier {
                return Err(Denied::SeatTaken);
            }
            // The reply was lost or the holder started again: the same lease, with a full term.
            return Ok(self.extend(n, until));
        }
        if !seat.offered.contains(verifier) {
            return Err(Denied::NotOffered);
        }
        if let Some(denied) = self.blocked(n, verifier) {
            return Err(denied);
        }
        let seat = &mut self.state.seats[n];
        seat.hold = Some(Hold { verifier: verifier.to_owned(), try_no, epoch: None, until, absent: false });
        seat.offer = None;
        Ok(Effect::Granted { seat: seat_no })
    }

    fn extend(&mut self, n: usize, until: Timestamp) -> Effect {
        if let Some(hold) = self.state.seats[n].hold.as_mut() {
            hold.until = hold.until.max(until);
        }
        Effect::Granted { seat: number(n) }
    }

    fn renew(&mut self, now: Timestamp, verifier: &str, seat: u32, epoch: u64) -> Result<Effect, Denied> {
        let n = self.running(verifier, seat, epoch)?;
        Ok(self.extend(n, self.term_from(now)))
    }

    fn release(&mut self, verifier: &str, seat: u32, epoch: u64) -> Result<Effect, Denied> {
        let n = self.running(verifier, seat, epoch)?;
        let position = self.terms.position(verifier);
        let released = &mut self.state.seats[n];
        released.hold = None;
        // The next offer goes to whoever comes after the one that gave the seat back.
        if position.is_some() {
            released.offer = Some(Offer { verifier: verifier.to_owned(), at: Timestamp::from_micros(i64::MIN) });
        }
        Ok(Effect::Released { seat })
    }

    /// The place of a running lease that the caller really has.
    fn running(&self, verifier: &str, seat: u32, epoch: u64) -> Result<usize, Denied> {
        let n = index(seat);
        let seat = self.state.seats.get(n).ok_or(Denied::UnknownSeat)?;
        if seat.closed.is_some() {
            return Err(Denied::SeatClosed);
        }
        if self.state.late {
            return Err(Denied::DeadlinePassed);
        }
        let running = seat.leased().is_some_and(|hold| hold.verifier == verifier && hold.epoch == Some(epoch));
        if running { Ok(n) } else { Err(Denied::StaleEpoch) }
    }

    /// Evidence of the last holder closes its seat, even if its lease has lapsed meanwhile, as long as nobody else was
    /// given the seat since: a fencing token is stale only when a newer one exists.
    fn evidence(&mut self, verifier: &str, seat: u32, try_no: u32, epoch: u64, absent: bool) {
        let n = index(seat);
        let Some(seat) = self.state.seats.get_mut(n).filter(|seat| seat.closed.is_none()) else { return };
        let current = seat.try_no;
        let Some(hold) = seat.hold.as_mut() else { return };
        if hold.verifier != verifier || hold.try_no != try_no || hold.epoch != Some(epoch) || hold.absent {
            return;
        }
        if !absent {
            self.close(n, Closed::Answered);
            return;
        }
        hold.absent = true;
        if current == try_no {
            self.raise(n);
        }
    }
}

fn index(seat: u32) -> usize {
    seat as usize
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("a panel has at most 32 seats")
}
