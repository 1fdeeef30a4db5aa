//! The report for programs: `report-v0.1`.

use quorum_policies::Decision;
use quorum_schemas::{Value, c1};
use serde_json::{Value as Json, json};

use super::model::{End, Item, Level, Model, Part};
use super::{CheckLine, Subject, clean};

pub(super) fn render(model: &Model<'_>) -> String {
    let bytes = c1(&value(model));
    // A CI runner obeys `##[` anywhere in a line; as an escape it means the same to who reads JSON.
    let mut text = String::from_utf8_lossy(&bytes).replace("##", "#\\u0023");
    text.push('\n');
    text
}

fn value(model: &Model<'_>) -> Value {
    let mut report = json!({
        "schema_version": "0.1",
        "kind": "quorum-gate-report",
        "exit_code": model.exit_code().number(),
        "why": model.why(),
        "findings": findings(model),
    });
    match (model.subject, model.end) {
        (Subject::Decision { checks, .. }, End::Decided(decision)) => {
            report["recommendation"] = decision.recommendation.as_str().into();
            report["assurance"] = decision.assurance.as_str().into();
            report["decision_digest"] = decision.digest().to_string().into();
            report["checks"] = checks.iter().map(check).collect();
            with_decision(report, decision)
        }
        (Subject::NoDecision { code, message, .. }, _) => {
            report["recommendation"] = Json::Null;
            report["error"] = json!({ "code": code, "message": clean::message(message) });
            Value::from_serde(report)
        }
        (Subject::Decision { .. }, End::Undecided(_)) => Value::from_serde(report),
    }
}

fn with_decision(report: Json, decision: &Decision) -> Value {
    let mut report = Value::from_serde(report);
    if let Value::Object(members) = &mut report {
        members.insert("decision".into(), decision.to_value());
    }
    report
}

fn check(check: &CheckLine) -> Json {
    json!({
        "id": check.id,
        "kind": check.kind,
        "status": check.status,
        "summary": check.summary,
        "channel": check.channel,
        "isolation": check.isolation,
        "duration_ms": check.duration_ms,
    })
}

/// Every item that is not proven.
fn findings(model: &Model<'_>) -> Vec<Json> {
    let prints = model.fingerprints();
    let items = model.items.iter().zip(prints).filter(|(item, _)| item.level != Level::Pass);
    items.map(|(item, print)| finding(item, &print)).collect()
}

fn finding(item: &Item, print: &str) -> Json {
    let mut finding = json!({
        "rule": item.rule.id,
        "level": item.level.as_str(),
        "about": item.about,
        "message": item.message,
        "fingerprint": print,
    });
    if let Part::Verifier(id) = &item.part {
        finding["verifier"] = id.as_str().into();
    }
    if let Some(place) = &item.place {
        finding["file"] = place.file.as_str().into();
        finding["line"] = place.line.into();
    }
    finding
}
