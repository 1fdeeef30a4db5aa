//! The mesh against a real nats-server: publication, permissions, blobs, leases, crashes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;
mod consume;
mod crash;
mod hostile;
mod layout;
mod lease;
mod permissions;
mod publish;
