//! Reports of a decision for people and programs. Nothing short of accept looks like success in any of them.

mod json;
mod markdown;
mod text;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use quorum_policies::Decision;
use quorum_schemas::one_line;
use quorum_verifier::CheckOutcome;

use crate::GateError;

/// One check of this machine, as reports show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckLine {
    /// The validator that it serves.
    pub id: String,
    /// The kind of the check.
    pub kind: String,
    /// passed, failed, skipped, inconclusive or error.
    pub status: String,
    /// One sentence.
    pub summary: String,
    /// How the result reached us.
    pub channel: String,
    /// What kept the candidate's code away.
    pub isolation: String,
    /// How long it took.
    pub duration_ms: u64,
}

impl From<&CheckOutcome> for CheckLine {
    fn from(outcome: &CheckOutcome) -> Self {
        Self {
            id: outcome.id.clone(),
            kind: outcome.kind.clone(),
            status: outcome.status.as_str().to_owned(),
            summary: outcome.summary.clone(),
            channel: outcome.channel.as_str().to_owned(),
            isolation: outcome.isolation.as_str().to_owned(),
            duration_ms: outcome.duration_ms,
        }
    }
}

/// One line for each check, in columns.
#[must_use]
pub fn check_lines(checks: &[CheckLine]) -> Vec<String> {
    let width = checks.iter().map(|check| check.id.chars().count()).max().unwrap_or(0);
    let line = |check: &CheckLine| {
        let (status, id, summary) = (&check.status, one_line(&check.id), one_line(&check.summary));
        format!("{status:<12}  {id:<width$}  {summary}")
    };
    checks.iter().map(line).collect()
}

/// What a report is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The recommendation and its why.
    pub decision: &'a Decision,
    /// The checks of this machine; empty where it only decided.
    pub checks: &'a [CheckLine],
}

/// A form of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// For terminals.
    Text,
    /// One JSON document, C1 and a newline.
    Json,
    /// For pull requests and job summaries.
    Markdown,
}

impl Format {
    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Markdown => "markdown",
        }
    }

    /// Writes the report.
    #[must_use]
    pub fn render(self, subject: &Subject<'_>) -> String {
        match self {
            Self::Text => text::render(subject),
            Self::Json => json::render(subject),
            Self::Markdown => markdown::render(subject),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One `--report FORMAT=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportTarget {
    /// The form.
    pub format: Format,
    /// The file.
    pub file: PathBuf,
}

impl FromStr for ReportTarget {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let refuse = |why: &str| Err(GateError::control("report_malformed", format!("--report `{text}`: {why}")));
        let Some((format, file)) = text.split_once('=') else { return refuse("write FORMAT=FILE") };
        if file.is_empty() {
            return refuse("the file is missing after `=`");
        }
        let format = match format {
            "text" => Format::Text,
            "json" => Format::Json,
            "markdown" => Format::Markdown,
            _ => return refuse("the formats are text, json and markdown"),
        };
        Ok(Self { format, file: file.into() })
    }
}
