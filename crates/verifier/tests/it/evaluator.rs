//! Imported EvaluatorPlans 0.1 to 0.4 on the shipped fixtures: the matrix, the rules E1 to E16, upstream's control errors.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_handoff::{Intake, ManifestBinding, intake_values};
use quorum_sandbox::Isolation;
use quorum_schemas::{Digest, Value, c1};
use quorum_verifier::{
    Answer, BoundPlan, CheckReport, CheckRequest, EvaluatorPlan, EvaluatorRule, EvaluatorVersion, LOCAL_VERIFIER,
    PlanFile, VerifierError, VerifierIdentity, bundle, run_in_child,
};
use serde_json::{Value as Json, json};

use crate::world::{World, answer_by, exe, template};

const US: &str = "acme-verifier-1";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/evaluator-plans")
}

fn read(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

/// One fixture, open to change.
struct Case {
    room: tempfile::TempDir,
    unit: Json,
    manifest: Json,
    plan: Json,
}

/// What a run gave.
struct Ran {
    report: CheckReport,
    answer: Answer,
}

impl Case {
    fn new(folder: &str, name: &str, plan: &str) -> Self {
        let from = examples().join(folder);
        let room = tempfile::tempdir().expect("a temporary directory");
        for name in ["candidate", "scratch"] {
            fs::create_dir(room.path().join(name)).unwrap();
        }
        for item in fs::read_dir(from.join(name).join("candidate")).unwrap() {
            let item = item.unwrap();
            fs::copy(item.path(), room.path().join("candidate").join(item.file_name())).unwrap();
        }
        Self {
            unit: read(&from.join("work-unit.json")),
            manifest: read(&from.join(name).join("result-manifest.json")),
            plan: read(&from.join(plan)),
            room,
        }
    }

    fn json() -> Self {
        Self::new("json", "good", "plan-v0.1.json")
    }

    fn patch(name: &str, plan: &str) -> Self {
        Self::new("patch", name, &format!("plan-{plan}.json"))
    }

    fn of(version: EvaluatorVersion) -> Self {
        match version {
            EvaluatorVersion::V01 => Self::json(),
            other => Self::patch("good", &format!("v{}", other.as_str())),
        }
    }

    fn candidate(&self) -> PathBuf {
        self.room.path().join("candidate")
    }

    /// Writes a file of the candidate.
    fn write(&self, name: &str, bytes: &str) {
        fs::write(self.candidate().join(name), bytes).unwrap();
    }

    /// The artifact's digest as the manifest declares it becomes the one of these bytes.
    fn hand_in(&mut self, name: &str, bytes: &str) {
        self.write(name, bytes);
        self.manifest["produced_artifacts"][0]["digest"] = Digest::of(bytes.as_bytes()).to_string().into();
    }

    /// Manifest and plan speak of the work unit as it is now.
    fn rebind(&mut self) {
        let digest = Digest::c1(&self.unit.clone().into()).to_string();
        self.manifest["provenance"]["work_unit_digest"] = digest.as_str().into();
        self.plan["binding"]["work_unit_digest"] = digest.as_str().into();
    }

    fn intake(&self) -> Intake {
        intake_values(self.unit.clone().into(), self.manifest.clone().into(), None)
            .unwrap_or_else(|errors| panic!("the fixture is admissible: {errors:?}"))
    }

    fn plan_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(&self.plan).unwrap()
    }

    fn request(&self) -> Result<(Intake, CheckRequest), VerifierError> {
        let intake = self.intake();
        let file = PlanFile::parse(&self.plan_bytes())?.run_by(US);
        let plan = file.for_handoff(&intake.handoff, &intake.work_unit, "0.1.0")?.observing(&intake.manifest);
        let request = CheckRequest {
            plan,
            handoff: intake.handoff.clone(),
            binding: intake.binding.clone(),
            work_unit: intake.work_unit.clone(),
            candidate_root: self.candidate(),
            baseline_root: None,
            scratch: self.room.path().join("scratch"),
            plan_dir: None,
            isolation: Isolation::ProcessSandbox,
            hidden: Vec::new(),
            exe: exe(),
            head_commit: None,
            candidate_submodules: Vec::new(),
            baseline_submodules: Vec::new(),
        };
        Ok((intake, request))
    }

    fn run(&self) -> Result<Ran, VerifierError> {
        let (intake, request) = self.request()?;
        let report = run_in_child(&exe(), &request, Duration::from_secs(60))?;
        let answer = answer_by(&VerifierIdentity::of(US, None, None), &intake, &request, &report)?;
        Ok(Ran { report, answer })
    }

    #[track_caller]
    fn ran(&self) -> Ran {
        self.run().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Ran {
    /// The categories of everything that was found.
    fn categories(&self) -> Vec<&str> {
        let found: BTreeSet<&str> =
            self.report.checks.iter().flat_map(|check| &check.findings).map(|found| found.category.as_str()).collect();
        found.into_iter().collect()
    }

    fn result(&self) -> &Value {
        self.answer.predicate.get("result").unwrap()
    }
}

#[test]
fn the_documented_matrix() {
    for (name, plan, verdict, categories) in [
        ("good", "v0.2", "supports", vec![]),
        ("wrong-semantic", "v0.2", "rejects", vec!["correctness"]),
        ("forbidden", "v0.2", "rejects", vec!["scope"]),
        ("forged-digest", "v0.2", "rejects", vec!["provenance"]),
        // The correct replacement, under the three meanings.
        ("good", "v0.2-fragment", "rejects", vec!["correctness"]),
        ("good", "v0.3", "supports", vec![]),
        ("good", "v0.4", "supports", vec![]),
        // Inert text that only looks like the change.
        ("decoy", "v0.2", "rejects", vec!["correctness"]),
        ("decoy", "v0.3", "supports", vec![]),
        ("decoy", "v0.4", "rejects", vec!["correctness"]),
        ("wrong-semantic", "v0.3", "rejects", vec!["correctness"]),
        ("wrong-semantic", "v0.4", "rejects", vec!["correctness"]),
        ("forbidden", "v0.3", "rejects", vec!["scope"]),
        ("forbidden", "v0.4", "rejects", vec!["scope"]),
        ("forged-digest", "v0.3", "rejects", vec!["provenance"]),
        ("forged-digest", "v0.4", "rejects", vec!["provenance"]),
    ] {
        let ran = Case::patch(name, plan).ran();
        assert_eq!((ran.answer.verdict(), ran.categories()), (verdict, categories), "{name} under {plan}");
        assert_eq!(ran.report.check("result-manifest-schema").unwrap().status.as_str(), "passed", "{name}");
    }
    for (name, verdict, failed) in [
        ("good", "supports", vec![]),
        ("python-equal", "supports", vec![]),
        ("wrong", "rejects", vec!["independent-acceptance"]),
    ] {
        let ran = Case::new("json", name, "plan-v0.1.json").ran();
        let found: Vec<&str> =
            ran.report.checks.iter().filter(|c| c.status.as_str() == "failed").map(|c| c.id.as_str()).collect();
        assert_eq!((ran.answer.verdict(), found), (verdict, failed), "{name}");
    }
}

#[test]
fn binding_drift_fails_closed() {
    for version in EvaluatorVersion::ALL {
        let mut case = Case::of(version);
        case.plan["binding"]["work_unit_digest"] = format!("sha256:{}", "0".repeat(64)).into();
        assert_eq!(case.run().err().map(|error| error.code()), Some("idk_e04"), "{version:?}");
    }
}

#[test]
fn a_line_is_complete_a_substring_is_contiguous_and_case_matters() {
    let (line, added, removed) = (
        ["required_added_text"],
        ["required_added_substrings"],
        ["required_added_substrings", "required_removed_substrings"],
    );
    let whole = "retries = 3  # with a pause between them";
    for (plan, fields, values, verdict) in [
        ("v0.2", &line[..], vec![whole], "supports"),
        ("v0.2", &line[..], vec!["retries = 3"], "rejects"),
        ("v0.2", &line[..], vec![" retries = 3  # with a pause between them"], "rejects"),
        ("v0.2", &line[..], vec!["+retries = 3  # with a pause between them"], "rejects"),
        ("v0.2", &line[..], vec!["[client]"], "rejects"),
        ("v0.3", &added[..], vec![whole], "supports"),
        ("v0.3", &added[..], vec!["retries = 3"], "supports"),
        ("v0.3", &added[..], vec!["RETRIES = 3"], "rejects"),
        ("v0.3", &added[..], vec!["retries.*3"], "rejects"),
        ("v0.3", &added[..], vec!["retries  # with"], "rejects"),
        ("v0.3", &added[..], vec!["retries = 0"], "rejects"),
        ("v0.3", &added[..], vec!["timeout"], "rejects"),
        ("v0.4", &removed[..], vec!["retries = 3", "never try"], "supports"),
        ("v0.4", &removed[..], vec!["retries = 3", "Never try"], "rejects"),
        ("v0.4", &removed[..], vec!["retries = 3", "with a pause"], "rejects"),
        ("v0.4", &removed[..], vec!["never try", "never try"], "rejects"),
        ("v0.4", &removed[..], vec!["retries", "retries"], "supports"),
    ] {
        let mut case = Case::patch("good", plan);
        for (field, value) in fields.iter().zip(&values) {
            case.plan["backend"][*field] = json!([value]);
        }
        assert_eq!(case.ran().answer.verdict(), verdict, "{plan}: {values:?}");
    }
}

#[test]
fn every_required_text_must_be_there_and_each_in_one_line() {
    let mut case = Case::patch("good", "v0.3");
    case.plan["backend"]["required_added_substrings"] = json!(["retries", "pause", "absent"]);
    let ran = case.ran();
    assert_eq!(ran.answer.verdict(), "rejects");
    let summary = &ran.report.check("independent-review").unwrap().summary;
    assert!(summary.contains("1 of 3"), "{summary}");
}

type Change = fn(&mut Case);

#[test]
fn logs_sizes_status_and_form_are_judged() {
    let table: [(&str, Change, &str, &[&str]); 14] = [
        ("a log with another digest", |case| case.write("stdout.txt", "other\n"), "rejects", &["provenance"]),
        (
            "a log without a digest",
            |case| drop(case.manifest["logs"][0].as_object_mut().unwrap().remove("digest")),
            "rejects",
            &["provenance"],
        ),
        (
            "a required type missing",
            |case| drop(case.manifest["logs"].as_array_mut().unwrap().remove(1)),
            "rejects",
            &["provenance"],
        ),
        ("no log at all", |case| case.manifest["logs"] = json!([]), "rejects", &["provenance"]),
        ("a log that is too large", |case| case.plan["backend"]["max_log_bytes"] = json!(3), "rejects", &["policy"]),
        (
            "a patch that is too large",
            |case| case.plan["backend"]["max_candidate_bytes"] = json!(10),
            "rejects",
            &["policy"],
        ),
        (
            "a patch of exactly that size",
            |case| {
                let bytes = fs::metadata(case.candidate().join("changes.patch")).unwrap().len();
                case.plan["backend"]["max_candidate_bytes"] = json!(bytes);
            },
            "supports",
            &[],
        ),
        ("a worker that failed", |case| case.manifest["status"] = json!("failed"), "rejects", &["policy"]),
        ("a worker that timed out", |case| case.manifest["status"] = json!("timeout"), "rejects", &["policy"]),
        ("an empty patch", |case| case.hand_in("changes.patch", ""), "rejects", &["correctness"]),
        (
            "a count that lies",
            |case| {
                let text = fs::read_to_string(case.candidate().join("changes.patch")).unwrap();
                case.hand_in("changes.patch", &text.replace("@@ -1,3 +1,3 @@", "@@ -1,3 +1,4 @@"));
            },
            "rejects",
            &["correctness"],
        ),
        (
            "a climbing path",
            |case| {
                let text = fs::read_to_string(case.candidate().join("changes.patch")).unwrap();
                case.hand_in("changes.patch", &text.replace("/client.toml", "/../client.toml"));
            },
            "rejects",
            &["scope"],
        ),
        (
            "another file",
            |case| {
                let text = fs::read_to_string(case.candidate().join("changes.patch")).unwrap();
                case.hand_in("changes.patch", &text.replace("client.toml", "server.toml"));
            },
            "rejects",
            &["scope"],
        ),
        (
            "a further log of another type",
            |case| {
                case.write("trace.txt", "x");
                let digest = Digest::of(b"x").to_string();
                case.manifest["logs"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({"type": "trace", "locator": "trace.txt", "digest": digest}));
            },
            "supports",
            &[],
        ),
    ];
    for (name, change, verdict, categories) in table {
        for plan in ["v0.2", "v0.3", "v0.4"] {
            let mut case = Case::patch("good", plan);
            change(&mut case);
            let ran = case.ran();
            assert_eq!((ran.answer.verdict(), ran.categories()), (verdict, categories.to_vec()), "{name}, {plan}");
        }
    }
}

/// Scope is allowed_paths AND filesystem_write AND NOT forbidden_paths, on every path that the diff names.
#[test]
fn a_patch_stays_where_the_work_unit_lets_it() {
    let moved = "diff --git a/client.toml b/x.toml\nsimilarity index 100%\nrename from client.toml\nrename to x.toml\n";
    for (name, allowed, write, forbidden, extra, verdict) in [
        ("all three agree", json!(["client.toml"]), json!(["**"]), json!([]), "", "supports"),
        ("not allowed", json!(["server.toml"]), json!(["**"]), json!([]), "", "rejects"),
        ("not writable", json!(["**"]), json!(["server.toml"]), json!([]), "", "rejects"),
        ("forbidden", json!(["**"]), json!(["**"]), json!(["client.toml"]), "", "rejects"),
        (
            "a mode",
            json!(["client.toml"]),
            json!(["**"]),
            json!([]),
            "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n",
            "rejects",
        ),
        (
            "a mode in scope",
            json!(["client.toml", "run"]),
            json!(["**"]),
            json!([]),
            "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n",
            "supports",
        ),
        (
            "a rename out",
            json!(["client.toml"]),
            json!(["**"]),
            json!([]),
            "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
            "rejects",
        ),
        (
            "the source of a rename",
            json!(["client.toml", "b"]),
            json!(["**"]),
            json!([]),
            "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
            "rejects",
        ),
        ("a file twice", json!(["**"]), json!(["**"]), json!([]), moved, "rejects"),
        (
            "a quoted path",
            json!(["client.toml"]),
            json!(["**"]),
            json!([]),
            "diff --git \"a/\\303\\244\" \"b/\\303\\244\"\nold mode 100644\nnew mode 100755\n",
            "rejects",
        ),
        (
            "a quoted path in scope",
            json!(["client.toml", "ä"]),
            json!(["**"]),
            json!([]),
            "diff --git \"a/\\303\\244\" \"b/\\303\\244\"\nold mode 100644\nnew mode 100755\n",
            "supports",
        ),
    ] {
        let mut case = Case::patch("good", "v0.4");
        case.unit["constraints"]["allowed_paths"] = allowed;
        case.unit["constraints"]["forbidden_paths"] = forbidden;
        case.unit["permissions"]["filesystem_write"] = write;
        case.rebind();
        let text = fs::read_to_string(case.candidate().join("changes.patch")).unwrap();
        case.hand_in("changes.patch", &format!("{text}{extra}"));
        assert_eq!(case.ran().answer.verdict(), verdict, "{name}");
    }
}

#[test]
fn json_without_one_meaning_is_wrong_and_a_file_list_is_exact() {
    for (name, text, verdict) in [
        ("another order", "{\"ready\": true, \"answer\": 42}", "supports"),
        ("the same key twice", "{\"answer\": 41, \"answer\": 42, \"ready\": true}", "rejects"),
        ("not JSON", "answer = 42", "rejects"),
        ("too large", &format!("{{\"answer\": 42, \"ready\": true}}{}", " ".repeat(1024)), "rejects"),
        ("a number as text", "{\"answer\": \"42\", \"ready\": true}", "rejects"),
        ("a member more", "{\"answer\": 42, \"ready\": true, \"x\": null}", "rejects"),
    ] {
        let mut case = Case::json();
        case.hand_in("answer.json", text);
        let ran = case.ran();
        assert_eq!(ran.answer.verdict(), verdict, "{name}");
        assert!(ran.categories().iter().all(|category| *category == "correctness"), "{name}");
    }
    let case = Case::json();
    case.write("notes.txt", "x");
    let ran = case.ran();
    assert_eq!((ran.answer.verdict(), ran.categories()), ("rejects", vec!["scope"]), "a file more");
    let mut case = Case::json();
    case.write("notes.txt", "x");
    case.plan["allowed_files"] = json!(["notes.txt", "answer.json"]);
    assert_eq!(case.ran().answer.verdict(), "supports", "upstream lists whatever it wants beside the artifact");
    let mut case = Case::json();
    case.plan["allowed_files"] = json!(["answer.json", "notes.txt"]);
    assert_eq!(case.ran().answer.verdict(), "rejects", "a file fewer");
}

/// Upstream's control errors (reference 3.9): no verdict about the candidate, whatever else holds.
#[test]
fn control_errors_of_the_local_verifier_give_no_verdict() {
    let table: [(&str, Change); 8] = [
        ("an absolute locator", |case| case.manifest["produced_artifacts"][0]["locator"] = json!("/etc/passwd")),
        ("a climbing locator", |case| case.manifest["produced_artifacts"][0]["locator"] = json!("../scratch/x")),
        ("a locator through a symlink", |case| {
            symlink("/etc", case.candidate().join("etc")).unwrap();
            case.manifest["produced_artifacts"][0]["locator"] = json!("etc/passwd");
        }),
        ("a missing candidate", |case| {
            let name = case.manifest["produced_artifacts"][0]["locator"].as_str().unwrap().to_owned();
            fs::remove_file(case.candidate().join(name)).unwrap();
        }),
        ("a directory for the candidate", |case| {
            let name = case.manifest["produced_artifacts"][0]["locator"].as_str().unwrap().to_owned();
            fs::remove_file(case.candidate().join(&name)).unwrap();
            fs::create_dir(case.candidate().join(name)).unwrap();
        }),
        ("the candidate as a symlink", |case| {
            let name = case.manifest["produced_artifacts"][0]["locator"].as_str().unwrap().to_owned();
            let path = case.candidate().join(name);
            fs::rename(&path, case.room.path().join("elsewhere")).unwrap();
            symlink(case.room.path().join("elsewhere"), path).unwrap();
        }),
        ("a symlink anywhere", |case| {
            fs::create_dir(case.candidate().join("deep")).unwrap();
            symlink("nowhere", case.candidate().join("deep/link")).unwrap();
        }),
        ("a symlinked directory", |case| symlink(".", case.candidate().join("loop")).unwrap()),
    ];
    for (name, change) in table {
        for version in EvaluatorVersion::ALL {
            let mut case = Case::of(version);
            change(&mut case);
            let ran = case.ran();
            // A missing file is also a file list that differs, which is a verdict of its own check.
            let listed = version == EvaluatorVersion::V01 && ran.categories() == ["scope"];
            assert!(ran.answer.verdict() == "absent" || listed, "{name}, {version:?}: {}", ran.answer.verdict());
            assert!(ran.report.checks.iter().any(|check| check.status.as_str() == "error"), "{name}, {version:?}");
        }
    }
    for (name, locator) in [("absolute", "/etc/hostname"), ("climbing", "../x"), ("missing", "absent.txt")] {
        let mut case = Case::patch("good", "v0.2");
        case.manifest["logs"][0]["locator"] = json!(locator);
        assert_eq!(case.ran().answer.verdict(), "absent", "a log whose locator is {name}");
    }
}

/// Without the manifest, as on the mesh, nothing is guessed.
#[test]
fn without_the_manifest_the_patch_review_gives_no_verdict() {
    let case = Case::patch("good", "v0.4");
    let (_, mut request) = case.request().unwrap();
    let file = PlanFile::parse(&case.plan_bytes()).unwrap().run_by(US);
    request.plan = file.for_handoff(&request.handoff, &request.work_unit, "0.1.0").unwrap();
    let report = run_in_child(&exe(), &request, Duration::from_secs(60)).unwrap();
    assert_eq!(report.check("independent-review").unwrap().status.as_str(), "error");
}

#[test]
fn the_evidence_says_what_was_run_and_what_was_read() {
    for version in EvaluatorVersion::ALL {
        let case = Case::of(version);
        let ran = case.ran();
        let digest = Digest::c1(&case.plan.clone().into());
        let (result, predicate) = (ran.result(), &ran.answer.predicate);
        assert_eq!(result.at(&["provenance", "verifier_config_digest"]), Some(&digest.into()));
        assert_eq!(predicate.get("plan_digest"), Some(&digest.into()));
        assert_eq!(predicate.get("read_worker_status"), Some(&(version != EvaluatorVersion::V01).into()));
        let plan = bundle::read(&ran.answer.bundle.bytes).unwrap().remove("plan.json").unwrap();
        assert_eq!(plan, c1(&case.plan.clone().into()), "the plan is upstream's document");
        let verifier = json!({"id": US, "type": "system", "adapter": "quorum", "adapter_version": "0.1.0"});
        assert_eq!(result.get("verifier"), Some(&verifier.into()));
        let claims = String::from_utf8_lossy(&ran.answer.statement).contains("idkmesh-local-verifier");
        assert!(!claims, "nothing pretends to be upstream's verifier");
        let extension = |name: &str| {
            let key = format!("org.idkmesh.evaluator_plan.{name}");
            result.at(&["extensions", &key]).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        assert_eq!(extension("id"), case.plan["id"].as_str().unwrap());
        assert_eq!(extension("digest"), digest.to_string());
        assert_eq!(extension("visibility"), "public");
        assert_eq!(extension("execution_mode"), "metadata_only");
        assert_eq!(extension("runner_version"), "quorum 0.1.0");
        let (backend, contract) = match version {
            EvaluatorVersion::V01 => ("json_exact", "json_equal_as_python_compares"),
            EvaluatorVersion::V02 => ("unified_diff", "complete_added_line"),
            EvaluatorVersion::V03 => ("unified_diff", "substring_in_validated_added_line"),
            EvaluatorVersion::V04 => ("unified_diff", "added_and_removed_line_substring_all"),
        };
        assert_eq!((extension("backend").as_str(), extension("semantic_contract").as_str()), (backend, contract));
    }
}

#[test]
fn a_hidden_plan_shows_status_and_nothing_else() {
    let mut case = Case::patch("decoy", "v0.4");
    case.plan["visibility"] = json!("hidden");
    let ran = case.ran();
    assert!(ran.answer.sealed.is_some());
    let statement = String::from_utf8_lossy(&ran.answer.statement).into_owned();
    assert!(!statement.contains("retries"), "{statement}");
}

/// Law of blinding: what the worker says about itself reaches no plan of ours, and of the imported ones only those that
/// judge it.
#[test]
fn a_worker_s_words_have_no_way_into_another_plan() {
    const WORDS: &str = "WORDS-OF-THE-WORKER";
    let mut case = Case::json();
    case.manifest["logs"] = json!([{"type": "stdout", "locator": WORDS}]);
    case.manifest["self_report"]["summary"] = json!(WORDS);
    case.manifest["extensions"] = json!({"x": WORDS});
    let (intake, request) = case.request().unwrap();
    let told = |plan: BoundPlan| {
        let request = CheckRequest { plan, ..request.clone() };
        String::from_utf8(request.to_bytes()).unwrap().contains(WORDS)
    };
    assert!(!told(request.plan.clone()), "0.1 judges bytes alone");
    let checks: String = intake
        .handoff
        .required_validator_ids()
        .iter()
        .map(|id| format!("[[check]]\nid = \"{id}\"\nkind = \"command\"\nargv = [\"true\"]\n"))
        .collect();
    let ours = template(&checks).unwrap().bind(&intake.handoff, &intake.work_unit, "0.1.0").unwrap();
    assert!(!told(ours.clone().observing(&intake.manifest)), "a plan of ours has no place for them");
    assert_eq!(ours.clone().observing(&intake.manifest), ours);
    let mut patch = Case::patch("good", "v0.4");
    patch.manifest["logs"][0]["locator"] = json!(WORDS);
    patch.manifest["self_report"]["summary"] = json!("SELF-REPORT");
    let (_, request) = patch.request().unwrap();
    let bytes = String::from_utf8(request.to_bytes()).unwrap();
    assert!(bytes.contains(WORDS) && !bytes.contains("SELF-REPORT"), "0.4 judges logs, and never the self-report");
    assert!(!request.plan.starts_programs());
}

// ---------------------------------------------------------------------------------------------- the rules by number

/// Refusals that the library makes when it reads the plan or holds it against the documents.
fn refusals() -> Vec<(EvaluatorRule, &'static str, EvaluatorVersion, Change)> {
    use EvaluatorRule::*;
    use EvaluatorVersion::*;
    vec![
        (E1, "an unknown version", V01, |case| case.plan["schema_version"] = json!("0.5")),
        (E1, "a version that is a number", V02, |case| case.plan["schema_version"] = json!(0.2)),
        (E1, "an unknown key", V03, |case| case.plan["surprise"] = json!(1)),
        (E1, "a missing member", V04, |case| drop(case.plan.as_object_mut().unwrap().remove("policy"))),
        (E1, "an execution mode that executes", V04, |case| case.plan["execution_mode"] = json!("execute")),
        (E1, "a promise not given", V02, |case| {
            case.plan["policy"]["require_plan_outside_candidate_root"] = json!(false)
        }),
        (E1, "a size of nothing", V02, |case| case.plan["backend"]["max_log_bytes"] = json!(0)),
        (E1, "an allowed file that climbs", V01, |case| case.plan["allowed_files"] = json!(["../answer.json"])),
        (E1, "an id with a newline", V03, |case| case.plan["id"] = json!("examples/plan\n")),
        (E2, "another work unit", V01, |case| case.plan["binding"]["work_unit_id"] = json!("examples/other")),
        (E3, "another version", V02, |case| case.plan["binding"]["work_unit_version"] = json!(2)),
        (E4, "another digest", V03, |case| {
            case.plan["binding"]["work_unit_digest"] = json!(format!("sha256:{}", "0".repeat(64)))
        }),
        (E4, "a work unit that changed", V04, |case| {
            case.unit["objective"] = json!("Have the client give up.");
            let digest = case.plan["binding"]["work_unit_digest"].clone();
            case.rebind();
            case.plan["binding"]["work_unit_digest"] = digest;
        }),
        (E6, "another revision than the manifest's", V01, |case| {
            case.unit["provenance"].as_object_mut().unwrap().remove("source_revision");
            case.rebind();
            case.plan["binding"]["source_revision"] = json!("examples-2");
        }),
        (E6, "another revision in other letters", V04, |case| {
            case.plan["binding"]["source_revision"] = json!("EXAMPLES-1")
        }),
        (E7, "a validator missing", V01, |case| {
            case.plan["required_validator_ids"] = json!(["artifact-digest", "candidate-scope"])
        }),
        (E7, "a validator too many", V02, |case| {
            case.plan["required_validator_ids"] = json!(["result-manifest-schema", "independent-review", "tests"]);
        }),
        (E8, "validators of another backend", V03, |case| {
            for validator in case.unit["validators"].as_array_mut().unwrap() {
                validator["id"] = json!(format!("{}-too", validator["id"].as_str().unwrap()));
            }
            let ids = json!(["result-manifest-schema-too", "independent-review-too"]);
            case.plan["required_validator_ids"] = ids.clone();
            case.manifest["verification_request"]["expected_validator_ids"] = ids;
            case.rebind();
        }),
        (E8, "a validator more than the backend has", V01, |case| {
            case.unit["validators"]
                .as_array_mut()
                .unwrap()
                .push(json!({"id": "tests", "type": "test", "required": true}));
            let ids = json!(["artifact-digest", "candidate-scope", "independent-acceptance", "tests"]);
            case.plan["required_validator_ids"] = ids.clone();
            case.manifest["verification_request"]["expected_validator_ids"] = ids;
            case.rebind();
        }),
        (E10, "the worker is called as we are", V02, |case| case.manifest["worker"]["id"] = json!(US)),
        (E10, "the worker is called as upstream's verifier", V01, |case| {
            case.manifest["worker"]["id"] = json!("idkmesh-local-verifier");
        }),
        (E13, "our own name", V01, |case| case.plan["verifier"]["id"] = json!(US)),
        (E13, "the adapter of 0.2 in 0.3", V03, |case| case.plan["verifier"]["adapter_version"] = json!("0.1.1")),
        (E13, "the adapter of 0.1 in 0.4", V04, |case| {
            case.plan["verifier"]["adapter"] = json!("deterministic-json-verifier")
        }),
        (E16, "the text of 0.2 in 0.3", V03, |case| case.plan["backend"]["required_added_text"] = json!(["x"])),
        (E16, "the text of 0.2 in 0.4", V04, |case| case.plan["backend"]["required_added_text"] = json!(["x"])),
        (E16, "a text over lines", V03, |case| case.plan["backend"]["required_added_substrings"] = json!(["a\nb"])),
        (E16, "a text with a carriage return", V04, |case| {
            case.plan["backend"]["required_removed_substrings"] = json!(["a\r"])
        }),
        (E16, "a text twice", V03, |case| case.plan["backend"]["required_added_substrings"] = json!(["a", "a"])),
        (E16, "a removed text twice", V04, |case| {
            case.plan["backend"]["required_removed_substrings"] = json!(["a", "a"])
        }),
    ]
}

#[track_caller]
fn refused(rule: EvaluatorRule) {
    let cases: Vec<_> = refusals().into_iter().filter(|case| case.0 == rule).collect();
    assert!(!cases.is_empty(), "{rule}");
    for (_, name, version, change) in cases {
        let mut case = Case::of(version);
        change(&mut case);
        match case.run() {
            Err(VerifierError::EvaluatorPlan { rule: found, message }) => {
                assert_eq!(found, rule, "{name}: {message}");
                let error = VerifierError::EvaluatorPlan { rule: found, message };
                assert!(error.is_control_file() && error.to_string().starts_with(rule.code()), "{name}: {error}");
            }
            Err(other) => panic!("{name}: {other}"),
            Ok(ran) => panic!("{name}: {}", ran.answer.verdict()),
        }
    }
}

#[test]
fn e01_a_version_or_form_that_is_none() {
    refused(EvaluatorRule::E1);
}

#[test]
fn e02_a_plan_for_another_work_unit() {
    refused(EvaluatorRule::E2);
}

#[test]
fn e03_a_plan_for_another_version() {
    refused(EvaluatorRule::E3);
}

#[test]
fn e04_a_plan_for_other_content() {
    refused(EvaluatorRule::E4);
}

/// The derivation holds manifest and work unit to one revision (H14), so the handoff's is seen first (E6); a handoff that
/// does not come from this work unit shows E5.
#[test]
fn e05_a_revision_that_the_work_unit_does_not_declare() {
    for version in EvaluatorVersion::ALL {
        let case = Case::of(version);
        let (_, mut request) = case.request().unwrap();
        let mut other = Case::of(version);
        other.unit["provenance"]["source_revision"] = json!("examples-2");
        other.manifest["provenance"]["source_revision"] = json!("examples-2");
        other.rebind();
        request.work_unit = other.intake().work_unit;
        let error = run_in_child(&exe(), &request, Duration::from_secs(60)).unwrap_err();
        assert_eq!(error.code(), "idk_e05", "{version:?}: {error}");
    }
}

#[test]
fn e06_a_revision_that_the_manifest_does_not_declare() {
    refused(EvaluatorRule::E6);
}

#[test]
fn e07_validators_that_are_not_the_required_ones() {
    refused(EvaluatorRule::E7);
}

#[test]
fn e08_validators_that_the_backend_does_not_implement() {
    refused(EvaluatorRule::E8);
}

/// Such a manifest has no handoff (H25); a binding of another manifest is still seen.
#[test]
fn e09_a_manifest_that_requests_too_little() {
    let mut case = Case::patch("good", "v0.4");
    case.manifest["verification_request"]["expected_validator_ids"] = json!(["independent-review"]);
    let errors = intake_values(case.unit.clone().into(), case.manifest.clone().into(), None).unwrap_err();
    assert_eq!(errors[0].code(), "idk_h25");
    for version in EvaluatorVersion::ALL {
        let (intake, mut request) = Case::of(version).request().unwrap();
        let mut binding = intake.binding.to_value().to_serde();
        binding["requested_validator_ids"].as_array_mut().unwrap().pop();
        request.binding = ManifestBinding::parse(&binding.into()).unwrap();
        let error = run_in_child(&exe(), &request, Duration::from_secs(60)).unwrap_err();
        assert_eq!(error.code(), "idk_e09", "{version:?}: {error}");
    }
}

#[test]
fn e10_a_worker_that_verifies_itself() {
    refused(EvaluatorRule::E10);
}

#[test]
fn e13_an_adapter_of_another_meaning() {
    refused(EvaluatorRule::E13);
}

#[test]
fn e14_a_result_with_other_checks_is_never_signed() {
    type Edit = fn(&mut CheckReport);
    let edits: [(&str, Edit); 3] = [
        ("a check less", |report| drop(report.checks.pop())),
        ("a check more", |report| {
            let mut more = report.checks[0].clone();
            more.id = "tests".into();
            more.files[0].path = "checks/09.json".into();
            report.checks.push(more);
        }),
        ("another check", |report| report.checks[0].id = "tests".into()),
    ];
    for version in EvaluatorVersion::ALL {
        for (name, edit) in edits {
            let case = Case::of(version);
            let (intake, request) = case.request().unwrap();
            let mut report = case.ran().report;
            edit(&mut report);
            let identity = VerifierIdentity::of(US, None, None);
            let error = answer_by(&identity, &intake, &request, &report).unwrap_err();
            assert_eq!(error.code(), "idk_e14", "{name}, {version:?}: {error}");
            assert!(!error.is_control_file());
        }
    }
}

#[test]
fn e16_substrings_that_repeat_or_span_lines() {
    refused(EvaluatorRule::E16);
}

/// Every number has its test, here or, where files are opened, in the tests of the command line.
#[test]
fn every_rule_has_its_test() {
    let here = include_str!("evaluator.rs");
    let there = include_str!("../../../cli/tests/it/evaluator_plans.rs");
    for (index, rule) in EvaluatorRule::ALL.into_iter().enumerate() {
        let number = format!("{:02}", index + 1);
        assert_eq!(rule.code(), format!("idk_e{number}"));
        let name = format!("\nfn e{number}_");
        let found = (here.contains(&name), there.contains(&name));
        let opens_files = [EvaluatorRule::E11, EvaluatorRule::E12, EvaluatorRule::E15].contains(&rule);
        assert_eq!(found, (!opens_files, opens_files), "{rule}");
    }
}

#[test]
fn a_plan_of_ours_and_one_of_upstream_s_are_told_apart() {
    let case = Case::patch("good", "v0.4");
    let file = PlanFile::parse(&case.plan_bytes()).unwrap();
    assert_eq!((file.verifier_id(), file.reads_worker_status()), (LOCAL_VERIFIER, true));
    assert_eq!(file.run_by("other").verifier_id(), "other");
    assert_eq!(EvaluatorPlan::parse(&case.plan_bytes()).unwrap().version(), EvaluatorVersion::V04);
    let ours = World::new(&[("a", "reproduction")]).with(&[("a", "1")]);
    let check = "[[check]]\nid = \"a\"\nkind = \"artifact_integrity\"\n";
    let plan = ours.request(&ours.intake(), check).unwrap().plan;
    let file = PlanFile::parse(&plan.bytes()).unwrap().run_by("somebody-else");
    assert_eq!((file.verifier_id(), file.reads_worker_status()), (US, false), "a plan of ours names its verifier");
    assert!(plan.evaluator().is_none());
    let unreadable = PlanFile::parse(b"{\"execution_mode\": \"metadata_only\"").unwrap_err();
    assert_eq!(unreadable.code(), "plan_syntax");
}

/// The fixtures speak of each other as they stand on disk.
#[test]
fn the_shipped_fixtures_are_consistent() {
    let mut plans = BTreeMap::new();
    for folder in ["json", "patch"] {
        let unit = read(&examples().join(folder).join("work-unit.json"));
        let digest = Digest::c1(&unit.into()).to_string();
        for item in fs::read_dir(examples().join(folder)).unwrap() {
            let path = item.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("plan-") {
                assert_eq!(read(&path)["binding"]["work_unit_digest"], digest.as_str(), "{name}");
                plans.insert(name, EvaluatorPlan::parse(&fs::read(&path).unwrap()).unwrap().version());
            }
        }
    }
    assert_eq!(plans.values().copied().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(), EvaluatorVersion::ALL);
}
