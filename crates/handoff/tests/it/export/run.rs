//! Run records and the report that follows from one.

use quorum_handoff::{
    AttemptOutcome, Document, ExportRule, HandoffError, Intake, Run, RunAttempt, check_run_report, run_evidence_report,
    run_record, verification_semantic_digest,
};
use quorum_schemas::{Digest, SchemaName, Value, c1, parse, upstream, validate};
use serde_json::{Value as Json, json};

use super::{Edit, refused};
use crate::fixtures::{admitted, edit, result};

fn json_of(value: &Value) -> Json {
    serde_json::from_slice(&c1(value)).unwrap()
}

/// A result that recommends `word`, with the status that goes with it.
fn recommends(intake: &Intake, word: &str) -> Value {
    let mut document = result(intake);
    let status = match word {
        "accept_candidate" => "passed",
        "reject_candidate" => "failed",
        _ => "inconclusive",
    };
    document["status"] = json!(status);
    if status == "failed" {
        document["checks"][0]["status"] = json!("failed");
    }
    document["decision_support"]["recommendation"] = json!(word);
    document.into()
}

fn attempt<'a>(id: &str, outcome: AttemptOutcome<'a>) -> RunAttempt<'a> {
    RunAttempt { id: id.into(), worker_adapter: "shell".into(), decision: None, evidence: None, note: None, outcome }
}

fn run<'a>(intake: &'a Intake, attempts: Vec<RunAttempt<'a>>) -> Run<'a> {
    Run {
        id: "run/1".into(),
        work_unit: &intake.work_unit,
        orchestrator_version: "quorum 0.1.0".into(),
        config_digest: Digest::c1(&Value::Null),
        policy_digest: Digest::of(b"policy"),
        attempts,
    }
}

/// One attempt of every kind.
fn record() -> Value {
    let intake = admitted();
    let results = ["accept_candidate", "reject_candidate", "escalate"].map(|word| recommends(&intake, word));
    let verified = |result| AttemptOutcome::Verified { manifest: &intake.manifest, result };
    let error = "the reason".to_owned();
    let mut attempts: Vec<RunAttempt<'_>> = results
        .iter()
        .enumerate()
        .map(|(index, result)| attempt(&format!("attempt/1@verifier-{index}"), verified(result)))
        .collect();
    attempts[0].decision = Some(Digest::c1(&Value::Null));
    attempts[0].evidence = Some(Digest::of(b"envelope"));
    attempts.push(attempt("attempt/2", AttemptOutcome::WorkerError { error: error.clone() }));
    attempts.push(attempt("attempt/3", AttemptOutcome::ManifestError { error: error.clone() }));
    attempts.push(attempt("attempt/4", AttemptOutcome::VerificationError { manifest: &intake.manifest, error }));
    run_record(&run(&intake, attempts)).unwrap()
}

fn edited(mut document: Json, edits: &[Edit]) -> Value {
    for (pointer, value) in edits {
        edit(&mut document, pointer, value.clone());
    }
    document.into()
}

