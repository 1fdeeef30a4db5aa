//! `quorum audit`.

use std::path::{Path, PathBuf};

use quorum_gate::{AuditOutcome, ExitCode, Files, ReportPlaces, ReportSubject, audit_with_files, audited_decision};
use serde_json::json;

use super::reports::{self, ReportOptions, Reports};
use crate::codes::CliCode;
use crate::error::CliError;
use crate::progress::Progress;
use crate::ui::Ui;

/// Arguments of `quorum audit`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A directory that `gate`, `decide` or `show` wrote with --out.
    directory: PathBuf,
    /// The trust root that you know: the record's must be this one, or an earlier version that stands beside it.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    #[command(flatten)]
    report: ReportOptions,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let reports = args.report.parse()?;
    let outside = |file: &Path| !inside(file, &args.directory);
    if let Some(target) = reports.targets.iter().find(|target| !outside(&target.file)) {
        let (file, record) = (target.file.display(), args.directory.display());
        let message =
            format!("--report {file} lies in the record {record}, which would differ then; name another file");
        return Err(CliError::control(CliCode::ReportInRecord, message));
    }
    let progress = Progress::start("recomputing");
    let audited = audit_with_files(&args.directory, args.trust.as_deref());
    drop(progress);
    let (outcome, files) = reports.or_told(audited.map_err(Into::into), ui, outside)?;
    publish(&reports, &outcome, &files, ui)?;
    match outcome {
        AuditOutcome::Same(audited) => {
            let signed_by = audited.signed_by.as_deref();
            if ui.json() {
                let value = json!({
                    "same": true,
                    "recommendation": audited.recommendation.as_str(),
                    "handoff_id": audited.handoff_id.to_string(),
                    "trust": audited.trust.to_string(),
                    "signed_by": signed_by,
                    "files": audited.files,
                    "completeness": "not checked",
                });
                ui.document(&value.into())?;
            } else {
                let signer = signed_by.map_or_else(|| "nobody".to_owned(), str::to_owned);
                ui.line(format!("same: {}", audited.recommendation))?;
                ui.line(format!("handoff {}", audited.handoff_id))?;
                ui.line(format!(
                    "{} files recomputed; signed by {signer}; trust root {}",
                    audited.files, audited.trust
                ))?;
                ui.line("completeness not checked: no ledger and no server was asked for more evidence")?;
            }
            Ok(ExitCode::Accept)
        }
        AuditOutcome::Differs(difference) => {
            if ui.json() {
                let value = json!({"same": false, "file": difference.file, "message": difference.message});
                ui.document(&value.into())?;
            } else {
                ui.line(format!("differs: {}: {}", difference.file, difference.message))?;
            }
            Ok(ExitCode::Reject)
        }
    }
}

/// The reports of the recorded decision, as the run that made it would write them; of a record that differs, that there
/// is no decision.
fn publish(reports: &Reports, outcome: &AuditOutcome, files: &Files, ui: &mut Ui) -> Result<(), CliError> {
    if reports.asks_for_nothing() {
        return Ok(());
    }
    let difference = match outcome {
        AuditOutcome::Differs(difference) => difference.clone(),
        AuditOutcome::Same(_) => match audited_decision(files) {
            Ok(decision) => {
                let places = ReportPlaces { work_unit: None, candidate: reports::candidate_of(&decision) };
                let subject =
                    ReportSubject::Decision { decision: &decision, checks: &[], record: files, places: &places };
                return reports.publish(&subject, ui);
            }
            Err(difference) => difference,
        },
    };
    let message = format!("{}: {}", difference.file, difference.message);
    let (code, exit_code) = (CliCode::RecordDiffers.code(), ExitCode::Reject);
    reports.publish(&ReportSubject::NoDecision { code, message: &message, exit_code }, ui)
}

/// Whether a file that may not be there yet would be one of the directory.
fn inside(file: &Path, directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    folder.canonicalize().is_ok_and(|folder| folder.starts_with(directory))
}
