//! Integration tests of the policy engine.

mod agreement;
mod build;
mod cases;
mod distribution;
mod files;
mod laws;
mod mutations;
mod refusals;
mod second;
mod table;
