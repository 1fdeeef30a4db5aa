//! H1 to H47: each refusal by its number, and beside it the same document without the defect, which is derived.

use quorum_handoff::{DerivationRule, Document, Handoff, HandoffError, derive};
use quorum_schemas::{Digest, Value};
use serde_json::{Value as Json, json};

use crate::fixtures::{edit, pair};
use crate::rules::named;

/// A pair of documents and the candidate that is asked for.
pub(crate) struct Case {
    pub(crate) unit: Json,
    pub(crate) manifest: Json,
    pub(crate) candidate: Option<&'static str>,
}

impl Case {
    pub(crate) fn sound() -> Self {
        let (unit, manifest) = pair();
        Self { unit, manifest, candidate: None }
    }

    /// Edits the work unit and binds the manifest to it anew, so that only the intended rule is broken.
    pub(crate) fn unit(&mut self, pointer: &str, value: impl Into<Option<Json>>) {
        edit(&mut self.unit, pointer, value.into());
        let digest = Digest::c1(&Value::from_serde(self.unit.clone())).to_string();
        if let Some(slot) = self.manifest.pointer_mut("/provenance/work_unit_digest") {
            *slot = json!(digest);
        }
    }

    pub(crate) fn manifest(&mut self, pointer: &str, value: impl Into<Option<Json>>) {
        edit(&mut self.manifest, pointer, value.into());
    }

    pub(crate) fn derive(&self) -> Result<Handoff, HandoffError> {
        derive(&self.unit.clone().into(), &self.manifest.clone().into(), self.candidate)
    }
}

fn refused(rule: DerivationRule, name: &str, edit: impl Fn(&mut Case), document: Document, place: &str, says: &str) {
    let mut case = Case::sound();
    edit(&mut case);
    match case.derive() {
        Err(HandoffError::Derivation { rule: found, document: whose, pointer, message }) => {
            assert_eq!(found, rule, "{name}: {message}");
            assert_eq!((whose, pointer.as_str()), (document, place), "{name}: {message}");
            assert!(message.contains(says), "{name}: {message:?} does not say {says:?}");
        }
        other => panic!("{name}: {other:?}"),
    }
    assert_eq!(case.derive().unwrap_err().code(), rule.as_str());
}

/// One test for each case: the defect is refused by its rule at its place, and the twin without it is derived.
macro_rules! cases {
    ($($name:ident: $rule:ident, $document:ident $place:literal says $says:literal, $defect:expr, twin $twin:expr;)*) => {
        $(
            #[test]
            fn $name() {
                named(stringify!($name), &[DerivationRule::$rule.as_str()]);
                refused(DerivationRule::$rule, stringify!($name), $defect, Document::$document, $place, $says);
                let twin: fn(&mut Case) = $twin;
                let mut case = Case::sound();
                twin(&mut case);
                case.derive().unwrap_or_else(|error| panic!("the twin of {}: {error}", stringify!($name)));
            }
        )*

        pub(crate) const COVERED: &[(DerivationRule, &str)] = &[$((DerivationRule::$rule, stringify!($name))),*];
    };
}

const SOUND: fn(&mut Case) = |_| {};

