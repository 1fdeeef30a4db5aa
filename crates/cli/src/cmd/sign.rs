//! `quorum sign`.

use std::path::PathBuf;

use quorum_attest::sign_statement;
use quorum_gate::{ExitCode, write_atomically};
use quorum_schemas::Digest;
use serde_json::json;

use crate::error::CliError;
use crate::ui::Ui;
use crate::{input, keyfile};

/// Arguments of `quorum sign`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The private key to sign with.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The trust root in which the key stands.
    #[arg(long, value_name = "FILE")]
    trust: PathBuf,
    /// The statement, as `verify --unsigned` wrote it; `-` reads stdin.
    statement: PathBuf,
    /// Where to write the envelope.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let trust = keyfile::trust(&args.trust)?;
    let bytes = input::document(&args.statement)?;
    let key = keyfile::private(&args.key)?;
    let envelope = sign_statement(&bytes, &key, &trust, keyfile::now()?)
        .map_err(|error| keyfile::refused(&args.statement, &error))?;
    write_atomically(&args.output, &envelope)?;
    if ui.json() {
        let (file, key_id) = (args.output.display().to_string(), key.public().key_id().to_string());
        ui.document(&json!({"envelope": Digest::of(&envelope), "file": file, "key_id": key_id}).into())?;
    } else {
        ui.line(Digest::of(&envelope).to_string())?;
    }
    Ok(ExitCode::Accept)
}
