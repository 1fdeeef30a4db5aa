//! `quorum handoff`.

use quorum_gate::ExitCode;

use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum handoff`.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _ui: &mut Ui) -> Result<ExitCode, CliError> {
    Err(CliError::infrastructure("not_built", "`quorum handoff` is not in this build"))
}
