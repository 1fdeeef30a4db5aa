//! Reports of a decision for people and programs. Nothing short of accept looks like success in any of them.

mod clean;
mod evidence;
mod github;
mod json;
mod junit;
mod markdown;
mod model;
mod rules;
mod sarif;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use quorum_policies::Decision;
use quorum_schemas::Digest;
use quorum_verifier::CheckOutcome;

use crate::control::ControlFiles;
use crate::{CandidateSource, ExitCode, GateCode, GateError, limits, record};
use model::{Model, Place};

pub use github::{Annotation, annotation_batches};

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

/// What is shown of the checks of this machine. Output and reports of a CI job reach workers, who learn of a hidden plan
/// the check's id and status only; the rest is sealed.
pub(crate) fn shown_checks(outcomes: &[CheckOutcome], hidden: bool) -> Vec<CheckLine> {
    let shown = |outcome| {
        let mut line = CheckLine::from(outcome);
        if hidden {
            line.summary.clone_from(&line.status);
        }
        line
    };
    outcomes.iter().map(shown).collect()
}

/// One line for each check, in columns.
#[must_use]
pub fn check_lines(checks: &[CheckLine]) -> Vec<String> {
    let ids: Vec<String> = checks.iter().map(|check| clean::name(&check.id)).collect();
    let width = ids.iter().map(|id| id.chars().count()).max().unwrap_or(0);
    let line = |(check, id): (&CheckLine, &String)| {
        let (status, summary) = (&check.status, clean::message(&check.summary));
        format!("{status:<12}  {id:<width$}  {summary}")
    };
    checks.iter().zip(&ids).map(line).collect()
}

/// What a report is about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// A recommendation and its why.
    Decision {
        /// The decision.
        decision: &'a Decision,
        /// The checks of this machine; empty where it only decided.
        checks: &'a [CheckLine],
        /// The files of the record, of which the evidence that the decision heard is shown.
        record: &'a BTreeMap<String, Vec<u8>>,
        /// Where things are, for annotations.
        places: &'a Places,
    },
    /// The run ended without one.
    NoDecision {
        /// Stable code of the error.
        code: &'a str,
        /// What is wrong.
        message: &'a str,
        /// How the process ends.
        exit_code: ExitCode,
    },
}

/// Paths relative to the repository, with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The work unit: what concerns no file of the candidate is annotated there.
    pub work_unit: Option<String>,
    /// The candidate's folder; empty for a candidate that is the repository itself.
    pub candidate: Option<String>,
}

impl Subject<'_> {
    /// An envelope of the record.
    fn envelope(&self, digest: &Digest) -> Option<&[u8]> {
        let Self::Decision { record, .. } = self else { return None };
        record.get(&record::evidence(digest)).map(Vec::as_slice)
    }

    /// The path of a candidate's file in the repository, if an annotation can name it.
    fn candidate_file(&self, path: &str) -> Option<String> {
        let Self::Decision { places: Places { candidate: Some(folder), .. }, .. } = self else { return None };
        let full = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
        annotatable(&full).then_some(full)
    }

    /// Where what has no place of its own is shown.
    fn default_place(&self) -> Place {
        let file = match self {
            Self::Decision { places: Places { work_unit: Some(file), .. }, .. } if annotatable(file) => file.clone(),
            _ => DEFAULT_FILE.to_owned(),
        };
        Place { file, line: 1 }
    }
}

/// The name that `quorum init` and the record give to the work unit.
const DEFAULT_FILE: &str = "work-unit.json";

/// Whether a path is one inside a repository, written the way that hosts compare it.
fn annotatable(path: &str) -> bool {
    let inside = !path.is_empty() && path.split('/').all(|segment| !matches!(segment, "" | "." | ".."));
    inside && path.len() <= limits::REPORT_PATH_BYTES && clean::line(path) == path
}

/// A form of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// For terminals.
    Text,
    /// One JSON document, `report-v0.1`, and a newline.
    Json,
    /// For pull requests and job summaries.
    Markdown,
    /// JUnit XML, for test reports of CI systems.
    Junit,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Batches of annotations for GitHub's Checks API, as JSON.
    GithubAnnotations,
}

impl Format {
    /// Every format.
    pub const ALL: &'static [Self] =
        &[Self::Text, Self::Json, Self::Markdown, Self::Junit, Self::Sarif, Self::GithubAnnotations];

    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Junit => "junit",
            Self::Sarif => "sarif",
            Self::GithubAnnotations => "github-annotations",
        }
    }

    /// Writes the report.
    #[must_use]
    pub fn render(self, subject: &Subject<'_>) -> String {
        let model = Model::new(subject);
        match self {
            Self::Text => text::render(&model),
            Self::Json => json::render(&model),
            Self::Markdown => markdown::render(&model),
            Self::Junit => junit::render(&model),
            Self::Sarif => sarif::render(&model),
            Self::GithubAnnotations => github::render_batches(&model),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a report may be written to `file` before the run has looked at the candidate: a run that ends early says so in
/// its reports, but never in a file of the candidate.
#[must_use]
pub fn outside_candidate(candidate: &CandidateSource, file: &Path) -> bool {
    match candidate {
        // What is not there holds no report.
        CandidateSource::Path { candidate, .. } => {
            ControlFiles::beside_candidate(candidate).map_or(!candidate.exists(), |control| control.outside(file))
        }
        // A commit is read from the object store; no file on disk is the candidate's.
        CandidateSource::Git(_) => true,
    }
}

/// Workflow commands for the log of a GitHub job, at most [`limits::ANNOTATIONS`] of them; the runner reads both streams.
#[must_use]
pub fn workflow_commands(subject: &Subject<'_>) -> String {
    github::workflow_commands(&github::annotations(&Model::new(subject)))
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
        let refuse =
            |why: &str| Err(GateError::control(GateCode::ReportMalformed, format!("--report `{text}`: {why}")));
        let Some((format, file)) = text.split_once('=') else { return refuse("write FORMAT=FILE") };
        if file.is_empty() {
            return refuse("the file is missing after `=`");
        }
        match Format::ALL.iter().find(|known| known.as_str() == format) {
            Some(format) => Ok(Self { format: *format, file: file.into() }),
            None => {
                let names: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
                refuse(&format!("the formats are {}", names.join(", ")))
            }
        }
    }
}