#[test]
fn a_report_says_what_was_said_and_selects_nothing() {
    let record = record();
    let report = run_evidence_report(&record).unwrap();
    check_run_report(&report, Some(&record)).unwrap();
    let report = json_of(&report);
    assert_eq!(
        report["summary"],
        json!({"attempt_count": 6, "supported": 1, "rejected": 1, "inconclusive": 1, "control_errors": 3,
            "verification_disagreement": true, "control_failure_present": true})
    );
    let states: Vec<(&str, &str)> = report["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| (attempt["state"].as_str().unwrap(), attempt["evidence_state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        states,
        [
            ("verified", "supported"),
            ("verified", "rejected"),
            ("verified", "inconclusive"),
            ("worker_error", "worker_error"),
            ("result_manifest_error", "result_manifest_error"),
            ("verification_error", "verification_error"),
        ]
    );
    assert_eq!(
        report["human_decision"],
        json!({"status": "pending", "selected_attempt_id": null,
            "integration_authority": "external_human_or_governance"})
    );
    assert_eq!(
        report["authority"],
        json!({"canonical_state_write": false, "git_push": false, "merge": false,
            "automatic_candidate_selection": false})
    );
    assert_eq!(report["source_run_digest"], Digest::c1(&record).to_string());
    assert_eq!(report["source_config_digest"], Digest::c1(&Value::Null).to_string());
    assert_eq!(report["verifier_policy_digest"], Digest::of(b"policy").to_string());
    assert_eq!((&report["run_id"], &report["orchestrator_version"]), (&json!("run/1"), &json!("quorum 0.1.0")));
    let intake = admitted();
    assert_eq!(
        report["work_unit"],
        json!({"id": "acme/answer", "version": 3, "digest": intake.work_unit.digest().to_string()})
    );
    assert_eq!(
        report["attempts"][0]["worker"],
        json!({"id": "worker-1", "status": "succeeded", "result_manifest_id": "acme/answer/1",
            "result_manifest_digest": intake.manifest.digest().to_string()})
    );
    let accepted = recommends(&intake, "accept_candidate");
    assert_eq!(
        report["attempts"][0]["verifier"],
        json!({"id": "verifier-1", "status": "passed", "recommendation": "accept_candidate",
            "verification_semantic_digest": verification_semantic_digest(&accepted).to_string(),
            "checks": [{"id": "tests", "required": true, "status": "passed"},
                {"id": "review", "required": true, "status": "passed"}]})
    );
    let failed = &report["attempts"][5];
    assert_eq!((&failed["verifier"], &failed["error"]), (&json!(null), &json!("the reason")));
    assert_eq!(failed["worker"]["id"], "worker-1");
    assert_eq!(report["attempts"][3]["worker"], json!(null));
    assert_eq!(report["attempts"][0]["error"], json!(null));
}

#[test]
fn a_record_has_the_members_of_upstreams_and_our_digests_beside() {
    let record = json_of(&record());
    assert_eq!(
        record["summary"],
        json!({"attempt_count": 6, "control_failures": 3, "candidates_supported": 1, "candidates_rejected": 1})
    );
    assert_eq!(record["run_state"], "completed_with_failures");
    assert_eq!(record["attempt_order"].as_array().unwrap().len(), 6);
    assert_eq!(record["attempts"][0]["decision_digest"], Digest::c1(&Value::Null).to_string());
    assert_eq!(record["attempts"][0]["evidence_envelope"], Digest::of(b"envelope").to_string());
    assert_eq!(record["attempts"][1].get("decision_digest"), None);
    assert_eq!(record["attempts"][0]["result_manifest"]["attempt"], 1);
    assert_eq!(record["attempts"][0]["verification"]["id"], "vr/1");
    let intake = admitted();
    let accepted = recommends(&intake, "accept_candidate");
    let outcome = AttemptOutcome::Verified { manifest: &intake.manifest, result: &accepted };
    let calm = run_record(&run(&intake, vec![attempt("attempt/1", outcome)])).unwrap();
    assert_eq!(json_of(&calm)["run_state"], "completed");
}

fn warnings(attempts: Vec<RunAttempt<'_>>, intake: &Intake) -> Vec<String> {
    let report = run_evidence_report(&run_record(&run(intake, attempts)).unwrap()).unwrap();
    serde_json::from_value(json_of(&report)["warnings"].clone()).unwrap()
}

