//! R1 to R17: each refusal of the manifest builder by its number, and what it builds.

use std::collections::BTreeMap;

use quorum_handoff::{
    BuildRule, C6Manifest, CandidateReference, Document, HandoffError, Manifest, WorkUnit, WorkUnitSourceBinding,
    Worker, build_c6_manifest, build_c6_manifest_bound, build_result_manifest, derive, intake_values,
};
use quorum_schemas::{Digest, Value, c1, parse, upstream};
use serde_json::{Value as Json, json};

use crate::fixtures::{edit, work_unit};
use crate::rules::named;

const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

/// What the builder is given.
struct Case {
    unit: Json,
    binding: Json,
    arguments: Json,
}

impl Case {
    /// Every argument is given.
    fn sound() -> Self {
        let mut unit = work_unit();
        edit(&mut unit, "/provenance/source_revision", Some(json!(REVISION)));
        let arguments = json!({
            "manifest_id": "acme/answer/1", "attempt": 2, "status": "failed",
            "worker": {"id": "worker-1", "type": "hybrid", "adapter": "shell", "adapter_version": "1",
                "model": {"name": "m", "provider": "p", "version": "v"}},
            "started_at": "2026-01-31T13:00:00+01:00", "finished_at": "2026-01-31T12:00:01.5Z",
            "resources": {"wall_seconds": 1, "cpu_seconds": 0.5, "max_rss_mb": 0, "compute_units": 1.0,
                "human_minutes": 0, "tokens": 12},
            "candidate": {"schema_version": "0.1", "type": "github_pull_request", "repository": "acme/tool",
                "number": 7, "head_sha": "0A".repeat(20)},
            "self_report": {"summary": "", "claims": ["It works."],
                "confidence": {"value": 1, "meaning": "uncalibrated"}},
            "self_report_source": "worker",
            "logs": [{"type": "stdout", "locator": "stdout.txt", "digest": digest()},
                {"type": "trace", "locator": "trace.txt"}],
            "metrics": {"score": 0.5, "lines": 12, "none": null},
            "environment": {"platform": "linux", "python": "3.12", "container_image": "base",
                "tool_versions": {"git": "2.43", "cc": "14"}},
            "worker_config_digest": digest(), "verification_notes": "",
        });
        let mut case = Self { unit, binding: json!(null), arguments };
        case.rebind();
        case
    }

    fn rebind(&mut self) {
        let binding = WorkUnitSourceBinding::bind(&self.unit.clone().into(), REVISION).unwrap();
        self.binding = json_of(&binding.to_value());
    }

    fn build(&self) -> Result<Manifest, HandoffError> {
        build_result_manifest(&self.unit.clone().into(), &self.binding.clone().into(), &self.arguments.clone().into())
    }

    fn give(&mut self, pointer: &str, value: impl Into<Option<Json>>) {
        edit(&mut self.arguments, pointer, value.into());
    }

    /// Edits the work unit and binds it anew.
    fn unit(&mut self, pointer: &str, value: impl Into<Option<Json>>) {
        edit(&mut self.unit, pointer, value.into());
        self.rebind();
    }
}

fn digest() -> String {
    format!("sha256:{}", "d".repeat(64))
}

fn json_of(value: &Value) -> Json {
    serde_json::from_slice(&c1(value)).unwrap()
}

/// One test for each case: the defect is refused by its rule at its place, and the arguments without it are built.
macro_rules! build_cases {
    ($($name:ident: $rule:ident, $document:ident $place:literal, $defect:expr;)*) => {
        $(
            #[test]
            fn $name() {
                named(stringify!($name), &[BuildRule::$rule.as_str()]);
                let mut case = Case::sound();
                case.build().unwrap();
                let defect: fn(&mut Case) = $defect;
                defect(&mut case);
                match case.build() {
                    Err(HandoffError::Build { rule, document, pointer, message }) => {
                        let expected = (BuildRule::$rule, Document::$document, $place);
                        assert_eq!((rule, document, pointer.as_str()), expected, "{message}");
                    }
                    other => panic!("{other:?}"),
                }
            }
        )*

        pub(crate) const COVERED: &[(BuildRule, &str)] = &[$((BuildRule::$rule, stringify!($name))),*];
    };
}

