//! Seats, tries, leases and deadlines as pure state machines.
