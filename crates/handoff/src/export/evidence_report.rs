//! EvidenceReport v0.1, upstream's older report of one validator: read and shown in today's words, never counted.

use std::collections::BTreeSet;

use quorum_schemas::{C1Digest, Digest, SchemaName, Value};

use super::refused;
use crate::ExportRule::{self, *};
use crate::error::shown_text;
use crate::read::{conforms, countable, items, number, object, text, texts};
use crate::{Document, HandoffError, Manifest, WorkUnit};

/// A report in the words of a VerificationResult. Upstream has no such mapping; it is ours, and it only weakens: a report
/// that supports stands for a passed result, one that could not tell or could not look never for a reject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedEvidence {
    /// The report's id.
    pub id: String,
    /// The C1 digest of the report.
    pub digest: C1Digest,
    /// The one validator that it speaks of.
    pub validator_id: String,
    /// Who verified.
    pub verifier_id: String,
    /// passed, failed, inconclusive or error.
    pub status: &'static str,
    /// accept_candidate, reject_candidate or insufficient_evidence.
    pub recommendation: &'static str,
    /// The checks in their order.
    pub checks: Vec<ImportedCheck>,
}

/// One check of an imported report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedCheck {
    /// Its id.
    pub id: String,
    /// Its type: `hidden_test` is `test`.
    pub kind: String,
    /// Whether the report calls it required.
    pub required: bool,
    /// passed, failed, error or skipped.
    pub status: &'static str,
}

impl ImportedEvidence {
    /// The view as a document.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let checks = self.checks.iter().map(|check| {
            object([
                ("id", check.id.as_str().into()),
                ("type", check.kind.as_str().into()),
                ("required", check.required.into()),
                ("status", check.status.into()),
            ])
        });
        object([
            ("kind", "imported-evidence-report".into()),
            ("id", self.id.as_str().into()),
            ("digest", self.digest.into()),
            ("validator_id", self.validator_id.as_str().into()),
            ("verifier_id", self.verifier_id.as_str().into()),
            ("status", self.status.into()),
            ("recommendation", self.recommendation.into()),
            ("checks", Value::Array(checks.collect())),
            ("counts_as_evidence", false.into()),
        ])
    }
}

/// Reads a report about this manifest. With a work unit, the report must be about that one too.
///
/// # Errors
/// [`HandoffError::Schema`], [`HandoffError::OutOfRange`], or [`HandoffError::Export`] when the report is about another
/// manifest, work unit, revision or artifact, comes from the worker itself, or contradicts itself.
pub fn import_evidence_report(
    report: &Value,
    manifest: &Manifest,
    work_unit: Option<&WorkUnit>,
) -> Result<ImportedEvidence, HandoffError> {
    const DOCUMENT: Document = Document::EvidenceReport;
    conforms(DOCUMENT, SchemaName::EvidenceReport, report)?;
    countable(DOCUMENT, report, &[&["work_unit_version"]])?;
    check_manifest(report, manifest)?;
    if let Some(work_unit) = work_unit {
        check_work_unit(report, work_unit)?;
    }
    let verifier = text(report, &["verifier", "id"]);
    if verifier == manifest.worker_id() {
        let message = format!("the verifier {} is the worker", shown_text(verifier));
        return Err(wrong(SelfVerification, "/verifier/id", message));
    }
    let checks = checks(report)?;
    let (status, recommendation) = match text(report, &["verdict"]) {
        "supports_candidate" => ("passed", "accept_candidate"),
        "rejects_candidate" => ("failed", "reject_candidate"),
        "verifier_error" => ("error", "insufficient_evidence"),
        _ => ("inconclusive", "insufficient_evidence"),
    };
    if let Some(check) = checks.iter().find(|check| check.required && check.status != "passed")
        && status == "passed"
    {
        let message = format!("it supports, and the required check {} is {}", shown_text(&check.id), check.status);
        return Err(wrong(Contradiction, "/verdict", message));
    }
    Ok(ImportedEvidence {
        id: text(report, &["id"]).to_owned(),
        digest: Digest::c1(report),
        validator_id: text(report, &["validator_id"]).to_owned(),
        verifier_id: verifier.to_owned(),
        status,
        recommendation,
        checks,
    })
}