build_cases! {
    idk_r01_binding_null: R1, SourceBinding "", |c| c.binding = json!(null);
    idk_r01_binding_with_a_tag: R1, SourceBinding "/source_revision", |c| edit(&mut c.binding, "/source_revision", Some(json!("v1")));
    idk_r02_binding_of_other_content: R2, SourceBinding "/work_unit_digest",
        |c| edit(&mut c.unit, "/objective", Some(json!("Answer well.")));
    idk_r02_binding_of_another_work_unit: R2, SourceBinding "/work_unit_id",
        |c| edit(&mut c.unit, "/id", Some(json!("acme/other")));
    idk_r02_work_unit_an_array: R2, WorkUnit "", |c| c.unit = json!([]);
    idk_r03_id_missing: R3, BuildArguments "/manifest_id", |c| c.give("/manifest_id", None);
    idk_r03_id_upper_case: R3, BuildArguments "/manifest_id", |c| c.give("/manifest_id", json!("Acme/1"));
    idk_r03_id_two_characters: R3, BuildArguments "/manifest_id", |c| c.give("/manifest_id", json!("ab"));
    idk_r03_id_129_characters: R3, BuildArguments "/manifest_id", |c| c.give("/manifest_id", json!("a".repeat(129)));
    idk_r03_id_starts_with_a_dot: R3, BuildArguments "/manifest_id", |c| c.give("/manifest_id", json!(".abc"));
    idk_r03_id_with_a_newline: R3, BuildArguments "/manifest_id", |c| c.give("/manifest_id", json!("abc\n"));
    idk_r04_attempt_zero: R4, BuildArguments "/attempt", |c| c.give("/attempt", json!(0));
    idk_r04_attempt_negative: R4, BuildArguments "/attempt", |c| c.give("/attempt", json!(-1));
    idk_r04_attempt_true: R4, BuildArguments "/attempt", |c| c.give("/attempt", json!(true));
    idk_r04_attempt_a_float: R4, BuildArguments "/attempt", |c| c.give("/attempt", json!(1.0));
    idk_r04_attempt_missing: R4, BuildArguments "/attempt", |c| c.give("/attempt", None);
    idk_r05_worker_a_string: R5, BuildArguments "/worker", |c| c.give("/worker", json!("worker-1"));
    idk_r05_worker_with_more: R5, BuildArguments "/worker", |c| c.give("/worker/trusted", json!(true));
    idk_r05_worker_id_blank: R5, BuildArguments "/worker/id", |c| c.give("/worker/id", json!("\t"));
    idk_r05_worker_type_unknown: R5, BuildArguments "/worker/type", |c| c.give("/worker/type", json!("robot"));
    idk_r05_worker_type_missing: R5, BuildArguments "/worker/type", |c| c.give("/worker/type", None);
    idk_r05_adapter_missing: R5, BuildArguments "/worker/adapter", |c| c.give("/worker/adapter", None);
    idk_r05_adapter_version_blank: R5, BuildArguments "/worker/adapter_version",
        |c| c.give("/worker/adapter_version", json!(""));
    idk_r05_model_a_string: R5, BuildArguments "/worker/model", |c| c.give("/worker/model", json!("m"));
    idk_r05_model_without_a_name: R5, BuildArguments "/worker/model/name", |c| c.give("/worker/model/name", None);
    idk_r05_model_provider_blank: R5, BuildArguments "/worker/model/provider",
        |c| c.give("/worker/model/provider", json!(" "));
    idk_r05_model_version_a_number: R5, BuildArguments "/worker/model/version",
        |c| c.give("/worker/model/version", json!(1));
    idk_r06_status_unknown: R6, BuildArguments "/status", |c| c.give("/status", json!("accepted"));
    idk_r06_status_missing: R6, BuildArguments "/status", |c| c.give("/status", None);
    idk_r07_resources_missing: R7, BuildArguments "/resources", |c| c.give("/resources", None);
    idk_r07_resources_with_more: R7, BuildArguments "/resources", |c| c.give("/resources/joules", json!(1));
    idk_r07_wall_seconds_missing: R7, BuildArguments "/resources/wall_seconds",
        |c| c.give("/resources/wall_seconds", None);
    idk_r07_wall_seconds_true: R7, BuildArguments "/resources/wall_seconds",
        |c| c.give("/resources/wall_seconds", json!(true));
    idk_r07_wall_seconds_negative: R7, BuildArguments "/resources/wall_seconds",
        |c| c.give("/resources/wall_seconds", json!(-0.5));
    idk_r07_cpu_seconds_a_string: R7, BuildArguments "/resources/cpu_seconds",
        |c| c.give("/resources/cpu_seconds", json!("1"));
    idk_r07_max_rss_negative: R7, BuildArguments "/resources/max_rss_mb",
        |c| c.give("/resources/max_rss_mb", json!(-1));
    idk_r07_compute_units_null: R7, BuildArguments "/resources/compute_units",
        |c| c.give("/resources/compute_units", json!(null));
    idk_r07_human_minutes_an_array: R7, BuildArguments "/resources/human_minutes",
        |c| c.give("/resources/human_minutes", json!([1]));
    idk_r07_tokens_a_float: R7, BuildArguments "/resources/tokens", |c| c.give("/resources/tokens", json!(12.0));
    idk_r07_tokens_negative: R7, BuildArguments "/resources/tokens", |c| c.give("/resources/tokens", json!(-1));
    idk_r07_tokens_true: R7, BuildArguments "/resources/tokens", |c| c.give("/resources/tokens", json!(true));
    idk_r08_started_without_an_offset: R8, BuildArguments "/started_at",
        |c| c.give("/started_at", json!("2026-01-31T12:00:00"));
    idk_r08_finished_missing: R8, BuildArguments "/finished_at", |c| c.give("/finished_at", None);
    idk_r08_finished_before_started: R8, BuildArguments "/finished_at",
        |c| c.give("/finished_at", json!("2026-01-31T12:59:59+01:00"));
    idk_r09_candidate_missing: R9, BuildArguments "/candidate", |c| c.give("/candidate", None);
    idk_r09_candidate_a_url: R9, BuildArguments "/candidate",
        |c| c.give("/candidate", json!("https://github.com/acme/tool/pull/7"));
    idk_r09_candidate_head_a_branch: R9, BuildArguments "/candidate/head_sha",
        |c| c.give("/candidate/head_sha", json!("main"));
    idk_r10_a_report_of_nobody: R10, BuildArguments "/self_report_source",
        |c| c.give("/self_report_source", json!("absent"));
    idk_r10_a_report_without_a_source: R10, BuildArguments "/self_report_source", |c| c.give("/self_report_source", None);
    idk_r10_a_report_of_an_unknown_source: R10, BuildArguments "/self_report_source",
        |c| c.give("/self_report_source", json!("verifier"));
    idk_r10_no_report_of_the_worker: R10, BuildArguments "/self_report_source", |c| c.give("/self_report", None);
    idk_r10_report_null: R10, BuildArguments "/self_report", |c| c.give("/self_report", json!(null));
    idk_r10_report_that_verifies: R10, BuildArguments "/self_report", |c| c.give("/self_report/verified", json!(true));
    idk_r10_summary_missing: R10, BuildArguments "/self_report/summary", |c| c.give("/self_report/summary", None);
    idk_r10_claims_a_string: R10, BuildArguments "/self_report/claims", |c| c.give("/self_report/claims", json!("x"));
    idk_r10_claim_a_number: R10, BuildArguments "/self_report/claims/1",
        |c| c.give("/self_report/claims/-", json!(1));
    idk_r11_confidence_a_number: R11, BuildArguments "/self_report/confidence",
        |c| c.give("/self_report/confidence", json!(1));
    idk_r11_value_without_a_meaning: R11, BuildArguments "/self_report/confidence/meaning",
        |c| c.give("/self_report/confidence/meaning", None);
    idk_r11_meaning_without_a_value: R11, BuildArguments "/self_report/confidence/value",
        |c| c.give("/self_report/confidence/value", None);
    idk_r11_value_above_one: R11, BuildArguments "/self_report/confidence/value",
        |c| c.give("/self_report/confidence/value", json!(1.01));
    idk_r11_value_negative: R11, BuildArguments "/self_report/confidence/value",
        |c| c.give("/self_report/confidence/value", json!(-0.01));
    idk_r11_value_true: R11, BuildArguments "/self_report/confidence/value",
        |c| c.give("/self_report/confidence/value", json!(true));
    idk_r11_meaning_unknown: R11, BuildArguments "/self_report/confidence/meaning",
        |c| c.give("/self_report/confidence/meaning", json!("certain"));
    idk_r12_logs_an_object: R12, BuildArguments "/logs", |c| c.give("/logs", json!({}));
    idk_r12_log_a_string: R12, BuildArguments "/logs/0", |c| c.give("/logs/0", json!("stdout.txt"));
    idk_r12_log_inlined: R12, BuildArguments "/logs/0", |c| c.give("/logs/0/body", json!("..."));
    idk_r12_log_type_unknown: R12, BuildArguments "/logs/1/type", |c| c.give("/logs/1/type", json!("video"));
    idk_r12_log_locator_blank: R12, BuildArguments "/logs/0/locator", |c| c.give("/logs/0/locator", json!(" "));
    idk_r12_log_digest_short: R12, BuildArguments "/logs/0/digest", |c| c.give("/logs/0/digest", json!("sha256:aa"));
    idk_r12_log_digest_null: R12, BuildArguments "/logs/1/digest", |c| c.give("/logs/1/digest", json!(null));
    idk_r13_config_digest_bare_hex: R13, BuildArguments "/worker_config_digest",
        |c| c.give("/worker_config_digest", json!("d".repeat(64)));
    idk_r13_config_digest_null: R13, BuildArguments "/worker_config_digest",
        |c| c.give("/worker_config_digest", json!(null));
    idk_r14_no_validators: R14, WorkUnit "/validators", |c| c.unit("/validators", json!([]));
    idk_r14_validators_an_object: R14, WorkUnit "/validators", |c| c.unit("/validators", json!({}));
    idk_r14_validator_a_string: R14, WorkUnit "/validators/1", |c| c.unit("/validators/1", json!("lint"));
    idk_r14_validator_id_blank: R14, WorkUnit "/validators/1/id", |c| c.unit("/validators/1/id", json!("\n"));
    idk_r14_validator_id_twice: R14, WorkUnit "/validators/2/id", |c| c.unit("/validators/2/id", json!("tests"));
    idk_r15_metrics_an_array: R15, BuildArguments "/metrics", |c| c.give("/metrics", json!([]));
    idk_r15_metric_true: R15, BuildArguments "/metrics", |c| c.give("/metrics/score", json!(true));
    idk_r15_metric_a_string: R15, BuildArguments "/metrics", |c| c.give("/metrics/score", json!("0.5"));
    idk_r15_metric_name_blank: R15, BuildArguments "/metrics", |c| c.give("/metrics", json!({" ": 1}));
    idk_r16_environment_a_string: R16, BuildArguments "/environment", |c| c.give("/environment", json!("linux"));
    idk_r16_environment_with_more: R16, BuildArguments "/environment", |c| c.give("/environment/token", json!("x"));
    idk_r16_platform_blank: R16, BuildArguments "/environment/platform",
        |c| c.give("/environment/platform", json!(""));
    idk_r16_python_a_number: R16, BuildArguments "/environment/python", |c| c.give("/environment/python", json!(3.12));
    idk_r16_container_image_null: R16, BuildArguments "/environment/container_image",
        |c| c.give("/environment/container_image", json!(null));
    idk_r16_tool_versions_an_array: R16, BuildArguments "/environment/tool_versions",
        |c| c.give("/environment/tool_versions", json!(["git"]));
    idk_r16_tool_version_a_number: R16, BuildArguments "/environment/tool_versions",
        |c| c.give("/environment/tool_versions/git", json!(2));
    idk_r16_tool_name_blank: R16, BuildArguments "/environment/tool_versions",
        |c| c.give("/environment/tool_versions", json!({"": "1"}));
    idk_r17_notes_an_array: R17, BuildArguments "/verification_notes",
        |c| c.give("/verification_notes", json!(["please"]));
    idk_r17_notes_null: R17, BuildArguments "/verification_notes", |c| c.give("/verification_notes", json!(null));
}

