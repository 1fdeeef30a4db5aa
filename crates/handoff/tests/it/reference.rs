//! Candidate references, subjects and the C6 manifest that we build.

use std::collections::BTreeMap;

use quorum_handoff::{
    C6Manifest, CandidateReference, CandidateSubject, Document, HandoffError, Intake, ReferenceRule, WorkUnit, Worker,
    build_c6_manifest, candidate_subject, derive, intake_values,
};
use quorum_schemas::{Digest, Value, parse, upstream};
use serde_json::{Value as Json, json};

use crate::fixtures::{admitted, edit, work_unit};
use crate::rules::named;

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

fn refused(rule: ReferenceRule, reference: CandidateReference, pointer: &str, value: Option<Json>, place: &str) {
    let mut document: Json = serde_json::from_slice(&quorum_schemas::c1(&reference.to_value())).unwrap();
    assert_eq!(CandidateReference::parse(&document.clone().into()).unwrap(), reference);
    if pointer.is_empty() {
        document = value.unwrap();
    } else {
        edit(&mut document, pointer, value);
    }
    let document: Value = document.into();
    match CandidateReference::parse(&document) {
        Err(HandoffError::Reference { rule: found, document: Document::CandidateReference, pointer, message }) => {
            assert_eq!((found, pointer.as_str()), (rule, place), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

/// One test for each case: the defect is refused by its rule at its place, and the reference without it is read.
macro_rules! reference_cases {
    ($($name:ident: $rule:ident, $of:ident, $pointer:literal = $value:expr, at $place:literal;)*) => {
        $(
            #[test]
            fn $name() {
                named(stringify!($name), &[ReferenceRule::$rule.as_str()]);
                refused(ReferenceRule::$rule, $of(), $pointer, Option::<Json>::from($value), $place);
            }
        )*

        pub(crate) const COVERED: &[(ReferenceRule, &str)] = &[$((ReferenceRule::$rule, stringify!($name))),*];
    };
}

reference_cases! {
    idk_c01_an_array: C1, bundle, "" = json!([]), at "";
    idk_c01_a_string: C1, bundle, "" = json!("https://github.com/acme/tool/pull/7"), at "";
    idk_c02_other_version: C2, bundle, "/schema_version" = json!("0.2"), at "/schema_version";
    idk_c02_version_a_number: C2, pull_request, "/schema_version" = json!(0.1), at "/schema_version";
    idk_c02_no_version: C2, pull_request, "/schema_version" = None, at "/schema_version";
    idk_c03_other_type: C3, bundle, "/type" = json!("tarball"), at "/type";
    idk_c03_no_type: C3, pull_request, "/type" = None, at "/type";
    idk_c04_no_repository: C4, pull_request, "/repository" = None, at "/repository";
    idk_c04_no_number: C4, pull_request, "/number" = None, at "/number";
    idk_c04_no_head: C4, pull_request, "/head_sha" = None, at "/head_sha";
    idk_c04_no_locator: C4, bundle, "/locator" = None, at "/locator";
    idk_c04_no_digest: C4, bundle, "/digest" = None, at "/digest";
    idk_c04_members_of_the_other_type: C4, bundle, "/type" = json!("github_pull_request"), at "/repository";
    idk_c05_unknown_member_of_a_bundle: C5, bundle, "/accepted" = json!(true), at "";
    idk_c05_media_type_of_a_pull_request: C5, pull_request, "/media_type" = json!("text/plain"), at "";
    idk_c06_repository_without_an_owner: C6, pull_request, "/repository" = json!("tool"), at "/repository";
    idk_c06_repository_with_an_empty_owner: C6, pull_request, "/repository" = json!("/tool"), at "/repository";
    idk_c06_repository_with_an_empty_name: C6, pull_request, "/repository" = json!("acme/"), at "/repository";
    idk_c06_repository_in_three_parts: C6, pull_request, "/repository" = json!("a/b/c"), at "/repository";
    idk_c06_repository_with_a_newline: C6, pull_request, "/repository" = json!("acme/tool\n"), at "/repository";
    idk_c06_repository_beyond_ascii: C6, pull_request, "/repository" = json!("acm\u{e9}/tool"), at "/repository";
    idk_c06_repository_a_number: C6, pull_request, "/repository" = json!(7), at "/repository";
    idk_c07_number_zero: C7, pull_request, "/number" = json!(0), at "/number";
    idk_c07_number_negative: C7, pull_request, "/number" = json!(-7), at "/number";
    idk_c07_number_a_float: C7, pull_request, "/number" = json!(7.0), at "/number";
    idk_c07_number_true: C7, pull_request, "/number" = json!(true), at "/number";
    idk_c08_head_a_branch: C8, pull_request, "/head_sha" = json!("main"), at "/head_sha";
    idk_c08_head_short: C8, pull_request, "/head_sha" = json!("a".repeat(39)), at "/head_sha";
    idk_c08_head_between_the_lengths: C8, pull_request, "/head_sha" = json!("a".repeat(63)), at "/head_sha";
    idk_c08_head_not_hex: C8, pull_request, "/head_sha" = json!("g".repeat(40)), at "/head_sha";
    idk_c08_head_with_a_newline: C8, pull_request, "/head_sha" = json!(format!("{}\n", "a".repeat(39))), at "/head_sha";
    idk_c09_locator_blank: C9, bundle, "/locator" = json!(" \u{1f}"), at "/locator";
    idk_c09_locator_null: C9, bundle, "/locator" = json!(null), at "/locator";
    idk_c10_digest_short: C10, bundle, "/digest" = json!("sha256:aa"), at "/digest";
    idk_c10_digest_upper_case: C10, bundle, "/digest" = json!(format!("sha256:{}", "A".repeat(64))), at "/digest";
    idk_c10_digest_bare_hex: C10, bundle, "/digest" = json!("a".repeat(64)), at "/digest";
    idk_c11_media_type_blank: C11, bundle, "/media_type" = json!("\t"), at "/media_type";
    idk_c11_media_type_null: C11, bundle, "/media_type" = json!(null), at "/media_type";
}

/// A document with several defects is refused for the first rule in upstream's order.
#[test]
fn the_first_broken_rule_of_a_reference_is_told() {
    let mut document: Json = serde_json::from_slice(&quorum_schemas::c1(&bundle().to_value())).unwrap();
    let mut expect = |pointer: &str, value: Option<Json>, code: &str| {
        edit(&mut document, pointer, value);
        assert_eq!(CandidateReference::parse(&document.clone().into()).unwrap_err().code(), code);
    };
    expect("/media_type", Some(json!("")), "idk_c11");
    expect("/digest", Some(json!("")), "idk_c10");
    expect("/locator", Some(json!("")), "idk_c09");
    expect("/extra", Some(json!("")), "idk_c05");
    expect("/locator", None, "idk_c04");
    expect("/type", Some(json!("")), "idk_c03");
    expect("/schema_version", Some(json!("")), "idk_c02");
}

/// The schema admits numbers of any size; what cannot be counted is refused, not wrapped or cut.
#[test]
fn a_number_that_cannot_be_counted_is_refused() {
    let text = String::from_utf8(quorum_schemas::c1(&pull_request().to_value())).unwrap();
    let huge = parse(text.replace("\"number\":7", "\"number\":18446744073709551616").as_bytes()).unwrap();
    let error = CandidateReference::parse(&huge).unwrap_err();
    assert_eq!((error.code(), error.places()[0].pointer.as_str()), ("integer_out_of_range", "/number"));
}

/// A reference without a media type has no such member, and each form of the head is one.
#[test]
fn references_are_normalised() {
    let CandidateReference::Bundle { locator, digest, .. } = bundle() else { panic!() };
    let bare = CandidateReference::Bundle { locator, digest, media_type: None };
    assert_eq!(bare.to_value().get("media_type"), None);
    assert_eq!(CandidateReference::parse(&bare.to_value()).unwrap(), bare);
    assert_ne!(bare.digest(), bundle().digest());
    assert_eq!(bare.locator(), "candidate.zip");
    let long = CandidateReference::PullRequest {
        repository: "A.b_c-1/x".into(),
        number: u64::MAX,
        head_sha: "0123456789abcdef".repeat(4),
    };
    assert_eq!(CandidateReference::parse(&long.to_value()).unwrap(), long);
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
        assert_eq!(intake.handoff.candidate_artifact_digest(), reference.digest().of_bytes());
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

/// A reference inside a manifest is refused by its own rule, at its place in the manifest.
#[test]
fn a_malformed_reference_is_refused_at_its_place_in_the_manifest() {
    let place = "/extensions/org.idkmesh.candidate_reference/reference/number";
    let mut manifest = built(pull_request());
    edit(&mut manifest, place, Some(json!(0)));
    let refusals = admit(manifest).unwrap_err();
    assert_eq!((refusals[0].code(), refusals[0].document()), ("idk_c07", Some(Document::ResultManifest)));
    assert_eq!(refusals[0].places()[0].pointer, place);
}
