//! Reading a repository through the git plumbing: no checkout, no hooks, no filters, no configuration but the
//! repository's own, and every object re-hashed before it is believed.

mod ancestry;
mod materialise;
mod objects;
#[cfg(test)]
mod testing;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ancestry::Claim;
pub(crate) use materialise::{file_at, materialise};
pub(crate) use objects::{Kind, ObjectId, Objects};

use crate::{GateCode, GateError, limits};

/// A repository on disk.
#[derive(Debug, Clone)]
pub(crate) struct Repository {
    /// Where git is run.
    path: PathBuf,
    /// The directories whose files belong to the repository: its working trees, or the bare repository itself.
    tops: Vec<PathBuf>,
}

impl Repository {
    /// Opens the repository that holds `path`.
    ///
    /// # Errors
    /// `git_not_a_repository`, `git_shallow`, `git_missing`.
    pub(crate) fn open(path: &Path) -> Result<Self, GateError> {
        let path = path.canonicalize().map_err(|source| GateError::Read { path: path.to_owned(), source })?;
        let found = run(&path, ["rev-parse", "--is-bare-repository", "--is-shallow-repository"])?;
        let lines: Vec<&str> = found.lines().collect();
        let [bare, shallow] = lines[..] else {
            return Err(GateError::infrastructure(GateCode::GitFailed, format!("git rev-parse answered `{found}`")));
        };
        if shallow == "true" {
            return Err(GateError::control(
                GateCode::GitShallow,
                format!(
                    "{} is a shallow clone, in which a merge base cannot be trusted; fetch the whole history (actions/checkout: fetch-depth: 0)",
                    path.display()
                ),
            ));
        }
        let top = if bare == "true" {
            path.clone()
        } else {
            PathBuf::from(run(&path, ["rev-parse", "--show-toplevel"])?.trim_end_matches('\n'))
        };
        let top = top.canonicalize().map_err(|source| GateError::Read { path: top, source })?;
        // `core.worktree` can name any directory, and the files of the real one would count as nobody's.
        if !path.starts_with(&top) {
            return Err(GateError::control(
                GateCode::GitNotARepository,
                format!("{}: its core.worktree is {}, which does not hold it", path.display(), top.display()),
            ));
        }
        // What another working tree has checked out is not what decides either.
        let listed = run(&path, ["worktree", "list", "--porcelain", "-z"])?;
        let others = listed.split('\0').filter_map(|line| line.strip_prefix("worktree "));
        let mut tops: Vec<PathBuf> = others.filter_map(|other| Path::new(other).canonicalize().ok()).collect();
        tops.push(top);
        Ok(Self { path, tops })
    }

    /// The directories whose files belong to the repository; canonical.
    pub(crate) fn tops(&self) -> &[PathBuf] {
        &self.tops
    }

    /// The one commit that `revision` names now; `said` is who named it, `advice` ends the refusal.
    ///
    /// # Errors
    /// `git_unknown_revision`, `git_ambiguous_revision`.
    pub(crate) fn commit(&self, said: &str, revision: &str, advice: &str) -> Result<ObjectId, GateError> {
        let unknown = || self.unknown(said, revision, advice);
        let commit = format!("{revision}^{{commit}}");
        let answer = run(&self.path, ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
            .map_err(|_| unknown())?
            .trim()
            .parse()?;
        // Git reads an id's digits in either case.
        match revision.to_ascii_lowercase().parse::<ObjectId>() {
            // In a repository of longer ids, a branch may have an id's name.
            Ok(asked) if asked != answer => Err(unknown()),
            Ok(_) => Ok(answer),
            Err(_) => self.only_one(said, revision).map(|()| answer),
        }
    }

    fn unknown(&self, said: &str, revision: &str, advice: &str) -> GateError {
        GateError::control(
            GateCode::GitUnknownRevision,
            format!("{said} `{revision}` names no commit in {}{advice}", self.path.display()),
        )
    }

    /// Refuses a whole ref that is not there, and a short name that stands for several refs. Git would take one by its own
    /// order, tags before branches, and whoever may push a tag could then say what the base branch is.
    fn only_one(&self, said: &str, revision: &str) -> Result<(), GateError> {
        let end = revision.find(['~', '^', ':']).into_iter().chain(revision.find("@{")).min();
        let name = &revision[..end.unwrap_or(revision.len())];
        if name.is_empty() {
            return Ok(());
        }
        let whole = name.starts_with("refs/");
        let places = [
            // Only a whole ref is asked for as it stands: another name could be read as an option.
            if whole { name.to_owned() } else { format!("refs/{name}") },
            format!("refs/tags/{name}"),
            format!("refs/heads/{name}"),
            format!("refs/remotes/{name}"),
            format!("refs/remotes/{name}/HEAD"),
        ];
        let mut arguments = vec!["for-each-ref".to_owned(), "--format=%(refname)".to_owned()];
        arguments.extend(places.iter().cloned());
        let listed = run(&self.path, arguments)?;
        // A pattern also lists what lies below it.
        let mut found: Vec<&str> = listed.lines().filter(|line| places.iter().any(|place| place == line)).collect();
        if whole {
            // Git takes the whole ref first, but without it a tag of that name, refs/tags/refs/heads/main.
            return if found.contains(&name) { Ok(()) } else { Err(self.unknown(said, revision, "")) };
        }
        if name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte == b'@') {
            found.push(name);
        }
        let hex = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hex && !run(&self.path, ["rev-parse", &format!("--disambiguate={name}")])?.is_empty() {
            found.push("the start of an object's id");
        }
        if found.len() < 2 {
            return Ok(());
        }
        // A ref that is not there would be free for a tag's pusher to take.
        let named = found.iter().find(|found| found.starts_with("refs/") && !found.starts_with("refs/tags/"));
        let advice = named.map_or_else(|| " or id".to_owned(), |named| format!(", as {named}"));
        Err(GateError::control(
            GateCode::GitAmbiguousRevision,
            format!(
                "{said} `{revision}` names several things in {}: {}; write the whole ref{advice}",
                self.path.display(),
                found.join(", ")
            ),
        ))
    }

