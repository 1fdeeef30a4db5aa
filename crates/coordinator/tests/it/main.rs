//! A coordinator against a real nats-server, with verifiers that really check and really sign.

mod fixture;
mod happy;
mod leases;
mod recovery;
mod refusals;
mod revisions;
