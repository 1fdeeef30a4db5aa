//! Upstream's older evidence report, read and never counted.

use quorum_handoff::{Document, ExportRule, Manifest, WorkUnit, import_evidence_report};
use quorum_schemas::{Digest, Value, c1, parse, upstream};
use serde_json::{Value as Json, json};

use super::{Edit, refused};
use crate::fixtures::{admitted, edit};

/// A report that supports the candidate of [`admitted`].
fn report() -> Json {
    let intake = admitted();
    let check = |id: &str, kind: &str| json!({"id": id, "type": kind, "required": true, "status": "pass", "evidence_artifact_ids": ["log"]});
    json!({
        "schema_version": "0.1", "id": "acme/report/1", "work_unit_id": "acme/answer", "work_unit_version": 3,
        "result_manifest": {"id": "acme/answer/1", "digest": intake.manifest.digest().to_string(),
            "worker_id": "worker-1"},
        "validator_id": "tests", "verifier": {"id": "verifier-1", "type": "system", "adapter": "x"},
        "independence": {"relationship": "independent", "basis": ["separate_process"]},
        "started_at": "2026-01-31T12:00:00Z", "finished_at": "2026-01-31T12:00:01Z",
        "verdict": "supports_candidate",
        "evaluated_artifacts": [{"id": "answer", "digest": format!("sha256:{}", "a".repeat(64))}],
        "checks": [check("hidden", "hidden_test"), check("style", "lint")],
        "evidence_artifacts": [{"id": "log", "type": "test_output", "locator": "log.txt",
            "digest": format!("sha256:{}", "e".repeat(64))}],
        "resources": {"wall_seconds": 1}, "summary": {"statement": "Fine.", "limitations": []},
        "provenance": {"work_unit_digest": intake.work_unit.digest().to_string(), "source_revision": "rev-1",
            "verifier_config_digest": format!("sha256:{}", "f".repeat(64)), "environment": {}},
        "acceptance_scope": "evidence_only"
    })
}

fn edited(edits: &[Edit]) -> Value {
    let mut document = report();
    for (pointer, value) in edits {
        edit(&mut document, pointer, value.clone());
    }
    document.into()
}

#[test]
fn a_report_is_shown_in_todays_words() {
    let intake = admitted();
    let report: Value = report().into();
    let imported = import_evidence_report(&report, &intake.manifest, Some(&intake.work_unit)).unwrap();
    let view: Json = serde_json::from_slice(&c1(&imported.to_value())).unwrap();
    assert_eq!(
        view,
        json!({
            "kind": "imported-evidence-report", "id": "acme/report/1", "digest": Digest::c1(&report).to_string(),
            "validator_id": "tests", "verifier_id": "verifier-1", "status": "passed",
            "recommendation": "accept_candidate", "counts_as_evidence": false,
            "checks": [{"id": "hidden", "type": "test", "required": true, "status": "passed"},
                {"id": "style", "type": "lint", "required": true, "status": "passed"}],
        })
    );
    assert_eq!(import_evidence_report(&report, &intake.manifest, None).unwrap(), imported);
}

/// Every verdict and every check status has one word, and no absence becomes a reject.
#[test]
fn verdicts_and_statuses_are_mapped() {
    let intake = admitted();
    let import = |edits: &[Edit]| import_evidence_report(&edited(edits), &intake.manifest, None).unwrap();
    for (verdict, status, recommendation) in [
        ("supports_candidate", "passed", "accept_candidate"),
        ("rejects_candidate", "failed", "reject_candidate"),
        ("inconclusive", "inconclusive", "insufficient_evidence"),
        ("verifier_error", "error", "insufficient_evidence"),
    ] {
        let imported = import(&[("/verdict", Some(json!(verdict)))]);
        assert_eq!((imported.status, imported.recommendation), (status, recommendation), "{verdict}");
    }
    for (word, status) in [("pass", "passed"), ("fail", "failed"), ("error", "error"), ("skipped", "skipped")] {
        let imported = import(&[("/verdict", Some(json!("inconclusive"))), ("/checks/0/status", Some(json!(word)))]);
        assert_eq!((imported.checks[0].status, imported.checks[1].status), (status, "passed"));
    }
    // What the report itself does not require does not stand against its support.
    let imported = import(&[("/checks/1/required", Some(json!(false))), ("/checks/1/status", Some(json!("fail")))]);
    assert_eq!((imported.status, imported.checks[1].required), ("passed", false));
    // A report need not name a revision, nor a check its evidence.
    import(&[("/provenance/source_revision", None), ("/checks/0/evidence_artifact_ids", None)]);
}

