//! `quorum schema`.

use std::path::{Path, PathBuf};

use quorum_gate::ExitCode;
use quorum_schemas::{SchemaName, Value, parse, validate};

use crate::codes::CliCode;
use crate::error::CliError;
use crate::input;
use crate::ui::Ui;

/// Arguments of `quorum schema`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print the names of the schemas.
    List,
    /// Print one schema.
    Show {
        /// The schema's name.
        name: String,
    },
    /// Check a file: exit 0 if it follows the schema, 1 if it does not.
    Check {
        /// The schema's name.
        name: String,
        /// The document (TOML if the name ends in `.toml`, else JSON); `-` reads JSON from stdin.
        file: PathBuf,
    },
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    match args.command {
        Command::List => list(ui),
        Command::Show { name } => {
            ui.bytes(schema(&name)?.text().as_bytes())?;
            Ok(ExitCode::Accept)
        }
        Command::Check { name, file } => check(schema(&name)?, &file, ui),
    }
}

fn list(ui: &mut Ui) -> Result<ExitCode, CliError> {
    let names: Vec<&str> = SchemaName::ALL.iter().map(|name| name.as_str()).collect();
    if ui.json() {
        ui.document(&names.into())?;
    } else {
        for name in names {
            ui.line(name)?;
        }
    }
    Ok(ExitCode::Accept)
}

fn schema(name: &str) -> Result<SchemaName, CliError> {
    name.parse().map_err(|error: quorum_schemas::SchemasError| CliError::control(error.code(), error))
}

fn check(name: SchemaName, file: &Path, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let bytes = input::document(file)?;
    let value = if file.extension().is_some_and(|extension| extension == "toml") {
        toml_value(file, &bytes)?
    } else {
        parse(&bytes).map_err(|error| input::refused(file, error.reason.code(), &error))?
    };
    let violations = validate(name, &value).err().unwrap_or_default();
    if ui.json() {
        let list: Vec<serde_json::Value> = violations
            .iter()
            .map(|violation| serde_json::json!({"pointer": violation.pointer, "message": violation.message}))
            .collect();
        ui.document(
            &serde_json::json!({"schema": name.as_str(), "valid": list.is_empty(), "violations": list}).into(),
        )?;
    } else if violations.is_empty() {
        ui.line(format!("{}: follows {}", file.display(), name.as_str()))?;
    } else {
        for violation in &violations {
            ui.line(format!("{}: {violation}", file.display()))?;
        }
    }
    Ok(if violations.is_empty() { ExitCode::Accept } else { ExitCode::Reject })
}

fn toml_value(file: &Path, bytes: &[u8]) -> Result<Value, CliError> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(input::refused(file, CliCode::TomlSyntax, &"it starts with a byte order mark; remove it"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| input::refused(file, CliCode::TomlNotUtf8, &error))?;
    let table: serde_json::Value = toml::from_str(text)
        .map_err(|error| input::refused(file, CliCode::TomlSyntax, &error.to_string().replace('\n', " | ")))?;
    Ok(table.into())
}
