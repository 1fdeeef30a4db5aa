//! Statements and bundles of answers.

use quorum_attest::{Entry, PredicateType, Role, SigningKey, Statement};
use quorum_handoff::check_result;
use quorum_schemas::{Digest, SchemaName, Timestamp, Value, c1, validate};
use quorum_verifier::{Answer, CheckReport, CheckStatus, VerifierIdentity, bundle};

use crate::world::{World, answer_by, answer_of};

const PLAN: &str = "[[check]]\nid = \"a\"\nkind = \"artifact_integrity\"\n[[check]]\nid = \"b\"\nkind = \"scope\"\nallowed_files = [\"answer.json\"]\n";

fn world() -> World {
    World::new(&[("a", "reproduction"), ("b", "benchmark")]).with(&[("answer.json", "42")])
}

fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    value.at(path).and_then(Value::as_str).unwrap_or_default()
}

/// An answer whose first check has been given this status.
fn folded(edit: impl Fn(&mut CheckReport)) -> Answer {
    let world = world();
    let intake = world.intake();
    let request = world.request(&intake, PLAN).unwrap();
    let mut report = world.report_of(&intake, PLAN);
    edit(&mut report);
    answer_of(&intake, &request, &report).unwrap()
}

#[test]
fn an_answer_follows_its_schemas_and_every_rule() {
    let world = world();
    let intake = world.intake();
    let answer = world.answer(PLAN);
    let statement = Statement::parse(&answer.statement).unwrap();
    assert_eq!(statement.predicate_type, PredicateType::Evidence);
    assert_eq!(statement.predicate, answer.predicate);
    assert_eq!(statement.subject[0].digest["sha256"], bundle::zip_dir_digest(&world.candidate()).unwrap().hex());
    validate(SchemaName::EvidencePredicate, &answer.predicate).unwrap();
    let result = answer.predicate.get("result").unwrap();
    validate(SchemaName::VerificationResult, result).unwrap();
    assert_eq!(check_result(result, &intake.handoff, &intake.binding, &intake.work_unit), []);
    assert_eq!(text(result, &["provenance", "verifier_config_digest"]), text(&answer.predicate, &["plan_digest"]));
    assert_eq!((answer.status, answer.recommendation, answer.verdict()), ("passed", "accept_candidate", "supports"));
    assert_eq!(text(&answer.predicate, &["isolation"]), "not_applicable");
    let types: Vec<&str> =
        result.get("checks").unwrap().as_array().unwrap().iter().map(|check| text(check, &["type"])).collect();
    assert_eq!(types, ["reproduction", "other"], "benchmark has no check type");
    bundle::check(&answer.bundle.bytes, &answer.predicate).unwrap();
}

#[test]
fn the_id_is_a_digest_of_handoff_key_seat_and_try() {
    let world = world();
    let parts = Value::Array(vec![world.intake().handoff.id().into(), Value::Null, 0.into_value(), 1.into_value()]);
    let expected = format!("vr/{}", &Digest::of(&c1(&parts)).hex()[..32]);
    assert_eq!(text(&world.answer(PLAN).predicate, &["result", "id"]), expected);
}

trait IntoValue {
    fn into_value(self) -> Value;
}

impl IntoValue for u64 {
    fn into_value(self) -> Value {
        Value::from(self)
    }
}

#[test]
fn assemble_is_a_function_of_its_arguments() {
    let world = world();
    let intake = world.intake();
    let request = world.request(&intake, PLAN).unwrap();
    let report = world.report_of(&intake, PLAN);
    let once = answer_of(&intake, &request, &report).unwrap();
    assert_eq!(answer_of(&intake, &request, &report).unwrap(), once);
    let names: Vec<String> = bundle::read(&once.bundle.bytes).unwrap().into_keys().collect();
    assert_eq!(
        names,
        [
            "artifact-manifest.json",
            "checks/01.json",
            "checks/02.json",
            "phase-results.json",
            "plan.json",
            "run-result.json",
            "task.json"
        ]
    );
    assert_eq!(once.bundle.file_name(), format!("bundle-{}.zip", Digest::of(&once.bundle.bytes).hex()));
}

