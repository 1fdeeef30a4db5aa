//! The candidate as a directory that checks may read, and what names it.

use std::fs;
use std::path::{Path, PathBuf};

use quorum_handoff::{CandidateReference, ManifestBinding, SourceRule, WorkUnit};
use quorum_schemas::Digest;
use quorum_verifier::bundle;
use quorum_verifier::limits::TREE_BYTES;
use tempfile::TempDir;

use crate::control::ControlFiles;
use crate::git::{self, Repository};
use crate::scratch::scratch;
use crate::{GateCode, GateError, limits};

/// Where the candidate comes from.
#[derive(Debug, Clone)]
pub enum CandidateSource {
    /// `--candidate PATH [--baseline PATH]`.
    Path {
        /// A directory, or one file, which is a directory with that one file.
        candidate: PathBuf,
        /// What the work started from.
        baseline: Option<PathBuf>,
    },
    /// `--git REPO --base REF --head SHA`.
    Git(GitSource),
}

/// A candidate that is a commit.
#[derive(Debug, Clone)]
pub struct GitSource {
    /// The repository.
    pub repository: PathBuf,
    /// The branch that the candidate is for; only a manifest can do without, where the work unit names the revision that
    /// the work starts from.
    pub base: Option<String>,
    /// The full id of the candidate's commit.
    pub head: String,
    /// Where control files inside the repository are read; the tip of `base` if absent.
    pub control_ref: Option<String>,
    /// `OWNER/REPO#N`: makes the candidate a pull request instead of a bundle.
    pub pull_request: Option<String>,
}

/// A candidate on disk.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The directory that checks read.
    pub(crate) root: PathBuf,
    /// The directory that the work started from.
    pub(crate) baseline: Option<PathBuf>,
    /// The commit that the work started from, where git knows it.
    pub(crate) source_revision: Option<String>,
    /// The commit that the candidate is, where it is one.
    pub(crate) head: Option<String>,
    /// The commit object of a pull request's head, without its header.
    pub(crate) head_commit: Option<Vec<u8>>,
    /// Where the candidate has submodules, if it is a commit.
    pub(crate) submodules: Vec<String>,
    /// Where the baseline has submodules, if it is a commit.
    pub(crate) baseline_submodules: Vec<String>,
    pull_request: Option<(String, u64)>,
    /// The single file, where the candidate was named as one.
    single: Option<PathBuf>,
    _scratch: Option<TempDir>,
}

impl Candidate {
    /// Puts the candidate on disk and gives the rules under which control files are read beside it.
    ///
    /// # Errors
    /// `candidate_missing`, `baseline_in_candidate`, `pull_request_malformed`, `git_*`, `cannot_read`, `cannot_write`.
    pub(crate) fn open(source: &CandidateSource) -> Result<(Self, ControlFiles), GateError> {
        match source {
            CandidateSource::Path { candidate, baseline } => from_path(candidate, baseline.as_deref()),
            CandidateSource::Git(source) => from_git(source, &Start::of(source)?),
        }
    }

    /// The same for a manifest of `work_unit`, whose `source_revision` stands in for a `--base` that was left out.
    ///
    /// # Errors
    /// As [`Candidate::open`]; `idk_b06` where the work unit's word is needed and is no commit.
    pub(crate) fn open_for(source: &CandidateSource, work_unit: &WorkUnit) -> Result<Self, GateError> {
        let opened = match source {
            CandidateSource::Git(source @ GitSource { base: None, .. }) => {
                from_git(source, &Start::declared(work_unit)?)?
            }
            other => Self::open(other)?,
        };
        Ok(opened.0)
    }

