//! One shot: verify, decide, report, audit. Links no NATS.
