//! The `quorum` binary, each test with real processes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall panic, also in its helpers")]

mod arguments;
mod bad_input;
mod ci_examples;
mod dsse;
mod evaluator_plans;
mod export;
mod gate_audit;
mod gate_git;
mod gate_git_bounds;
mod gate_git_writes;
mod gate_refusals;
mod gate_small;
mod gate_steps;
mod gate_summary;
mod gate_upstream;
mod keys_trust;
mod messages;
mod policy;
mod reference;
mod reports;
mod source_binding;
mod world;