/// Each warning comes exactly where it is due.
#[test]
fn warnings_say_what_counts_cannot() {
    let intake = admitted();
    let accept = recommends(&intake, "accept_candidate");
    let reject = recommends(&intake, "reject_candidate");
    let mut half = result(&intake);
    half["checks"][0]["status"] = json!("failed");
    half["status"] = json!("inconclusive");
    half["decision_support"]["recommendation"] = json!("insufficient_evidence");
    let half: Value = half.into();
    let verified = |result| AttemptOutcome::Verified { manifest: &intake.manifest, result };
    let calm = warnings(vec![attempt("a", verified(&accept))], &intake);
    assert_eq!(calm.len(), 1, "{calm:?}");
    let twice = warnings(vec![attempt("a", verified(&accept)), attempt("b", verified(&accept))], &intake);
    assert!(twice.len() == 2 && twice[1].contains("several verifiers"), "{twice:?}");
    let differ = warnings(vec![attempt("a", verified(&accept)), attempt("b", verified(&reject))], &intake);
    assert!(differ.len() == 3 && differ[1].contains("recommendations differ"), "{differ:?}");
    let none = warnings(vec![attempt("a", AttemptOutcome::WorkerError { error: "x".into() })], &intake);
    assert!(none.len() == 3 && none[1].contains("failed before") && none[2].contains("No verifier"), "{none:?}");
    let quiet = warnings(vec![attempt("a", verified(&half))], &intake);
    assert!(quiet.len() == 2 && quiet[1].contains("\"a\" failed"), "{quiet:?}");
    // An optional check's failure, and doubt without any failure, are no reason to warn.
    let mut doubt = json_of(&recommends(&intake, "insufficient_evidence"));
    doubt["checks"][1]["status"] = json!("failed");
    doubt["checks"][1]["required"] = json!(false);
    let doubt: Value = doubt.into();
    let doubtful = warnings(vec![attempt("a", verified(&doubt))], &intake);
    assert_eq!(doubtful.len(), 1, "{doubtful:?}");
    let noted = RunAttempt { note: Some("it is not alone".into()), ..attempt("a", verified(&accept)) };
    let noted = warnings(vec![noted], &intake);
    assert_eq!(noted[1..], ["\"a\": it is not alone."]);
    let rejected = warnings(vec![attempt("a", verified(&reject))], &intake);
    assert_eq!(rejected.len(), 1, "{rejected:?}");
}

/// Two recommendations of one word are no disagreement, and a peer's failure does not hide a support.
#[test]
fn disagreement_is_more_than_one_recommendation() {
    let intake = admitted();
    let accept = recommends(&intake, "accept_candidate");
    let unsure = recommends(&intake, "insufficient_evidence");
    let summary = |attempts| {
        json_of(&run_evidence_report(&run_record(&run(&intake, attempts)).unwrap()).unwrap())["summary"].clone()
    };
    let verified = |result| AttemptOutcome::Verified { manifest: &intake.manifest, result };
    let alone = summary(vec![
        attempt("a", verified(&accept)),
        attempt("b", verified(&accept)),
        attempt("c", AttemptOutcome::WorkerError { error: "x".into() }),
    ]);
    assert_eq!((&alone["supported"], &alone["control_errors"]), (&json!(2), &json!(1)));
    assert_eq!((&alone["verification_disagreement"], &alone["control_failure_present"]), (&json!(false), &json!(true)));
    let both = summary(vec![attempt("a", verified(&accept)), attempt("b", verified(&unsure))]);
    assert_eq!((&both["verification_disagreement"], &both["control_failure_present"]), (&json!(true), &json!(false)));
    assert_eq!((&both["supported"], &both["inconclusive"]), (&json!(1), &json!(1)));
}

/// One test for each case: the edited record is refused by its rule at its place.
macro_rules! record_cases {
    ($($name:ident: $rule:ident at $place:literal, [$($pointer:literal = $value:expr),*];)*) => {
        $(
            #[test]
            fn $name() {
                let record = edited(json_of(&record()), &[$(($pointer, Option::<Json>::from($value))),*]);
                refused(run_evidence_report(&record), ExportRule::$rule, Document::RunRecord, $place);
            }
        )*

        pub(super) const OF_RECORDS: &[ExportRule] = &[$(ExportRule::$rule),*];
    };
}

