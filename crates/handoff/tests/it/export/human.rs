//! Records of what a human decided about a report.

use quorum_handoff::{
    AttemptOutcome, Document, ExportRule, HandoffError, HumanDecision, Run, RunAttempt, record_human_decision,
    run_evidence_report, run_record, verify_human_decision,
};
use quorum_schemas::{Digest, Value, c1, parse, upstream};
use serde_json::{Value as Json, json};

use super::refused;
use crate::fixtures::{admitted, edit, result};

fn report() -> Json {
    let intake = admitted();
    let accept: Value = result(&intake).into();
    let attempt = RunAttempt {
        id: "attempt/1".into(),
        worker_adapter: "shell".into(),
        decision: None,
        evidence: None,
        note: None,
        outcome: AttemptOutcome::Verified { manifest: &intake.manifest, result: &accept },
    };
    let run = Run {
        id: "run/1".into(),
        work_unit: &intake.work_unit,
        orchestrator_version: "quorum".into(),
        config_digest: Digest::c1(&Value::Null),
        policy_digest: Digest::of(b"policy"),
        attempts: vec![attempt],
    };
    json_of(&run_evidence_report(&run_record(&run).unwrap()).unwrap())
}

fn json_of(value: &Value) -> Json {
    serde_json::from_slice(&c1(value)).unwrap()
}

fn said() -> HumanDecision {
    HumanDecision {
        id: "decision/1".into(),
        decision: "accept".into(),
        rationale: "I read the change and ran it.".into(),
        decider_id: "maintainer/ada".into(),
        decider_type: "human".into(),
        display_name: Some("Ada".into()),
        selected_attempt_id: Some("attempt/1".into()),
        decided_at: "2026-01-31T12:00:00Z".parse().unwrap(),
    }
}

#[test]
fn a_record_says_who_decided_what_about_which_report() {
    let report: Value = report().into();
    let record = record_human_decision(&report, &said()).unwrap();
    verify_human_decision(&record, &report).unwrap();
    assert_eq!(
        json_of(&record),
        json!({
            "schema_version": "0.1", "kind": "idkmesh-human-decision-record", "decision_id": "decision/1",
            "evidence_report": {"kind": "idkmesh-run-evidence-report", "schema_version": "0.1", "run_id": "run/1",
                "digest": Digest::c1(&report).to_string()},
            "selected_attempt_id": "attempt/1", "decision": "accept", "rationale": "I read the change and ran it.",
            "decider": {"id": "maintainer/ada", "type": "human", "display_name": "Ada"},
            "decided_at": "2026-01-31T12:00:00Z",
            "authority": {"canonical_state_write": false, "git_push": false, "merge": false},
        })
    );
}

/// A decision may be about the run as a whole, a body's, and against what every verifier recommends.
#[test]
fn a_human_is_free_to_say_otherwise() {
    let report: Value = report().into();
    for decision in ["reject", "escalate"] {
        let said = HumanDecision {
            decision: decision.into(),
            decider_type: "governance_body".into(),
            display_name: None,
            selected_attempt_id: None,
            ..said()
        };
        let record = record_human_decision(&report, &said).unwrap();
        verify_human_decision(&record, &report).unwrap();
        let record = json_of(&record);
        assert_eq!((&record["decision"], &record["selected_attempt_id"]), (&json!(decision), &json!(null)));
        assert_eq!(record["decider"], json!({"id": "maintainer/ada", "type": "governance_body"}));
    }
}

/// One test for each case: what cannot be said is refused by its rule at its place.
macro_rules! human_cases {
    ($($name:ident: $rule:ident at $place:literal, $defect:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let report: Value = report().into();
                let mut said = said();
                let defect: fn(&mut HumanDecision) = $defect;
                defect(&mut said);
                let found = record_human_decision(&report, &said);
                refused(found, ExportRule::$rule, Document::HumanDecision, $place);
            }
        )*

        pub(super) const COVERED: &[ExportRule] = &[ExportRule::OtherReport, $(ExportRule::$rule),*];
    };
}

human_cases! {
    a_machines_accept_is_no_decision: UnknownDecision at "/decision", |s| s.decision = "accept_candidate".into();
    a_machines_reject_is_no_decision: UnknownDecision at "/decision", |s| s.decision = "reject_candidate".into();
    insufficient_evidence_is_no_decision: UnknownDecision at "/decision",
        |s| s.decision = "insufficient_evidence".into();
    a_decision_in_other_case_is_none: UnknownDecision at "/decision", |s| s.decision = "Accept".into();
    an_empty_decision_is_none: UnknownDecision at "/decision", |s| s.decision = String::new();
    an_agent_decides_nothing: UnknownDecider at "/decider/type", |s| s.decider_type = "agent".into();
    nobody_decides_nothing: UnknownDecider at "/decider/id", |s| s.decider_id = "\t".into();
    a_blank_reason_is_none: NoRationale at "/rationale", |s| s.rationale = " \n".into();
    a_machines_word_is_no_reason: NoRationale at "/rationale", |s| s.rationale = " accept_candidate\n".into();
    the_decision_again_is_no_reason: NoRationale at "/rationale", |s| s.rationale = "accept".into();
    an_unknown_attempt_cannot_be_selected: UnknownAttempt at "/selected_attempt_id",
        |s| s.selected_attempt_id = Some("attempt/2".into());
}

