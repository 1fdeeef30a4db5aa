//! A coordinator against a real nats-server, with verifiers that really check and really sign.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

mod fixture;
mod happy;
mod hostile;
mod leases;
mod recovery;
mod refusals;
mod revisions;
