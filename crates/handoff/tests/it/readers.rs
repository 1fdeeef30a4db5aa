//! What the typed documents say of themselves is what stands in them, and the strictest reading where nothing stands.

use std::collections::BTreeSet;

use quorum_handoff::{
    CandidateSubject, Document, HandoffError, Strategy, WorkUnit, WorkerTrust, candidate_subject, errors,
};
use quorum_schemas::Digest;
use serde_json::json;

use crate::fixtures::{admitted, edit, work_unit};

#[test]
fn a_work_unit_says_what_stands_in_it() {
    let mut document = work_unit();
    for (pointer, value) in [
        ("/verification_policy/quorum", json!(2)),
        ("/verification_policy/strategy", json!("quorum")),
        ("/verification_policy/minimum_independent_verifiers", json!(4)),
        ("/permissions/filesystem_write", json!(["answer.json", "log/"])),
        (
            "/inputs",
            json!([
                {"id": "notes", "type": "file", "locator": "notes.txt", "digest": format!("sha256:{}", "1".repeat(64))},
                {"id": "baseline", "type": "file", "locator": "base.zip", "digest": format!("sha256:{}", "2".repeat(64))}
            ]),
        ),
        (
            "/evidence_requirements",
            json!([
                {"type": "artifact_hash", "required": true}, {"type": "review", "required": false}
            ]),
        ),
    ] {
        edit(&mut document, pointer, Some(value));
    }
    let unit = WorkUnit::from_value(document.into()).unwrap();
    assert_eq!((unit.id(), unit.version(), unit.schema_version()), ("acme/answer", 3, "0.2"));
    assert_eq!((unit.strategy(), unit.quorum(), unit.minimum_independent_verifiers()), (Strategy::Quorum, Some(2), 4));
    assert!(unit.independent_from_worker() && !unit.sandbox_required());
    assert_eq!(unit.minimum_worker_trust(), WorkerTrust::Untrusted);
    assert_eq!((unit.allowed_paths(), unit.forbidden_paths()), (vec!["answer.json"], vec![".github/"]));
    assert_eq!(unit.filesystem_write(), ["answer.json", "log/"]);
    assert_eq!((unit.max_attempts(), unit.source_revision()), (2, Some("rev-1")));
    assert_eq!(unit.evidence_requirements(), [("artifact_hash", true), ("review", false)]);
    assert_eq!(unit.baseline_digest().unwrap().hex(), "2".repeat(64));
    let lint = unit.validator("optional-lint").unwrap();
    assert_eq!((lint.kind.as_str(), lint.required), ("lint", false));
    assert_eq!(unit.validator("nobody"), None);
    assert_eq!(unit.digest(), Digest::c1(unit.value()));
    assert_eq!(WorkUnit::reread(unit.value().clone()).unwrap(), unit);
    let bare = WorkUnit::from_value(work_unit().into()).unwrap();
    assert_eq!((bare.quorum(), bare.baseline_digest()), (None, None));
}

#[test]
fn flags_and_trust_are_read_either_way() {
    for (word, trust) in [
        ("untrusted", WorkerTrust::Untrusted),
        ("identified", WorkerTrust::Identified),
        ("trusted", WorkerTrust::Trusted),
        ("attested", WorkerTrust::Attested),
    ] {
        let mut document = work_unit();
        edit(&mut document, "/security/minimum_worker_trust", Some(json!(word)));
        edit(&mut document, "/security/sandbox_required", Some(json!(true)));
        edit(&mut document, "/verification_policy/independent_from_worker", Some(json!(false)));
        let unit = WorkUnit::from_value(document.into()).unwrap();
        assert_eq!((unit.minimum_worker_trust(), trust.as_str()), (trust, word));
        assert!(unit.sandbox_required() && !unit.independent_from_worker());
    }
    for word in ["all_required", "quorum", "threshold", "custom"] {
        assert_eq!(Strategy::from_word(word).unwrap().as_str(), word);
    }
    assert_eq!(Strategy::from_word("majority"), None);
}

/// A value that never passed its schema is read strictly, whatever is missing.
#[test]
fn what_is_missing_is_read_strictly() {
    let unit = WorkUnit::reread(json!({"validators": [{"id": "a"}], "evidence_requirements": [{}]}).into()).unwrap();
    assert_eq!((unit.version(), unit.max_attempts(), unit.minimum_independent_verifiers()), (1, 1, 1));
    assert_eq!((unit.strategy(), unit.minimum_worker_trust()), (Strategy::AllRequired, WorkerTrust::Attested));
    assert!(unit.independent_from_worker() && unit.sandbox_required());
    assert!(unit.validators()[0].required);
    assert_eq!(unit.evidence_requirements(), [("", true)]);
    assert!(unit.allowed_paths().is_empty() && unit.filesystem_write().is_empty());
}

