//! `--report` and `--annotations`: where a decision is told besides stdout.

use std::path::{Component, Path};

use quorum_gate::{
    CandidateSource, CheckLine, Format, GateOutcome, ReportPlaces, ReportSubject, ReportTarget, workflow_commands,
    write_atomically,
};
use quorum_policies::Decision;

use crate::codes::CliCode;
use crate::error::CliError;
use crate::ui::Ui;

/// Options about reports.
#[derive(clap::Args)]
pub(crate) struct ReportOptions {
    /// Also write a report; repeatable. FORMAT: junit, sarif, markdown, json, text or github-annotations
    /// (docs/reports.md).
    #[arg(long, value_name = "FORMAT=FILE")]
    report: Vec<String>,
    /// Also write annotations for the host of this CI job to stderr.
    #[arg(long, value_name = "HOST", value_parser = ["github"])]
    annotations: Option<String>,
}

/// What they ask for.
pub(super) struct Reports {
    pub(super) targets: Vec<ReportTarget>,
    annotations: bool,
}

impl ReportOptions {
    /// # Errors
    /// `report_malformed`, `report_twice`.
    pub(super) fn parse(&self) -> Result<Reports, CliError> {
        let mut targets: Vec<ReportTarget> = Vec::new();
        for text in &self.report {
            let target: ReportTarget = text.parse()?;
            if let Some(other) = targets.iter().find(|other| other.file == target.file) {
                let (file, first, second) = (target.file.display(), other.format, target.format);
                let message = format!("--report writes {file} twice, as {first} and as {second}; name two files");
                return Err(CliError::control(CliCode::ReportTwice, message));
            }
            targets.push(target);
        }
        Ok(Reports { targets, annotations: self.annotations.is_some() })
    }
}

impl Reports {
    /// Writes every report and the annotations, and the report on stdout.
    ///
    /// # Errors
    /// `cannot_write`, `cannot_write_stdout`.
    pub(super) fn tell(&self, subject: &ReportSubject<'_>, ui: &mut Ui) -> Result<(), CliError> {
        self.publish(subject, ui)?;
        let format = if ui.json() { Format::Json } else { Format::Text };
        ui.bytes(format.render(subject).as_bytes())
    }

    /// Writes every report and the annotations, where stdout has something else to say.
    ///
    /// # Errors
    /// `cannot_write`.
    pub(super) fn publish(&self, subject: &ReportSubject<'_>, ui: &mut Ui) -> Result<(), CliError> {
        self.write(subject, |_| true)?;
        self.annotate(subject, ui);
        Ok(())
    }

    /// Whether there is nobody to tell.
    pub(super) fn asks_for_nothing(&self) -> bool {
        self.targets.is_empty() && !self.annotations
    }

    /// Tells in every report that the run ended without a decision, so that none of an earlier run stands for it. The
    /// error itself is told by who ends the process, and a report that cannot be written does not change it.
    fn tell_error(&self, error: &CliError, ui: &mut Ui, allowed: impl Fn(&Path) -> bool) {
        let message = error.to_string();
        let subject = ReportSubject::NoDecision { code: error.code(), message: &message, exit_code: error.exit_code() };
        if let Err(second) = self.write(&subject, allowed) {
            ui.error(&second);
        }
        self.annotate(&subject, ui);
    }

    /// The outcome, or its error after [`Reports::tell_error`].
    ///
    /// # Errors
    /// The one of `result`.
    pub(super) fn or_told<T>(
        &self,
        result: Result<T, CliError>,
        ui: &mut Ui,
        allowed: impl Fn(&Path) -> bool,
    ) -> Result<T, CliError> {
        result.inspect_err(|error| self.tell_error(error, ui, allowed))
    }

    fn write(&self, subject: &ReportSubject<'_>, allowed: impl Fn(&Path) -> bool) -> Result<(), CliError> {
        for target in self.targets.iter().filter(|target| allowed(&target.file)) {
            write_atomically(&target.file, target.format.render(subject).as_bytes())?;
        }
        Ok(())
    }

    /// Annotations are talk: whoever reads stdout gets data only, and a runner reads both streams.
    fn annotate(&self, subject: &ReportSubject<'_>, ui: &mut Ui) {
        if self.annotations {
            workflow_commands(subject).lines().for_each(|line| ui.say(line));
        }
    }
}

/// The report's subject of an outcome.
pub(super) fn subject<'a>(outcome: &'a GateOutcome, places: &'a ReportPlaces) -> ReportSubject<'a> {
    let checks: &[CheckLine] = &outcome.checks;
    ReportSubject::Decision { decision: &outcome.decision, checks, record: outcome.record.files(), places }
}

/// Where work unit and candidate are in the repository, which is where the command was started.
pub(super) fn places(work_unit: &Path, candidate: &CandidateSource) -> ReportPlaces {
    let candidate = match candidate {
        CandidateSource::Git(_) => Some(String::new()),
        CandidateSource::Path { candidate, .. } if candidate.is_dir() => relative(candidate),
        CandidateSource::Path { candidate, .. } => relative(candidate.parent().unwrap_or(Path::new(""))),
    };
    ReportPlaces { work_unit: relative(work_unit), candidate }
}

/// The path from the current directory, with `/`; nothing for one that lies elsewhere.
pub(super) fn relative(path: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let absolute = here.join(path);
    let inside = absolute.strip_prefix(&here).ok()?;
    let mut segments = Vec::new();
    for component in inside.components() {
        match component {
            Component::Normal(name) => segments.push(name.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(segments.join("/"))
}

/// The folder of the candidate in the repository, where only the decision is known: a pull request is the repository.
pub(super) fn candidate_of(decision: &Decision) -> Option<String> {
    decision.candidate.digest.contains_key("gitCommit").then(String::new)
}
