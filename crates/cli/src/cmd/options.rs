//! Options that several commands share.

use std::path::PathBuf;

use quorum_gate::{CandidateSource, GitSource, ReportTarget, WorkerClaim};

use crate::error::CliError;

/// Where the candidate is.
#[derive(clap::Args)]
pub(crate) struct CandidateOptions {
    /// The candidate: a directory, or one file.
    #[arg(long, value_name = "PATH", required_unless_present = "git", conflicts_with = "git")]
    candidate: Option<PathBuf>,
    /// What the work started from, to compare with.
    #[arg(long, value_name = "PATH", requires = "candidate")]
    baseline: Option<PathBuf>,
    /// The repository of a candidate that is a commit.
    #[arg(long, value_name = "REPO", requires_all = ["base", "head"])]
    git: Option<PathBuf>,
    /// The branch that the candidate is for; the baseline is the merge base with it.
    #[arg(long, value_name = "REF", requires = "git")]
    base: Option<String>,
    /// The full id of the candidate's commit.
    #[arg(long, value_name = "SHA", requires = "git")]
    head: Option<String>,
    /// Where control files inside the repository are read [default: the tip of --base].
    #[arg(long, value_name = "REF", requires = "git")]
    control_ref: Option<String>,
    /// Name the candidate as this pull request instead of as a bundle.
    #[arg(long, value_name = "OWNER/REPO#N", requires = "git")]
    pr: Option<String>,
}

impl CandidateOptions {
    pub(crate) fn source(self) -> Result<CandidateSource, CliError> {
        match self {
            Self { candidate: Some(candidate), baseline, .. } => Ok(CandidateSource::Path { candidate, baseline }),
            Self { git: Some(repository), base: Some(base), head: Some(head), control_ref, pr, .. } => {
                Ok(CandidateSource::Git(GitSource { repository, base, head, control_ref, pull_request: pr }))
            }
            // The parser asks for one of the two already.
            _ => Err(CliError::control("candidate_missing", "give --candidate, or --git with --base and --head")),
        }
    }
}

/// Who did the work, for a manifest that is built here.
#[derive(clap::Args)]
pub(crate) struct WorkerOptions {
    /// The worker's id, for a manifest that is built here.
    #[arg(long, value_name = "ID", default_value = "unnamed-worker", conflicts_with = "result")]
    worker: String,
}

impl WorkerOptions {
    pub(crate) fn claim(&self) -> WorkerClaim {
        WorkerClaim { id: self.worker.clone(), ..WorkerClaim::default() }
    }
}

/// Where the decision goes.
#[derive(clap::Args)]
pub(crate) struct OutputOptions {
    /// Record the decision and everything that it rests on in this new directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write a report: text, json or markdown.
    #[arg(long, value_name = "FORMAT=FILE")]
    report: Vec<String>,
}

impl OutputOptions {
    pub(crate) fn reports(&self) -> Result<Vec<ReportTarget>, CliError> {
        let targets: Result<Vec<ReportTarget>, _> = self.report.iter().map(|text| text.parse()).collect();
        Ok(targets?)
    }
}

/// Our own program, which also runs the checks.
pub(crate) fn program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|error| {
        CliError::infrastructure("own_program_unknown", format!("cannot find the path of this program: {error}"))
    })
}