/// Numbers that no JSON text holds, from a caller in this process.
#[test]
fn numbers_that_are_not_finite_are_refused() {
    let case = Case::sound();
    let with = |path: [&str; 2], number: f64| {
        let mut arguments: Value = case.arguments.clone().into();
        let Value::Object(members) = &mut arguments else { panic!() };
        let Some(Value::Object(inner)) = members.get_mut(path[0]) else { panic!() };
        inner.insert(path[1].into(), Value::Float(number));
        let (unit, binding): (Value, Value) = (case.unit.clone().into(), case.binding.clone().into());
        build_result_manifest(&unit, &binding, &arguments).unwrap_err().code()
    };
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(with(["resources", "wall_seconds"], number), "idk_r07");
        assert_eq!(with(["metrics", "score"], number), "idk_r15");
    }
}

/// Upstream turns a number into a float first, so an integer beyond all floats is not finite.
#[test]
fn integers_beyond_all_floats_are_refused_and_long_ones_are_kept() {
    let case = Case::sound();
    let with = |digits: usize| {
        let text = serde_json::to_string(&case.arguments).unwrap();
        let text = text.replace("\"lines\":12", &format!("\"lines\":{}", "9".repeat(digits)));
        let (unit, binding): (Value, Value) = (case.unit.clone().into(), case.binding.clone().into());
        build_result_manifest(&unit, &binding, &parse(text.as_bytes()).unwrap())
    };
    assert_eq!(with(400).unwrap_err().code(), "idk_r15");
    let kept = String::from_utf8(c1(with(40).unwrap().value())).unwrap();
    assert!(kept.contains(&format!("\"lines\":{}", "9".repeat(40))), "{kept}");
}