#[test]
fn statuses_fold_into_one_verdict() {
    use CheckStatus::{Error, Failed, Inconclusive, Passed, Skipped};
    for (first, second, timed_out, status, recommendation, verdict) in [
        (Passed, Passed, false, "passed", "accept_candidate", "supports"),
        (Passed, Failed, false, "failed", "reject_candidate", "rejects"),
        (Error, Failed, false, "failed", "reject_candidate", "rejects"),
        (Error, Failed, true, "failed", "reject_candidate", "rejects"),
        (Error, Passed, false, "error", "insufficient_evidence", "absent"),
        (Error, Passed, true, "timeout", "insufficient_evidence", "absent"),
        (Error, Inconclusive, false, "error", "insufficient_evidence", "absent"),
        (Inconclusive, Passed, false, "inconclusive", "insufficient_evidence", "abstains"),
        (Skipped, Passed, false, "inconclusive", "insufficient_evidence", "abstains"),
    ] {
        let answer = folded(|report| {
            report.checks[0].status = first;
            report.checks[0].timed_out = timed_out;
            report.checks[1].status = second;
        });
        let found = (answer.status, answer.recommendation, answer.verdict());
        assert_eq!(found, (status, recommendation, verdict), "{first:?} {second:?} {timed_out}");
    }
}

#[test]
fn a_required_type_of_evidence_that_is_missing_is_no_support() {
    let mut world = world();
    for (kind, expected) in
        [("artifact_hash", "passed"), ("benchmark", "passed"), ("attestation", "passed"), ("review", "inconclusive")]
    {
        world.unit["evidence_requirements"] = serde_json::json!([{"type": kind, "required": true}]);
        let answer = world.answer(PLAN);
        assert_eq!(answer.status, expected, "{kind}");
    }
}

#[test]
fn independence_is_what_the_trust_root_says() {
    let world = world();
    let intake = world.intake();
    let request = world.request(&intake, PLAN).unwrap();
    let report = world.report_of(&intake, PLAN);
    let entry = |role, id: &str, seed: u8, attributes: &[(&str, &str)]| {
        let key = SigningKey::from_seed(&[seed; 32]).public();
        let entry = Entry::new(role, id, key, Timestamp::from_micros(0), Timestamp::from_micros(1));
        attributes.iter().fold(entry, |entry, (axis, value)| entry.with_attribute(*axis, *value))
    };
    let (a, b): (&[_], &[_]) = (&[("model_family", "a"), ("runtime", "x")], &[("model_family", "b"), ("runtime", "x")]);
    for (name, verifier, worker, expected) in [
        ("both unknown", None, None, Some((true, true))),
        ("one known", Some((2, a)), None, Some((false, false))),
        ("both known", Some((2, a)), Some((3, b)), Some((false, true))),
        ("without attributes", Some((2, &[] as &[_])), Some((3, &[] as &[_])), Some((true, true))),
        // V12: our own result would say that it is not independent, and the work unit wants it to be.
        ("one key", Some((2, a)), Some((2, b)), None),
    ] {
        let verifier = verifier.map(|(seed, attributes)| entry(Role::Verifier, "acme-verifier-1", seed, attributes));
        let worker = worker.map(|(seed, attributes)| entry(Role::Worker, "worker-1", seed, attributes));
        let identity = VerifierIdentity::of("acme-verifier-1", verifier.as_ref(), worker.as_ref());
        let answer = answer_by(&identity, &intake, &request, &report);
        let Some((model, runtime)) = expected else {
            assert_eq!(answer.unwrap_err().code(), "own_result_invalid", "{name}");
            continue;
        };
        let answer = answer.unwrap();
        let independence = answer.predicate.at(&["result", "independence"]).unwrap();
        assert_eq!(independence.get("independent_from_worker"), Some(&true.into()), "{name}");
        assert_eq!(independence.get("shared_model_family"), Some(&model.into()), "{name}");
        assert_eq!(independence.get("shared_runtime"), Some(&runtime.into()), "{name}");
        assert_eq!(text(independence, &["worker_id_observed"]), "worker-1");
    }
}