#[test]
fn what_the_schema_refuses_is_refused_on_the_way_out() {
    let report: Value = report().into();
    for (defect, place) in [
        (HumanDecision { id: "Decision".into(), ..said() }, "/decision_id"),
        (HumanDecision { decider_id: String::new(), ..said() }, "/decider/id"),
        (HumanDecision { rationale: String::new(), ..said() }, "/rationale"),
    ] {
        let error = record_human_decision(&report, &defect).unwrap_err();
        assert_eq!((error.code(), error.document()), ("schema_invalid", Some(Document::HumanDecision)));
        assert_eq!(error.places()[0].pointer, place);
    }
}

/// Nothing is recorded about a report that is malformed, and nothing holds against one.
#[test]
fn a_malformed_report_is_decided_by_nobody() {
    let sound = report();
    let record = record_human_decision(&sound.clone().into(), &said()).unwrap();
    for (pointer, value, code) in [
        ("/human_decision/status", Some(json!("accepted")), "schema_invalid"),
        ("/attempts", Some(json!([])), "schema_invalid"),
        ("/summary/supported", Some(json!(2)), "run_report_counts"),
        ("/authority", None, "schema_invalid"),
    ] {
        let mut broken = sound.clone();
        edit(&mut broken, pointer, value);
        let broken: Value = broken.into();
        assert_eq!(record_human_decision(&broken, &said()).unwrap_err().code(), code, "{pointer}");
        assert_eq!(verify_human_decision(&record, &broken).unwrap_err().code(), code, "{pointer}");
    }
}

/// Any change of the report after the decision is seen, and so is any change of the record.
#[test]
fn a_report_or_record_that_drifted_is_refused() {
    let sound = report();
    let report: Value = sound.clone().into();
    let record = json_of(&record_human_decision(&report, &said()).unwrap());
    let mut other = sound;
    other["warnings"][0] = json!("All is well.");
    let found = verify_human_decision(&record.clone().into(), &other.into());
    refused(found, ExportRule::OtherReport, Document::HumanDecision, "/evidence_report/digest");
    for (pointer, value, rule, place) in [
        ("/evidence_report/run_id", json!("run/2"), ExportRule::OtherReport, "/evidence_report/run_id"),
        ("/selected_attempt_id", json!("attempt/9"), ExportRule::UnknownAttempt, "/selected_attempt_id"),
        ("/rationale", json!("  "), ExportRule::NoRationale, "/rationale"),
        ("/decider/id", json!(" "), ExportRule::UnknownDecider, "/decider/id"),
    ] {
        let mut forged = record.clone();
        edit(&mut forged, pointer, Some(value));
        refused(verify_human_decision(&forged.into(), &report), rule, Document::HumanDecision, place);
    }
    for (pointer, value) in [
        ("/decision", json!("accept_candidate")),
        ("/authority/merge", json!(true)),
        ("/decided_at", json!("yesterday")),
        ("/merged", json!(true)),
    ] {
        let mut forged = record.clone();
        edit(&mut forged, pointer, Some(value));
        let error = verify_human_decision(&forged.into(), &report).unwrap_err();
        assert!(matches!(error, HandoffError::Schema { document: Document::HumanDecision, .. }), "{pointer}: {error}");
    }
}

#[test]
fn upstreams_example_pair_holds_and_drifts() {
    let read = |name: &str| upstream::read(&format!("idkmesh/examples/api/{name}.example.json"));
    let Some(record) = read("human-decision-record") else { return };
    let (record, report) = (parse(&record).unwrap(), parse(&read("run-evidence-report").unwrap()).unwrap());
    verify_human_decision(&record, &report).unwrap();
    assert!(record.at(&["evidence_report", "digest"]).unwrap().as_str().unwrap().starts_with("sha256:074e0cee"));
    let mut drifted = json_of(&report);
    drifted["orchestrator_version"] = json!("0.3");
    let found = verify_human_decision(&record, &drifted.into());
    refused(found, ExportRule::OtherReport, Document::HumanDecision, "/evidence_report/digest");
    // The same words said here give upstream's record, byte for byte.
    let of = |path: &[&str]| record.at(path).and_then(Value::as_str).unwrap().to_owned();
    let said = HumanDecision {
        id: of(&["decision_id"]),
        decision: of(&["decision"]),
        rationale: of(&["rationale"]),
        decider_id: of(&["decider", "id"]),
        decider_type: of(&["decider", "type"]),
        display_name: Some(of(&["decider", "display_name"])),
        selected_attempt_id: Some(of(&["selected_attempt_id"])),
        decided_at: of(&["decided_at"]).parse().unwrap(),
    };
    assert_eq!(c1(&record_human_decision(&report, &said).unwrap()), c1(&record));
}
