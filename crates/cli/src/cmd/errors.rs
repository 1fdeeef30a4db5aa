//! `quorum errors` and `quorum exit-codes`: what codes mean and what to do.

use std::fmt::Write as _;

use quorum_gate::ExitCode;
use quorum_schemas::ErrorEntry;
use serde_json::{Value, json};

use crate::codes::{CliCode, catalogue};
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum errors`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this code, as it stands in `error[CODE]`.
    code: Option<String>,
    /// Print the catalogue as Markdown: docs/errors.md.
    #[arg(long, conflicts_with_all = ["code", "json"])]
    markdown: bool,
}

/// Arguments of `quorum exit-codes`.
#[derive(clap::Args)]
pub(crate) struct ExitArgs {}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let mut entries = catalogue();
    if args.markdown {
        ui.bytes(markdown(&entries).as_bytes())?;
        return Ok(ExitCode::Accept);
    }
    if let Some(code) = &args.code {
        let near = nearest(code, &entries);
        entries.retain(|entry| entry.code == code);
        if entries.is_empty() {
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(CliError::control(CliCode::CodeUnknown, format!("no error has the code `{code}`{hint}")));
        }
    }
    if ui.json() {
        ui.document(&Value::from(entries.iter().map(document).collect::<Vec<_>>()).into())?;
    } else if args.code.is_some() {
        for entry in entries {
            ui.line(format!("{} ({}{})", entry.code, entry.room, exits(&entry)))?;
            ui.line(format!("  {}", entry.meaning))?;
            ui.line(format!("  What to do: {}", entry.action))?;
        }
    } else {
        let width = entries.iter().map(|entry| entry.code.len()).max().unwrap_or_default();
        for entry in entries {
            ui.line(format!("{:<11} {:<width$} {}", entry.room, entry.code, entry.meaning))?;
        }
    }
    Ok(ExitCode::Accept)
}

pub(crate) fn exit_codes(_args: ExitArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    if ui.json() {
        let codes = ExitCode::ALL
            .iter()
            .map(|code| json!({"number": code.number(), "name": code.name(), "meaning": code.meaning()}));
        ui.document(&Value::from(codes.collect::<Vec<_>>()).into())?;
    } else {
        for code in ExitCode::ALL {
            ui.line(format!("{:<4} {:<16} {}", code.number(), code.name(), code.meaning()))?;
        }
    }
    Ok(ExitCode::Accept)
}

fn nearest(code: &str, entries: &[ErrorEntry]) -> Option<&'static str> {
    let near = entries.iter().map(|entry| (strsim::damerau_levenshtein(code, entry.code), entry.code)).min()?;
    (near.0 <= code.len() / 3).then_some(near.1)
}

fn document(entry: &ErrorEntry) -> Value {
    json!({
        "code": entry.code,
        "room": entry.room,
        "meaning": entry.meaning,
        "action": entry.action,
        "exits": entry.exits,
    })
}

fn exits(entry: &ErrorEntry) -> String {
    let numbers: Vec<String> = entry.exits.iter().map(u8::to_string).collect();
    if numbers.is_empty() { String::new() } else { format!(", exit {}", numbers.join(" or ")) }
}

fn markdown(entries: &[ErrorEntry]) -> String {
    let mut text = String::from(
        "# Errors\n\n\
         Written by `quorum errors --markdown` from the tables beside the error enums; `./x generate` writes it again.\n\n\
         A command that fails writes one last line to stderr, `error[CODE]: message`; `quorum errors CODE` explains the\n\
         code. Codes are stable. A code stands once in a room (a crate); rooms may share a word where they mean the same\n\
         kind of thing. Where no exit code is given it depends on whose document it is: 2 for a control file, 6 for the\n\
         worker's; a refusal of evidence ends nothing and is listed in the decision.\n",
    );
    let (mut room, mut above) = ("", "");
    for entry in entries {
        if entry.room != room {
            (room, above) = (entry.room, "");
            let _ = write!(text, "\n## {room}\n\n| code | exit | meaning | what to do |\n|---|---|---|---|\n");
        }
        let numbers: Vec<String> = entry.exits.iter().map(u8::to_string).collect();
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            entry.code,
            numbers.join(", "),
            cell(entry.meaning),
            // Numbered rules share what to do about them.
            if entry.action == above { "as above".to_owned() } else { cell(entry.action) }
        );
        above = entry.action;
    }
    text
}
