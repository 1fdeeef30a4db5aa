//! No command writes over a file that it was given to read: looked at before anything is read or written.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;
use quorum_gate::ReportTarget;

use crate::codes::CliCode;
use crate::error::CliError;

/// Options whose value is a file that is written, wherever they stand.
const OUTPUTS: [&str; 3] = ["out", "output", "propose"];

/// # Errors
/// `output_is_input`, by whatever names and links the one file is called.
pub(crate) fn check(matches: &ArgMatches) -> Result<(), CliError> {
    let mut files = Files::default();
    files.of(matches, "");
    for (at, (option, output)) in files.outputs.iter().enumerate() {
        // Two reports in one file have a refusal of their own.
        let others = files.outputs[..at].iter().filter(|(other, _)| other != option);
        // What is not there yet may be written twice; a value that only looks like its name is no input.
        let others = others.filter(|(_, other)| same(other, output) || other == output);
        let read = files.inputs.iter().filter(|(_, input)| same(input, output));
        let Some((name, _)) = read.chain(others).next() else { continue };
        let message = format!(
            "--{option} {} is also given as `{name}`; it would be overwritten, so nothing was done",
            output.display()
        );
        return Err(CliError::control(CliCode::OutputIsInput, message));
    }
    Ok(())
}

#[derive(Default)]
struct Files {
    outputs: Vec<(String, PathBuf)>,
    inputs: Vec<(String, PathBuf)>,
}

impl Files {
    fn of(&mut self, matches: &ArgMatches, command: &str) {
        for id in matches.ids().map(clap::Id::as_str) {
            // A group has no values of its own.
            let Ok(Some(values)) = matches.try_get_raw(id) else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            for value in values {
                self.take(command, id, value);
            }
        }
        if let Some((name, below)) = matches.subcommand() {
            self.of(below, name);
        }
    }

    fn take(&mut self, command: &str, id: &str, value: &OsStr) {
        let target = value.to_str().and_then(|text| text.parse::<ReportTarget>().ok());
        match (id, target) {
            ("report", Some(target)) => self.outputs.push((id.to_owned(), target.file)),
            // A run record is written beside its report, and read elsewhere.
            ("run", _) if command == "run-report" => self.outputs.push((id.to_owned(), value.into())),
            _ if OUTPUTS.contains(&id) => self.outputs.push((id.to_owned(), value.into())),
            _ => self.inputs.push((id.replace('_', "-"), value.into())),
        }
    }
}

/// Whether two names lead to one regular file that is there.
fn same(one: &Path, other: &Path) -> bool {
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// What a path leads to, if that is a regular file that is there.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((found.dev(), found.ino()))
}