    /// With `--pr` the manifest names that pull request and no other.
    ///
    /// # Errors
    /// `pull_request_differs`.
    pub(crate) fn is_named_by(&self, binding: &ManifestBinding) -> Result<(), GateError> {
        let Some((repository, number)) = &self.pull_request else { return Ok(()) };
        let named = match binding.candidate_reference() {
            Some(CandidateReference::PullRequest { repository: named, number: its, .. }) => {
                if named == repository && its == number {
                    return Ok(());
                }
                format!("{named}#{its}")
            }
            _ => "no pull request".to_owned(),
        };
        let message = format!("--pr says {repository}#{number}, the result manifest names {named}");
        Err(GateError::worker(GateCode::PullRequestDiffers, message))
    }

    /// What a manifest that we build says about the candidate: the pull request, the file, or the bundle.
    ///
    /// # Errors
    /// `candidate_unusable` for a tree that no bundle can hold.
    pub(crate) fn reference(&self) -> Result<CandidateReference, GateError> {
        if let (Some((repository, number)), Some(head)) = (&self.pull_request, &self.head) {
            return Ok(CandidateReference::PullRequest {
                repository: repository.clone(),
                number: *number,
                head_sha: head.clone(),
            });
        }
        let (locator, digest, media_type) = match &self.single {
            Some(name) => {
                let path = self.root.join(name);
                let bytes = fs::read(&path).map_err(|source| GateError::Read { path, source })?;
                (name.to_string_lossy().into_owned(), Digest::of(&bytes), None)
            }
            None => {
                let digest = bundle::zip_dir_digest(&self.root).map_err(|error| {
                    GateError::worker(GateCode::CandidateUnusable, format!("the candidate cannot be bundled: {error}"))
                })?;
                ("candidate.zip".to_owned(), digest, Some("application/zip".to_owned()))
            }
        };
        Ok(CandidateReference::Bundle { locator, digest, media_type })
    }
}

fn from_path(path: &Path, baseline: Option<&Path>) -> Result<(Candidate, ControlFiles), GateError> {
    let control = ControlFiles::beside_candidate(path)?;
    let resolved =
        |path: &Path| path.canonicalize().map_err(|source| GateError::Read { path: path.to_owned(), source });
    let found = resolved(path)?;
    let baseline = match baseline {
        None => None,
        Some(baseline) => {
            control.output("--baseline", baseline)?;
            let root = resolved(baseline)?;
            if !root.is_dir() {
                return Err(GateError::control(
                    GateCode::BaselineNotADirectory,
                    format!("--baseline {} is not a directory", baseline.display()),
                ));
            }
            if root.starts_with(&found) || found.starts_with(&root) {
                return Err(GateError::control(
                    GateCode::BaselineInCandidate,
                    format!("--baseline {} and the candidate lie in each other", baseline.display()),
                ));
            }
            Some(root)
        }
    };
    let (root, single, scratch) = if found.is_dir() {
        (found, None, None)
    } else {
        let (root, name, scratch) = lone_file(&found)?;
        (root, Some(name), Some(scratch))
    };
    let candidate = Candidate {
        root,
        baseline,
        source_revision: None,
        head: None,
        head_commit: None,
        submodules: Vec::new(),
        baseline_submodules: Vec::new(),
        pull_request: None,
        single,
        _scratch: scratch,
    };
    Ok((candidate, control))
}

/// A directory with a copy of one file, which then is the whole candidate.
fn lone_file(file: &Path) -> Result<(PathBuf, PathBuf, TempDir), GateError> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |source| GateError::Write { path, source }
    };
    if !file.is_file() {
        return Err(GateError::control(
            GateCode::CandidateMissing,
            format!("{} is neither a directory nor a file", file.display()),
        ));
    }
    let size = fs::metadata(file).map_err(|source| GateError::Read { path: file.to_owned(), source })?.len();
    if size > TREE_BYTES {
        let message = format!("the candidate has {size} bytes, the limit is {TREE_BYTES}");
        return Err(GateError::worker(GateCode::CandidateUnusable, message));
    }
    let name = PathBuf::from(file.file_name().unwrap_or_default());
    let scratch = scratch()?;
    let root = scratch.path().join("candidate");
    fs::create_dir(&root).map_err(wrong(&root))?;
    fs::copy(file, root.join(&name)).map_err(wrong(&root))?;
    Ok((root, name, scratch))
}

