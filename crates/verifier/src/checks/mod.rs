//! The checks themselves. They run in the child, where no key is.

mod command;
mod engine;
mod files;
mod imported;
mod integrity;
mod junit;
mod observed;
mod patch;
mod required_json;
mod schema;
mod scope;
mod unified_diff;
mod workdir;

use std::time::Instant;

pub use command::{CommandEnd, Judgement, judge_command};
pub use imported::ManifestFacts;
pub use junit::{CaseStatus, TestCase, parse_junit};
use observed::Observed;

use crate::plan::{Check, CheckSpec};
use crate::report::{CheckOutcome, CheckReport, EvidenceFile};
use crate::tree::Listing;
use crate::{CheckRequest, VerifierError, limits, tree};

/// Everything that a check may look at.
pub(crate) struct Context<'a> {
    pub(crate) request: &'a CheckRequest,
    pub(crate) candidate: Listing,
    pub(crate) baseline: Option<Listing>,
}

/// Runs every check of the plan, in its order. Blocks. Meant for the check child; it reads files and starts commands.
///
/// # Errors
/// What keeps all checks from running: an unreadable candidate or baseline, a plan for another handoff. Trouble of one
/// check is that check's `error`.
pub fn run_checks(request: &CheckRequest) -> Result<CheckReport, VerifierError> {
    let started = Instant::now();
    request.plan.check_request(request)?;
    let candidate = Listing::take(&request.candidate_root, &request.candidate_submodules)?;
    let listed = |root: &std::path::PathBuf| Listing::take(root, &request.baseline_submodules);
    let baseline = request.baseline_root.as_ref().map(listed).transpose()?;
    let context = Context { request, candidate, baseline };
    let mut engines = std::collections::BTreeMap::new();
    let mut checks: Vec<CheckOutcome> = Vec::new();
    let mut kept = 0;
    for (index, check) in request.plan.checks().iter().enumerate() {
        let began = Instant::now();
        let observed = run_one(&context, check, index);
        engines.extend(observed.engine.clone());
        let mut outcome = observed.into_outcome(&context, check, index, millis(began));
        outcome.files.iter_mut().for_each(|file| keep(file, &mut kept));
        checks.push(outcome);
    }
    Ok(CheckReport {
        plan_digest: request.plan.digest(),
        candidate_tree: tree::digest(&context.candidate),
        baseline_tree: context.baseline.as_deref().map(tree::digest),
        candidate_files: context.candidate.len() as u64,
        candidate_bytes: context.candidate.iter().map(|entry| entry.bytes).sum(),
        engines,
        checks,
        duration_ms: millis(started),
    })
}

/// Cuts what would make the bundle too large: a flood of output must not cost the whole evidence.
fn keep(file: &mut EvidenceFile, kept: &mut usize) {
    if kept.saturating_add(file.bytes.len()) > limits::EVIDENCE_BYTES && file.bytes.len() > limits::CUT_BYTES {
        file.bytes.truncate(limits::CUT_BYTES);
        file.description.push_str(" [cut]");
    }
    *kept = kept.saturating_add(file.bytes.len());
}

fn run_one(context: &Context<'_>, check: &Check, index: usize) -> Observed {
    match check.spec() {
        CheckSpec::ArtifactIntegrity => integrity::run(context),
        CheckSpec::Binding => integrity::binding(context),
        CheckSpec::Schema(spec) => schema::run(context, spec),
        CheckSpec::Scope { allowed_files } => scope::run(context, allowed_files.as_deref()),
        CheckSpec::RequiredJson { required, file, max_bytes } => {
            required_json::run(context, required, file.as_deref(), *max_bytes)
        }
        CheckSpec::UnifiedDiff(spec) => unified_diff::run(context, spec),
        CheckSpec::Imported(check) => imported::run(context, check),
        CheckSpec::Command(spec) => command::run(context, spec, index),
        CheckSpec::Engine(spec) => engine::run(context, spec, index),
    }
}

pub(crate) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The short name of check number `index` in bundles: `01`, `02`, ...
pub(crate) fn number(index: usize) -> String {
    format!("{:02}", index + 1)
}

impl CheckReport {
    /// The outcome of the check with this id.
    #[must_use]
    pub fn check(&self, id: &str) -> Option<&CheckOutcome> {
        self.checks.iter().find(|check| check.id == id)
    }
}
