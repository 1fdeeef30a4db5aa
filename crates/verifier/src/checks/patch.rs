//! What a diff shows: its form, its paths against the work unit, its lines against the verifier's texts.

use quorum_handoff::WorkUnit;
use quorum_schemas::{Object, Value};

use super::scope::Rules;
use crate::diff::{self, Diff};
use crate::plan::PatchText;

/// One thing that is wrong.
pub(super) struct Problem {
    pub(super) category: &'static str,
    pub(super) summary: String,
    pub(super) path: Option<String>,
}

/// What was seen, and what is wrong with it, worst first.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) problems: Vec<Problem>,
    pub(super) facts: Object,
}

impl Judged {
    pub(super) fn problem(&mut self, category: &'static str, summary: impl Into<String>, path: Option<&str>) {
        self.problems.push(Problem { category, summary: summary.into(), path: path.map(str::to_owned) });
    }

    pub(super) fn fact(&mut self, key: &str, value: impl Into<Value>) {
        self.facts.insert(key.to_owned(), value.into());
    }
}

/// Judges the bytes of `name`. Nothing is applied and nothing of the candidate runs.
pub(super) fn judge(name: &str, bytes: &[u8], work_unit: &WorkUnit, text: &PatchText) -> Judged {
    let mut judged = Judged::default();
    let diff = match diff::parse(bytes) {
        Ok(diff) => diff,
        Err(error) => {
            judged.fact("diff_error", error.to_string());
            // Where a path is the trouble, it is one that no work unit could allow.
            let category = if error.reason.is_scope() { "scope" } else { "correctness" };
            judged.problem(category, format!("`{name}` is not a diff that can be judged: {error}"), Some(name));
            return judged;
        }
    };
    let paths: Vec<&str> = diff.paths().into_iter().collect();
    let rules = Rules::of(work_unit);
    for path in &paths {
        if let Some(why) = rules.refuses(path) {
            judged.problem("scope", format!("`{path}` {why}"), Some(path));
        }
    }
    judged.fact("paths", Value::Array(paths.iter().map(|path| (*path).into()).collect()));
    judged.fact("added_lines", diff.added().count() as u64);
    judged.fact("removed_lines", diff.removed().count() as u64);
    texts(&mut judged, name, &diff, text);
    judged
}

/// Every required text against single lines: nothing spans lines, nothing is a pattern, case matters.
fn texts(judged: &mut Judged, name: &str, diff: &Diff, text: &PatchText) {
    let whole = |line: &str, wanted: &str| line == wanted;
    let part = |line: &str, wanted: &str| line.contains(wanted);
    let (added, removed): (Vec<&str>, Vec<&str>) = (diff.added().collect(), diff.removed().collect());
    let mut demand = |key: &str, what: &str, wanted: &[String], lines: &[&str], fits: fn(&str, &str) -> bool| {
        let missing: Vec<&String> = wanted.iter().filter(|text| !lines.iter().any(|line| fits(line, text))).collect();
        if missing.is_empty() {
            return;
        }
        let summary = format!("`{name}` does not {what} ({} of {})", missing.len(), wanted.len());
        judged.problem("correctness", summary, Some(name));
        judged.fact(key, Value::Array(missing.into_iter().map(|text| text.as_str().into()).collect()));
    };
    demand("missing_added_lines", "add a required line", &text.added_lines, &added, whole);
    demand("missing_added_substrings", "add a line with a required text", &text.added_substrings, &added, part);
    demand("missing_removed_lines", "remove a required line", &text.removed_lines, &removed, whole);
    demand(
        "missing_removed_substrings",
        "remove a line with a required text",
        &text.removed_substrings,
        &removed,
        part,
    );
}