    /// The one best common ancestor of two commits, held against every commit that it rests on.
    ///
    /// # Errors
    /// `git_no_merge_base`, `git_several_merge_bases`, `git_object_corrupt`, `git_history_too_long`.
    pub(crate) fn merge_base(&self, base: &ObjectId, head: &ObjectId) -> Result<ObjectId, GateError> {
        let merge_base = self.proposed_merge_base(base, head)?;
        let (most, excluded) = (format!("--max-count={}", limits::HISTORY_COMMITS + 1), format!("^{merge_base}"));
        let listed = run(&self.path, ["rev-list", &most, &base.to_string(), &head.to_string(), &excluded])?;
        let between = listed.lines().map(str::parse).collect::<Result<BTreeSet<ObjectId>, _>>()?;
        if between.len() > limits::HISTORY_COMMITS {
            return Err(ancestry::too_long());
        }
        Claim { base, head, merge_base: &merge_base, between: &between }.check(&mut self.objects()?)?;
        Ok(merge_base)
    }

    fn proposed_merge_base(&self, base: &ObjectId, head: &ObjectId) -> Result<ObjectId, GateError> {
        // Exit 1 without output means that there is none.
        let answer = run(&self.path, ["merge-base", "--all", &base.to_string(), &head.to_string()]).unwrap_or_default();
        let bases: Vec<&str> = answer.lines().collect();
        match bases[..] {
            [one] => one.parse(),
            [] => Err(GateError::control(
                GateCode::GitNoMergeBase,
                format!("{base} and {head} have no common ancestor, so there is no baseline to compare with"),
            )),
            _ => Err(GateError::control(
                GateCode::GitSeveralMergeBases,
                format!("{base} and {head} have {} merge bases; rebase the candidate", bases.len()),
            )),
        }
    }

    /// Starts reading objects.
    ///
    /// # Errors
    /// `git_missing`.
    pub(crate) fn objects(&self) -> Result<Objects, GateError> {
        Objects::start(command(&self.path))
    }
}

/// `git` with an empty environment, no configuration beyond the repository's own, and no way to run a helper.
fn command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into()))
        .env("LC_ALL", "C")
        .envs(ENVIRONMENT.iter().copied())
        .args(CONFIGURATION)
        .arg("-C")
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A replace ref or a graft would show other objects than the ones named; a lazy fetch would run a transport.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_PAGER", "cat"),
];

/// The operator named the repository, so its owner does not matter; what its configuration could run is switched off.
const CONFIGURATION: [&str; 10] = [
    "-c",
    "safe.directory=*",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.commitGraph=false",
    "-c",
    "protocol.allow=never",
];

fn run<I, S>(directory: &Path, args: I) -> Result<String, GateError>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let output = command(directory).args(args).output().map_err(missing)?;
    if !output.status.success() {
        let talk = String::from_utf8_lossy(&output.stderr);
        let why = talk.lines().next().unwrap_or("git said nothing").to_owned();
        return Err(GateError::control(GateCode::GitNotARepository, format!("{}: {why}", directory.display())));
    }
    String::from_utf8(output.stdout).map_err(|_| {
        GateError::control(GateCode::GitNotUtf8, format!("{}: git answered in another encoding", directory.display()))
    })
}

fn missing(error: std::io::Error) -> GateError {
    GateError::infrastructure(
        GateCode::GitMissing,
        format!("cannot run git: {error}; install git or put it on the PATH"),
    )
}
