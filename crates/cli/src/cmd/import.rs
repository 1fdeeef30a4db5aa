//! `quorum import`.

use std::path::{Path, PathBuf};

use quorum_gate::ExitCode;
use quorum_handoff::{HandoffError, Manifest, WorkUnit, import_evidence_report};
use quorum_schemas::{Value, one_line, parse};
use serde_json::json;

use crate::error::CliError;
use crate::input;
use crate::ui::Ui;

/// Arguments of `quorum import`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show upstream's older evidence report in today's words: exit 0 if it is about this manifest, 1 if not. Nothing is
    /// signed or counted.
    EvidenceReport(EvidenceReport),
}

#[derive(clap::Args)]
struct EvidenceReport {
    /// The evidence report.
    file: PathBuf,
    /// The bare manifest that it must be about.
    #[arg(long, value_name = "FILE")]
    result: PathBuf,
    /// The work unit that it must be about.
    #[arg(long, value_name = "FILE")]
    work_unit: Option<PathBuf>,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let Command::EvidenceReport(args) = args.command;
    let report = parsed(&args.file)?;
    let manifest = Manifest::from_value(parsed(&args.result)?).map_err(|error| refused(&args.result, &error))?;
    let unit = args.work_unit.as_deref().map(|path| {
        let value = parsed(path)?;
        WorkUnit::from_value(value).map_err(|error| refused(path, &error))
    });
    let imported = match import_evidence_report(&report, &manifest, unit.transpose()?.as_ref()) {
        Ok(imported) => imported,
        Err(error) => {
            let message = one_line(&error.to_string());
            if ui.json() {
                ui.document(&json!({"imported": false, "code": error.code(), "message": message}).into())?;
            } else {
                ui.line(format!("not imported: {message}"))?;
            }
            return Ok(ExitCode::Reject);
        }
    };
    if ui.json() {
        ui.document(&imported.to_value())?;
        return Ok(ExitCode::Accept);
    }
    let (verifier, validator) = (one_line(&imported.verifier_id), one_line(&imported.validator_id));
    ui.line(format!("{verifier} on {validator}: {}, {}", imported.status, imported.recommendation))?;
    for check in &imported.checks {
        ui.line(format!("  {:<12}  {}", check.status, one_line(&check.id)))?;
    }
    ui.line("read only: an imported report is never counted as evidence")?;
    Ok(ExitCode::Accept)
}

fn parsed(path: &Path) -> Result<Value, CliError> {
    let bytes = input::document(path)?;
    parse(&bytes).map_err(|error| input::refused(path, error.reason.code(), &error))
}

fn refused(path: &Path, error: &HandoffError) -> CliError {
    input::refused(path, error.code(), error)
}
