//! Templates, binding, refusals.

use quorum_schemas::{Digest, SchemaName, validate};
use quorum_verifier::{BoundPlan, PlanFile, VerifierError};

use crate::world::{World, template};

const GOOD: &str = "[[check]]\nid = \"b\"\nkind = \"scope\"\nallowed_files = [\"a\"]\n[[check]]\nid = \"a\"\nkind = \"artifact_integrity\"\n";

fn world() -> World {
    World::new(&[("a", "reproduction"), ("b", "review")]).with(&[("a", "1")])
}

fn bound() -> (quorum_handoff::Intake, BoundPlan) {
    let intake = world().intake();
    let plan = template(GOOD).unwrap().bind(&intake.handoff, &intake.work_unit, "0.1.0").unwrap();
    (intake, plan)
}

#[test]
fn a_bound_plan_is_the_document_of_design_section_10() {
    let (intake, plan) = bound();
    validate(SchemaName::QuorumPlan, plan.value()).unwrap();
    let keys: Vec<&str> = plan.value().as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "binding",
            "candidate_artifact_id",
            "checks",
            "id",
            "kind",
            "required_validator_ids",
            "schema_version",
            "template_digest",
            "verifier",
            "visibility"
        ]
    );
    assert_eq!(plan.value().get("binding"), Some(&intake.handoff.evaluator_binding()));
    let ids: Vec<&str> = plan.checks().iter().map(|check| check.id()).collect();
    assert_eq!(ids, ["a", "b"], "in the order of the required validators, not of the file");
    assert_eq!(plan.digest().of_bytes(), Digest::of(&plan.bytes()));
    assert_eq!(BoundPlan::parse(&plan.bytes()).unwrap(), plan);
    plan.check_handoff(&intake.handoff).unwrap();
}

#[test]
fn a_plan_file_is_a_template_or_a_bound_plan() {
    let (intake, plan) = bound();
    let read = PlanFile::parse(&plan.bytes()).unwrap();
    assert_eq!(read.for_handoff(&intake.handoff, &intake.work_unit, "9").unwrap(), plan);
    assert_eq!(read.verifier_id(), "acme-verifier-1");
}

#[test]
fn e2_to_e5_a_bound_plan_for_something_else_is_refused() {
    let (intake, plan) = bound();
    for (field, text, other) in [
        ("work_unit_id", "\"acme/answer\"", "\"acme/other\""),
        ("work_unit_version", "\"work_unit_version\":3", "\"work_unit_version\":4"),
        ("source_revision", "\"rev-1\"", "\"rev-2\""),
        ("candidate_artifact_id", "\"candidate_artifact_id\":\"candidate\"", "\"candidate_artifact_id\":\"other\""),
        (
            "required_validator_ids",
            "\"required_validator_ids\":[\"a\",\"b\"]",
            "\"required_validator_ids\":[\"b\",\"a\"]",
        ),
    ] {
        let changed = String::from_utf8(plan.bytes()).unwrap().replace(text, other);
        match BoundPlan::parse(changed.as_bytes()).and_then(|plan| plan.check_handoff(&intake.handoff)) {
            Err(VerifierError::PlanWrongHandoff { field: found, .. }) => assert_eq!(found, field),
            // Another order no longer fits the checks, which is seen first.
            Err(VerifierError::PlanInvalid(_)) => assert_eq!(field, "required_validator_ids"),
            other => panic!("{field}: {other:?}"),
        }
    }
}

#[test]
fn e7_checks_must_be_exactly_the_required_validators() {
    let intake = world().intake();
    let check = |id: &str| format!("[[check]]\nid = \"{id}\"\nkind = \"binding\"\n");
    for (checks, missing, extra) in [
        (check("a"), vec!["b"], vec![]),
        (check("a") + &check("b") + &check("c"), vec![], vec!["c"]),
        (check("c"), vec!["a", "b"], vec!["c"]),
    ] {
        let error = template(&checks).unwrap().bind(&intake.handoff, &intake.work_unit, "0.1.0").unwrap_err();
        let expected = VerifierError::PlanValidatorsDiffer {
            missing: missing.into_iter().map(str::to_owned).collect(),
            extra: extra.into_iter().map(str::to_owned).collect(),
        };
        assert_eq!(error, expected);
        assert!(error.is_control_file());
    }
}

#[test]
fn e10_the_worker_cannot_be_the_verifier() {
    let intake = world().intake();
    let plan = format!("schema_version = \"0.1\"\nid = \"p\"\n[verifier]\nid = \"worker-1\"\n{GOOD}");
    let error =
        quorum_verifier::PlanTemplate::parse(plan.as_bytes()).unwrap().bind(&intake.handoff, &intake.work_unit, "0");
    assert_eq!(error.unwrap_err().code(), "self_verification");
}