#[test]
fn an_attempt_that_cannot_be_counted_is_refused() {
    let case = Case::sound();
    let text = serde_json::to_string(&case.arguments).unwrap();
    let text = text.replace("\"attempt\":2", "\"attempt\":18446744073709551616");
    let (unit, binding): (Value, Value) = (case.unit.clone().into(), case.binding.clone().into());
    let error = build_result_manifest(&unit, &binding, &parse(text.as_bytes()).unwrap()).unwrap_err();
    assert_eq!((error.code(), error.places()[0].pointer.as_str()), ("integer_out_of_range", "/attempt"));
}

#[test]
fn arguments_outside_the_numbered_rules_are_refused_too() {
    let mut case = Case::sound();
    case.give("/accepted", json!(true));
    assert_eq!(case.build().unwrap_err().code(), "manifest_argument_invalid");
    case.arguments = json!("all of them");
    assert_eq!(case.build().unwrap_err().code(), "manifest_argument_invalid");
}

/// Several defects: the lowest number is told.
#[test]
fn the_first_broken_rule_of_the_builder_is_told() {
    let mut case = Case::sound();
    for (pointer, code) in [
        ("/verification_notes", "idk_r17"),
        ("/environment", "idk_r16"),
        ("/metrics", "idk_r15"),
        ("/worker_config_digest", "idk_r13"),
        ("/logs", "idk_r12"),
        ("/self_report/confidence", "idk_r11"),
        ("/self_report_source", "idk_r10"),
        ("/candidate", "idk_r09"),
        ("/started_at", "idk_r08"),
        ("/resources", "idk_r07"),
        ("/status", "idk_r06"),
        ("/worker", "idk_r05"),
        ("/attempt", "idk_r04"),
        ("/manifest_id", "idk_r03"),
    ] {
        case.give(pointer, json!(false));
        assert_eq!(case.build().unwrap_err().code(), code);
    }
    edit(&mut case.unit, "/objective", Some(json!("")));
    assert_eq!(case.build().unwrap_err().code(), "idk_r02");
    case.binding = json!(false);
    assert_eq!(case.build().unwrap_err().code(), "idk_r01");
}

