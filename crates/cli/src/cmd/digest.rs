//! `quorum digest`.

use std::path::PathBuf;

use clap::ValueEnum;
use quorum_gate::ExitCode;
use quorum_schemas::{Digest, ParseError, c1_of_document, jcs, parse};

use crate::error::CliError;
use crate::input;
use crate::ui::Ui;

/// Arguments of `quorum digest`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The canonical form: `c1` is the mesh's own, `jcs` is RFC 8785.
    #[arg(long, value_enum, default_value_t = Form::C1)]
    form: Form,
    /// Write the canonical bytes instead of their digest.
    #[arg(long)]
    canonical: bool,
    /// The JSON document; `-` reads stdin.
    file: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    C1,
    Jcs,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let bytes = input::document(&args.file)?;
    let refused = |error: ParseError| input::refused(&args.file, error.reason.code(), &error);
    let canonical = match args.form {
        Form::C1 => c1_of_document(&bytes).map_err(refused)?,
        Form::Jcs => {
            let value = parse(&bytes).map_err(refused)?;
            jcs(&value).map_err(|error| input::refused(&args.file, error.code(), &error))?
        }
    };
    if ui.json() {
        let form = if matches!(args.form, Form::C1) { "c1" } else { "jcs" };
        let mut value = serde_json::json!({"digest": Digest::of(&canonical), "form": form, "bytes": canonical.len()});
        if args.canonical {
            value["canonical"] = String::from_utf8_lossy(&canonical).into();
        }
        ui.document(&value.into())?;
    } else if args.canonical {
        ui.bytes(&canonical)?;
    } else {
        ui.line(Digest::of(&canonical).to_string())?;
    }
    Ok(ExitCode::Accept)
}
