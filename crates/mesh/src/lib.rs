//! The only room that speaks NATS.
