//! Tests of the verifier on real files and processes.

mod answers;
mod bundles;
mod checks;
mod child;
mod commands;
mod forgeries;
mod plans;
mod pytest;
mod world;
