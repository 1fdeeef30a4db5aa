//! The command line as a whole: global flags, dispatch, the last word on errors.

use std::ffi::OsString;
use std::process;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};
use quorum_gate::ExitCode;

use crate::cmd;
use crate::codes::CliCode;
use crate::contract;
use crate::error::CliError;
use crate::overwrite;
use crate::ui::Ui;

/// Independent verification of what workers hand in, be they agents, people or scripts.
#[derive(Parser)]
#[command(name = "quorum", version, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    /// Write one JSON document to stdout instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: cmd::Command,
}

/// Parses the arguments, runs the command and turns its end into an exit code.
pub(crate) fn main() -> process::ExitCode {
    quorum_sandbox::init_main();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(status) = cmd::hidden(&arguments) {
        // The status of a child is a byte; anything else is a defect of ours and must not look like success.
        return process::ExitCode::from(u8::try_from(status).unwrap_or(ExitCode::Infrastructure.number()));
    }
    let parsed = command().try_get_matches().and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        // What could not be parsed may still say in which form its error is wanted.
        Err(error) => return usage(&error, arguments.iter().any(|argument| argument == "--json")),
    };
    let mut ui = Ui::new(cli.json);
    let allowed = overwrite::check(&matches);
    let code = match allowed.and_then(|()| cmd::run(cli.command, &mut ui)).and_then(|code| ui.flush().map(|()| code)) {
        Ok(code) => code,
        Err(error) => report(&error, &mut ui),
    };
    code.into()
}

/// The whole command line as clap knows it.
pub(crate) fn command() -> clap::Command {
    contract::dress(Cli::command())
}

/// Help and version are data and succeed; every other complaint of the parser is usage, in one line as all errors.
fn usage(error: &clap::Error, json: bool) -> process::ExitCode {
    let mut ui = Ui::new(json);
    if !error.use_stderr() {
        let printed = ui.help(&error.render()).and_then(|()| ui.flush());
        return printed.map_or_else(|error| report(&error, &mut ui), |()| ExitCode::Accept).into();
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !json {
        ui.say(error.render().to_string().trim_end());
        return ExitCode::Usage.into();
    }
    let text = error.render().to_string();
    let rest = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(rest).filter(|line| !line.is_empty()).collect();
    let complaint = lines.join(" ").replace(" tip: ", "; ");
    let complaint = complaint.strip_prefix("error: ").unwrap_or(&complaint);
    let error = CliError::control(CliCode::Usage, format!("{complaint}; --help shows what can be given"));
    report(&error, &mut ui).into()
}

fn report(error: &CliError, ui: &mut Ui) -> ExitCode {
    ui.error(error);
    error.exit_code()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::CONTRACTS;

    /// The words of every command that has none below it.
    fn leaves(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        let children: Vec<_> = command.get_subcommands().collect();
        if children.is_empty() {
            found.push(path.to_owned());
        }
        for child in children {
            leaves(child, format!("{path} {}", child.get_name()).trim_start(), found);
        }
    }

    #[test]
    fn the_parser_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_a_contract_and_every_contract_a_command() {
        let mut found = Vec::new();
        leaves(&command(), "", &mut found);
        let mut known: Vec<&str> = CONTRACTS.iter().map(|contract| contract.path).collect();
        found.sort();
        known.sort_unstable();
        assert_eq!(found, known, "add the missing command to contract.rs");
    }

    #[test]
    fn every_example_parses_as_its_command() {
        for contract in CONTRACTS {
            assert!(!contract.examples.is_empty(), "{} has no example", contract.path);
            assert!(!contract.json.is_empty(), "{} has no schema for --json", contract.path);
            for example in contract.examples {
                let words = words(example);
                let matches = command().try_get_matches_from(&words);
                let matches = matches.unwrap_or_else(|error| panic!("{example}: {error}"));
                let mut path = Vec::new();
                let mut inner = &matches;
                while let Some((name, below)) = inner.subcommand() {
                    path.push(name);
                    inner = below;
                }
                assert_eq!(path.join(" "), contract.path, "{example}");
            }
        }
    }

    /// The words of a line as a shell splits it: spaces, and single quotes around what holds some.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for character in line.chars() {
            match character {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                other => words.last_mut().expect("never empty").push(other),
            }
        }
        words
    }

    #[test]
    fn every_schema_of_a_contract_is_embedded() {
        for contract in CONTRACTS {
            for name in contract.json {
                assert!(name.parse::<quorum_schemas::SchemaName>().is_ok(), "{}: {name}", contract.path);
            }
        }
    }
}
