//! What authentic evidence shows of its checks. Only envelopes that the decision heard are read: their signatures hold.

use quorum_attest::{Envelope, Statement};
use quorum_schemas::Value;

/// The checks and findings of one evidence. A hidden plan left its summaries and findings out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) checks: Vec<ShownCheck>,
    pub(super) findings: Vec<ShownFinding>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownCheck {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) summary: String,
}

/// One thing that a check found wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownFinding {
    pub(super) severity: String,
    pub(super) category: String,
    pub(super) summary: String,
    pub(super) path: Option<String>,
}

pub(super) fn shown(envelope: &[u8]) -> Option<Shown> {
    let envelope = Envelope::parse(envelope).ok()?;
    let statement = Statement::parse(envelope.payload()).ok()?;
    let result = statement.predicate.get("result")?;
    let rows = |name: &str| result.get(name).and_then(Value::as_array).into_iter().flatten();
    let checks = rows("checks").map(|row| ShownCheck {
        id: text(row, "id"),
        status: text(row, "status"),
        summary: text(row, "summary"),
    });
    let findings = rows("findings").map(|row| ShownFinding {
        severity: text(row, "severity"),
        category: text(row, "category"),
        summary: text(row, "summary"),
        path: row.get("path").and_then(Value::as_str).map(str::to_owned),
    });
    Some(Shown { checks: checks.collect(), findings: findings.collect() })
}

fn text(row: &Value, key: &str) -> String {
    row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
