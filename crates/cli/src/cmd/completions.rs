//! `quorum completions`.

use clap_complete::{Shell, generate};
use quorum_gate::ExitCode;
use serde_json::json;

use crate::app;
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum completions`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell that shall complete.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    generate(args.shell, &mut app::command(), "quorum", &mut script);
    if ui.json() {
        let text = String::from_utf8_lossy(&script);
        ui.document(&json!({"name": args.shell.to_string(), "text": text}).into())?;
    } else {
        ui.bytes(&script)?;
    }
    Ok(ExitCode::Accept)
}
