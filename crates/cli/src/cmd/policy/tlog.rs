//! `quorum policy import-tlog` and `export-tlog`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use quorum_gate::ExitCode;
use quorum_policies::{LeaveOut, PoliciesError, TlogPolicy};
use quorum_schemas::one_line;
use serde_json::json;

use crate::error::CliError;
use crate::ui::Ui;
use crate::{input, keyfile};

/// Arguments of `quorum policy import-tlog`.
#[derive(clap::Args)]
pub(crate) struct ImportArgs {
    /// The tlog-policy.
    file: PathBuf,
    /// The policy's id.
    #[arg(long, default_value = "imported")]
    id: String,
    /// A witness is the operator of the verifier that has its key in this trust root; without it, its name is.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// What may be left out, since a policy cannot say it; repeatable.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = leave_out(&["logs", "urls", "keys", "unused"]))]
    leave_out: Vec<String>,
    /// Where to write it instead of to stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Arguments of `quorum policy export-tlog`.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// The policy: a file, or the name of a shipped one.
    policy: String,
    /// The trust root that has the operators' keys.
    #[arg(long, value_name = "FILE")]
    trust: PathBuf,
    /// What may be left out, since a tlog-policy cannot say it; repeatable.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = leave_out(&["rest"]))]
    leave_out: Vec<String>,
    /// Where to write it instead of to stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn leave_out(words: &[&'static str]) -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(words.iter().copied())
}

fn kinds(words: &[String]) -> BTreeSet<LeaveOut> {
    words.iter().filter_map(|word| LeaveOut::from_word(word)).collect()
}

pub(super) fn import(args: &ImportArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let refused = |error: PoliciesError| CliError::control(error.code(), format!("{}: {error}", args.file.display()));
    let tlog = TlogPolicy::parse(&input::document(&args.file)?).map_err(refused)?;
    let trust = args.trust.as_deref().map(keyfile::trust).transpose()?;
    let imported = tlog.import(trust.as_ref(), &kinds(&args.leave_out)).map_err(refused)?;
    let text = imported.to_policy(&args.id).map_err(refused)?;
    for what in &imported.left_out {
        ui.say(one_line(&format!("left out: {what}")));
    }
    put(&args.id, &text, args.output.as_deref(), ui)
}

pub(super) fn export(args: &ExportArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let policy = super::policy_of(&args.policy, Path::new("."))?;
    let trust = keyfile::trust(&args.trust)?;
    let tlog = TlogPolicy::export(&policy, &trust, &kinds(&args.leave_out))
        .map_err(|error| CliError::control(error.code(), format!("{}: {error}", args.policy)))?;
    // Operators are text, so the file is.
    let text = String::from_utf8_lossy(&tlog.to_bytes()).into_owned();
    put(&policy.id, &text, args.output.as_deref(), ui)
}

fn put(name: &str, text: &str, output: Option<&Path>, ui: &mut Ui) -> Result<ExitCode, CliError> {
    match output {
        Some(_) => super::super::options::written_or_shown(output, text.as_bytes(), ui)?,
        None if ui.json() => ui.document(&json!({"name": name, "text": text}).into())?,
        None => ui.bytes(text.as_bytes())?,
    }
    Ok(ExitCode::Accept)
}
