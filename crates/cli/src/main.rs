//! The `quorum` command: arguments in, exit code out. What it does lives in the rooms below.

mod app;
mod cmd;
mod codes;
mod contract;
mod daemon;
mod error;
mod input;
mod interrupt;
mod keyfile;
mod limits;
mod narrate;
mod nats_server;
mod overwrite;
mod progress;
mod ui;

use std::process::ExitCode;

fn main() -> ExitCode {
    app::main()
}