/// Every member that the profile `c6-result-manifest-v0.1` has, as upstream's builder writes it.
#[test]
fn the_manifest_has_every_member_of_the_profile() {
    let case = Case::sound();
    let manifest = case.build().unwrap();
    let unit: Value = case.unit.clone().into();
    let reference = json!({"schema_version": "0.1", "type": "github_pull_request", "repository": "acme/tool",
        "number": 7, "head_sha": "0a".repeat(20)});
    let reference_digest = Digest::c1(&Value::from_serde(reference.clone())).to_string();
    let expected = json!({
        "schema_version": "0.1", "id": "acme/answer/1", "work_unit_id": "acme/answer", "work_unit_version": 3,
        "attempt": 2, "status": "failed",
        "worker": {"id": "worker-1", "type": "hybrid", "adapter": "shell", "adapter_version": "1",
            "model": {"name": "m", "provider": "p", "version": "v"}},
        "started_at": "2026-01-31T12:00:00Z", "finished_at": "2026-01-31T12:00:01.500000Z",
        "produced_artifacts": [{
            "id": "candidate", "type": "other",
            "locator": format!("https://github.com/acme/tool/pull/7#idkmesh-head={}", "0a".repeat(20)),
            "digest": reference_digest, "media_type": "application/vnd.idkmesh.candidate-reference+json",
            "description": "Normalized CandidateReference v0.1 identity. The SHA-256 digest binds the reference \
                            envelope; it is not a verifier verdict.",
        }],
        "logs": case.arguments["logs"], "metrics": case.arguments["metrics"],
        "resources": case.arguments["resources"], "self_report": case.arguments["self_report"],
        "provenance": {
            "work_unit_digest": Digest::c1(&unit).to_string(), "source_revision": REVISION,
            "environment": case.arguments["environment"], "worker_config_digest": digest(),
        },
        "verification_request": {"expected_validator_ids": ["tests", "optional-lint", "review"],
            "evidence_artifact_ids": ["candidate"], "notes": ""},
        "extensions": {
            "org.idkmesh.candidate_reference": {"reference": reference, "reference_digest": reference_digest,
                "digest_semantics": "candidate_reference_envelope"},
            "org.idkmesh.normalization": {"profile": "c6-result-manifest-v0.1", "self_report_source": "worker"},
        },
    });
    assert_eq!(json_of(manifest.value()), expected);
    // Whole and broken numbers stay what they were: 1 and 1.0 have different digests.
    let text = String::from_utf8(c1(manifest.value())).unwrap();
    assert!(text.contains("\"compute_units\":1.0,") && text.contains("\"wall_seconds\":1}"), "{text}");
    assert!(text.contains("\"metrics\":{\"lines\":12,\"none\":null,\"score\":0.5}"), "{text}");
}