cases! {
    idk_h01_work_unit_not_an_object: H1, WorkUnit "" says "found array", |c| c.unit = json!([]), twin SOUND;
    idk_h02_manifest_not_an_object: H2, ResultManifest "" says "found null", |c| c.manifest = json!(null), twin SOUND;
    idk_h03_accepted: H3, ResultManifest "/accepted" says "forbidden authority field(s): accepted",
        |c| c.manifest("/accepted", json!(false)), twin |c| c.manifest("/extensions", json!({"accepted": true}));
    idk_h03_verified: H3, ResultManifest "/verified" says "forbidden authority field",
        |c| c.manifest("/verified", json!(true)), twin |c| c.manifest("/self_report/verified", json!(true));
    idk_h03_verification_result: H3, ResultManifest "/verification_result" says "forbidden authority field",
        |c| c.manifest("/verification_result", json!({})), twin |c| c.manifest("/verification_results", json!({}));
    idk_h03_merge_authorized: H3, ResultManifest "/merge_authorized" says "forbidden authority field",
        |c| c.manifest("/merge_authorized", json!(null)), twin |c| c.manifest("/Merge_authorized", json!(null));
    idk_h03_integration_authorized: H3, ResultManifest "/integration_authorized" says "forbidden authority field",
        |c| c.manifest("/integration_authorized", json!(0)), twin SOUND;
    idk_h03_human_decision: H3, ResultManifest "/human_decision" says "forbidden authority field",
        |c| c.manifest("/human_decision", json!("accept")), twin SOUND;
    idk_h03_several_are_listed_sorted: H3, ResultManifest "/accepted" says "accepted, human_decision, verified",
        |c| {
            c.manifest("/verified", json!(1));
            c.manifest("/accepted", json!(1));
            c.manifest("/human_decision", json!(1));
        }, twin SOUND;
    idk_h04_work_unit_id_missing: H4, WorkUnit "/id" says "found missing", |c| c.unit("/id", None), twin SOUND;
    idk_h04_work_unit_id_blank: H4, WorkUnit "/id" says "found \" \\u001f\"",
        |c| c.unit("/id", json!(" \u{1f}")), twin SOUND;
    idk_h04_work_unit_id_a_number: H4, WorkUnit "/id" says "found 7", |c| c.unit("/id", json!(7)), twin SOUND;
    idk_h05_version_zero: H5, WorkUnit "/version" says "found 0", |c| c.unit("/version", json!(0)), twin SOUND;
    idk_h05_version_true: H5, WorkUnit "/version" says "found true", |c| c.unit("/version", json!(true)), twin SOUND;
    idk_h05_version_a_float: H5, WorkUnit "/version" says "found 3.0", |c| c.unit("/version", json!(3.0)), twin SOUND;
    idk_h05_version_negative: H5, WorkUnit "/version" says "found -3", |c| c.unit("/version", json!(-3)), twin SOUND;
    idk_h05_version_missing: H5, WorkUnit "/version" says "found missing", |c| c.unit("/version", None),
        twin |c| { c.unit("/version", json!(4)); c.manifest("/work_unit_version", json!(4)); };
    idk_h06_other_work_unit: H6, ResultManifest "/work_unit_id" says "\"acme/other\", expected \"acme/answer\"",
        |c| c.manifest("/work_unit_id", json!("acme/other")), twin SOUND;
    idk_h06_padded_work_unit_id: H6, ResultManifest "/work_unit_id" says "different work unit",
        |c| c.manifest("/work_unit_id", json!("acme/answer ")), twin SOUND;
    idk_h07_other_version: H7, ResultManifest "/work_unit_version" says "2, expected 3",
        |c| c.manifest("/work_unit_version", json!(2)), twin SOUND;
    idk_h07_version_equal_only_as_a_float: H7, ResultManifest "/work_unit_version" says "3.0, expected 3",
        |c| c.manifest("/work_unit_version", json!(3.0)), twin SOUND;
    idk_h07_true_is_not_version_one: H7, ResultManifest "/work_unit_version" says "true, expected 1",
        |c| { c.unit("/version", json!(1)); c.manifest("/work_unit_version", json!(true)); },
        twin |c| { c.unit("/version", json!(1)); c.manifest("/work_unit_version", json!(1)); };
    idk_h08_provenance_missing: H8, ResultManifest "/provenance" says "found missing",
        |c| c.manifest("/provenance", None), twin SOUND;
    idk_h08_provenance_an_array: H8, ResultManifest "/provenance" says "found []",
        |c| c.manifest("/provenance", json!([])), twin SOUND;
    idk_h09_digest_upper_case: H9, ResultManifest "/provenance/work_unit_digest" says "lower-case hex",
        |c| { let upper = c.manifest["provenance"]["work_unit_digest"].as_str().unwrap().to_uppercase();
              c.manifest("/provenance/work_unit_digest", json!(upper)); }, twin SOUND;
    idk_h09_digest_with_a_newline: H9, ResultManifest "/provenance/work_unit_digest" says "\\n\"",
        |c| { let long = format!("{}\n", c.manifest["provenance"]["work_unit_digest"].as_str().unwrap());
              c.manifest("/provenance/work_unit_digest", json!(long)); }, twin SOUND;
    idk_h09_digest_bare_hex: H9, ResultManifest "/provenance/work_unit_digest" says "found \"aaaa",
        |c| c.manifest("/provenance/work_unit_digest", json!("a".repeat(64))), twin SOUND;
    idk_h10_digest_of_other_content: H10, ResultManifest "/provenance/work_unit_digest"
        says "not bound to the exact WorkUnit content",
        |c| edit(&mut c.unit, "/objective", Some(json!("Answer well."))),
        twin |c| c.unit("/objective", json!("Answer well."));
    idk_h10_integral_float_is_other_content: H10, ResultManifest "/provenance/work_unit_digest" says "it declares sha256:",
        |c| edit(&mut c.unit, "/budget/project_spend_usd_max", Some(json!(0.0))),
        twin |c| c.unit("/budget/project_spend_usd_max", json!(0.0));
    idk_h11_source_revision_blank: H11, ResultManifest "/provenance/source_revision" says "found \"\\t\"",
        |c| c.manifest("/provenance/source_revision", json!("\t")), twin SOUND;
    idk_h11_source_revision_missing: H11, ResultManifest "/provenance/source_revision" says "found missing",
        |c| c.manifest("/provenance/source_revision", None), twin SOUND;
    idk_h12_work_unit_provenance_missing: H12, WorkUnit "/provenance" says "found missing",
        |c| c.unit("/provenance", None), twin |c| c.unit("/provenance/created_by", None);
    idk_h13_declared_revision_blank: H13, WorkUnit "/provenance/source_revision" says "found \"\"",
        |c| c.unit("/provenance/source_revision", json!("")), twin |c| c.unit("/provenance/source_revision", None);
    idk_h13_declared_revision_not_a_string: H13, WorkUnit "/provenance/source_revision" says "found 1",
        |c| c.unit("/provenance/source_revision", json!(1)), twin SOUND;
    idk_h14_revisions_differ: H14, ResultManifest "/provenance/source_revision" says "differs from WorkUnit provenance",
        |c| c.manifest("/provenance/source_revision", json!("rev-2")),
        twin |c| { c.unit("/provenance/source_revision", None);
                   c.manifest("/provenance/source_revision", json!("rev-2")); };
    idk_h14_revisions_differ_in_case: H14, ResultManifest "/provenance/source_revision" says "\"REV-1\"",
        |c| c.manifest("/provenance/source_revision", json!("REV-1")), twin SOUND;
    idk_h15_request_not_an_object: H15, ResultManifest "/verification_request" says "found \"please\"",
        |c| c.manifest("/verification_request", json!("please")), twin SOUND;
    idk_h16_expected_ids_not_an_array: H16, ResultManifest "/verification_request/expected_validator_ids" says "found {}",
        |c| c.manifest("/verification_request/expected_validator_ids", json!({})), twin SOUND;
    idk_h17_expected_id_blank: H17, ResultManifest "/verification_request/expected_validator_ids/1" says "found \" \"",
        |c| c.manifest("/verification_request/expected_validator_ids", json!(["tests", " ", "review"])),
        twin |c| c.manifest("/verification_request/expected_validator_ids", json!(["tests", " x", "review"]));
    idk_h17_expected_id_a_number: H17, ResultManifest "/verification_request/expected_validator_ids/0" says "found 1",
        |c| c.manifest("/verification_request/expected_validator_ids", json!([1])), twin SOUND;
    idk_h18_expected_id_twice: H18, ResultManifest "/verification_request/expected_validator_ids/2"
        says "\"tests\" appears twice",
        |c| c.manifest("/verification_request/expected_validator_ids", json!(["tests", "review", "tests"])), twin SOUND;
    idk_h19_validators_not_an_array: H19, WorkUnit "/validators" says "found null",
        |c| c.unit("/validators", json!(null)), twin SOUND;
    idk_h20_validator_not_an_object: H20, WorkUnit "/validators/1" says "found \"lint\"",
        |c| c.unit("/validators/1", json!("lint")), twin SOUND;
    idk_h21_validator_id_blank: H21, WorkUnit "/validators/1/id" says "found \"\"",
        |c| c.unit("/validators/1/id", json!("")), twin |c| c.unit("/validators/1/id", json!("lint"));
    idk_h22_validator_id_twice: H22, WorkUnit "/validators/1/id" says "\"tests\" appears twice",
        |c| c.unit("/validators/1/id", json!("tests")), twin |c| c.unit("/validators/1/id", json!("Tests"));
    idk_h23_required_not_a_boolean: H23, WorkUnit "/validators/1/required" says "found 0",
        |c| c.unit("/validators/1/required", json!(0)), twin SOUND;
    idk_h23_required_missing: H23, WorkUnit "/validators/0/required" says "found missing",
        |c| c.unit("/validators/0/required", None), twin SOUND;
    idk_h24_nothing_required: H24, WorkUnit "/validators" says "no verification handoff is needed",
        |c| { c.unit("/validators/0/required", json!(false)); c.unit("/validators/2/required", json!(false)); },
        twin |c| c.unit("/validators/0/required", json!(false));
    idk_h24_no_validators: H24, WorkUnit "/validators" says "among its 0", |c| c.unit("/validators", json!([])), twin SOUND;
    idk_h25_required_validator_omitted: H25, ResultManifest "/verification_request/expected_validator_ids"
        says "omits required validator(s): \"review\"",
        |c| c.manifest("/verification_request/expected_validator_ids", json!(["tests", "optional-lint"])),
        twin |c| c.manifest("/verification_request/expected_validator_ids", json!(["more", "review", "tests"]));
    idk_h25_all_omitted_are_listed_sorted: H25, ResultManifest "/verification_request/expected_validator_ids"
        says "\"review\", \"tests\"",
        |c| c.manifest("/verification_request/expected_validator_ids", json!([])), twin SOUND;
    idk_h26_evidence_ids_not_an_array: H26, ResultManifest "/verification_request/evidence_artifact_ids" says "found \"answer\"",
        |c| c.manifest("/verification_request/evidence_artifact_ids", json!("answer")), twin SOUND;
    idk_h26_evidence_id_blank: H26, ResultManifest "/verification_request/evidence_artifact_ids/0" says "found \"\\n\"",
        |c| c.manifest("/verification_request/evidence_artifact_ids", json!(["\n"])), twin SOUND;
    idk_h26_evidence_id_twice: H26, ResultManifest "/verification_request/evidence_artifact_ids/1" says "appears twice",
        |c| c.manifest("/verification_request/evidence_artifact_ids", json!(["answer", "answer"])), twin SOUND;
    idk_h27_no_evidence_artifact: H27, ResultManifest "/verification_request/evidence_artifact_ids"
        says "candidate_artifact_id is required",
        |c| c.manifest("/verification_request/evidence_artifact_ids", json!([])), twin SOUND;
    idk_h27_several_evidence_artifacts: H27, ResultManifest "/verification_request/evidence_artifact_ids" says "contains 2",
        |c| c.manifest("/verification_request/evidence_artifact_ids", json!(["answer", "log"])),
        twin |c| { c.manifest("/verification_request/evidence_artifact_ids", json!(["answer", "log"]));
                   c.candidate = Some("log"); };
    idk_h28_candidate_blank: H28, ResultManifest "/verification_request/evidence_artifact_ids"
        says "candidate_artifact_id \"  \" is blank",
        |c| c.candidate = Some("  "), twin |c| c.candidate = Some("answer");
    idk_h29_candidate_not_requested: H29, ResultManifest "/verification_request/evidence_artifact_ids"
        says "\"log\" is not requested as verification evidence",
        |c| c.candidate = Some("log"), twin |c| c.candidate = Some("answer");
    idk_h30_artifacts_not_an_array: H30, ResultManifest "/produced_artifacts" says "found {}",
        |c| c.manifest("/produced_artifacts", json!({})), twin SOUND;
    idk_h31_candidate_not_produced: H31, ResultManifest "/produced_artifacts" says "exactly one produced artifact, it matches 0",
        |c| c.manifest("/produced_artifacts/0/id", json!("other")), twin SOUND;
    idk_h31_candidate_produced_twice: H31, ResultManifest "/produced_artifacts" says "it matches 2",
        |c| c.manifest("/produced_artifacts/1/id", json!("answer")), twin SOUND;
    idk_h32_candidate_digest_short: H32, ResultManifest "/produced_artifacts/0/digest" says "found \"sha256:aa\"",
        |c| c.manifest("/produced_artifacts/0/digest", json!("sha256:aa")),
        twin |c| c.manifest("/produced_artifacts/1/digest", json!("sha256:bb"));
    idk_h33_policy_missing: H33, WorkUnit "/verification_policy" says "found missing",
        |c| c.unit("/verification_policy", None), twin SOUND;
    idk_h34_strategy_blank: H34, WorkUnit "/verification_policy/strategy" says "found \"\"",
        |c| c.unit("/verification_policy/strategy", json!("")), twin SOUND;
    idk_h35_strategy_unknown: H35, WorkUnit "/verification_policy/strategy" says "unsupported WorkUnit verification strategy \"majority\"",
        |c| c.unit("/verification_policy/strategy", json!("majority")),
        twin |c| c.unit("/verification_policy/strategy", json!("threshold"));
    idk_h35_strategy_in_other_case: H35, WorkUnit "/verification_policy/strategy" says "\"Custom\"",
        |c| c.unit("/verification_policy/strategy", json!("Custom")),
        twin |c| c.unit("/verification_policy/strategy", json!("custom"));
    idk_h36_independence_not_a_boolean: H36, WorkUnit "/verification_policy/independent_from_worker" says "found \"yes\"",
        |c| c.unit("/verification_policy/independent_from_worker", json!("yes")),
        twin |c| c.unit("/verification_policy/independent_from_worker", json!(false));
    idk_h37_minimum_negative: H37, WorkUnit "/verification_policy/minimum_independent_verifiers" says "found -1",
        |c| c.unit("/verification_policy/minimum_independent_verifiers", json!(-1)),
        twin |c| { c.unit("/verification_policy/independent_from_worker", json!(false));
                   c.unit("/verification_policy/minimum_independent_verifiers", json!(0)); };
    idk_h37_minimum_a_boolean: H37, WorkUnit "/verification_policy/minimum_independent_verifiers" says "found true",
        |c| c.unit("/verification_policy/minimum_independent_verifiers", json!(true)), twin SOUND;
    idk_h38_quorum_missing: H38, WorkUnit "/verification_policy/quorum" says "found missing",
        |c| c.unit("/verification_policy/strategy", json!("quorum")),
        twin |c| { c.unit("/verification_policy/strategy", json!("quorum"));
                   c.unit("/verification_policy/quorum", json!(2)); };
    idk_h38_quorum_zero: H38, WorkUnit "/verification_policy/quorum" says "found 0",
        |c| { c.unit("/verification_policy/strategy", json!("quorum"));
              c.unit("/verification_policy/quorum", json!(0)); }, twin SOUND;
    idk_h39_quorum_invalid_under_another_strategy: H39, WorkUnit "/verification_policy/quorum" says "found \"2\"",
        |c| c.unit("/verification_policy/quorum", json!("2")), twin |c| c.unit("/verification_policy/quorum", json!(2));
    idk_h40_worker_not_an_object: H40, ResultManifest "/worker" says "found \"worker-1\"",
        |c| c.manifest("/worker", json!("worker-1")), twin SOUND;
    idk_h41_manifest_id_blank: H41, ResultManifest "/id" says "found \"\"", |c| c.manifest("/id", json!("")), twin SOUND;
    idk_h42_attempt_zero: H42, ResultManifest "/attempt" says "found 0",
        |c| c.manifest("/attempt", json!(0)), twin |c| c.manifest("/attempt", json!(2));
    idk_h42_attempt_a_float: H42, ResultManifest "/attempt" says "found 1.0",
        |c| c.manifest("/attempt", json!(1.0)), twin SOUND;
    idk_h43_worker_id_missing: H43, ResultManifest "/worker/id" says "found missing",
        |c| c.manifest("/worker/id", None), twin |c| c.manifest("/worker/adapter", None);
    idk_h45_independence_without_verifiers: H45, Handoff "/minimum_independent_verifiers" says "at least one independent verifier",
        |c| c.unit("/verification_policy/minimum_independent_verifiers", json!(0)), twin SOUND;
}

