//! `unified_diff`: a patch is well-formed, stays in scope, adds and removes what the plan asks for.

use super::observed::Observed;
use super::patch::{self, Judged};
use super::{Context, files};
use crate::plan::UnifiedDiffCheck;
use crate::report::CheckStatus;

pub(super) fn run(context: &Context<'_>, spec: &UnifiedDiffCheck) -> Observed {
    let (name, bytes) = match files::read(context, spec.file.as_deref(), spec.max_bytes) {
        Ok(read) => read,
        Err(observed) => return *observed,
    };
    let judged = patch::judge(&name, &bytes, &context.request.work_unit, &spec.text);
    let passed = format!("`{name}` is a well-formed diff in scope, with every required text");
    outcome(judged, &passed).fact("file", name.as_str())
}

/// Passed without a problem, else failed with all of them.
pub(super) fn outcome(judged: Judged, passed: &str) -> Observed {
    let mut observed = match judged.problems.as_slice() {
        [] => Observed::new(CheckStatus::Passed, passed),
        [only] => Observed::new(CheckStatus::Failed, only.summary.as_str()),
        [first, more @ ..] => Observed::new(CheckStatus::Failed, format!("{}, and {} more", first.summary, more.len())),
    };
    for problem in judged.problems {
        observed = observed.finding(problem.category, problem.summary, problem.path.as_deref());
    }
    for (key, value) in judged.facts {
        observed = observed.fact(&key, value);
    }
    observed
}