#[test]
fn manifest_handoff_and_binding_say_what_stands_in_them() {
    let intake = admitted();
    let (manifest, handoff, binding) = (&intake.manifest, &intake.handoff, &intake.binding);
    assert_eq!((manifest.id(), manifest.attempt(), manifest.worker_id()), ("acme/answer/1", 1, "worker-1"));
    assert_eq!((manifest.work_unit_id(), manifest.work_unit_version()), ("acme/answer", 3));
    assert_eq!(manifest.declared_work_unit_digest(), intake.work_unit.digest().to_string());
    assert_eq!((manifest.source_revision(), manifest.evidence_artifact_ids()), ("rev-1", vec!["answer"]));
    assert_eq!((manifest.requested_validators(), manifest.artifacts().len()), (vec!["review", "tests"], 2));
    assert_eq!(manifest.digest(), Digest::c1(manifest.value()));

    assert_eq!((handoff.work_unit_id(), handoff.work_unit_version()), ("acme/answer", 3));
    assert_eq!((handoff.result_manifest_id(), handoff.attempt()), ("acme/answer/1", 1));
    assert_eq!((handoff.worker_id(), handoff.source_revision()), ("worker-1", "rev-1"));
    assert_eq!(handoff.candidate_artifact_id(), "answer");
    assert_eq!(handoff.candidate_artifact_digest().hex(), "a".repeat(64));
    assert_eq!(
        (handoff.result_manifest_digest(), handoff.work_unit_digest()),
        (manifest.digest(), intake.work_unit.digest())
    );
    assert_eq!((handoff.strategy(), handoff.minimum_independent_verifiers()), (Strategy::AllRequired, 1));
    assert!(handoff.independent_from_worker());
    assert_eq!(handoff.id(), Digest::c1(handoff.value()));

    assert_eq!(
        (binding.result_manifest_id(), binding.attempt(), binding.worker_id()),
        ("acme/answer/1", 1, "worker-1")
    );
    assert_eq!((binding.work_unit_id(), binding.work_unit_version()), ("acme/answer", 3));
    assert_eq!((binding.work_unit_digest(), binding.source_revision()), (intake.work_unit.digest(), "rev-1"));
    assert_eq!((binding.candidate_artifact_id(), binding.candidate_reference()), ("answer", None));
    let CandidateSubject::Sha256 { name, digest } = candidate_subject(binding) else { panic!() };
    assert_eq!((name.as_str(), digest.hex()), ("answer", "a".repeat(64)));
}

#[test]
fn an_independence_that_is_not_asked_for_reaches_the_handoff() {
    let mut unit = work_unit();
    edit(&mut unit, "/verification_policy/independent_from_worker", Some(json!(false)));
    edit(&mut unit, "/verification_policy/minimum_independent_verifiers", Some(json!(0)));
    let manifest = crate::fixtures::manifest(&unit);
    let intake = quorum_handoff::intake_values(unit.into(), manifest.into(), None).unwrap();
    assert!(!intake.handoff.independent_from_worker());
    assert_eq!(intake.handoff.minimum_independent_verifiers(), 0);
}

/// Every document has a name of its own, and every code of this room stands once in the catalogue.
#[test]
fn names_and_codes_are_distinct() {
    use Document::*;
    let all = [
        WorkUnit,
        ResultManifest,
        Handoff,
        ManifestBinding,
        CandidateReference,
        SourceBinding,
        BuildArguments,
        RunRecord,
        RunReport,
        HumanDecision,
        EvidenceReport,
    ];
    let names: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), all.len());
    assert!(names.iter().all(|name| name.len() > 5), "{names:?}");
    let entries = errors();
    let codes: BTreeSet<&str> = entries.iter().map(|entry| entry.code).collect();
    assert_eq!(codes.len(), entries.len());
    assert!(codes.contains("idk_b07") && codes.contains("idk_r17") && codes.contains("run_report_differs"));
    assert!(entries.iter().all(|entry| entry.meaning.len() > 10 && entry.action.len() > 10));
    let argument = HandoffError::Argument { argument: "x", message: "y".into() };
    assert_eq!((argument.document(), argument.places().len()), (None, 0));
}
