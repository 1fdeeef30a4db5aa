//! The command line as a whole: global flags, dispatch, the last word on errors.

use std::ffi::OsString;
use std::process;

use clap::Parser;
use clap::error::ErrorKind;
use quorum_gate::ExitCode;

use crate::cmd;
use crate::error::CliError;
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
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut ui = Ui::new(cli.json);
    let code = match cmd::run(cli.command, &mut ui).and_then(|code| ui.flush().map(|()| code)) {
        Ok(code) => code,
        Err(error) => report(&error, &mut ui),
    };
    code.into()
}

/// Help and version are data and succeed; every other complaint of the parser is usage, in one line as all errors.
fn usage(error: &clap::Error) -> process::ExitCode {
    if !error.use_stderr() {
        return error.print().map_or(ExitCode::Infrastructure, |()| ExitCode::Accept).into();
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Nobody reads it where it cannot be written; the exit code says the same.
        let _ = error.print();
        return ExitCode::Usage.into();
    }
    let text = error.render().to_string();
    let rest = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(rest).filter(|line| !line.is_empty()).collect();
    let complaint = lines.join(" ").replace(" tip: ", "; ");
    let complaint = complaint.strip_prefix("error: ").unwrap_or(&complaint);
    let error = CliError::control("usage", format!("{complaint}; --help shows what can be given"));
    report(&error, &mut Ui::new(false)).into()
}

fn report(error: &CliError, ui: &mut Ui) -> ExitCode {
    ui.error(error);
    error.exit_code()
}
