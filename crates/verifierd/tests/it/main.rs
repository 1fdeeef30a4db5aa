//! Verifier daemons as real processes on a real server, with a coordinator in this process.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod config;
mod daemon;
mod setting;
