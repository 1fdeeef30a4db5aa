//! `quorum verifier`.

use std::path::PathBuf;

use quorum_gate::ExitCode;
use quorum_schemas::counted;
use quorum_verifierd::{Config, VerifierdError, serve};
use serde_json::json;

use super::options::program;
use crate::daemon;
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum verifier`.
#[derive(clap::Args)]
#[command(after_help = DAEMON_HELP)]
pub(crate) struct Args {
    /// The configuration (TOML).
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Read and check everything that the configuration names, then exit.
    #[arg(long)]
    check_config: bool,
}

/// What both daemons say about themselves.
pub(super) const DAEMON_HELP: &str = "\
The configuration is described in docs/operating.md. SIGTERM and SIGINT end the daemon after what it is just doing.
QUORUM_LOG sets what is logged (default: info).";

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let config = Config::load(&args.config).map_err(ended)?;
    if args.check_config {
        let loaded = config.check().map_err(ended)?;
        let (id, plans) = (&loaded.entry.id, config.plans.len());
        if ui.json() {
            ui.document(&json!({"verifier": id, "plans": plans}).into())?;
        } else {
            ui.line(format!("verifier {id}, {}", counted(plans as u64, "plan")))?;
        }
        return Ok(ExitCode::Accept);
    }
    daemon::start_log()?;
    serve(&config, &program()?).map_err(ended)?;
    Ok(ExitCode::Accept)
}

fn ended(error: VerifierdError) -> CliError {
    if error.is_control_file() {
        CliError::control(error.code(), error)
    } else {
        CliError::infrastructure(error.code(), error)
    }
}
