//! The checks of imported plans.

mod facts;
mod json;
mod review;

pub use facts::ManifestFacts;

use quorum_schemas::Value;

use super::observed::Observed;
use super::{Context, integrity, schema};
use crate::evaluator::ImportedCheck;
use crate::plan::{SchemaCheck, SchemaOf};
use crate::report::CheckStatus;
use crate::{VerifierError, tree};

pub(super) fn run(context: &Context<'_>, check: &ImportedCheck) -> Observed {
    // Upstream gives no verdict on a root with a symlink in it: what it names could be other bytes tomorrow.
    if let Some(link) = context.candidate.iter().find(|entry| entry.mode == tree::Mode::Symlink) {
        let why = format!("the candidate root holds the symlink `{}`; an imported plan judges none", link.path);
        return Observed::error(&VerifierError::CandidateUnusable(why));
    }
    match check {
        ImportedCheck::ArtifactDigest => integrity::run(context),
        ImportedCheck::FileList(allowed) => file_list(context, allowed),
        ImportedCheck::Json { required, max_bytes } => json::run(context, required, *max_bytes),
        ImportedCheck::ManifestSchema => {
            schema::run(context, &SchemaCheck { of: SchemaOf::Manifest, schema: None, file: None, max_bytes: 0 })
        }
        ImportedCheck::Review(review) => review::run(context, review),
    }
}

/// The sorted file list equals the plan's, whatever the files hold.
fn file_list(context: &Context<'_>, allowed: &[String]) -> Observed {
    let mut allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    allowed.sort_unstable();
    let mut found: Vec<&str> = context.candidate.iter().map(|entry| entry.path.as_str()).collect();
    found.sort_unstable();
    let facts = |observed: Observed| {
        let list = |paths: &[&str]| Value::Array(paths.iter().map(|path| (*path).into()).collect());
        observed.fact("allowed_files", list(&allowed)).fact("observed_files", list(&found))
    };
    if allowed == found {
        return facts(Observed::new(CheckStatus::Passed, "the candidate's files are exactly the plan's"));
    }
    let extra =
        found.iter().filter(|path| !allowed.contains(path)).map(|path| (*path, "is not one of the plan's files"));
    let missing = allowed.iter().filter(|path| !found.contains(path)).map(|path| (*path, "is missing"));
    let wrong: Vec<(&str, &str)> = extra.chain(missing).collect();
    let summary = wrong.first().map_or_else(String::new, |(path, why)| format!("out of scope: `{path}` {why}"));
    let mut observed = facts(Observed::new(CheckStatus::Failed, summary));
    for (path, why) in wrong {
        observed = observed.finding("scope", format!("`{path}` {why}"), Some(path));
    }
    observed
}