fn digest(letter: &str) -> Json {
    json!(format!("sha256:{}", letter.repeat(64)))
}

record_cases! {
    record_of_another_version: UnknownRun at "/schema_version", ["/schema_version" = json!("0.2")];
    record_of_another_kind: UnknownRun at "/kind", ["/kind" = json!("a-run")];
    record_without_a_run_id: MalformedRun at "/run_id", ["/run_id" = json!("")];
    record_without_an_orchestrator: MalformedRun at "/orchestrator_version", ["/orchestrator_version" = None];
    record_with_a_bare_config_digest: MalformedRun at "/config_digest", ["/config_digest" = json!("a".repeat(64))];
    record_without_a_policy_digest: MalformedRun at "/verifier_policy_digest", ["/verifier_policy_digest" = None];
    record_with_a_blank_work_unit: MalformedRun at "/work_unit/id", ["/work_unit/id" = json!(" ")];
    record_with_version_zero: MalformedRun at "/work_unit/version", ["/work_unit/version" = json!(0)];
    record_without_a_work_unit_digest: MalformedRun at "/work_unit/digest", ["/work_unit/digest" = None];
    record_with_authority: ClaimsAuthority at "/authority", ["/authority/merge" = json!(true)];
    record_with_other_authority: ClaimsAuthority at "/authority", ["/authority/deploy" = json!(false)];
    record_without_authority: ClaimsAuthority at "/authority", ["/authority" = None];
    record_with_attempts_of_another_kind: MalformedRun at "/attempts", ["/attempts" = json!({})];
    record_without_attempts: NoAttempts at "/attempts", ["/attempts" = json!([])];
    attempt_without_an_id: MalformedRun at "/attempts/0/attempt_id", ["/attempts/0/attempt_id" = json!("")];
    attempt_without_an_adapter: MalformedRun at "/attempts/1/worker_adapter", ["/attempts/1/worker_adapter" = None];
    attempt_that_appears_twice: AttemptRepeated at "/attempts/3/attempt_id",
        ["/attempts/3/attempt_id" = json!("attempt/1@verifier-1")];
    attempt_with_another_number: AttemptOrder at "/attempts/1/order", ["/attempts/1/order" = json!(1)];
    attempts_in_another_order: AttemptOrder at "/attempt_order", ["/attempt_order/0" = json!("attempt/2")];
    attempts_without_an_order: AttemptOrder at "/attempt_order", ["/attempt_order" = None];
    attempt_in_an_unknown_state: UnknownState at "/attempts/0/state", ["/attempts/0/state" = json!("accepted")];
    attempt_that_failed_without_a_reason: UnknownState at "/attempts/3/error", ["/attempts/3/error" = json!(null)];
    attempt_that_was_verified_with_an_error: UnknownState at "/attempts/0/error", ["/attempts/0/error" = json!("x")];
    worker_error_with_a_manifest: ClaimsEvidence at "/attempts/3/result_manifest",
        ["/attempts/3/result_manifest" = json!({})];
    worker_error_with_a_verification: ClaimsEvidence at "/attempts/3/verification",
        ["/attempts/3/verification" = json!({})];
    manifest_error_with_a_manifest: ClaimsEvidence at "/attempts/4/result_manifest",
        ["/attempts/4/result_manifest" = json!({})];
    verification_error_with_a_verification: ClaimsEvidence at "/attempts/5/verification",
        ["/attempts/5/verification" = json!({})];
    verification_error_without_a_manifest: LacksEvidence at "/attempts/5/result_manifest",
        ["/attempts/5/result_manifest" = json!(null)];
    verified_without_a_manifest: LacksEvidence at "/attempts/0/result_manifest",
        ["/attempts/0/result_manifest" = None];
    verified_without_a_verification: LacksEvidence at "/attempts/0/verification",
        ["/attempts/0/verification" = json!(null)];
    manifest_without_a_digest: MalformedRun at "/attempts/5/result_manifest/digest",
        ["/attempts/5/result_manifest/digest" = json!("sha256:aa")];
    verification_with_a_humans_word: UnknownRecommendation at "/attempts/0/verification/recommendation",
        ["/attempts/0/verification/recommendation" = json!("accept")];
    verification_of_another_manifest: OtherManifest at "/attempts/1/verification/result_manifest_digest",
        ["/attempts/1/verification/result_manifest_digest" = digest("9")];
    verification_of_another_work_unit: OtherWorkUnit at "/attempts/1/verification/work_unit_digest",
        ["/attempts/1/verification/work_unit_digest" = digest("9")];
}