/// The commit with which the merge base is looked up, and who named it.
struct Start {
    said: &'static str,
    revision: String,
    /// What to do where the repository does not have it.
    advice: &'static str,
}

impl Start {
    fn of(source: &GitSource) -> Result<Self, GateError> {
        let revision = source.base.clone().ok_or_else(|| {
            GateError::control(
                GateCode::BaseMissing,
                "--git without --base: nothing says what the candidate started from; give the branch that it is for",
            )
        })?;
        Ok(Self { said: "--base", revision, advice: "" })
    }

    /// The merge base with it is then this revision itself, or the head does not descend from it (`idk_b07`).
    fn declared(work_unit: &WorkUnit) -> Result<Self, GateError> {
        const PLACE: &str = "work unit /provenance/source_revision:";
        let Some(declared) = work_unit.source_revision() else {
            return Err(GateError::control(
                GateCode::BaseMissing,
                "--git without --base, and the work unit has no /provenance/source_revision: nothing says what the \
                 candidate started from; give --base, the branch that it is for",
            ));
        };
        // A branch of that name must not be taken for it.
        if declared.to_ascii_lowercase().parse::<git::ObjectId>().is_err() {
            return Err(GateError::control(
                SourceRule::B6.as_str(),
                format!(
                    "{PLACE} `{declared}` is no full commit id, so it does not say what the candidate of --git started \
                     from; correct the work unit"
                ),
            ));
        }
        let advice = "; fetch that commit, or name the repository that the work unit is about";
        Ok(Self { said: PLACE, revision: declared.to_owned(), advice })
    }
}

fn from_git(source: &GitSource, start: &Start) -> Result<(Candidate, ControlFiles), GateError> {
    let pull_request = source.pull_request.as_deref().map(pull_request).transpose()?;
    let head: git::ObjectId = source.head.parse()?;
    let repository = Repository::open(&source.repository)?;
    let head = repository.commit("--head", head.as_str(), "")?;
    let base = repository.commit(start.said, &start.revision, start.advice)?;
    let control = match &source.control_ref {
        Some(reference) => repository.commit("--control-ref", reference, "")?,
        None => base.clone(),
    };
    let merge_base = repository.merge_base(&base, &head)?;
    let scratch = scratch()?;
    let mut objects = repository.objects()?;
    let mut place = |name: &str, commit: &git::ObjectId| {
        let path = scratch.path().join(name);
        fs::create_dir(&path).map_err(|source| GateError::Write { path: path.clone(), source })?;
        let submodules = git::materialise(&mut objects, commit, &path)?;
        // A name that is not UTF-8 is refused when the checks list the tree.
        let submodules = submodules.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        Ok::<_, GateError>((path, submodules))
    };
    let (root, submodules) = place("candidate", &head)?;
    let (baseline, baseline_submodules) = place("baseline", &merge_base)?;
    let candidate = Candidate {
        root,
        baseline: Some(baseline),
        source_revision: Some(merge_base.to_string()),
        head_commit: Some(objects.read(&head, git::Kind::Commit, limits::COMMIT_OBJECT)?),
        head: Some(head.to_string()),
        submodules,
        baseline_submodules,
        pull_request,
        single: None,
        _scratch: Some(scratch),
    };
    Ok((candidate, ControlFiles::from_reference(&repository, control)?))
}

fn pull_request(text: &str) -> Result<(String, u64), GateError> {
    let parsed = text.rsplit_once('#').and_then(|(repository, number)| {
        let named = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
        };
        let (owner, name) = repository.split_once('/')?;
        let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
        (named(owner) && named(name)).then(|| (repository.to_owned(), number))
    });
    parsed.ok_or_else(|| {
        GateError::control(GateCode::PullRequestMalformed, format!("--pr `{text}` is not OWNER/REPO#NUMBER"))
    })
}
