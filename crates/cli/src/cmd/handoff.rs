//! `quorum handoff`.

use std::path::PathBuf;

use quorum_gate::{ExitCode, derive_handoff};

use super::options::written_or_shown;
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum handoff`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Derive the handoff of a manifest: deterministic, so anyone can repeat it.
    Derive(Derive),
}

#[derive(clap::Args)]
struct Derive {
    /// The work unit.
    #[arg(long, value_name = "FILE")]
    work_unit: PathBuf,
    /// The worker's manifest, bare or signed.
    #[arg(long, value_name = "FILE")]
    result: PathBuf,
    /// The trust root, for signed documents.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Where to write it instead of to stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let Command::Derive(args) = args.command;
    let bytes = derive_handoff(&args.work_unit, &args.result, args.trust.as_deref())?;
    written_or_shown(args.output.as_deref(), &bytes, ui)?;
    Ok(ExitCode::Accept)
}
