//! `scope`: only what may be written was written.

use std::collections::{BTreeMap, BTreeSet};

use quorum_handoff::WorkUnit;
use quorum_schemas::Value;

use super::Context;
use super::observed::Observed;
use crate::bundle::check_link;
use crate::report::CheckStatus;
use crate::tree::{Entry, Mode};
use crate::{VerifierError, glob};

pub(super) fn run(context: &Context<'_>, allowed_files: Option<&[String]>) -> Observed {
    let request = context.request;
    let mut wrong: Vec<(String, &str)> = Vec::new();
    let mut writes = None;
    if request.binding.candidate_reference().is_none() {
        let artifact = request.binding.candidate_locator();
        // Nothing vouches for their bytes: the manifest's digest is that of the one artifact.
        let others = context.candidate.iter().filter(|entry| entry.path != artifact);
        wrong.extend(
            others.map(|entry| (entry.path.clone(), "lies beside the artifact, which alone the manifest names")),
        );
    }
    match (allowed_files, &context.baseline) {
        (Some(allowed), _) => wrong.extend(exact(&context.candidate, allowed)),
        (None, Some(baseline)) => {
            let rules = Rules::of(&request.work_unit);
            let changed = changes(baseline, &context.candidate);
            writes = Some(changed.len());
            for path in changed {
                match rules.refuses(&path).map_or_else(|| refused_link(context, &rules, &path), |why| Ok(Some(why))) {
                    Ok(None) => {}
                    Ok(Some(why)) => wrong.push((path, why)),
                    Err(error) => return Observed::error(&error),
                }
            }
        }
        (None, None) => {
            let why = "scope without `allowed_files` compares with a baseline, and none was given";
            return Observed::error(&VerifierError::CandidateUnusable(why.to_owned()));
        }
    }
    let mut seen = BTreeSet::new();
    wrong.retain(|(path, _)| seen.insert(path.clone()));
    if wrong.is_empty() {
        let files = context.candidate.len() as u64;
        let summary = match (writes, files) {
            (Some(0), _) => "nothing was written".to_owned(),
            (Some(1), _) => "the one path that was written is in scope".to_owned(),
            (Some(writes), _) => format!("all {writes} paths that were written are in scope"),
            (None, 1) => "the one file is in scope".to_owned(),
            (None, _) => format!("all {files} files are in scope"),
        };
        let observed = Observed::new(CheckStatus::Passed, summary).fact("files", files);
        return match writes {
            Some(writes) => observed.fact("written", writes as u64),
            None => observed,
        };
    }
    let summary = format!("out of scope: `{}` {}{}", wrong[0].0, wrong[0].1, more(wrong.len()));
    let paths: Vec<Value> = wrong.iter().map(|(path, _)| path.as_str().into()).collect();
    let mut observed = Observed::new(CheckStatus::Failed, summary).fact("out_of_scope", Value::Array(paths));
    for (path, why) in &wrong {
        observed = observed.finding("scope", format!("`{path}` {why}"), Some(path));
    }
    observed
}

/// Why a symlink may not have been written at `path`; `None` for what is no symlink. What a link stands for is reached by
/// its own name, so a link above a forbidden path would put something in its place that is forbidden nowhere.
fn refused_link(context: &Context<'_>, rules: &Rules<'_>, path: &str) -> Result<Option<&'static str>, VerifierError> {
    let Ok(entry) = context.candidate.entry(path) else { return Ok(None) };
    if entry.mode != Mode::Symlink {
        return Ok(None);
    }
    if rules.forbids_below(path) {
        return Ok(Some("is a symlink, and a path through it may be one that the work unit forbids"));
    }
    match check_link(path, &context.candidate.read(entry)?) {
        Ok(()) => Ok(None),
        Err(VerifierError::PathUnsafe { why, .. }) => Ok(Some(why)),
        Err(_) => Ok(Some("is a symlink to a name that is not UTF-8")),
    }
}

fn more(count: usize) -> String {
    if count > 1 { format!(", and {} more", count - 1) } else { String::new() }
}