/// What the semantic checks leave to the schema is refused by the schema.
#[test]
fn a_report_is_held_against_its_schema_on_the_way_out() {
    for (pointer, place) in [
        ("/attempts/0/result_manifest/worker_id", "/attempts/0/worker/id"),
        ("/attempts/0/verification/semantic_digest", "/attempts/0/verifier/verification_semantic_digest"),
        ("/attempts/0/verification/checks", "/attempts/0/verifier/checks"),
    ] {
        let record = edited(json_of(&record()), &[(pointer, Some(json!(1)))]);
        let error = run_evidence_report(&record).unwrap_err();
        assert_eq!((error.code(), error.document()), ("schema_invalid", Some(Document::RunReport)), "{pointer}");
        assert!(error.places().iter().any(|found| found.pointer == place), "{pointer}: {error}");
    }
}

/// One test for each case: the edited report is refused by its rule at its place, with its run beside it or without.
macro_rules! report_cases {
    ($($name:ident: $rule:ident at $place:literal $with:ident, [$($pointer:literal = $value:expr),*];)*) => {
        $(
            #[test]
            fn $name() {
                let record = record();
                let report = json_of(&run_evidence_report(&record).unwrap());
                let report = edited(report, &[$(($pointer, Option::<Json>::from($value))),*]);
                let record = (stringify!($with) == "with_its_run").then_some(&record);
                refused(check_run_report(&report, record), ExportRule::$rule, Document::RunReport, $place);
            }
        )*

        pub(super) const OF_REPORTS: &[ExportRule] = &[$(ExportRule::$rule),*];
    };
}

report_cases! {
    report_with_an_attempt_twice: AttemptRepeated at "/attempts/1/attempt_id" alone,
        ["/attempts/1/attempt_id" = json!("attempt/1@verifier-0")];
    report_that_supports_what_was_rejected: EvidenceState at "/attempts/1/evidence_state" alone,
        ["/attempts/1/evidence_state" = json!("supported")];
    report_that_supports_what_escalates: EvidenceState at "/attempts/2/evidence_state" alone,
        ["/attempts/2/evidence_state" = json!("supported")];
    report_that_supports_what_nobody_handed_in: EvidenceState at "/attempts/3/evidence_state" alone,
        ["/attempts/3/evidence_state" = json!("supported")];
    report_with_an_attempt_too_many: ReportCounts at "/summary/attempt_count" alone,
        ["/summary/attempt_count" = json!(7)];
    report_with_a_support_too_many: ReportCounts at "/summary/supported" alone, ["/summary/supported" = json!(2)];
    report_with_a_reject_too_few: ReportCounts at "/summary/rejected" alone, ["/summary/rejected" = json!(0)];
    report_with_an_abstention_too_many: ReportCounts at "/summary/inconclusive" alone,
        ["/summary/inconclusive" = json!(2)];
    report_without_an_error: ReportCounts at "/summary/control_errors" alone, ["/summary/control_errors" = json!(2)];
    report_that_hides_disagreement: ReportDiffers at "/summary" with_its_run,
        ["/summary/verification_disagreement" = json!(false)];
    report_of_another_run: ReportDiffers at "/run_id" with_its_run, ["/run_id" = json!("run/2")];
    report_of_a_changed_run: ReportDiffers at "/source_run_digest" with_its_run, ["/source_run_digest" = digest("9")];
    report_without_its_warnings: ReportDiffers at "/warnings" with_its_run, ["/warnings" = json!(["All is well."])];
}

