//! The only place that writes to the terminal: stdout is data, stderr is talk.

use std::io::{self, BufWriter, IsTerminal, Write};

use clap::builder::StyledStr;
use quorum_schemas::{Value, c1, one_line};
use serde_json::json;

use crate::error::CliError;
use crate::limits::MESSAGE_CHARS;

/// Where a command writes.
pub(crate) struct Ui {
    json: bool,
    colour: bool,
    out: BufWriter<io::Stdout>,
}

impl Ui {
    pub(crate) fn new(json: bool) -> Self {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { json, colour, out: BufWriter::new(io::stdout()) }
    }

    /// Whether the user asked for one JSON document on stdout.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// One line of data.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<(), CliError> {
        self.bytes(text.as_ref().as_bytes())?;
        self.bytes(b"\n")
    }

    /// Data as it is.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        // The runtime has put /dev/null where nothing was: what is written there would be lost without a word.
        if !bytes.is_empty() && !quorum_sandbox::stdout_was_open() {
            return Err(CliError::Stdout(io::Error::other("it is closed")));
        }
        self.out.write_all(bytes).map_err(CliError::Stdout)
    }

    /// Help and version: in colour on a terminal.
    pub(crate) fn help(&mut self, text: &StyledStr) -> Result<(), CliError> {
        let coloured = self.colour && io::stdout().is_terminal();
        let text = if coloured { text.ansi().to_string() } else { text.to_string() };
        self.bytes(text.as_bytes())
    }

    /// One JSON document, minified (C1) and with a newline.
    pub(crate) fn document(&mut self, value: &Value) -> Result<(), CliError> {
        self.bytes(&c1(value))?;
        self.bytes(b"\n")
    }

    /// Talk: one line to stderr. Nothing depends on it, so a closed stderr is no error.
    pub(crate) fn say(&mut self, text: impl AsRef<str>) {
        // Data that precedes the talk must not overtake it on a terminal.
        let _ = self.out.flush();
        let _ = writeln!(io::stderr(), "{}", text.as_ref());
    }

    /// The last line of a command that failed. One line, whatever the message holds; with `--json` one JSON document.
    pub(crate) fn error(&mut self, error: &CliError) {
        let message = sentence(error.code(), &error.to_string());
        if self.json {
            let exit = error.exit_code().number();
            let document = json!({"error": {"code": error.code(), "message": message, "exit": exit}});
            return self.say(String::from_utf8_lossy(&c1(&document.into())));
        }
        let label = if self.colour && io::stderr().is_terminal() { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
        self.say(format!("{label}[{}]: {message}", error.code()));
    }

    /// Everything written so far has reached stdout.
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        self.out.flush().map_err(CliError::Stdout)
    }
}

/// A message on one line of bounded length. The rooms below put the code before theirs; it is not said twice.
fn sentence(code: &str, message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // Control characters (which a hostile document may hold) never reach the terminal.
    let text = format!(" {}", one_line(&lines.join(" ")));
    let text = text.replace(&format!(" {code}: "), " ").replace(&format!(" {code} at byte "), " at byte ");
    match text.trim_start().char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => format!("{} [cut]", &text.trim_start()[..end]),
        None => text.trim_start().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_said_once_on_one_bounded_line() {
        for (code, message, expected) in [
            ("plan_syntax", "plan_syntax: no table", "no table"),
            ("plan_syntax", "--plan: plan_syntax: TOML\n  |\n1 | x\n  | ^ bad\n", "--plan: TOML | 1 | x | ^ bad"),
            ("json_bom", "work unit: json_bom at byte 0: remove it", "work unit: at byte 0: remove it"),
            ("malformed", "report_malformed: x", "report_malformed: x"),
            ("x", "a\u{1b}[31m\u{202e}b", "a [31m b"),
        ] {
            assert_eq!(sentence(code, message), expected);
        }
        let long = sentence("x", &"d/".repeat(100_000));
        assert!(long.chars().count() == MESSAGE_CHARS + " [cut]".len() && long.ends_with(" [cut]"));
    }
}
