//! The mesh against a real nats-server: publication, permissions, blobs, leases, crashes.

mod common;
mod consume;
mod crash;
mod lease;
mod permissions;
mod publish;
