//! `quorum policy init`.

use std::path::{Path, PathBuf};

use quorum_gate::{ExitCode, write_atomically};
use quorum_policies::Policy;
use serde_json::json;

use crate::codes::CliCode;
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum policy init`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shipped policy to begin with.
    #[arg(default_value = "two-of-three")]
    name: String,
    /// The policy to write; its cases stand beside it. Neither may exist.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let (policy, cases) = Policy::template(&args.name).map_err(|error| CliError::control(error.code(), error))?;
    let beside = args.output.with_extension("cases.toml");
    for path in [&args.output, &beside] {
        if path.symlink_metadata().is_ok() {
            let message = format!("{} is there already; nothing is written", path.display());
            return Err(CliError::control(CliCode::PolicyExists, message));
        }
    }
    let name = args.output.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    write_atomically(&args.output, policy.as_bytes())?;
    write_atomically(&beside, cases(&name).as_bytes())?;
    let files: Vec<String> = [&args.output, &beside].iter().map(|path| path.display().to_string()).collect();
    if ui.json() {
        ui.document(&json!({"files": files}).into())?;
    } else {
        for file in files {
            ui.line(file)?;
        }
        ui.say(format!("try it: quorum policy test {}", shown(&beside)));
    }
    Ok(ExitCode::Accept)
}

fn shown(path: &Path) -> String {
    quorum_schemas::one_line(&path.display().to_string())
}