/// The rules of the constructor, which a derivation cannot break by itself.
fn constructed(rule: DerivationRule, pointer: &str, value: impl Into<Option<Json>>, place: &str, says: &str) {
    let sound = Case::sound().derive().unwrap();
    assert_eq!(Handoff::parse(sound.value()).unwrap(), sound);
    let mut document = serde_json::from_slice(&quorum_schemas::c1(sound.value())).unwrap();
    edit(&mut document, pointer, value.into());
    match Handoff::parse(&document.into()) {
        Err(HandoffError::Derivation { rule: found, document: Document::Handoff, pointer, message }) => {
            assert_eq!((found, pointer.as_str()), (rule, place), "{message}");
            assert!(message.contains(says), "{message:?} does not say {says:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// One test for each case of [`constructed`].
macro_rules! constructor_cases {
    ($($name:ident: $rule:ident, $pointer:literal = $value:expr, refused at $place:literal says $says:literal;)*) => {
        $(
            #[test]
            fn $name() {
                named(stringify!($name), &[DerivationRule::$rule.as_str()]);
                constructed(DerivationRule::$rule, $pointer, Option::<Json>::from($value), $place, $says);
            }
        )*

        pub(crate) const CONSTRUCTED: &[(DerivationRule, &str)] = &[$((DerivationRule::$rule, stringify!($name))),*];
    };
}

constructor_cases! {
    idk_h44_other_schema_version: H44, "/schema_version" = json!("0.2"),
        refused at "/schema_version" says "unsupported schema_version \"0.2\"";
    idk_h44_no_schema_version: H44, "/schema_version" = None,
        refused at "/schema_version" says "unsupported schema_version missing";
    idk_h45_a_handoff_without_verifiers: H45, "/minimum_independent_verifiers" = json!(0),
        refused at "/minimum_independent_verifiers" says "at least one independent verifier";
    idk_h46_no_required_validator: H46, "/required_validator_ids" = json!([]),
        refused at "/required_validator_ids" says "at least one required validator id";
    idk_h46_required_validators_missing: H46, "/required_validator_ids" = None,
        refused at "/required_validator_ids" says "found missing";
    idk_h46_required_validator_twice: H46, "/required_validator_ids" = json!(["a", "b", "a"]),
        refused at "/required_validator_ids/2" says "\"a\" appears twice";
    idk_h46_required_validator_blank: H46, "/required_validator_ids" = json!(["a", " "]),
        refused at "/required_validator_ids/1" says "\" \" is not a non-empty";
    idk_h46_required_validator_a_number: H46, "/required_validator_ids" = json!(["a", 1]),
        refused at "/required_validator_ids/1" says "1 is not a non-empty";
    idk_h47_quorum_strategy_without_a_quorum: H47, "/verification_strategy" = json!("quorum"),
        refused at "/quorum" says "quorum strategy requires a quorum";
}

/// A document with several defects is refused for the first rule in upstream's order.
#[test]
fn the_first_broken_rule_is_told() {
    let mut case = Case::sound();
    case.manifest("/worker", json!(1));
    assert_eq!(case.derive().unwrap_err().code(), "idk_h40");
    case.unit("/verification_policy/strategy", json!("x"));
    assert_eq!(case.derive().unwrap_err().code(), "idk_h35");
    case.manifest("/produced_artifacts", json!(1));
    assert_eq!(case.derive().unwrap_err().code(), "idk_h30");
    case.manifest("/verification_request/expected_validator_ids", json!([]));
    assert_eq!(case.derive().unwrap_err().code(), "idk_h25");
    case.manifest("/provenance/work_unit_digest", json!(""));
    assert_eq!(case.derive().unwrap_err().code(), "idk_h09");
    case.manifest("/work_unit_id", json!(""));
    assert_eq!(case.derive().unwrap_err().code(), "idk_h06");
    case.manifest("/verified", json!(""));
    assert_eq!(case.derive().unwrap_err().code(), "idk_h03");
}

/// The handoff names a binding and requirements, and no word of authority, verdict or verifier.
#[test]
fn a_handoff_has_exactly_the_members_of_upstream() {
    let handoff = Case::sound().derive().unwrap();
    let keys: Vec<&str> = handoff.value().as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "attempt",
        "candidate_artifact_digest",
        "candidate_artifact_id",
        "independent_from_worker",
        "minimum_independent_verifiers",
        "required_validator_ids",
        "result_manifest_digest",
        "result_manifest_id",
        "schema_version",
        "source_revision",
        "verification_strategy",
        "work_unit_digest",
        "work_unit_id",
        "work_unit_version",
        "worker_id",
    ];
    assert_eq!(keys, expected);
    assert_eq!(handoff.required_validator_ids(), ["tests", "review"]);
    assert_eq!(handoff.quorum(), None);
}

#[test]
fn a_quorum_is_kept_under_every_strategy() {
    for strategy in ["all_required", "quorum", "threshold", "custom"] {
        let mut case = Case::sound();
        case.unit("/verification_policy/strategy", json!(strategy));
        case.unit("/verification_policy/quorum", json!(2));
        case.unit("/verification_policy/minimum_independent_verifiers", json!(2));
        let handoff = case.derive().unwrap();
        assert_eq!(handoff.strategy().as_str(), strategy);
        assert_eq!((handoff.quorum(), handoff.minimum_independent_verifiers()), (Some(2), 2));
    }
}

/// A worker's text in a message neither runs on nor reaches the terminal as a command.
#[test]
fn messages_are_short_and_printable() {
    let mut case = Case::sound();
    case.manifest("/work_unit_id", json!(format!("\u{1b}[2J\u{202e}\u{9b}{}", "x".repeat(100_000))));
    let message = case.derive().unwrap_err().to_string();
    assert!(message.len() < 400, "{}", message.len());
    assert!(message.chars().all(|character| !character.is_control() && character != '\u{202e}'), "{message:?}");
}
