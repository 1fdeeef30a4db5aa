//! `artifact_integrity` and `binding`.

use quorum_handoff::{CandidateReference, check_binding};
use quorum_schemas::{Digest, Value};

use super::Context;
use super::files::default_file;
use super::observed::Observed;
use crate::report::CheckStatus;
use crate::{VerifierError, bundle, git, tree};

/// The candidate's exact bytes have the digest that signatures about it speak of.
pub(super) fn run(context: &Context<'_>) -> Observed {
    let request = context.request;
    let declared = request.handoff.candidate_artifact_digest();
    // Of the C6 profile: the artifact's digest is that of its reference.
    let of_reference = |reference: &CandidateReference| reference.digest().of_bytes();
    let result = match request.binding.candidate_reference() {
        None => file(context, declared),
        Some(reference) if of_reference(reference) != declared => {
            return failed(
                "the candidate reference does not have the declared digest",
                declared,
                of_reference(reference),
            );
        }
        Some(CandidateReference::Bundle { digest, .. }) => bundle(context, *digest),
        Some(CandidateReference::PullRequest { head_sha, .. }) => pull_request(context, head_sha),
    };
    result.unwrap_or_else(|error| Observed::error(&error))
}

fn file(context: &Context<'_>, declared: Digest) -> Result<Observed, VerifierError> {
    let name = default_file(context)?;
    let found = context.candidate.entry(&name)?.sha256;
    Ok(judge(&format!("`{name}`"), declared, found).fact("file", name.as_str()))
}

fn bundle(context: &Context<'_>, declared: Digest) -> Result<Observed, VerifierError> {
    // A root with one file may be that file or a directory that holds it; the digest says which.
    if let [only] = &*context.candidate
        && matches!(only.mode, tree::Mode::File | tree::Mode::Executable)
        && only.sha256 == declared
    {
        return Ok(judge(&format!("`{}`", only.path), declared, only.sha256));
    }
    let found = bundle::zip_listing_digest(&context.candidate)?;
    Ok(judge("the ZIP of the candidate directory", declared, found))
}

fn pull_request(context: &Context<'_>, head: &str) -> Result<Observed, VerifierError> {
    let commit = context.request.head_commit.as_deref().ok_or_else(|| {
        VerifierError::CandidateUnusable(
            "a pull request needs the commit object of its head; give --git and --head".into(),
        )
    })?;
    let algorithm = git::Algorithm::of(head)?;
    let found = algorithm.object("commit", commit);
    let claimed = git::tree_of_commit(commit)?;
    let tree = algorithm.tree(&context.candidate)?;
    let facts = |observed: Observed| {
        observed
            .fact("head_sha", head)
            .fact("commit", found.as_str())
            .fact("tree", tree.as_str())
            .fact("commit_tree", claimed.as_str())
    };
    if found != head || tree != claimed {
        let summary = "the candidate's tree is not the one of the head commit";
        return Ok(facts(Observed::new(CheckStatus::Failed, summary).finding("provenance", summary, None)));
    }
    Ok(facts(Observed::new(CheckStatus::Passed, format!("every object of {head} was hashed again"))))
}

fn judge(what: &str, declared: Digest, found: Digest) -> Observed {
    if declared != found {
        return failed(&format!("{what} does not have the declared digest"), declared, found);
    }
    Observed::new(CheckStatus::Passed, format!("{what} has the declared digest"))
        .fact("declared", declared)
        .fact("observed", found)
}

fn failed(summary: &str, declared: Digest, found: Digest) -> Observed {
    Observed::new(CheckStatus::Failed, summary).fact("declared", declared).fact("observed", found).finding(
        "provenance",
        summary,
        None,
    )
}

/// Handoff, manifest binding and work unit belong together.
pub(super) fn binding(context: &Context<'_>) -> Observed {
    let request = context.request;
    let violations = check_binding(&request.handoff, &request.binding, &request.work_unit);
    if violations.is_empty() {
        return Observed::new(CheckStatus::Passed, "handoff, manifest binding and work unit belong together")
            .fact("handoff_id", request.handoff.id());
    }
    let texts: Vec<String> =
        violations.iter().map(|found| format!("{} {}: {}", found.rule, found.pointer, found.message)).collect();
    let mut observed = Observed::new(CheckStatus::Failed, "the documents do not belong together");
    for text in &texts {
        observed = observed.finding("provenance", text.as_str(), None);
    }
    observed.fact("violations", Value::from(texts))
}
