//! Integration tests of the policy engine.

mod build;
mod cases;
mod distribution;
