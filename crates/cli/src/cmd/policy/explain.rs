//! `quorum policy explain`.

use std::path::{Path, PathBuf};

use quorum_gate::{ExitCode, explain_record};
use quorum_policies::{Explanation, explain_policy};

use super::check::work_unit;
use super::test::{case_file, policy_for};
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum policy explain`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The policy: a file, or the name of a shipped one. A record has its own, and a file with cases names one.
    #[arg(required_unless_present_any = ["record", "case"], conflicts_with = "record")]
    policy: Option<String>,
    /// Join it with this work unit.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "case"])]
    work_unit: Option<PathBuf>,
    /// Explain the decision of this record, which `gate`, `decide` or `show` wrote.
    #[arg(long, value_name = "DIR", conflicts_with = "case")]
    record: Option<PathBuf>,
    /// Explain a case of this file.
    #[arg(long, value_name = "FILE")]
    case: Option<PathBuf>,
    /// Which case; without it the first.
    #[arg(long, value_name = "CASE", requires = "case")]
    name: Option<String>,
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let explanation = if let Some(record) = &args.record {
        match explain_record(record)? {
            Ok(explanation) => explanation,
            Err(difference) => {
                let message = format!("{}: {}: {}", record.display(), difference.file, difference.message);
                return Err(CliError::control(crate::codes::CliCode::RecordDiffers, message));
            }
        }
    } else if let Some(path) = &args.case {
        let file = case_file(path)?;
        let policy = policy_for(&file, path, args.policy.as_deref())?;
        let name = args.name.as_deref().or_else(|| file.names().first().copied()).unwrap_or_default();
        file.explain(&policy, name)
            .map_err(|error| CliError::control(error.code(), format!("{}: {error}", path.display())))?
    } else {
        let policy = super::policy_of(args.policy.as_deref().unwrap_or_default(), Path::new("."))?;
        let work_unit = args.work_unit.as_deref().map(work_unit).transpose()?;
        explain_policy(&policy, work_unit.as_ref())
    };
    show(&explanation, ui)?;
    Ok(ExitCode::Accept)
}

fn show(explanation: &Explanation, ui: &mut Ui) -> Result<(), CliError> {
    if ui.json() {
        let value = explanation.to_value().map_err(|error| CliError::infrastructure(error.code(), error))?;
        return ui.document(&value);
    }
    ui.bytes(explanation.text().as_bytes())
}
