//! Candidate references, subjects and the C6 manifest that we build.

use std::collections::BTreeMap;

use quorum_handoff::{
    C6Manifest, CandidateReference, CandidateSubject, HandoffError, Intake, WorkUnit, Worker, build_c6_manifest,
    candidate_subject, derive, intake_values,
};
use quorum_schemas::{Digest, Value, parse, upstream};
use serde_json::{Value as Json, json};

use crate::fixtures::{admitted, edit, work_unit};

fn pull_request() -> CandidateReference {
    CandidateReference::PullRequest { repository: "acme/tool".into(), number: 7, head_sha: "0a".repeat(20) }
}

fn bundle() -> CandidateReference {
    CandidateReference::Bundle {
        locator: "candidate.zip".into(),
        digest: Digest::of(b"the bytes"),
        media_type: Some("application/zip".into()),
    }
}

fn input(unit: &WorkUnit, reference: CandidateReference) -> C6Manifest<'_> {
    C6Manifest {
        id: "acme/answer/1".into(),
        work_unit: unit,
        source_revision: "rev-1".into(),
        reference,
        worker: Worker {
            id: "unnamed-worker".into(),
            kind: "system".into(),
            adapter: "quorum".into(),
            adapter_version: Some("0.1.0".into()),
        },
        attempt: 1,
        status: "succeeded".into(),
        started_at: "2026-01-31T12:00:00Z".parse().unwrap(),
        finished_at: "2026-01-31T12:00:01.5Z".parse().unwrap(),
        tool_versions: BTreeMap::from([("git".into(), "2.43".into())]),
    }
}

fn unit() -> WorkUnit {
    WorkUnit::from_value(work_unit().into()).unwrap()
}

fn built(reference: CandidateReference) -> Json {
    let unit = unit();
    let manifest = build_c6_manifest(&input(&unit, reference)).unwrap();
    serde_json::from_slice(&quorum_schemas::c1(manifest.value())).unwrap()
}

fn admit(manifest: Json) -> Result<Intake, Vec<HandoffError>> {
    intake_values(work_unit().into(), manifest.into(), None)
}

#[test]
fn upstream_references_have_upstream_digests() {
    for (file, digest) in [("pr-candidate-reference.json", "8190d55c"), ("local-candidate-reference.json", "b46fba01")]
    {
        let Some(bytes) = upstream::read(&format!("idkmesh/examples/candidate-normalization/{file}")) else { return };
        let value = parse(&bytes).unwrap();
        let reference = CandidateReference::parse(&value).unwrap();
        assert_eq!(reference.to_value(), value);
        assert!(reference.digest().hex().starts_with(digest), "{file}: {}", reference.digest());
    }
}

/// The head is lower-cased before it is digested, as upstream does.
#[test]
fn heads_are_normalised() {
    let mut document: Json = serde_json::from_slice(&quorum_schemas::c1(&pull_request().to_value())).unwrap();
    document["head_sha"] = json!("0A".repeat(20));
    let reference = CandidateReference::parse(&document.into()).unwrap();
    assert_eq!(reference, pull_request());
    assert_eq!(reference.locator(), format!("https://github.com/acme/tool/pull/7#idkmesh-head={}", "0a".repeat(20)));
}

/// C1 to C11 of the reference: a defect each.
#[test]
fn malformed_references_are_refused() {
    let sound = |reference: CandidateReference| -> Json {
        serde_json::from_slice(&quorum_schemas::c1(&reference.to_value())).unwrap()
    };
    for (name, reference, pointer, value) in [
        ("c02 version", bundle(), "/schema_version", Some(json!("0.2"))),
        ("c03 type", bundle(), "/type", Some(json!("tarball"))),
        ("c04 missing", bundle(), "/digest", None),
        ("c05 unexpected", bundle(), "/extra", Some(json!(1))),
        ("c06 repository", pull_request(), "/repository", Some(json!("acme"))),
        ("c06 repository newline", pull_request(), "/repository", Some(json!("acme/tool\n"))),
        ("c07 number", pull_request(), "/number", Some(json!(0))),
        ("c07 number float", pull_request(), "/number", Some(json!(7.0))),
        ("c08 head", pull_request(), "/head_sha", Some(json!("main"))),
        ("c09 locator", bundle(), "/locator", Some(json!(" "))),
        ("c10 digest", bundle(), "/digest", Some(json!("sha256:AA"))),
        ("c11 media type", bundle(), "/media_type", Some(json!("\t"))),
    ] {
        let mut document = sound(reference);
        CandidateReference::parse(&document.clone().into()).unwrap();
        edit(&mut document, pointer, value);
        assert!(CandidateReference::parse(&document.into()).is_err(), "{name}");
    }
    assert!(CandidateReference::parse(&json!([]).into()).is_err(), "c01 not an object");
}

