//! `quorum init`.

use std::path::Path;

use quorum_gate::{ExitCode, INIT_COMMAND, init};
use serde_json::json;

use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum init`.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let paths = init(Path::new("."))?;
    if ui.json() {
        ui.document(&json!({"files": paths, "next": INIT_COMMAND}).into())?;
        return Ok(ExitCode::Accept);
    }
    for path in paths {
        ui.say(format!("wrote {path}"));
    }
    ui.say("Next, which exits 0:");
    ui.line(INIT_COMMAND)?;
    ui.say("The CI job: copy .quorum/example/github-gate.yml to .github/workflows/, or take .quorum/example/gitlab-ci.yml.");
    Ok(ExitCode::Accept)
}