#[test]
fn a_bundle_that_is_not_the_evidences_own_is_refused() {
    let answer = folded(|_| {});
    let check = |bytes: &[u8], predicate: &Value| bundle::check(bytes, predicate).map_err(|error| error.code());
    let edited = |path: &str, text: &str| {
        let mut files = bundle::read(&answer.bundle.bytes).unwrap();
        files.insert(path.to_owned(), text.as_bytes().to_vec());
        let bytes = bundle::zip(&files).unwrap();
        let mut predicate = answer.predicate.clone();
        let Value::Object(members) = &mut predicate else { unreachable!() };
        members.insert("bundle_digest".into(), Digest::of(&bytes).into());
        (bytes, predicate)
    };
    assert_eq!(check(&bundle::zip(&Default::default()).unwrap(), &answer.predicate), Err("bundle_differs"));
    for path in ["checks/01.json", "plan.json"] {
        let (bytes, predicate) = edited(path, "{}");
        assert_eq!(check(&bytes, &predicate), Err("bundle_differs"), "{path}");
    }
    let mut files = bundle::read(&answer.bundle.bytes).unwrap();
    files.remove("checks/01.json");
    let bytes = bundle::zip(&files).unwrap();
    let mut predicate = answer.predicate.clone();
    let Value::Object(members) = &mut predicate else { unreachable!() };
    members.insert("bundle_digest".into(), Digest::of(&bytes).into());
    assert_eq!(check(&bytes, &predicate), Err("bundle_incomplete"));
}

#[test]
fn a_hidden_plan_shows_check_id_and_status_only() {
    let world = World::new(&[("a", "reproduction"), ("b", "test")]).with(&[("answer.json", "41")]);
    let plan = "hidden\n[[check]]\nid = \"a\"\nkind = \"artifact_integrity\"\n[[check]]\nid = \"b\"\nkind = \"required_json\"\nrequired = { treasure = 31337 }\n";
    let answer = world.answer(plan);
    assert_eq!(answer.verdict(), "rejects");
    let public = bundle::read(&answer.bundle.bytes).unwrap();
    bundle::check(&answer.bundle.bytes, &answer.predicate).unwrap();
    let everything = public.values().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect::<String>()
        + &String::from_utf8(answer.statement.clone()).unwrap();
    for word in ["treasure", "31337", "required JSON", "answer.json", "acme/plan"] {
        assert!(!everything.contains(word), "{word}");
    }
    assert_eq!(public["checks/02.json"], br#"{"check":"b","status":"failed"}"#);
    let sealed = answer.sealed.unwrap();
    assert_eq!(text(&answer.predicate, &["sealed_bundle_digest"]), sealed.digest.to_string());
    let sealed = bundle::read(&sealed.bytes).unwrap();
    assert_eq!(sealed["plan.json"], answer.plan);
    assert!(String::from_utf8_lossy(&sealed["checks/02.json"]).contains("answer.json"));
}

#[test]
fn upstreams_good_and_bad_candidates_get_their_verdicts() {
    let Some(unit) = quorum_schemas::upstream::read("idkmesh/examples/work-units/local-verifier-smoke.work-unit.json")
    else {
        return;
    };
    let plan = "[[check]]\nid = \"artifact-digest\"\nkind = \"artifact_integrity\"\n[[check]]\nid = \"candidate-scope\"\nkind = \"scope\"\nallowed_files = [\"candidate.json\"]\n[[check]]\nid = \"independent-acceptance\"\nkind = \"required_json\"\nrequired = { schema_version = \"0.1\", answer = 42, status = \"ready\" }\n";
    for (name, verdict) in [("good", "supports"), ("bad", "rejects")] {
        let read =
            |path: &str| quorum_schemas::upstream::read(&format!("idkmesh/examples/verifier/{name}/{path}")).unwrap();
        let intake = quorum_handoff::intake(&unit, &read("result-manifest.json"), None).unwrap();
        let world = World::new(&[]);
        std::fs::write(world.candidate().join("candidate.json"), read("candidate-root/candidate.json")).unwrap();
        let request = world.request(&intake, plan).unwrap();
        let report = world.report_of(&intake, plan);
        let answer = answer_of(&intake, &request, &report).unwrap();
        assert_eq!(answer.verdict(), verdict, "{name}: {report:?}");
        let failed: Vec<&str> = report
            .checks
            .iter()
            .filter(|check| check.status == CheckStatus::Failed)
            .map(|check| check.id.as_str())
            .collect();
        assert_eq!(failed, if name == "bad" { vec!["independent-acceptance"] } else { vec![] });
    }
}
