//! Tests of the handoff, one binary.
#![allow(clippy::unwrap_used, missing_docs)]

mod binding;
mod build;
mod check;
mod derivation;
mod export;
mod fixtures;
mod golden;
mod intake;
mod properties;
mod readers;
mod reference;
mod rules;
mod source;
