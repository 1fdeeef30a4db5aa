//! The only place that writes to the terminal: stdout is data, stderr is talk.

use std::io::{self, BufWriter, IsTerminal, Write};

use quorum_schemas::{Value, c1};

use crate::error::CliError;

/// Where a command writes.
pub(crate) struct Ui {
    json: bool,
    colour: bool,
    out: BufWriter<io::Stdout>,
}

impl Ui {
    pub(crate) fn new(json: bool) -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colour = !no_colour && io::stderr().is_terminal();
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
        self.out.write_all(bytes).map_err(CliError::Stdout)
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

    /// The last line of a command that failed. One line, whatever the message holds.
    pub(crate) fn error(&mut self, error: &CliError) {
        let label = if self.colour { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
        let message = one_line(&error.to_string());
        // The rooms below put the code first; it is not said twice.
        let message = message.strip_prefix(error.code()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&message);
        self.say(format!("{label}[{}]: {message}", error.code()));
    }

    /// Everything written so far has reached stdout.
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        self.out.flush().map_err(CliError::Stdout)
    }
}

/// Control characters (which a hostile document may hold) never reach the terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
