//! The coordinator: intake, handoffs, offers, leases, decisions.