/// What cannot be in a report at all: a decision, authority, another run kind.
#[test]
fn a_report_that_decides_is_refused_by_its_schema() {
    let report = json_of(&run_evidence_report(&record()).unwrap());
    for (pointer, value) in [
        ("/human_decision/status", json!("accepted")),
        ("/human_decision/selected_attempt_id", json!("attempt/1@verifier-0")),
        ("/authority/merge", json!(true)),
        ("/authority/automatic_candidate_selection", json!(true)),
        ("/source_run_kind", json!("quorum-run")),
        ("/warnings", json!([])),
        ("/accepted", json!(true)),
    ] {
        let error = check_run_report(&edited(report.clone(), &[(pointer, Some(value))]), None).unwrap_err();
        assert!(matches!(error, HandoffError::Schema { document: Document::RunReport, .. }), "{pointer}: {error}");
    }
}

/// A saved run that was tampered with gives another report.
#[test]
fn a_tampered_run_fails_replay() {
    let honest = record();
    let report = run_evidence_report(&honest).unwrap();
    let forged =
        edited(json_of(&honest), &[("/attempts/1/verification/recommendation", Some(json!("accept_candidate")))]);
    let forged_report = run_evidence_report(&forged).unwrap();
    assert_ne!(forged_report, report);
    refused(check_run_report(&report, Some(&forged)), ExportRule::ReportDiffers, Document::RunReport, "/attempts");
    let broken = edited(json_of(&honest), &[("/attempts", Some(json!([])))]);
    refused(check_run_report(&report, Some(&broken)), ExportRule::NoAttempts, Document::RunRecord, "/attempts");
}

pub(super) const OF_RUNS: &[ExportRule] = &[ExportRule::OtherManifest, ExportRule::OtherWorkUnit];

/// Documents of other work never come together in one run.
#[test]
fn a_run_is_about_one_work_unit_and_each_result_about_its_manifest() {
    let intake = admitted();
    let mut unit = crate::fixtures::work_unit();
    unit["objective"] = json!("Answer well.");
    let other = quorum_handoff::intake_values(unit.clone().into(), crate::fixtures::manifest(&unit).into(), None);
    let other = other.unwrap();
    let accept = recommends(&intake, "accept_candidate");
    let stray = AttemptOutcome::Verified { manifest: &other.manifest, result: &accept };
    let found = run_record(&run(&intake, vec![attempt("a", stray)]));
    refused(found, ExportRule::OtherWorkUnit, Document::RunRecord, "/attempts/0/result_manifest");
    let failed = AttemptOutcome::VerificationError { manifest: &other.manifest, error: "x".into() };
    let found = run_record(&run(&intake, vec![attempt("a", failed)]));
    refused(found, ExportRule::OtherWorkUnit, Document::RunRecord, "/attempts/0/result_manifest");
    for (member, rule) in
        [("work_unit_digest", ExportRule::OtherWorkUnit), ("result_manifest_digest", ExportRule::OtherManifest)]
    {
        let stray = edited(json_of(&accept), &[(&*format!("/provenance/{member}").leak(), Some(digest("9")))]);
        let outcome = AttemptOutcome::Verified { manifest: &intake.manifest, result: &stray };
        let found = run_record(&run(&intake, vec![attempt("a", outcome)]));
        refused(found, rule, Document::RunRecord, &format!("/attempts/0/verification/{member}"));
    }
}

