//! `quorum coordinator`.

use std::path::PathBuf;

use quorum_coordinator::{Config, CoordinatorError, run as serve};
use quorum_gate::ExitCode;
use serde_json::json;

use super::submit::block_on;
use crate::daemon;
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum coordinator`.
#[derive(clap::Args)]
#[command(after_help = super::verifier::DAEMON_HELP)]
pub(crate) struct Args {
    /// The configuration (TOML).
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Read and check everything that the configuration names, then exit.
    #[arg(long)]
    check_config: bool,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let config = Config::load(&args.config).map_err(unusable)?;
    let loaded = config.check().map_err(unusable)?;
    if args.check_config {
        let (id, policy, version) = (&loaded.id, &loaded.policy.id, loaded.trust.version());
        if ui.json() {
            ui.document(&json!({"coordinator": id, "policy": policy, "trust_version": version}).into())?;
        } else {
            ui.line(format!("coordinator {id}, policy {policy}, trust root version {version}"))?;
        }
        return Ok(ExitCode::Accept);
    }
    // The daemon reads everything again when it starts; the key is not kept twice.
    drop(loaded);
    daemon::start_log()?;
    block_on(async { serve(&config, daemon::shutdown()?).await.map_err(broken) })?;
    Ok(ExitCode::Accept)
}

fn unusable(error: CoordinatorError) -> CliError {
    CliError::control(error.code(), error)
}

fn broken(error: CoordinatorError) -> CliError {
    CliError::infrastructure(error.code(), error)
}