/// What is not given is not there, but for what the schema asks for.
#[test]
fn what_is_not_given_is_left_out() {
    let mut case = Case::sound();
    for name in ["self_report", "self_report_source", "logs", "metrics", "environment"] {
        case.give(&format!("/{name}"), None);
    }
    for name in ["worker_config_digest", "verification_notes"] {
        case.give(&format!("/{name}"), None);
    }
    let manifest = json_of(case.build().unwrap().value());
    let silent = json!({"summary": "No worker-authored self-report was supplied during normalization.", "claims": []});
    assert_eq!(manifest["self_report"], silent);
    assert_eq!(manifest["extensions"]["org.idkmesh.normalization"]["self_report_source"], "absent");
    assert_eq!((&manifest["logs"], &manifest["metrics"]), (&json!([]), &json!({})));
    assert_eq!(manifest["provenance"]["environment"], json!({}));
    assert_eq!(manifest["provenance"].get("worker_config_digest"), None);
    assert_eq!(manifest["verification_request"].get("notes"), None);
    case.give("/self_report_source", json!("absent"));
    assert_eq!(json_of(case.build().unwrap().value()), manifest);
    // A report of few words needs no claims.
    case.give("/self_report", json!({"summary": "Done."}));
    case.give("/self_report_source", json!("normalizer"));
    let manifest = json_of(case.build().unwrap().value());
    assert_eq!(manifest["self_report"], json!({"summary": "Done.", "claims": []}));
}

