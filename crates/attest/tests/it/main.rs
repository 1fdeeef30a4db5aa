//! Tests of quorum-attest through its public API.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall panic, also in its helpers")]

mod authenticate;
mod authorise;
mod crypto;
mod dsse;
mod foreign;
mod keys;
mod properties;
mod statement;
mod support;
mod trust;
mod trust_cosign;
mod trust_history;
mod trust_keys;
mod trust_rotation;
mod vectors;
