//! Tasks of this repository: `cargo run -p xtask -- mutants`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task tells what it does")]

mod error;
mod mutants;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Tasks of this repository.")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Mutate the pure rooms, run their tests, and hold what survives against mutants/survivors.toml.
    Mutants(mutants::Args),
}

fn main() -> ExitCode {
    // This crate stands in crates/xtask.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Task::Mutants(args) = Args::parse().task;
    match mutants::run(&args, &root) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}
