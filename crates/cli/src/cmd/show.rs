//! `quorum show`.

use std::path::PathBuf;

use quorum_coordinator::export;
use quorum_gate::ExitCode;
use quorum_schemas::{C1Digest, Digest, Value};
use serde_json::json;

use super::submit::{BrokerOptions, block_on};
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum show`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The handoff: 64 hex digits, with or without `sha256:`.
    #[arg(value_parser = handoff)]
    handoff: C1Digest,
    #[command(flatten)]
    broker: BrokerOptions,
    /// Write the record to this new directory, as `gate --out` does; `quorum audit` recomputes it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn handoff(text: &str) -> Result<C1Digest, String> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    Digest::from_hex(hex).map_err(|error| error.to_string())
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    // Without --out the record is put together all the same: nothing is shown that does not hold.
    let unwritable = |source| CliError::Write { path: std::env::temp_dir(), source };
    let scratch = tempfile::Builder::new().prefix("quorum-show-").tempdir().map_err(unwritable)?;
    let directory = args.out.clone().unwrap_or_else(|| scratch.path().join("record"));
    let exported = block_on(async {
        let mesh = args.broker.connect().await?;
        let exported = export(&mesh, args.handoff, &directory).await;
        exported.map_err(|error| CliError::infrastructure(error.code(), error))
    })?;
    if ui.json() {
        let document = json!({
            "handoff": exported.handoff,
            "revision": exported.revision,
            "recommendation": exported.recommendation.as_str(),
            "files": exported.files,
        });
        ui.document(&Value::from_serde(document))?;
    } else {
        ui.line(format!("{} revision {} of handoff {}", exported.recommendation, exported.revision, exported.handoff))?;
        for file in &exported.files {
            ui.line(format!("  {}", file.display()))?;
        }
    }
    Ok(ExitCode::Accept)
}
