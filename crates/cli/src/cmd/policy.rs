//! `quorum policy`.

mod check;
mod explain;
mod init;
mod test;
mod tlog;

use std::path::{Path, PathBuf};

use quorum_gate::ExitCode;
use quorum_policies::Policy;
use serde_json::json;

use crate::error::CliError;
use crate::input;
use crate::ui::Ui;

/// Arguments of `quorum policy`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print the names of the shipped policies.
    List,
    /// Print a shipped policy, to copy and change.
    Show {
        /// The policy's name.
        name: String,
    },
    /// Check a policy: exit 0 if it can be used, 1 if it cannot; say what it may get wrong.
    Check(check::Args),
    /// Print the effective rule, and for a case the proof tree of its decision.
    Explain(explain::Args),
    /// Run a table of cases: exit 0 if all are as expected, 1 otherwise.
    Test(test::Args),
    /// Write a policy with every key explained, and cases to try it with.
    Init(init::Args),
    /// Read the groups of a C2SP tlog-policy into a policy.
    ImportTlog(tlog::ImportArgs),
    /// Write the groups of a policy as a C2SP tlog-policy.
    ExportTlog(tlog::ExportArgs),
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    match args.command {
        Command::List => list(ui),
        Command::Show { name } => {
            let text = Policy::shipped_text(&name).map_err(|error| CliError::control(error.code(), error))?;
            if ui.json() {
                ui.document(&json!({"name": name, "text": text}).into())?;
            } else {
                ui.bytes(text.as_bytes())?;
            }
            Ok(ExitCode::Accept)
        }
        Command::Check(args) => check::run(&args, ui),
        Command::Explain(args) => explain::run(&args, ui),
        Command::Test(args) => test::run(&args, ui),
        Command::Init(args) => init::run(&args, ui),
        Command::ImportTlog(args) => tlog::import(&args, ui),
        Command::ExportTlog(args) => tlog::export(&args, ui),
    }
}

fn list(ui: &mut Ui) -> Result<ExitCode, CliError> {
    let names = Policy::shipped_names();
    if ui.json() {
        ui.document(&names.into())?;
    } else {
        for name in names {
            ui.line(name)?;
        }
    }
    Ok(ExitCode::Accept)
}

/// The bytes of a policy: a shipped name, or a file. A name wins: `./local` is a file called `local`. `beside` is where
/// a relative path begins.
fn bytes_of(named: &str, beside: &Path) -> Result<Vec<u8>, CliError> {
    if let Some(text) = Policy::shipped(named) {
        return Ok(text.as_bytes().to_vec());
    }
    let path: PathBuf = if named == "-" { named.into() } else { beside.join(named) };
    // A bare word that names no file was meant as a shipped policy.
    if !named.contains(['/', '.']) && named != "-" && path.symlink_metadata().is_err() {
        Policy::shipped_text(named).map_err(|error| CliError::control(error.code(), error))?;
    }
    input::document(&path)
}

fn policy_of(named: &str, beside: &Path) -> Result<Policy, CliError> {
    let bytes = bytes_of(named, beside)?;
    Policy::parse(&bytes).map_err(|error| CliError::control(error.code(), format!("{named}: {error}")))
}
