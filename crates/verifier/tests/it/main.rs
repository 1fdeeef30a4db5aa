//! Tests of the verifier on real files and processes.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on says where")]

mod answers;
mod bundles;
mod checks;
mod child;
mod commands;
mod diffs;
mod evaluator;
mod forgeries;
mod plans;
mod pytest;
mod unified_diff;
mod world;
