//! `quorum policy`.

use std::path::{Path, PathBuf};

use quorum_gate::ExitCode;
use quorum_policies::Policy;
use quorum_schemas::one_line;
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
    /// Check a policy file: exit 0 if it can be used, 1 if it cannot.
    Check {
        /// The policy.
        file: PathBuf,
    },
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
        Command::Check { file } => check(&file, ui),
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

fn check(file: &Path, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let bytes = input::document(file)?;
    let result = Policy::parse(&bytes);
    if ui.json() {
        let value = match &result {
            Ok(policy) => json!({"valid": true, "id": policy.id, "digest": policy.digest().to_string()}),
            Err(error) => json!({"valid": false, "code": error.code(), "message": error.to_string()}),
        };
        ui.document(&value.into())?;
        return Ok(if result.is_ok() { ExitCode::Accept } else { ExitCode::Reject });
    }
    match result {
        Ok(policy) => {
            ui.line(format!("{}: policy `{}`, {}", file.display(), policy.id, policy.digest()))?;
            Ok(ExitCode::Accept)
        }
        Err(error) => {
            ui.line(one_line(&format!("{}: {error}", file.display())))?;
            Ok(ExitCode::Reject)
        }
    }
}
