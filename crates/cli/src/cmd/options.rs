//! Options that several commands share.

use std::path::{Path, PathBuf};

use quorum_gate::{CandidateSource, GitSource, WorkerClaim};
use quorum_schemas::Digest;
use serde_json::json;

use super::reports::ReportOptions;
use crate::codes::CliCode;
use crate::error::CliError;
use crate::ui::Ui;

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
    #[arg(long, value_name = "REPO", requires = "head")]
    git: Option<PathBuf>,
    /// The branch that the candidate is for; the baseline is the merge base with it. `manifest` takes the work unit's
    /// source_revision where it is left out.
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
            Self { git: Some(repository), base, head: Some(head), control_ref, pr, .. } => {
                Ok(CandidateSource::Git(GitSource { repository, base, head, control_ref, pull_request: pr }))
            }
            // The parser asks for one of the two already.
            _ => Err(CliError::control(CliCode::CandidateMissing, "give --candidate, or --git with --base and --head")),
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
    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// Our own program, which also runs the checks.
pub(crate) fn program() -> Result<PathBuf, CliError> {
    std::env::current_exe().map_err(|error| {
        CliError::infrastructure(CliCode::OwnProgramUnknown, format!("cannot find the path of this program: {error}"))
    })
}

/// Writes a document to the file of `--output`, or else to stdout. With `--json` the file's digest is the data.
pub(crate) fn written_or_shown(output: Option<&Path>, bytes: &[u8], ui: &mut Ui) -> Result<(), CliError> {
    let Some(path) = output else { return ui.bytes(bytes) };
    quorum_gate::write_atomically(path, bytes)?;
    if ui.json() {
        let digest: Digest = Digest::of(bytes);
        ui.document(&json!({"file": path.display().to_string(), "digest": digest.to_string()}).into())?;
    }
    Ok(())
}
