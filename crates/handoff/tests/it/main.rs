//! Tests of the handoff, one binary.
#![allow(clippy::unwrap_used, missing_docs)]

mod binding;
mod check;
mod derivation;
mod fixtures;
mod golden;
mod intake;
mod properties;
mod reference;
