//! P1 to P10 and V1 to V16: each broken alone, by its number; the document without the defect breaks none.

use std::collections::BTreeSet;

use quorum_handoff::{Intake, Rule, check_binding, check_manifest, check_result};
use quorum_schemas::{Digest, Value};
use serde_json::{Value as Json, json};

use crate::fixtures::{admitted, edit, result};
use crate::rules::named;

type Edit = (&'static str, Option<Json>);

fn broken(edits: &[Edit]) -> Vec<(Rule, String)> {
    let intake = admitted();
    let mut document = result(&intake);
    assert_eq!(judge(&intake, &document), [], "the sound result breaks a rule");
    for (pointer, value) in edits {
        edit(&mut document, pointer, value.clone());
    }
    judge(&intake, &document)
}

fn judge(intake: &Intake, document: &Json) -> Vec<(Rule, String)> {
    check_result(&document.clone().into(), &intake.handoff, &intake.binding, &intake.work_unit)
        .into_iter()
        .map(|violation| {
            assert!(!violation.message.is_empty());
            (violation.rule, violation.pointer)
        })
        .collect()
}

/// The edits break exactly these rules at these places.
macro_rules! breaks {
    ($broken:ident covers $covered:ident; $($name:ident: [$($pointer:literal = $value:expr),*] breaks [$($rule:ident at $place:literal),*];)*) => {
        $(
            #[test]
            fn $name() {
                let edits: &[Edit] = &[$(($pointer, Option::<Json>::from($value))),*];
                let expected: Vec<(Rule, String)> = vec![$((Rule::$rule, $place.to_owned())),*];
                named(stringify!($name), &[$(Rule::$rule.as_str()),*]);
                assert_eq!($broken(edits), expected);
            }
        )*

        pub(crate) const $covered: &[(&[Rule], &str)] = &[$((&[$(Rule::$rule),*], stringify!($name))),*];
    };
}

fn digest(letter: &str) -> Json {
    json!(format!("sha256:{}", letter.repeat(64)))
}

breaks! {
    broken covers OF_RESULTS;
    idk_p04_v05_other_manifest: ["/result_manifest_id" = json!("acme/answer/2")]
        breaks [P4 at "/result_manifest_id", V5 at "/result_manifest_id"];
    idk_p05_v06_v07_other_work_unit: ["/work_unit_id" = json!("acme/other")]
        breaks [P5 at "/work_unit_id", V6 at "/work_unit_id", V7 at "/work_unit_id"];
    idk_p05_v06_other_version: ["/work_unit_version" = json!(2)]
        breaks [P5 at "/work_unit_version", V6 at "/work_unit_version"];
    idk_p05_v06_other_attempt: ["/attempt" = json!(2)] breaks [P5 at "/attempt", V6 at "/attempt"];
    idk_p06_other_manifest_digest: ["/provenance/result_manifest_digest" = digest("9")]
        breaks [P6 at "/provenance/result_manifest_digest"];
    idk_p07_other_work_unit_digest: ["/provenance/work_unit_digest" = digest("9")]
        breaks [P7 at "/provenance/work_unit_digest"];
    idk_p08_other_source_revision: ["/provenance/source_revision" = json!("REV-1")]
        breaks [P8 at "/provenance/source_revision"];
    idk_p09_v11_other_worker_observed: ["/independence/worker_id_observed" = json!("worker-2")]
        breaks [P9 at "/independence/worker_id_observed", V11 at "/independence/worker_id_observed"];
    idk_p10_v13_the_worker_claims_independence: ["/verifier/id" = json!("worker-1")]
        breaks [P10 at "/verifier/id", V13 at "/verifier/id"];
    idk_v12_v13_the_worker_admits_that_it_is_the_verifier:
        ["/verifier/id" = json!("worker-1"), "/independence/independent_from_worker" = json!(false)]
        breaks [V12 at "/independence/independent_from_worker", V13 at "/verifier/id"];
    idk_v01_schema: ["/status" = json!("great"), "/attempt" = json!(2.0), "/accepted" = json!(true)]
        breaks [V1 at "/accepted", V1 at "/attempt", V1 at "/status"];
    idk_v01_missing_provenance: ["/provenance" = None] breaks [V1 at "/provenance"];
    idk_v08_unknown_evidence: ["/checks/1/evidence_ids" = json!(["review", "ghost"])]
        breaks [V8 at "/checks/1/evidence_ids/1"];
    idk_v09_v10_required_check_missing: ["/checks/1/id" = json!("optional-lint"), "/status" = json!("inconclusive"),
        "/decision_support/recommendation" = json!("insufficient_evidence")]
        breaks [V9 at "/checks", V10 at "/checks"];
    idk_v12_not_independent: ["/independence/independent_from_worker" = json!(false)]
        breaks [V12 at "/independence/independent_from_worker"];
    idk_v14_passed_with_a_failed_check: ["/checks/0/status" = json!("failed"),
        "/decision_support/recommendation" = json!("reject_candidate")] breaks [V14 at "/status"];
    idk_v14_passed_with_a_skipped_check: ["/checks/1/status" = json!("skipped"),
        "/decision_support/recommendation" = json!("escalate")] breaks [V14 at "/status"];
    idk_v14_v16_whatever_the_required_flag_says: ["/checks/0/status" = json!("failed"),
        "/checks/0/required" = json!(false)]
        breaks [V14 at "/status", V16 at "/decision_support/recommendation"];
    idk_v15_accept_without_passed: ["/status" = json!("inconclusive")]
        breaks [V15 at "/decision_support/recommendation"];
    idk_v15_v16_accept_of_a_failure: ["/status" = json!("failed"), "/checks/0/status" = json!("failed")]
        breaks [V15 at "/decision_support/recommendation", V16 at "/decision_support/recommendation"];
    idk_v09_v10_v14_v16_accept_without_a_required_check: ["/checks/0/id" = json!("optional-lint")]
        breaks [V9 at "/checks", V10 at "/checks", V14 at "/status", V16 at "/decision_support/recommendation"];
    idk_v14_v16_repeated_check_passes_and_fails: ["/checks/-" = json!({"id": "tests", "type": "test", "required": true,
        "status": "failed", "summary": "", "evidence_ids": []})]
        breaks [V14 at "/status", V16 at "/decision_support/recommendation", RepeatedCheck at "/checks/2/id"];
    a_rejection_that_says_so_breaks_nothing: ["/checks/0/status" = json!("failed"), "/status" = json!("failed"),
        "/decision_support/recommendation" = json!("reject_candidate")] breaks [];
    extra_checks_have_no_say: ["/checks/-" = json!({"id": "mine", "type": "other", "required": true,
        "status": "failed", "summary": "", "evidence_ids": []})] breaks [];
    the_order_of_checks_has_no_say: ["/checks/0/id" = json!("review"), "/checks/1/id" = json!("tests")] breaks [];
}

/// A worker that asks for one validator more voids nothing: V10 stands alone, for the caller to leave.
#[test]
fn idk_v10_is_reported_apart() {
    let (unit, mut manifest) = crate::fixtures::pair();
    manifest["verification_request"]["expected_validator_ids"] = json!(["review", "tests", "impossible"]);
    let intake = quorum_handoff::intake_values(unit.into(), manifest.into(), None).unwrap();
    let found = judge(&intake, &result(&intake));
    assert_eq!(found, [(Rule::V10, "/checks".to_owned())]);
}

/// The work unit decides whether independence is asked for.
#[test]
fn idk_v12_only_where_the_work_unit_asks() {
    let mut unit = crate::fixtures::work_unit();
    unit["verification_policy"]["independent_from_worker"] = json!(false);
    let manifest = crate::fixtures::manifest(&unit);
    let intake = quorum_handoff::intake_values(unit.into(), manifest.into(), None).unwrap();
    let mut document = result(&intake);
    document["independence"]["independent_from_worker"] = json!(false);
    assert_eq!(judge(&intake, &document), []);
    document["verifier"]["id"] = json!("worker-1");
    assert_eq!(judge(&intake, &document), [(Rule::V13, "/verifier/id".to_owned())]);
}

fn manifest_breaks(edits: &[Edit]) -> Vec<(Rule, String)> {
    let intake = admitted();
    let mut document: Json = serde_json::from_slice(&quorum_schemas::c1(intake.manifest.value())).unwrap();
    for (pointer, value) in edits {
        edit(&mut document, pointer, value.clone());
    }
    let manifest = quorum_handoff::Manifest::from_value(document.into()).unwrap();
    check_manifest(&manifest, &intake.work_unit).into_iter().map(|v| (v.rule, v.pointer)).collect()
}

breaks! {
    manifest_breaks covers OF_MANIFESTS;
    idk_p01_manifest_of_another_work_unit: ["/work_unit_id" = json!("acme/other")] breaks [P1 at "/work_unit_id"];
    idk_p02_v03_manifest_of_another_version: ["/work_unit_version" = json!(4)]
        breaks [P2 at "/work_unit_version", V3 at "/work_unit_version"];
    idk_p03_manifest_of_other_content: ["/provenance/work_unit_digest" = digest("9")]
        breaks [P3 at "/provenance/work_unit_digest"];
    idk_v04_evidence_artifact_was_not_produced:
        ["/verification_request/evidence_artifact_ids" = json!(["answer", "ghost"])]
        breaks [V4 at "/verification_request/evidence_artifact_ids/1"];
    a_sound_manifest_breaks_nothing: [] breaks [];
}

/// What a verifier on the mesh receives must be one case: any member of the binding that differs is named.
#[test]
fn a_binding_of_another_case_is_named() {
    let intake = admitted();
    assert_eq!(check_binding(&intake.handoff, &intake.binding, &intake.work_unit), []);
    for (pointer, value, rule) in [
        ("/result_manifest_id", json!("acme/answer/2"), Rule::P4),
        ("/result_manifest_digest", digest("9"), Rule::P6),
        ("/attempt", json!(2), Rule::P5),
        ("/worker_id", json!("worker-2"), Rule::P9),
        ("/work_unit_id", json!("acme/other"), Rule::P1),
        ("/work_unit_version", json!(9), Rule::P2),
        ("/work_unit_digest", digest("9"), Rule::P3),
        ("/source_revision", json!("rev-2"), Rule::P8),
        ("/candidate/artifact_id", json!("log"), Rule::V4),
        ("/artifacts/0/digest", digest("9"), Rule::V4),
    ] {
        let mut document: Json = serde_json::from_slice(&quorum_schemas::c1(&intake.binding.to_value())).unwrap();
        edit(&mut document, pointer, Some(value));
        let binding = quorum_handoff::ManifestBinding::parse(&document.into()).unwrap();
        let found = check_binding(&intake.handoff, &binding, &intake.work_unit);
        assert!(!found.is_empty() && found.iter().all(|violation| violation.rule == rule), "{pointer}: {found:?}");
    }
    let mut unit = crate::fixtures::work_unit();
    unit["validators"][1]["required"] = json!(true);
    let other = quorum_handoff::WorkUnit::from_value(unit.into()).unwrap();
    let rules: Vec<Rule> =
        check_binding(&intake.handoff, &intake.binding, &other).into_iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, [Rule::P3, Rule::V9]);
}

