//! Integration tests of the policy engine.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and say what it saw")]

mod advice;
mod agreement;
mod build;
mod case_files;
mod cases;
mod distribution;
mod files;
mod golden;
mod laws;
mod mutations;
mod proof;
mod refusals;
mod second;
mod table;
mod tlog;
mod trust_changes;
mod vsa;
