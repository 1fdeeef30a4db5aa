//! `quorum audit`.

use std::path::PathBuf;

use quorum_gate::{AuditOutcome, ExitCode, audit};
use serde_json::json;

use crate::error::CliError;
use crate::progress::Progress;
use crate::ui::Ui;

/// Arguments of `quorum audit`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A directory that `gate`, `decide` or `show` wrote with --out.
    directory: PathBuf,
    /// The trust root that you know: the record's must be the same file.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let progress = Progress::start("recomputing");
    let outcome = audit(&args.directory, args.trust.as_deref());
    drop(progress);
    match outcome? {
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
