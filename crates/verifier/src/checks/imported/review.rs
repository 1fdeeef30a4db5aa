//! `independent-review` of EvaluatorPlan 0.2 to 0.4: patch and log bytes, sizes, scope, texts and the worker's status.

use quorum_schemas::{Digest, Value, c1};
use serde_json::json;

use super::super::observed::Observed;
use super::super::patch::{self, Judged};
use super::super::{Context, files, integrity, unified_diff};
use super::facts::{LogFact, ManifestFacts};
use crate::evaluator::PatchReview;
use crate::report::{CheckStatus, EvidenceFile};
use crate::{VerifierError, tree};

pub(super) fn run(context: &Context<'_>, review: &PatchReview) -> Observed {
    look(context, review).unwrap_or_else(|error| Observed::error(&error))
}

/// # Errors
/// What upstream gives no verdict on: no manifest was at hand, or a file that cannot be read where it is said to be.
fn look(context: &Context<'_>, review: &PatchReview) -> Result<Observed, VerifierError> {
    let unusable = |why: &str| VerifierError::CandidateUnusable(why.to_owned());
    let facts = context.request.plan.manifest_facts();
    let facts =
        facts.ok_or_else(|| unusable("this plan judges the worker's status and logs, and no manifest is here"))?;
    let mut hashes = Vec::new();
    let mut judged = patch(context, review, &mut hashes)?;
    logs(context, review, facts, &mut judged, &mut hashes)?;
    judged.fact("worker_status", facts.status());
    if facts.status() != "succeeded" {
        judged.problem("policy", format!("the worker's own status is `{}`, not `succeeded`", facts.status()), None);
    }
    let mut observed = unified_diff::outcome(judged, "artifact, logs, patch, scope and required texts hold");
    observed.read_manifest = true;
    observed.files.push(EvidenceFile {
        path: "checks/artifact-hashes.json".into(),
        bytes: c1(&Value::from(json!({"artifacts": hashes}))),
        media_type: "application/json".into(),
        evidence_type: "artifact_hash".into(),
        description: "SHA-256 and size of the patch and of every declared log".into(),
    });
    Ok(observed)
}

/// The patch: its digest as the manifest declares it, its size, and what it says.
fn patch(
    context: &Context<'_>,
    review: &PatchReview,
    hashes: &mut Vec<serde_json::Value>,
) -> Result<Judged, VerifierError> {
    let name = files::default_file(context)?;
    let integrity = integrity::run(context);
    if integrity.status == CheckStatus::Error {
        return Err(VerifierError::CandidateUnusable(integrity.summary));
    }
    let bytes = context.candidate.read_file(&name, review.max_candidate_bytes)?;
    hashes.push(row(&name, &context.candidate.entry(&name)?.sha256.to_string(), bytes.as_deref()));
    let mut judged = match &bytes {
        Some(bytes) => patch::judge(&name, bytes, &context.request.work_unit, &review.text),
        None => {
            let mut judged = Judged::default();
            let summary = format!("`{name}` has more than {} bytes, which the plan admits", review.max_candidate_bytes);
            judged.problem("policy", summary, Some(&name));
            judged
        }
    };
    if integrity.status != CheckStatus::Passed {
        judged.problem("provenance", integrity.summary, Some(&name));
    }
    Ok(judged)
}

fn logs(
    context: &Context<'_>,
    review: &PatchReview,
    facts: &ManifestFacts,
    judged: &mut Judged,
    hashes: &mut Vec<serde_json::Value>,
) -> Result<(), VerifierError> {
    for log in facts.logs() {
        check_log(context, review, log, judged, hashes)?;
    }
    for wanted in &review.required_log_types {
        if !facts.logs().iter().any(|log| log.kind == *wanted) {
            judged.problem("provenance", format!("the manifest declares no log of the type `{wanted}`"), None);
        }
    }
    Ok(())
}

fn check_log(
    context: &Context<'_>,
    review: &PatchReview,
    log: &LogFact,
    judged: &mut Judged,
    hashes: &mut Vec<serde_json::Value>,
) -> Result<(), VerifierError> {
    tree::resolve(&context.request.candidate_root, &log.locator)?;
    let name = log.locator.as_str();
    let Some(bytes) = context.candidate.read_file(name, review.max_log_bytes)? else {
        let summary = format!("the log `{name}` has more than {} bytes, which the plan admits", review.max_log_bytes);
        judged.problem("policy", summary, Some(name));
        return Ok(());
    };
    let found = Digest::of(&bytes).to_string();
    hashes.push(row(name, &found, Some(&bytes)));
    match &log.digest {
        Some(declared) if *declared == found => {}
        Some(_) => {
            judged.problem("provenance", format!("the log `{name}` does not have the declared digest"), Some(name));
        }
        None => {
            judged.problem("provenance", format!("the manifest declares no digest of the log `{name}`"), Some(name))
        }
    }
    Ok(())
}

fn row(path: &str, digest: &str, bytes: Option<&[u8]>) -> serde_json::Value {
    json!({"path": path, "sha256": digest, "bytes": bytes.map(<[u8]>::len)})
}