#[test]
fn what_a_template_gets_wrong_is_named() {
    let check = |rest: &str| format!("[[check]]\nid = \"a\"\n{rest}\n");
    let command = |rest: &str| check(&format!("kind = \"command\"\nargv = [\"true\"]\n{rest}"));
    for (checks, code, needle) in [
        ("[[check]".to_owned(), "plan_syntax", "line"),
        ("[[chekc]]\nid = \"a\"\n".to_owned(), "plan_unknown_key", "did you mean `check`?"),
        (check("kind = \"scope\"\nalowed_files = []"), "plan_unknown_key", "did you mean `allowed_files`?"),
        (check("kind = \"comand\""), "plan_unknown_kind", "did you mean `command`?"),
        (check("kind = \"unified_dif\""), "plan_unknown_kind", "did you mean `unified_diff`?"),
        (check("kind = \"unified_diff\"\nadded_line = [\"x\"]"), "plan_unknown_key", "did you mean `added_lines`?"),
        (check("kind = \"unified_diff\"\nadded_lines = [\"x\\ny\"]"), "plan_bad_value", "one line each"),
        (check("kind = \"unified_diff\"\nremoved_lines = [\"x\\r\"]"), "plan_bad_value", "one line each"),
        (check("kind = \"unified_diff\"\nadded_substrings = [\"x\", \"x\"]"), "plan_bad_value", "distinct"),
        (check("kind = \"unified_diff\"\nremoved_substrings = [\"\"]"), "plan_bad_value", "distinct"),
        (check("kind = \"unified_diff\"\nfile = \"/x\""), "plan_bad_value", "relative"),
        (check("kind = \"unified_diff\"\nmax_bytes = 0"), "plan_bad_value", "max_bytes"),
        (check("kind = \"container\""), "plan_kind_unsupported", "0.3"),
        (check("kind = \"reproduction\""), "plan_kind_unsupported", "0.3"),
        (check(""), "plan_missing_key", "kind"),
        ("[[check]]\nkind = \"scope\"\n".to_owned(), "plan_missing_key", "`id`"),
        ("check = []\n".to_owned(), "plan_unknown_key", "[verifier] has no key `check`"),
        (check("kind = \"binding\"") + &check("kind = \"binding\""), "plan_duplicate_check", "`a`"),
        (check("kind = \"scope\"\nallowed_files = [\"../x\"]"), "plan_bad_value", "plain relative paths"),
        (check("kind = \"scope\"\nallowed_files = [\"x\", \"x\"]"), "plan_bad_value", "distinct"),
        (check("kind = \"required_json\""), "plan_missing_key", "required"),
        (check("kind = \"required_json\"\nrequired = 1979-05-27"), "plan_bad_value", "date"),
        (check("kind = \"required_json\"\nrequired = nan"), "plan_bad_value", "JSON"),
        (check("kind = \"required_json\"\nrequired = 1\nmax_bytes = 0"), "plan_bad_value", "max_bytes"),
        (check("kind = \"schema\"\nof = \"candidate\""), "plan_missing_key", "schema"),
        (check("kind = \"schema\"\nof = \"candidate\"\nschema = \"nope\""), "plan_bad_value", "one of"),
        (check("kind = \"schema\"\nof = \"manifest\"\nschema = \"policy-v0.1\""), "plan_bad_value", "one schema"),
        (check("kind = \"command\""), "plan_missing_key", "argv"),
        (check("kind = \"command\"\nargv = []"), "plan_bad_value", "words"),
        (check("kind = \"command\"\nargv = [\"a\", \"{candidat}\"]"), "plan_bad_value", "{candidate}"),
        (command("timeout = \"2 hours\""), "plan_bad_value", "timeout"),
        (command("timeout = \"2h\""), "plan_bad_value", "1800s"),
        (command("expect = [\"a\"]"), "plan_bad_value", "report"),
        (command("report = \"junit\""), "plan_bad_value", "{report}"),
        (command("channel = \"black_box\""), "plan_bad_value", "candidate"),
        (command("candidate = [\"true\"]"), "plan_bad_value", "black_box"),
        (command("env = { PATH = \"/x\" }"), "plan_bad_value", "path"),
        (command("fail_exit = [0]"), "plan_bad_value", "1 to 255"),
        (check("kind = \"command\"\nargv = [\"{harness}/t\"]"), "plan_bad_value", "harness"),
        (
            check("kind = \"command\"\nargv = [\"t\", \"{candidate}\"]\nchannel = \"black_box\"\ncandidate = [\"x\"]"),
            "plan_bad_value",
            "pipes only",
        ),
        (check("kind = \"engine\"\nengine = \"x\"\noverlay = \"y\""), "plan_bad_value", "0.2"),
        (check("kind = \"engine\"\nengine = \"x\"\nchannel = \"black_box\""), "plan_bad_value", "pipes"),
    ] {
        let error = template(&checks).expect_err(&checks);
        assert_eq!(error.code(), code, "{checks}: {error}");
        assert!(error.to_string().contains(needle), "{checks}: {error}");
        assert!(error.is_control_file());
    }
}

#[test]
fn shell_braces_in_an_argv_are_no_placeholders() {
    template("[[check]]\nid = \"a\"\nkind = \"command\"\nargv = [\"sh\", \"-c\", \"echo ${HOME} {A} {} {1}\"]\n")
        .unwrap();
}

/// The page shows every kind that there is, in a template that can be read.
#[test]
fn the_documented_template_shows_every_kind() {
    let page = include_str!("../../../../docs/plans.md");
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a TOML block");
    let plan = quorum_verifier::PlanTemplate::parse(block.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let shown: std::collections::BTreeSet<&str> = plan.checks().iter().map(|check| check.kind()).collect();
    let error = template("[[check]]\nid = \"a\"\nkind = \"nothing_like_it\"\n").unwrap_err();
    assert_eq!(error.code(), "plan_unknown_kind");
    let schema: serde_json::Value = serde_json::from_str(SchemaName::PlanTemplate.text()).unwrap();
    let kinds = schema["$defs"]["check"]["properties"]["kind"]["enum"].as_array().unwrap();
    assert_eq!(shown, kinds.iter().map(|kind| kind.as_str().unwrap()).collect());
    for kind in shown {
        assert!(page.contains(&format!("\n| `{kind}` |")), "the table of kinds has `{kind}`");
    }
}
