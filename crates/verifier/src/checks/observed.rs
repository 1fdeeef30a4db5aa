//! What a check saw, before it becomes an outcome with evidence.

use quorum_schemas::{Object, Value, c1};

use super::{Context, number};
use crate::plan::Check;
use crate::report::{CheckOutcome, CheckStatus, EvidenceFile, Finding, IsolationClass};
use crate::text::clip;
use crate::{VerifierError, limits};

/// What one check saw.
pub(crate) struct Observed {
    pub(super) status: CheckStatus,
    pub(super) summary: String,
    pub(super) facts: Object,
    pub(super) findings: Vec<Finding>,
    pub(super) isolation: IsolationClass,
    pub(super) exit: Option<i32>,
    pub(super) timed_out: bool,
    pub(super) limit_ms: Option<u64>,
    pub(super) baseline_ms: Option<u64>,
    pub(super) by_exit_status: bool,
    pub(super) read_manifest: bool,
    pub(super) engine: Option<(String, String)>,
    pub(super) files: Vec<EvidenceFile>,
}

impl Observed {
    pub(super) fn new(status: CheckStatus, summary: impl Into<String>) -> Self {
        Self {
            status,
            summary: clip(&summary.into(), limits::TEXT_CHARS),
            facts: Object::new(),
            findings: Vec::new(),
            isolation: IsolationClass::NotApplicable,
            exit: None,
            timed_out: false,
            limit_ms: None,
            baseline_ms: None,
            by_exit_status: false,
            read_manifest: false,
            engine: None,
            files: Vec::new(),
        }
    }

    pub(super) fn error(error: &VerifierError) -> Self {
        Self::new(CheckStatus::Error, error.to_string()).fact("code", error.code())
    }

    pub(super) fn fact(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(key.to_owned(), value.into());
        self
    }

    pub(super) fn finding(mut self, category: &str, summary: impl Into<String>, path: Option<&str>) -> Self {
        if self.findings.len() < limits::FINDINGS {
            self.findings.push(Finding {
                severity: "high".into(),
                category: category.to_owned(),
                summary: clip(&summary.into(), limits::TEXT_CHARS),
                path: path.map(str::to_owned),
            });
        }
        self
    }

    /// The outcome, with the observation itself as the first file of its evidence.
    pub(super) fn into_outcome(
        self,
        context: &Context<'_>,
        check: &Check,
        index: usize,
        duration_ms: u64,
    ) -> CheckOutcome {
        let mut observation = self.facts.clone();
        for (key, text) in [
            ("check", check.id()),
            ("kind", check.kind()),
            ("status", self.status.as_str()),
            ("summary", &self.summary),
        ] {
            observation.insert(key.to_owned(), text.into());
        }
        let validator =
            context.request.work_unit.validator(check.id()).map_or("other", |validator| validator.kind.as_str());
        let mut files = vec![EvidenceFile {
            path: format!("checks/{}.json", number(index)),
            bytes: c1(&Value::Object(observation)),
            media_type: "application/json".into(),
            evidence_type: evidence_type(check.kind(), validator).to_owned(),
            description: format!("what check {} saw", number(index)),
        }];
        files.extend(self.files);
        let diagnostics = (!self.facts.is_empty())
            .then(|| clip(&String::from_utf8_lossy(&c1(&Value::Object(self.facts))), limits::TEXT_CHARS));
        CheckOutcome {
            id: check.id().to_owned(),
            kind: check.kind().to_owned(),
            status: self.status,
            summary: self.summary,
            diagnostics,
            channel: check.channel(),
            isolation: self.isolation,
            exit: self.exit,
            timed_out: self.timed_out,
            limit_ms: self.limit_ms,
            baseline_ms: self.baseline_ms,
            by_exit_status: self.by_exit_status,
            read_manifest: self.read_manifest,
            findings: self.findings,
            files,
            duration_ms,
        }
    }
}

/// The evidence type of an observation: what the kind of check is sure of, else what the validator asks for.
fn evidence_type(kind: &str, validator: &str) -> &'static str {
    match (kind, validator) {
        ("artifact_integrity", _) => "artifact_hash",
        (_, "review") => "review",
        (_, "benchmark") => "benchmark",
        (_, "lint" | "formal") => "static_analysis",
        (_, "security") => "security_report",
        (_, "other") => "other",
        _ => "test_output",
    }
}
