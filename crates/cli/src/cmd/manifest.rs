//! `quorum manifest`.

use std::path::PathBuf;

use quorum_gate::{ExitCode, ManifestRequest, WorkerClaim, make_manifest};

use super::options::{CandidateOptions, written_or_shown};
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum manifest`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The work unit that the candidate answers.
    #[arg(long, value_name = "FILE")]
    work_unit: PathBuf,
    #[command(flatten)]
    candidate: CandidateOptions,
    /// The worker's id; with --key the id of its entry in the trust root.
    #[arg(long, value_name = "ID")]
    worker: String,
    /// What the worker is: human, agent, system or hybrid.
    #[arg(long, value_name = "KIND", default_value = "agent", value_parser = ["human", "agent", "system", "hybrid"])]
    worker_type: String,
    /// The attempt at this work unit.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    attempt: u64,
    /// The worker's private key: sign the manifest.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Where to write it instead of to stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let bytes = make_manifest(&ManifestRequest {
        work_unit: args.work_unit,
        candidate: args.candidate.source()?,
        worker: WorkerClaim { id: args.worker, kind: args.worker_type, attempt: args.attempt },
        key: args.key,
    })?;
    written_or_shown(args.output.as_deref(), &bytes, ui)?;
    Ok(ExitCode::Accept)
}