/// The candidate's file list equals the plan's, and every file is plain.
fn exact(candidate: &[Entry], allowed: &[String]) -> Vec<(String, &'static str)> {
    let found: BTreeMap<&str, Mode> = candidate.iter().map(|entry| (entry.path.as_str(), entry.mode)).collect();
    let allowed: BTreeSet<&str> = allowed.iter().map(String::as_str).collect();
    let extra = found.iter().filter_map(|(path, mode)| match (allowed.contains(path), mode) {
        (false, _) => Some(((*path).to_owned(), "is not one of the plan's files")),
        (true, Mode::Symlink) => Some(((*path).to_owned(), "is a symlink")),
        (true, _) => None,
    });
    let missing = allowed.iter().filter(|path| !found.contains_key(*path));
    extra.chain(missing.map(|path| ((*path).to_owned(), "is missing"))).collect()
}

/// Every path that was added, removed or changed, in bytes or mode; a rename is a removal and an addition.
fn changes(baseline: &[Entry], candidate: &[Entry]) -> Vec<String> {
    let (before, after): (BTreeSet<_>, BTreeSet<_>) = (baseline.iter().collect(), candidate.iter().collect());
    let paths: BTreeSet<&str> = before.symmetric_difference(&after).map(|entry| entry.path.as_str()).collect();
    paths.into_iter().map(str::to_owned).collect()
}

/// What a work unit lets a worker write.
pub(super) struct Rules<'a> {
    allowed: Vec<&'a str>,
    writable: Vec<&'a str>,
    forbidden: Vec<&'a str>,
}

impl<'a> Rules<'a> {
    pub(super) fn of(work_unit: &'a WorkUnit) -> Self {
        Self {
            allowed: work_unit.allowed_paths(),
            writable: work_unit.filesystem_write(),
            forbidden: work_unit.forbidden_paths(),
        }
    }

    /// Whether a forbidden path could lie below `folder`.
    fn forbids_below(&self, folder: &str) -> bool {
        self.forbidden.iter().any(|pattern| glob::reaches_below(pattern, folder))
    }

    /// Why a path may not be written; `None` when it may.
    pub(super) fn refuses(&self, path: &str) -> Option<&'static str> {
        let covered = |patterns: &[&str]| patterns.iter().any(|pattern| glob::matches(pattern, path));
        match () {
            () if self.forbidden.iter().any(|pattern| glob::forbids(pattern, path)) => {
                Some("is forbidden by the work unit")
            }
            () if !covered(&self.allowed) => Some("is not in the work unit's allowed_paths"),
            () if !covered(&self.writable) => Some("is not in the work unit's filesystem_write"),
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use quorum_schemas::Digest;

    use super::*;

    fn entry(path: &str, mode: Mode, bytes: &str) -> Entry {
        Entry { path: path.into(), mode, sha256: Digest::of(bytes.as_bytes()), bytes: bytes.len() as u64 }
    }

    #[test]
    fn every_difference_of_two_trees_is_a_write() {
        let file = |path, bytes| entry(path, Mode::File, bytes);
        for (name, before, after, expected) in [
            ("nothing", vec![file("a", "1")], vec![file("a", "1")], vec![]),
            ("added", vec![], vec![file("a", "1")], vec!["a"]),
            ("deleted", vec![file("a", "1")], vec![], vec!["a"]),
            ("changed", vec![file("a", "1")], vec![file("a", "2")], vec!["a"]),
            ("renamed", vec![file("a", "1")], vec![file("b", "1")], vec!["a", "b"]),
            ("mode", vec![file("a", "1")], vec![entry("a", Mode::Executable, "1")], vec!["a"]),
            ("became a symlink", vec![file("a", "1")], vec![entry("a", Mode::Symlink, "1")], vec!["a"]),
        ] {
            assert_eq!(changes(&before, &after), expected, "{name}");
        }
    }

    #[test]
    fn authorised_is_allowed_and_writable_and_not_forbidden() {
        let rules =
            Rules { allowed: vec!["src/", "docs/a.md"], writable: vec!["src/", "ci/"], forbidden: vec!["src/secret/"] };
        for (path, expected) in [
            ("src/a.rs", None),
            ("src/secret/a", Some("is forbidden by the work unit")),
            ("src/secret", Some("is forbidden by the work unit")),
            ("ci/a", Some("is not in the work unit's allowed_paths")),
            ("docs/a.md", Some("is not in the work unit's filesystem_write")),
        ] {
            assert_eq!(rules.refuses(path), expected, "{path}");
        }
    }
}
