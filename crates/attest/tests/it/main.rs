//! Tests of quorum-attest through its public API.

mod authenticate;
mod crypto;
mod dsse;
mod keys;
mod properties;
mod statement;
mod support;
mod trust;
mod trust_rotation;