#[test]
fn times_are_utc_with_no_fraction_or_six_digits() {
    for (given, written) in [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("2026-01-31T12:00:00.000Z", "2026-01-31T12:00:00Z"),
        ("2026-01-31T23:30:00-01:30", "2026-02-01T01:00:00Z"),
        ("2026-01-31T12:00:00.25Z", "2026-01-31T12:00:00.250000Z"),
        ("2026-01-31T12:00:00.0000019Z", "2026-01-31T12:00:00.000001Z"),
    ] {
        let mut case = Case::sound();
        case.give("/started_at", json!(given));
        case.give("/finished_at", json!("2026-02-02T00:00:00Z"));
        assert_eq!(json_of(case.build().unwrap().value())["started_at"], written, "{given}");
    }
}

/// The bounds of an id and of a confidence are in.
#[test]
fn bounds_are_admitted() {
    let mut case = Case::sound();
    for id in ["abc".to_owned(), "0".repeat(128), "a._/-".to_owned()] {
        case.give("/manifest_id", json!(id));
        assert_eq!(case.build().unwrap().id(), id);
    }
    for value in [json!(0), json!(0.0), json!(1.0)] {
        case.give("/self_report/confidence/value", value);
        case.build().unwrap();
    }
    case.give("/resources", json!({"wall_seconds": 0, "cpu_seconds": 0.0, "tokens": 0}));
    case.build().unwrap();
    let moment = case.arguments["started_at"].clone();
    case.give("/finished_at", moment);
    case.build().unwrap();
}

fn upstream_case(reference: &str) -> Option<Case> {
    let read = |name: &str| upstream::read(&format!("idkmesh/examples/candidate-normalization/{name}"));
    let unit = parse(&read("c6-equivalence.work-unit.json")?).unwrap();
    let candidate = parse(&read(reference).unwrap()).unwrap();
    let binding = WorkUnitSourceBinding::bind(&unit, REVISION).unwrap();
    let mut case = Case::sound();
    case.unit = json_of(&unit);
    case.binding = json_of(&binding.to_value());
    case.give("/candidate", json_of(&candidate));
    Some(case)
}

/// Upstream's equivalence fixture: a pull request and a local bundle of the same work give manifests of one shape, and
/// handoffs that differ in the digests of manifest and candidate and in nothing else.
#[test]
fn a_pull_request_and_a_local_bundle_of_upstream_are_equivalent() {
    let Some(remote) = upstream_case("pr-candidate-reference.json") else { return };
    let local = upstream_case("local-candidate-reference.json").unwrap();
    let built: Vec<Json> = [&remote, &local].map(|case| json_of(case.build().unwrap().value())).into();
    let handoff = |case: &Case| derive(&case.unit.clone().into(), case.build().unwrap().value(), None).unwrap();
    let (ours, theirs) = (json_of(handoff(&remote).value()), json_of(handoff(&local).value()));
    let differing: Vec<&String> =
        ours.as_object().unwrap().keys().filter(|name| theirs[*name] != ours[*name]).collect();
    assert_eq!(differing, ["candidate_artifact_digest", "result_manifest_digest"]);
    assert_eq!(ours.as_object().unwrap().len(), theirs.as_object().unwrap().len());
    assert_eq!(ours["work_unit_digest"].as_str().unwrap()[..15], *"sha256:1d2a5a33");
    assert_eq!(ours["candidate_artifact_digest"].as_str().unwrap()[..15], *"sha256:8190d55c");
    assert_eq!(theirs["candidate_artifact_digest"].as_str().unwrap()[..15], *"sha256:b46fba01");
    let artifact = |manifest: &Json| manifest["produced_artifacts"][0]["locator"].as_str().unwrap().to_owned();
    assert_eq!(
        artifact(&built[0]),
        "https://github.com/MSKazemi/idkmesh/pull/4242#idkmesh-head=1123456789abcdef0123456789abcdef01234567"
    );
    assert_eq!(artifact(&built[1]), "file:///tmp/idkmesh-c6-equivalence/candidate.patch");
    let same: Vec<&String> = built[0].as_object().unwrap().keys().filter(|n| built[0][*n] != built[1][*n]).collect();
    assert_eq!(same, ["extensions", "produced_artifacts"]);
}