#[test]
fn subjects_are_head_bundle_or_declared_digest() {
    let head = candidate_subject(&admit(built(pull_request())).unwrap().binding);
    assert_eq!(head, CandidateSubject::GitCommit { name: "candidate".into(), head_sha: "0a".repeat(20) });
    assert_eq!((head.algorithm(), head.hex()), ("gitCommit", "0a".repeat(20)));
    let bytes = candidate_subject(&admit(built(bundle())).unwrap().binding);
    assert_eq!(bytes, CandidateSubject::Sha256 { name: "candidate".into(), digest: Digest::of(b"the bytes") });
    let declared = candidate_subject(&admitted().binding);
    assert_eq!((declared.name(), declared.algorithm(), declared.hex()), ("answer", "sha256", "a".repeat(64)));
}

#[test]
fn a_built_manifest_is_admitted_and_says_nothing_of_itself() {
    for reference in [pull_request(), bundle()] {
        let manifest = built(reference.clone());
        assert_eq!(manifest["self_report"]["claims"], json!([]));
        assert_eq!(
            manifest["self_report"]["summary"],
            "No worker-authored self-report was supplied during normalization."
        );
        assert_eq!(
            manifest["verification_request"]["expected_validator_ids"],
            json!(["tests", "optional-lint", "review"])
        );
        assert_eq!(manifest["extensions"]["org.idkmesh.normalization"]["self_report_source"], "absent");
        assert_eq!(manifest["resources"]["wall_seconds"], json!(1.5));
        assert_eq!(manifest["started_at"], "2026-01-31T12:00:00Z");
        let intake = admit(manifest).unwrap();
        assert_eq!(intake.binding.candidate_reference(), Some(&reference));
        assert_eq!(intake.handoff.candidate_artifact_digest(), reference.digest());
        assert_eq!(intake.binding.candidate_locator(), reference.locator());
    }
}

/// A pull request and a bundle of the same work differ in the two digests and in nothing else.
#[test]
fn pull_requests_and_bundles_give_the_same_handoff_but_for_two_digests() {
    let unit: Value = work_unit().into();
    let of = |reference| derive(&unit, &built(reference).into(), None).unwrap();
    let (head, bytes) = (of(pull_request()), of(bundle()));
    for (key, value) in head.value().as_object().unwrap() {
        let same = bytes.value().get(key) == Some(value);
        assert_eq!(same, !["result_manifest_digest", "candidate_artifact_digest"].contains(&key.as_str()), "{key}");
    }
}

/// The reference, its digest and the artifact's digest belong together; any other story is refused at its place.
#[test]
fn a_foreign_reference_is_refused() {
    let extension = "/extensions/org.idkmesh.candidate_reference";
    let other = Digest::of(b"other").to_string();
    for (pointer, value, place) in [
        (format!("{extension}/reference/number"), Some(json!(8)), format!("{extension}/reference_digest")),
        (format!("{extension}/reference/number"), Some(json!(0)), format!("{extension}/reference/number")),
        (format!("{extension}/reference_digest"), Some(json!(other)), format!("{extension}/reference_digest")),
        (format!("{extension}/reference_digest"), None, format!("{extension}/reference_digest")),
        (format!("{extension}/reference"), None, extension.to_owned()),
        (extension.to_owned(), None, extension.to_owned()),
        (extension.to_owned(), Some(json!("x")), extension.to_owned()),
        ("/produced_artifacts/0/digest".to_owned(), Some(json!(other)), "/produced_artifacts/0/digest".to_owned()),
    ] {
        let mut manifest = built(pull_request());
        admit(manifest.clone()).unwrap();
        edit(&mut manifest, &pointer, value);
        let refusals = admit(manifest).unwrap_err();
        assert_eq!(refusals[0].code(), "candidate_reference_invalid", "{pointer}");
        assert_eq!(refusals[0].places()[0].pointer, place, "{pointer}: {}", refusals[0]);
    }
}

#[test]
fn arguments_of_the_builder_are_checked() {
    let unit = unit();
    type Edit = fn(&mut C6Manifest<'_>);
    let cases: &[(&str, &str, Edit)] = &[
        ("manifest_argument_invalid", "worker", |m| m.worker.id = " ".into()),
        ("manifest_argument_invalid", "adapter", |m| m.worker.adapter = String::new()),
        ("manifest_argument_invalid", "source_revision", |m| m.source_revision = "\t".into()),
        ("manifest_argument_invalid", "source_revision", |m| m.source_revision = "rev-2".into()),
        ("manifest_argument_invalid", "finished_at", |m| m.finished_at = m.started_at.plus_seconds(-1)),
        ("schema_invalid", "/id", |m| m.id = "Upper".into()),
        ("schema_invalid", "/attempt", |m| m.attempt = 0),
        ("schema_invalid", "/status", |m| m.status = "great".into()),
        ("schema_invalid", "/worker/type", |m| m.worker.kind = "robot".into()),
    ];
    for (code, says, edit) in cases {
        let mut input = input(&unit, bundle());
        build_c6_manifest(&input).unwrap();
        edit(&mut input);
        let error = build_c6_manifest(&input).unwrap_err();
        assert_eq!(error.code(), *code, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}