/// One test for each case: the edited report is refused by its rule at its place.
macro_rules! import_cases {
    ($($name:ident: $rule:ident at $place:literal, [$($pointer:literal = $value:expr),*];)*) => {
        $(
            #[test]
            fn $name() {
                let intake = admitted();
                let report = edited(&[$(($pointer, Option::<Json>::from($value))),*]);
                let found = import_evidence_report(&report, &intake.manifest, Some(&intake.work_unit));
                refused(found, ExportRule::$rule, Document::EvidenceReport, $place);
            }
        )*

        pub(super) const COVERED: &[ExportRule] = &[$(ExportRule::$rule),*];
    };
}

fn digest(letter: &str) -> Json {
    json!(format!("sha256:{}", letter.repeat(64)))
}

import_cases! {
    report_on_another_manifest_digest: OtherManifest at "/result_manifest/digest",
        ["/result_manifest/digest" = digest("9")];
    report_on_another_manifest_id: OtherManifest at "/result_manifest/id", ["/result_manifest/id" = json!("acme/2")];
    report_on_another_worker: OtherManifest at "/result_manifest/worker_id",
        ["/result_manifest/worker_id" = json!("worker-2")];
    report_on_another_work_unit: OtherWorkUnit at "/work_unit_id", ["/work_unit_id" = json!("acme/other")];
    report_on_another_version: OtherWorkUnit at "/work_unit_version", ["/work_unit_version" = json!(4)];
    report_on_other_content: OtherWorkUnit at "/provenance/work_unit_digest",
        ["/provenance/work_unit_digest" = digest("9")];
    report_on_another_revision: OtherRevision at "/provenance/source_revision",
        ["/provenance/source_revision" = json!("rev-2")];
    report_on_an_unknown_artifact: UnknownArtifact at "/evaluated_artifacts/0",
        ["/evaluated_artifacts/0/id" = json!("ghost")];
    report_on_other_bytes: UnknownArtifact at "/evaluated_artifacts/0",
        ["/evaluated_artifacts/0/digest" = digest("b")];
    report_for_an_unknown_validator: UnknownValidator at "/validator_id", ["/validator_id" = json!("other")];
    report_of_the_worker: SelfVerification at "/verifier/id", ["/verifier/id" = json!("worker-1")];
    report_with_a_check_twice: Contradiction at "/checks/1/id", ["/checks/1/id" = json!("hidden")];
    report_that_cites_unknown_evidence: Contradiction at "/checks/1/evidence_artifact_ids",
        ["/checks/1/evidence_artifact_ids" = json!(["ghost"])];
    report_that_supports_a_failure: Contradiction at "/verdict", ["/checks/1/status" = json!("fail")];
    report_that_supports_what_was_skipped: Contradiction at "/verdict", ["/checks/0/status" = json!("skipped")];
}

/// An artifact that the manifest names twice is not the one that was evaluated.
#[test]
fn an_artifact_that_stands_twice_in_the_manifest_is_unknown() {
    let intake = admitted();
    let mut manifest: Json = serde_json::from_slice(&c1(intake.manifest.value())).unwrap();
    let artifact = manifest["produced_artifacts"][0].clone();
    edit(&mut manifest, "/produced_artifacts/-", Some(artifact));
    let manifest = Manifest::from_value(manifest.into()).unwrap();
    let report = edited(&[("/result_manifest/digest", Some(json!(manifest.digest().to_string())))]);
    let found = import_evidence_report(&report, &manifest, None);
    refused(found, ExportRule::UnknownArtifact, Document::EvidenceReport, "/evaluated_artifacts/0");
}