/// Time, resources and platform have no say in what a verification means; everything else has.
#[test]
fn a_semantic_digest_leaves_out_what_a_repetition_changes() {
    let base = result(&admitted());
    let of = |pointer: &str, value: Json| {
        let mut document = base.clone();
        edit(&mut document, pointer, Some(value));
        verification_semantic_digest(&document.into())
    };
    let same = verification_semantic_digest(&base.clone().into());
    for (pointer, value) in [
        ("/finished_at", json!("2027-01-01T00:00:00Z")),
        ("/resources/wall_seconds", json!(9)),
        ("/provenance/environment", json!({"platform": "other"})),
        ("/id", json!("vr/2")),
        ("/checks/0/summary", json!("well")),
    ] {
        assert_eq!(of(pointer, value), same, "{pointer}");
    }
    for (pointer, value) in [
        ("/status", json!("failed")),
        ("/checks/0/id", json!("other")),
        ("/checks/0/status", json!("failed")),
        ("/checks/0/evidence_ids", json!([])),
        ("/evidence/0/id", json!("other")),
        ("/evidence/0/digest", digest("9")),
        ("/decision_support/recommendation", json!("escalate")),
    ] {
        assert_ne!(of(pointer, value), same, "{pointer}");
    }
    // The form is upstream's: an object of arrays, digested as C1.
    let expected = json!({
        "status": "passed", "recommendation": "accept_candidate",
        "checks": [["tests", "passed", ["tests"]], ["review", "passed", ["review"]]],
        "evidence": [["tests", digest("c")], ["review", digest("c")]],
    });
    assert_eq!(same, Digest::c1(&Value::from_serde(expected)));
}

#[test]
fn upstreams_example_report_holds() {
    let Some(bytes) = upstream::read("idkmesh/examples/api/run-evidence-report.example.json") else { return };
    let report = parse(&bytes).unwrap();
    assert!(Digest::c1(&report).hex().starts_with("074e0cee"));
    validate(SchemaName::RunEvidenceReport, &report).unwrap();
    check_run_report(&report, None).unwrap();
    // A run of the same attempts gives the same attempts and counts; the digests of the example are made up.
    let report = json_of(&report);
    let attempts: Vec<Json> = report["attempts"].as_array().unwrap().iter().map(as_recorded).collect();
    let mut record = json_of(&record());
    record["run_id"] = report["run_id"].clone();
    record["orchestrator_version"] = report["orchestrator_version"].clone();
    record["work_unit"] = report["work_unit"].clone();
    record["config_digest"] = report["source_config_digest"].clone();
    record["verifier_policy_digest"] = report["verifier_policy_digest"].clone();
    record["attempt_order"] = attempts.iter().map(|attempt| attempt["attempt_id"].clone()).collect();
    record["attempts"] = json!(attempts);
    let again = json_of(&run_evidence_report(&record.into()).unwrap());
    for (name, member) in report.as_object().unwrap() {
        let same = again[name] == *member;
        assert_eq!(same, !["source_run_digest", "warnings"].contains(&name.as_str()), "{name}");
    }
}

/// An attempt of a report as the run record has it.
fn as_recorded(attempt: &Json) -> Json {
    let mut recorded = attempt.clone();
    let members = recorded.as_object_mut().unwrap();
    members.remove("evidence_state");
    let (worker, verifier) = (members.remove("worker").unwrap(), members.remove("verifier").unwrap());
    let (mut manifest, mut verification) = (json!(null), json!(null));
    if !worker.is_null() {
        manifest = json!({"id": worker["result_manifest_id"], "digest": worker["result_manifest_digest"],
            "worker_id": worker["id"], "worker_status": worker["status"]});
        verification = json!({"verifier_id": verifier["id"], "status": verifier["status"],
            "recommendation": verifier["recommendation"], "checks": verifier["checks"],
            "semantic_digest": verifier["verification_semantic_digest"],
            "result_manifest_digest": worker["result_manifest_digest"], "work_unit_digest": digest("b")});
    }
    members.insert("result_manifest".into(), manifest);
    members.insert("verification".into(), verification);
    recorded
}
