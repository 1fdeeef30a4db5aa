//! Integration tests of the policy engine.

mod build;
mod cases;
mod distribution;
mod files;
mod laws;
mod mutations;
mod refusals;
mod table;