#[test]
fn a_report_that_accepts_or_cannot_be_counted_is_refused() {
    let intake = admitted();
    for (pointer, value) in [("/acceptance_scope", json!("acceptance")), ("/verdict", json!("accept"))] {
        let found = import_evidence_report(&edited(&[(pointer, Some(value))]), &intake.manifest, None);
        let error = found.unwrap_err();
        assert_eq!((error.code(), error.document()), ("schema_invalid", Some(Document::EvidenceReport)));
    }
    let text = String::from_utf8(c1(&report().into())).unwrap();
    let huge = text.replace("\"work_unit_version\":3", "\"work_unit_version\":18446744073709551616");
    let error = import_evidence_report(&parse(huge.as_bytes()).unwrap(), &intake.manifest, None).unwrap_err();
    assert_eq!((error.code(), error.places()[0].pointer.as_str()), ("integer_out_of_range", "/work_unit_version"));
}

/// The work unit is held against the report even where the manifest agrees with it.
#[test]
fn the_work_unit_has_its_own_say() {
    let intake = admitted();
    let mut unit = crate::fixtures::work_unit();
    for (pointer, value, place) in [
        ("/id", json!("acme/other"), "/work_unit_id"),
        ("/version", json!(4), "/work_unit_version"),
        ("/objective", json!("Answer well."), "/provenance/work_unit_digest"),
    ] {
        let before = unit.clone();
        edit(&mut unit, pointer, Some(value));
        let other = WorkUnit::from_value(unit.into()).unwrap();
        unit = before;
        let found = import_evidence_report(&report().into(), &intake.manifest, Some(&other));
        refused(found, ExportRule::OtherWorkUnit, Document::EvidenceReport, place);
    }
}

/// Upstream's fixtures bind an older manifest: they hold against that one, and are refused beside today's.
#[test]
fn upstreams_fixture_is_about_the_historical_manifest() {
    let read = |name: &str| Some(parse(&upstream::read(&format!("idkmesh/examples/{name}"))?).unwrap());
    let Some(report) = read("results/phase0-smoke.evidence-report.json") else { return };
    assert!(Digest::c1(&report).hex().starts_with("698b2e23"));
    let manifest = |name| Manifest::from_value(read(name).unwrap()).unwrap();
    let old = manifest("historical/phase0-smoke.result-manifest.2c505c9f.json");
    let today = manifest("results/phase0-smoke.result-manifest.json");
    let imported = import_evidence_report(&report, &old, None).unwrap();
    assert_eq!((imported.status, imported.recommendation), ("passed", "accept_candidate"));
    assert_eq!(imported.validator_id, "reproduction");
    assert!(imported.checks.iter().all(|check| check.status == "passed") && imported.checks.len() == 2);
    let found = import_evidence_report(&report, &today, None);
    refused(found, ExportRule::OtherManifest, Document::EvidenceReport, "/result_manifest/digest");
    let own = read("results/invalid-self-verification.evidence-report.json").unwrap();
    refused(
        import_evidence_report(&own, &old, None),
        ExportRule::SelfVerification,
        Document::EvidenceReport,
        "/verifier/id",
    );
    // The old manifest names a work unit digest that is no work unit's.
    let unit = read("work-units/phase0-smoke.work-unit.json").unwrap();
    let unit = WorkUnit::from_value(unit).unwrap();
    let found = import_evidence_report(&report, &old, Some(&unit));
    refused(found, ExportRule::OtherWorkUnit, Document::EvidenceReport, "/provenance/work_unit_digest");
}
