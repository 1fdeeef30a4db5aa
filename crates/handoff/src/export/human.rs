//! HumanDecisionRecord v0.1: who decided what about one exact run report, when and why. It executes nothing, and no
//! recommendation of a machine is ever taken for it.

use quorum_schemas::{Digest, Object, SchemaName, Timestamp, Value};

use super::{RECOMMENDATIONS, check_run_report, refused};
use crate::ExportRule::{self, *};
use crate::error::{shown, shown_text};
use crate::read::{conforms, is_blank, items, object, text};
use crate::{Document, HandoffError};

/// The words of a human's decision. Upstream keeps them apart from those of a recommendation.
const DECISIONS: [&str; 3] = ["accept", "reject", "escalate"];
const DECIDER_TYPES: [&str; 2] = ["human", "governance_body"];

/// What a human says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanDecision {
    /// The record's id: 3 to 128 characters of `a-z0-9._/-`, starting with a letter or digit.
    pub id: String,
    /// accept, reject or escalate.
    pub decision: String,
    /// Why, in the decider's own words.
    pub rationale: String,
    /// Who decided.
    pub decider_id: String,
    /// human or governance_body.
    pub decider_type: String,
    /// How the decider is shown.
    pub display_name: Option<String>,
    /// The attempt that the decision is about; `None` for the run as a whole.
    pub selected_attempt_id: Option<String>,
    /// When.
    pub decided_at: Timestamp,
}

/// Writes down a decision about this exact report.
///
/// # Errors
/// [`HandoffError::Export`] or [`HandoffError::Schema`]: the report is malformed, the decision is another word than a
/// human's, the rationale is blank or only a machine's word, the attempt is not the report's.
pub fn record_human_decision(report: &Value, said: &HumanDecision) -> Result<Value, HandoffError> {
    check_run_report(report, None)?;
    let wrong = |rule, pointer: &str, message| Err(refused(rule, Document::HumanDecision, pointer, message));
    let one_of =
        |words: &[&str], found: &str| format!("one of {} is needed, found {}", words.join(", "), shown_text(found));
    if !DECISIONS.contains(&said.decision.as_str()) {
        return wrong(UnknownDecision, "/decision", one_of(&DECISIONS, &said.decision));
    }
    if !DECIDER_TYPES.contains(&said.decider_type.as_str()) {
        return wrong(UnknownDecider, "/decider/type", one_of(&DECIDER_TYPES, &said.decider_type));
    }
    let mut decider = Object::new();
    decider.insert("id".into(), said.decider_id.as_str().into());
    decider.insert("type".into(), said.decider_type.as_str().into());
    if let Some(name) = &said.display_name {
        decider.insert("display_name".into(), name.as_str().into());
    }
    let record = object([
        ("schema_version", "0.1".into()),
        ("kind", "idkmesh-human-decision-record".into()),
        ("decision_id", said.id.as_str().into()),
        (
            "evidence_report",
            object([
                ("kind", text(report, &["kind"]).into()),
                ("schema_version", text(report, &["schema_version"]).into()),
                ("run_id", text(report, &["run_id"]).into()),
                ("digest", Digest::c1(report).into()),
            ]),
        ),
        ("selected_attempt_id", said.selected_attempt_id.as_deref().map_or(Value::Null, Value::from)),
        ("decision", said.decision.as_str().into()),
        ("rationale", said.rationale.as_str().into()),
        ("decider", Value::Object(decider)),
        ("decided_at", said.decided_at.into()),
        (
            "authority",
            object([("canonical_state_write", false.into()), ("git_push", false.into()), ("merge", false.into())]),
        ),
    ]);
    conforms(Document::HumanDecision, SchemaName::HumanDecisionRecord, &record)?;
    check_words(&record, report)?;
    Ok(record)
}

/// Whether a record is about this exact report. A report that changed after the decision, in any byte of its C1 form, is
/// another report.
///
/// # Errors
/// [`HandoffError::Schema`] for either document, [`HandoffError::Export`] for what does not belong together.
pub fn verify_human_decision(record: &Value, report: &Value) -> Result<(), HandoffError> {
    conforms(Document::HumanDecision, SchemaName::HumanDecisionRecord, record)?;
    check_run_report(report, None)?;
    let digest = Digest::c1(report).to_string();
    for (rule, name, expected) in
        [(OtherReport, "digest", digest.as_str()), (OtherReport, "run_id", text(report, &["run_id"]))]
    {
        let found = text(record, &["evidence_report", name]);
        if found != expected {
            let message = format!("{}, the report has {}", shown_text(found), shown_text(expected));
            return Err(refused(rule, Document::HumanDecision, &format!("/evidence_report/{name}"), message));
        }
    }
    check_words(record, report)
}

/// What the schema leaves open.
fn check_words(record: &Value, report: &Value) -> Result<(), HandoffError> {
    let wrong =
        |rule: ExportRule, pointer: &str, message| Err(refused(rule, Document::HumanDecision, pointer, message));
    if is_blank(text(record, &["decider", "id"])) {
        return wrong(UnknownDecider, "/decider/id", "a decider has a name that is not blank".to_owned());
    }
    let rationale = text(record, &["rationale"]);
    let word = rationale.trim();
    if is_blank(rationale) || RECOMMENDATIONS.contains(&word) || DECISIONS.contains(&word) {
        let message = format!("a reason in the decider's own words is needed, found {}", shown_text(rationale));
        return wrong(NoRationale, "/rationale", message);
    }
    let Some(selected) = record.get("selected_attempt_id").and_then(Value::as_str) else { return Ok(()) };
    let known: Vec<&str> = items(report, &["attempts"]).iter().map(|attempt| text(attempt, &["attempt_id"])).collect();
    if !known.contains(&selected) {
        let known = Value::from(known);
        let message =
            format!("{} is no attempt of the report, which has {}", shown_text(selected), shown(Some(&known)));
        return wrong(UnknownAttempt, "/selected_attempt_id", message);
    }
    Ok(())
}
