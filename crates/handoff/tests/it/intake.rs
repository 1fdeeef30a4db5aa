//! Intake: every reason at once, worst first.

use quorum_handoff::{Document, HandoffError, intake, intake_values};
use quorum_schemas::c1;
use serde_json::{Value as Json, json};

use crate::fixtures::{admitted, manifest, pair, work_unit};

fn bytes(document: &Json) -> Vec<u8> {
    serde_json::to_vec(document).unwrap()
}

fn codes(refusals: &[HandoffError]) -> Vec<&'static str> {
    refusals.iter().map(HandoffError::code).collect()
}

#[test]
fn a_sound_pair_is_admitted() {
    let (unit, manifest) = pair();
    let admitted = intake(&bytes(&unit), &bytes(&manifest), None).unwrap();
    assert_eq!(admitted.handoff.work_unit_digest(), admitted.work_unit.digest());
    assert_eq!(admitted.handoff.result_manifest_digest(), admitted.manifest.digest());
    assert_eq!(admitted.binding.candidate_digest(), admitted.handoff.candidate_artifact_digest());
    assert_eq!(admitted.work_unit.validators().len(), 3);
    assert_eq!(admitted.work_unit.max_attempts(), 2);
    assert_eq!(admitted.work_unit.evidence_requirements(), [("artifact_hash", true)]);
}

#[test]
fn unreadable_documents_are_told_together() {
    let refusals = intake(b"{\"a\":1,\"a\":2}", b"\xff", None).unwrap_err();
    assert_eq!(codes(&refusals), ["json_duplicate_key", "json_not_utf8"]);
    assert_eq!(refusals[0].document(), Some(Document::WorkUnit));
    assert_eq!(refusals[1].document(), Some(Document::ResultManifest));
    assert_eq!(refusals[0].places()[0].pointer, "/a");
}

/// The derivation's refusal comes first, then the schemas' of both documents.
#[test]
fn both_lists_are_told_worst_first() {
    let mut unit = work_unit();
    unit["kind"] = json!("cooking");
    let mut manifest = manifest(&unit);
    manifest["accepted"] = json!(true);
    manifest["status"] = json!("perfect");
    let refusals = intake_values(unit.into(), manifest.into(), None).unwrap_err();
    assert_eq!(codes(&refusals), ["idk_h03", "schema_invalid", "schema_invalid"]);
    assert_eq!(refusals[1].document(), Some(Document::WorkUnit));
    let places: Vec<String> = refusals[2].places().into_iter().map(|place| place.pointer).collect();
    assert_eq!(places, ["/accepted", "/status"]);
}

/// One fault is told once, although the derivation and the binding rules both know it.
#[test]
fn a_fault_is_not_told_twice() {
    let (unit, mut manifest) = pair();
    manifest["work_unit_version"] = json!(4);
    let refusals = intake_values(unit.into(), manifest.into(), None).unwrap_err();
    assert_eq!(codes(&refusals), ["idk_h07"]);
    let (unit, mut manifest) = pair();
    manifest["work_unit_version"] = json!(4);
    manifest["provenance"]["work_unit_digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    let refusals = intake_values(unit.into(), manifest.into(), None).unwrap_err();
    assert_eq!(codes(&refusals), ["idk_h07", "idk_p03"]);
}

#[test]
fn idk_v04_is_an_intake_refusal_of_its_own() {
    let (unit, mut manifest) = pair();
    manifest["verification_request"]["evidence_artifact_ids"] = json!(["answer", "ghost"]);
    let refusals = intake_values(unit.into(), manifest.into(), Some("answer")).unwrap_err();
    assert_eq!(codes(&refusals), ["idk_v04"]);
}

#[test]
fn a_schema_fault_alone_is_enough() {
    let (unit, mut manifest) = pair();
    manifest["finished_at"] = json!("later");
    let refusals = intake_values(unit.into(), manifest.into(), None).unwrap_err();
    assert_eq!(codes(&refusals), ["schema_invalid"]);
}

/// The schema admits integers of any size; what cannot be counted is refused, not wrapped or cut.
#[test]
fn integers_that_cannot_be_counted_are_refused() {
    let text = String::from_utf8(bytes(&work_unit())).unwrap();
    let huge = text.replace("\"max_attempts\":2", "\"max_attempts\":18446744073709551616");
    assert_ne!(text, huge);
    let unit = quorum_schemas::parse(huge.as_bytes()).unwrap();
    let mut manifest = manifest(&work_unit());
    manifest["provenance"]["work_unit_digest"] = json!(quorum_schemas::Digest::c1(&unit).to_string());
    let refusals = intake_values(unit, manifest.into(), None).unwrap_err();
    assert_eq!(codes(&refusals), ["integer_out_of_range"]);
    assert_eq!(refusals[0].places()[0].pointer, "/failure_semantics/max_attempts");
    assert!(refusals[0].to_string().contains("18446744073709551616"));
}

/// The historical work unit 0.1 has no verification policy, so nothing can be handed off.
#[test]
fn a_work_unit_0_1_is_read_but_never_handed_off() {
    let mut unit = work_unit();
    unit["schema_version"] = json!("0.1");
    for member in ["requirements", "security", "verification_policy"] {
        unit.as_object_mut().unwrap().remove(member);
    }
    unit["budget"] = json!({});
    unit["provenance"].as_object_mut().unwrap().remove("source_revision");
    let read = quorum_handoff::WorkUnit::parse(&bytes(&unit)).unwrap();
    assert_eq!((read.schema_version(), read.sandbox_required()), ("0.1", true));
    let manifest = manifest(&unit);
    let refusals = intake_values(unit.into(), manifest.into(), None).unwrap_err();
    assert_eq!(codes(&refusals), ["idk_h33"]);
}

/// Another order of keys and other white space is the same document, so the same handoff.
#[test]
fn the_form_of_the_bytes_has_no_say() {
    let (unit, manifest) = pair();
    let compact = intake(&bytes(&unit), &bytes(&manifest), None).unwrap();
    let pretty =
        intake(&serde_json::to_vec_pretty(&unit).unwrap(), &c1(&quorum_schemas::Value::from_serde(manifest)), None);
    assert_eq!(compact, pretty.unwrap());
    assert_eq!(compact, admitted());
}