fn short<'a>(unit: &'a WorkUnit) -> C6Manifest<'a> {
    C6Manifest {
        id: "acme/answer/1".into(),
        work_unit: unit,
        source_revision: unit.source_revision().unwrap().to_owned(),
        reference: CandidateReference::Bundle {
            locator: "candidate.zip".into(),
            digest: Digest::of(b"the bytes"),
            media_type: None,
        },
        worker: Worker { id: "w".into(), kind: "system".into(), adapter: "quorum".into(), adapter_version: None },
        attempt: 1,
        status: "succeeded".into(),
        started_at: "2026-01-31T12:00:00Z".parse().unwrap(),
        finished_at: "2026-01-31T12:00:01.5Z".parse().unwrap(),
        tool_versions: BTreeMap::from([("git".into(), "2.43".into())]),
    }
}

/// The typed front breaks the same rules, and two faults of its own.
#[test]
fn arguments_of_the_typed_front_are_checked() {
    let unit = WorkUnit::from_value(work_unit().into()).unwrap();
    type Edit = fn(&mut C6Manifest<'_>);
    let cases: &[(&str, Edit)] = &[
        ("idk_r03", |m| m.id = "Upper".into()),
        ("idk_r04", |m| m.attempt = 0),
        ("idk_r05", |m| m.worker.id = " ".into()),
        ("idk_r05", |m| m.worker.adapter = String::new()),
        ("idk_r05", |m| m.worker.adapter_version = Some(String::new())),
        ("idk_r05", |m| m.worker.kind = "robot".into()),
        ("idk_r06", |m| m.status = "great".into()),
        ("idk_r08", |m| m.finished_at = m.started_at.plus_seconds(-1)),
        ("idk_r16", |m| drop(m.tool_versions.insert(String::new(), "1".into()))),
        ("manifest_argument_invalid", |m| m.source_revision = "\t".into()),
        ("manifest_argument_invalid", |m| m.source_revision = "rev-2".into()),
    ];
    for (code, edit) in cases {
        let mut input = short(&unit);
        build_c6_manifest(&input).unwrap();
        edit(&mut input);
        let error = build_c6_manifest(&input).unwrap_err();
        assert_eq!(error.code(), *code, "{error}");
    }
}

/// Where git vouches for the revision, the manifest carries the bound one in lower case, and no other.
#[test]
fn the_typed_front_holds_a_binding_against_work_unit_and_revision() {
    let mut document = work_unit();
    edit(&mut document, "/provenance/source_revision", None);
    let unit = WorkUnit::from_value(document.clone().into()).unwrap();
    let binding = WorkUnitSourceBinding::bind(unit.value(), REVISION).unwrap();
    let declared = WorkUnit::from_value(work_unit().into()).unwrap();
    let mut input = C6Manifest { work_unit: &unit, ..short(&declared) };
    input.source_revision = REVISION.to_uppercase();
    let manifest = build_c6_manifest_bound(&input, Some(&binding)).unwrap();
    assert_eq!(manifest.source_revision(), REVISION);
    intake_values(document.into(), manifest.value().clone(), None).unwrap();
    input.source_revision = "a".repeat(40);
    assert_eq!(build_c6_manifest_bound(&input, Some(&binding)).unwrap_err().code(), "idk_r02");
    let other = C6Manifest { work_unit: &declared, source_revision: REVISION.into(), ..input };
    assert_eq!(build_c6_manifest_bound(&other, Some(&binding)).unwrap_err().code(), "idk_r02");
}

/// Upstream's trap: a work unit that declares its revision in upper case can be bound and built for, and its handoff is
/// refused, since the derivation compares the texts. Refused is refused; nothing is handed on by mistake.
#[test]
fn an_upper_case_revision_is_bound_and_then_refused_by_the_handoff() {
    let mut case = Case::sound();
    case.unit("/provenance/source_revision", json!(REVISION.to_uppercase()));
    let manifest = case.build().unwrap();
    assert_eq!(manifest.source_revision(), REVISION);
    assert_eq!(derive(&case.unit.into(), manifest.value(), None).unwrap_err().code(), "idk_h14");
}
