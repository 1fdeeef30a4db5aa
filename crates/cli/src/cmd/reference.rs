//! `quorum reference`: the whole command line as one page, from the same definitions as the help.

use std::fmt::Write as _;

use clap::Command;
use quorum_gate::ExitCode;
use serde_json::{Value, json};

use crate::app;
use crate::codes::CliCode;
use crate::contract::Contract;
use crate::error::CliError;
use crate::ui::Ui;

/// Columns of a page: as `--help` is wide where no terminal says how wide it is.
const COLUMNS: usize = 100;

/// Arguments of `quorum reference`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this command and those below it; without it, what all have in common.
    command: Option<String>,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let mut root = app::command();
    root.build();
    let page = match &args.command {
        None => None,
        Some(name) => Some(children(&root).find(|child| child.get_name() == name).ok_or_else(|| {
            CliError::control(CliCode::Usage, format!("quorum has no command `{name}`; --help lists them"))
        })?),
    };
    if ui.json() {
        let mut commands = Vec::new();
        list(&root, "", &mut commands);
        if let Some(page) = page {
            let below = format!("{} ", page.get_name());
            commands.retain(|it| format!("{} ", it["command"].as_str().unwrap_or_default()).starts_with(&below));
        }
        ui.document(&json!({ "commands": commands }).into())?;
    } else {
        let text = page.map_or_else(|| markdown(&root), command_page);
        ui.bytes(text.as_bytes())?;
    }
    Ok(ExitCode::Accept)
}

/// The commands below one, without `help`.
fn children(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|child| child.get_name() != "help" && !child.is_hide_set())
}

fn joined(path: &str, name: &str) -> String {
    format!("{path} {name}").trim_start().to_owned()
}

fn list(command: &Command, path: &str, commands: &mut Vec<Value>) {
    for child in children(command) {
        let path = joined(path, child.get_name());
        if children(child).next().is_none() {
            commands.push(document(child, &path));
        }
        list(child, &path, commands);
    }
}

fn document(command: &Command, path: &str) -> Value {
    let contract = Contract::of(path);
    let exits = contract.map_or(&[][..], |contract| contract.exits).iter();
    let exits: Vec<Value> = exits.map(|(code, meaning)| json!({"number": code.number(), "meaning": meaning})).collect();
    let mut arguments = Vec::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let value = argument.get_value_names().and_then(<[_]>::first).filter(|_| argument.get_action().takes_values());
        arguments.push(json!({
            "name": argument.get_long().map_or_else(|| argument.get_id().to_string(), |long| format!("--{long}")),
            "value": value.map(ToString::to_string),
            "required": argument.is_required_set(),
            "help": argument.get_help().map(ToString::to_string),
        }));
    }
    json!({
        "command": path,
        "about": command.get_about().map(ToString::to_string),
        "arguments": arguments,
        "examples": contract.map(|contract| contract.examples),
        "exits": exits,
        "json": contract.map(|contract| contract.json),
    })
}

fn markdown(root: &Command) -> String {
    let mut text = String::from(
        "# The command line\n\n\
         Written by `quorum reference` from the definitions of the commands; `./x generate` writes it again.\n\n\
         Stdout is data, stderr is talk. With `--json` stdout is one JSON document (`watch`: one a line) that follows the\n\
         schema named at the command, and the last line of stderr of a command that fails is\n\
         `{\"error\":{\"code\":...,\"exit\":...,\"message\":...}}` (`output-error-v0.1`); without it, `error[CODE]: message`.\n\
         Nothing is on stdout when a command fails before its result. [errors.md](../errors.md) explains every code.\n\
         Colour is used on a terminal only, and never with `NO_COLOR`.\n\n\
         ## Exit codes\n\n| exit | name | meaning |\n|---|---|---|\n",
    );
    for code in ExitCode::ALL {
        let _ = writeln!(text, "| {} | `{}` | {} |", code.number(), code.name(), code.meaning());
    }
    text += "\n`gate` and `decide` speak about the candidate: nothing short of `accept_candidate` is 0. All other commands \
             speak about\nthemselves: `verify` ends with 0 when evidence is written, whatever the evidence shows; `audit` with 1 \
             when the\nrecomputed decision differs and with 2 when there is nothing to compare.\n\n## Commands\n\n";
    contents(root, "", "", &mut text);
    // Its page would have the name of this one.
    text += "\n## quorum reference\n";
    help("reference", &mut text);
    text
}

/// One command with all below it.
fn command_page(command: &Command) -> String {
    let name = command.get_name();
    let mut text =
        format!("# quorum {name}\n\nWritten by `quorum reference {name}`; `./x generate` writes it again.\n");
    help(name, &mut text);
    pages(command, name, &mut text);
    text
}

fn contents(command: &Command, path: &str, page: &str, text: &mut String) {
    for child in children(command) {
        let path = joined(path, child.get_name());
        let page = if page.is_empty() { child.get_name() } else { page };
        let about = child.get_about().map(ToString::to_string).unwrap_or_default();
        let indent = "  ".repeat(path.matches(' ').count());
        let _ = writeln!(text, "{indent}- [`{path}`]({page}.md#quorum-{}): {about}", path.replace(' ', "-"));
        contents(child, &path, page, text);
    }
}

fn pages(command: &Command, path: &str, text: &mut String) {
    for child in children(command) {
        let path = joined(path, child.get_name());
        let _ = write!(text, "\n## quorum {path}\n");
        help(&path, text);
        pages(child, &path, text);
    }
}

/// What `--help` prints where no terminal says how wide it is.
fn help(path: &str, text: &mut String) {
    let words = std::iter::once("quorum").chain(path.split(' ')).chain(["--help"]);
    // Help is an error to the parser: it ends the command.
    let help = app::command().term_width(COLUMNS).try_get_matches_from(words).err().map(|it| it.render().to_string());
    let help = help.unwrap_or_default();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(text, "\n```text\n{}\n```\n", help.join("\n").trim_end());
}