fn check_manifest(report: &Value, manifest: &Manifest) -> Result<(), HandoffError> {
    let digest = manifest.digest().to_string();
    for (path, expected) in [
        (["result_manifest", "digest"], digest.as_str()),
        (["result_manifest", "id"], manifest.id()),
        (["result_manifest", "worker_id"], manifest.worker_id()),
    ] {
        same(OtherManifest, report, &path, expected)?;
    }
    same(OtherWorkUnit, report, &["work_unit_id"], manifest.work_unit_id())?;
    version(report, manifest.work_unit_version())?;
    same(OtherWorkUnit, report, &["provenance", "work_unit_digest"], manifest.declared_work_unit_digest())?;
    if report.at(&["provenance", "source_revision"]).is_some() {
        same(OtherRevision, report, &["provenance", "source_revision"], manifest.source_revision())?;
    }
    for (index, artifact) in items(report, &["evaluated_artifacts"]).iter().enumerate() {
        let matches = |produced: &&Value| ["id", "digest"].iter().all(|name| produced.get(name) == artifact.get(name));
        if manifest.artifacts().iter().filter(matches).count() != 1 {
            let message = format!("the manifest has no artifact {}", artifact.shown());
            return Err(wrong(UnknownArtifact, &format!("/evaluated_artifacts/{index}"), message));
        }
    }
    Ok(())
}

fn check_work_unit(report: &Value, work_unit: &WorkUnit) -> Result<(), HandoffError> {
    same(OtherWorkUnit, report, &["work_unit_id"], work_unit.id())?;
    version(report, work_unit.version())?;
    same(OtherWorkUnit, report, &["provenance", "work_unit_digest"], &work_unit.digest().to_string())?;
    let validator = text(report, &["validator_id"]);
    if work_unit.validator(validator).is_none() {
        let message = format!("the work unit has no validator {}", shown_text(validator));
        return Err(wrong(UnknownValidator, "/validator_id", message));
    }
    Ok(())
}

fn version(report: &Value, expected: u64) -> Result<(), HandoffError> {
    let found = number(report, &["work_unit_version"]);
    if found == Some(expected) {
        return Ok(());
    }
    let message = format!("{}, expected {expected}", found.unwrap_or_default());
    Err(wrong(OtherWorkUnit, "/work_unit_version", message))
}

fn checks(report: &Value) -> Result<Vec<ImportedCheck>, HandoffError> {
    let evidence: BTreeSet<&str> =
        items(report, &["evidence_artifacts"]).iter().map(|artifact| text(artifact, &["id"])).collect();
    let mut ids = BTreeSet::new();
    let mut checks = Vec::new();
    for (index, check) in items(report, &["checks"]).iter().enumerate() {
        let id = text(check, &["id"]);
        let contradicts = |name: &str, message| Err(wrong(Contradiction, &format!("/checks/{index}/{name}"), message));
        if !ids.insert(id) {
            return contradicts("id", format!("the check id {} appears twice", shown_text(id)));
        }
        if let Some(cited) = texts(check, &["evidence_artifact_ids"]).into_iter().find(|id| !evidence.contains(id)) {
            let message = format!("the check {} cites unknown evidence {}", shown_text(id), shown_text(cited));
            return contradicts("evidence_artifact_ids", message);
        }
        let kind = text(check, &["type"]);
        checks.push(ImportedCheck {
            id: id.to_owned(),
            kind: if kind == "hidden_test" { "test" } else { kind }.to_owned(),
            required: check.get("required") == Some(&true.into()),
            status: match text(check, &["status"]) {
                "pass" => "passed",
                "fail" => "failed",
                "skipped" => "skipped",
                _ => "error",
            },
        });
    }
    Ok(checks)
}

fn same(rule: ExportRule, report: &Value, path: &[&str], expected: &str) -> Result<(), HandoffError> {
    let found = text(report, path);
    if found == expected {
        return Ok(());
    }
    let message = format!("{}, expected {}", shown_text(found), shown_text(expected));
    Err(wrong(rule, &format!("/{}", path.join("/")), message))
}

fn wrong(rule: ExportRule, pointer: &str, message: String) -> HandoffError {
    refused(rule, Document::EvidenceReport, pointer, message)
}