/// Upstream's own fixtures: the good result breaks nothing, each bad one breaks the rule that it was made for.
#[test]
fn upstream_results_break_the_rules_that_they_were_made_for() {
    let read = |name: &str| quorum_schemas::upstream::read(&format!("idkmesh/examples/{name}"));
    let Some(unit) = read("work-units/phase0-smoke.work-unit.json") else { return };
    let manifest = read("results/phase0-smoke.result-manifest.json").unwrap();
    let intake = quorum_handoff::intake(&unit, &manifest, None).unwrap();
    let rules = |name: &str| -> BTreeSet<&str> {
        let document = quorum_schemas::parse(&read(name).unwrap()).unwrap();
        check_result(&document, &intake.handoff, &intake.binding, &intake.work_unit)
            .iter()
            .map(|violation| violation.rule.as_str())
            .collect()
    };
    assert_eq!(rules("results/phase0-smoke.verification-result.json"), BTreeSet::new());
    assert!(rules("results/invalid-mismatched-provenance.verification-result.json").contains("idk_p06"));
    let dependent = rules("results/invalid-non-independent.verification-result.json");
    assert!(dependent.contains("idk_v12") || dependent.contains("idk_v13"), "{dependent:?}");
}

#[test]
fn messages_name_the_values() {
    let intake = admitted();
    let mut document = result(&intake);
    document["attempt"] = json!(7);
    let found = check_result(&document.into(), &intake.handoff, &intake.binding, &intake.work_unit);
    assert_eq!(found[0].to_string(), "idk_p05 /attempt: attempt is 7, expected 1");
    let absent: Value = json!({"checks": []}).into();
    let found = check_result(&absent, &intake.handoff, &intake.binding, &intake.work_unit);
    assert!(found.iter().all(|violation| violation.rule == Rule::V1) && found.len() > 10);
    assert_ne!(Digest::c1(&absent), intake.manifest.digest());
}
