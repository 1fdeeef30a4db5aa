//! The table, the recorded runs of real engines, and real runs of fake ones.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod arguments;
mod hashes;
mod replay;
mod rules;
mod runs;
mod support;
mod table;
