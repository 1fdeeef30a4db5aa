//! `quorum policy test`.

use std::path::{Path, PathBuf};

use quorum_gate::ExitCode;
use quorum_policies::{CaseFile, CaseFormat, CaseReport, Policy};
use quorum_schemas::{Value, one_line};
use serde_json::json;

use crate::codes::CliCode;
use crate::error::CliError;
use crate::input;
use crate::ui::Ui;

/// Arguments of `quorum policy test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The cases: TOML, or JSON where the name ends in `.json`.
    file: PathBuf,
    /// The policy, instead of the one that the file names: a file, or the name of a shipped one.
    #[arg(long, value_name = "FILE|NAME")]
    policy: Option<String>,
}

pub(super) fn run(args: &Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let file = case_file(&args.file)?;
    let policy = policy_for(&file, &args.file, args.policy.as_deref())?;
    let reports = file
        .run(&policy)
        .map_err(|error| CliError::control(error.code(), format!("{}: {error}", args.file.display())))?;
    let failed = reports.iter().filter(|report| !report.mismatches.is_empty()).count();
    if ui.json() {
        let cases = serde_json::to_value(&reports).unwrap_or_default();
        let value = json!({
            "policy": policy.id, "digest": policy.digest().to_string(), "held": reports.len() - failed,
            "failed": failed, "cases": cases
        });
        ui.document(&Value::from_serde(value))?;
    } else {
        table(&policy, &reports, failed, ui)?;
    }
    Ok(if failed == 0 { ExitCode::Accept } else { ExitCode::Reject })
}

fn table(policy: &Policy, reports: &[CaseReport], failed: usize, ui: &mut Ui) -> Result<(), CliError> {
    ui.line(one_line(&format!("policy `{}`, {}", policy.id, policy.digest())))?;
    let wide = reports.iter().map(|report| report.found.len()).max().unwrap_or_default();
    for report in reports {
        let word = if report.mismatches.is_empty() { "ok  " } else { "FAIL" };
        let tally = report
            .tally
            .map_or_else(String::new, |tally| format!("s={} o={} a={} n={}", tally.s, tally.o, tally.a, tally.n));
        ui.line(one_line(&format!("{word}  {:<wide$}  {tally:<16}  {}", report.found, report.name)))?;
        for mismatch in &report.mismatches {
            let (what, expected, found) = (mismatch.what, &mismatch.expected, &mismatch.found);
            ui.line(format!(
                "      {}",
                one_line(&format!("line {}: {what}: expected {expected}, found {found}", report.line))
            ))?;
        }
    }
    ui.line(format!("{} cases, {} as expected, {failed} not", reports.len(), reports.len() - failed))
}

/// A file with cases.
pub(super) fn case_file(path: &Path) -> Result<CaseFile, CliError> {
    let json = path.extension().is_some_and(|extension| extension == "json");
    let format = if json { CaseFormat::Json } else { CaseFormat::Toml };
    CaseFile::parse(&input::document(path)?, format)
        .map_err(|error| CliError::control(error.code(), format!("{}: {error}", path.display())))
}

/// The policy of a file with cases; `named` stands in for the one that the file names, which is sought beside it.
pub(super) fn policy_for(file: &CaseFile, path: &Path, named: Option<&str>) -> Result<Policy, CliError> {
    match (named, file.policy()) {
        (Some(named), _) => super::policy_of(named, Path::new(".")),
        (None, Some(named)) => super::policy_of(named, path.parent().unwrap_or(Path::new("."))),
        (None, None) => {
            let message = format!("{} names no policy; give --policy, or `policy = ...` in it", path.display());
            Err(CliError::control(CliCode::PolicyNotNamed, message))
        }
    }
}
