//! The report for programs.

use quorum_schemas::{Value, c1};
use serde_json::json;

use super::Subject;
use crate::ExitCode;

pub(super) fn render(subject: &Subject<'_>) -> String {
    let mut bytes = c1(&value(subject));
    bytes.push(b'\n');
    String::from_utf8_lossy(&bytes).into_owned()
}

fn value(subject: &Subject<'_>) -> Value {
    let decision = subject.decision;
    let checks: Vec<serde_json::Value> = subject
        .checks
        .iter()
        .map(|check| {
            json!({
                "id": check.id,
                "kind": check.kind,
                "status": check.status,
                "summary": check.summary,
                "channel": check.channel,
                "isolation": check.isolation,
                "duration_ms": check.duration_ms,
            })
        })
        .collect();
    let mut report = Value::from_serde(json!({
        "schema_version": "0.1",
        "kind": "quorum-gate-report",
        "recommendation": decision.recommendation.as_str(),
        "exit_code": ExitCode::from(decision.recommendation).number(),
        "assurance": decision.assurance.as_str(),
        "decision_digest": decision.digest().to_string(),
        "why": decision.why_text().lines().collect::<Vec<_>>(),
        "checks": checks,
    }));
    if let Value::Object(members) = &mut report {
        members.insert("decision".into(), decision.to_value());
    }
    report
}
