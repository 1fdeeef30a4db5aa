//! `quorum policy check`.

use std::path::{Path, PathBuf};

use quorum_gate::ExitCode;
use quorum_handoff::WorkUnit;
use quorum_policies::{Policy, advise};
use quorum_schemas::one_line;
use serde_json::json;

use crate::error::CliError;
use crate::ui::Ui;
use crate::{input, keyfile};

/// Arguments of `quorum policy check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The policy: a file, or the name of a shipped one.
    policy: String,
    /// Say also what the verifiers of this trust root cannot do.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Join it with this work unit first.
    #[arg(long, value_name = "FILE")]
    work_unit: Option<PathBuf>,
    /// Exit 1 also where there is a warning.
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let bytes = super::bytes_of(&args.policy, Path::new("."))?;
    let trust = args.trust.as_deref().map(keyfile::trust).transpose()?;
    let work_unit = args.work_unit.as_deref().map(work_unit).transpose()?;
    let policy = match Policy::parse(&bytes) {
        Ok(policy) => policy,
        Err(error) => {
            if ui.json() {
                let value = json!({"valid": false, "code": error.code(), "message": error.to_string()});
                ui.document(&value.into())?;
            } else {
                ui.line(one_line(&format!("{}: {error}", args.policy)))?;
            }
            return Ok(ExitCode::Reject);
        }
    };
    let warnings = advise(&policy, work_unit.as_ref(), trust.as_ref());
    if ui.json() {
        let warnings: Vec<_> =
            warnings.iter().map(|warning| json!({"code": warning.code.as_str(), "message": warning.message})).collect();
        let value = json!({
            "valid": true, "id": policy.id, "digest": policy.digest().to_string(), "warnings": warnings
        });
        ui.document(&value.into())?;
    } else {
        ui.line(one_line(&format!("{}: policy `{}`, {}", args.policy, policy.id, policy.digest())))?;
        for warning in &warnings {
            ui.line(one_line(&format!("warning: {}: {}", warning.code, warning.message)))?;
        }
    }
    Ok(if args.strict && !warnings.is_empty() { ExitCode::Reject } else { ExitCode::Accept })
}

/// A bare work unit.
pub(super) fn work_unit(path: &Path) -> Result<WorkUnit, CliError> {
    let bytes = input::document(path)?;
    WorkUnit::parse(&bytes).map_err(|error| input::refused(path, error.code(), &error))
}
