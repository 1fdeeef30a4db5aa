//! A small world: one work unit, one candidate directory, one handoff, and the child that checks it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_handoff::{C6Manifest, CandidateReference, Intake, WorkUnit, Worker, build_c6_manifest, intake_values};
use quorum_sandbox::Isolation;
use quorum_schemas::{Digest, Timestamp, Value};
use quorum_verifier::{
    Answer, Assembly, CheckOutcome, CheckReport, CheckRequest, PlanTemplate, SeatTry, VerifierError, VerifierIdentity,
    assemble, bundle, run_in_child,
};
use serde_json::{Value as Json, json};

/// The program that becomes the check child.
pub(crate) fn exe() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_quorum-check-child"))
}

pub(crate) fn work_unit(validators: &[(&str, &str)]) -> Json {
    let validators: Vec<Json> =
        validators.iter().map(|(id, kind)| json!({"id": id, "type": kind, "required": true})).collect();
    json!({
        "schema_version": "0.2", "id": "acme/answer", "version": 3, "kind": "coding", "objective": "Answer.",
        "inputs": [], "outputs": [{"id": "answer", "type": "file", "description": "The answer."}], "dependencies": [],
        "requirements": {"capabilities": [], "resources": {"cpu_cores_min": 0, "memory_mb_min": 0, "gpu": "none"}},
        "constraints": {"allowed_paths": ["src/", "answer.json"], "forbidden_paths": ["src/secret/"], "policies": []},
        "uncertainty": [],
        "security": {"risk_class": "low", "data_classification": "public", "minimum_worker_trust": "untrusted",
            "sandbox_required": false},
        "permissions": {"network": "none", "filesystem_write": ["**"], "secrets": [], "process_execution": false},
        "verification_policy": {"strategy": "all_required", "independent_from_worker": true,
            "minimum_independent_verifiers": 1},
        "validators": validators,
        "evidence_requirements": [{"type": "trace", "required": false}],
        "budget": {"project_spend_usd_max": 0, "paid_fallback_allowed": false},
        "provenance": {"created_by": "acme", "creator_type": "human", "source": "a test", "source_revision": "rev-1"},
        "failure_semantics": {"retryable": true, "max_attempts": 2, "on_failure": "stop"}
    })
}

/// A candidate directory, perhaps a baseline, and room for copies.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) unit: Json,
    pub(crate) isolation: Isolation,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) head_commit: Option<Vec<u8>>,
    pub(crate) pull_request: Option<String>,
    baseline: bool,
    artifact: Option<&'static str>,
}

impl World {
    pub(crate) fn new(validators: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for name in ["candidate", "scratch", "plan"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let unit = work_unit(validators);
        Self {
            dir,
            unit,
            isolation: Isolation::ProcessSandbox,
            hidden: Vec::new(),
            head_commit: None,
            pull_request: None,
            baseline: false,
            artifact: None,
        }
    }

    /// A candidate with these files.
    pub(crate) fn with(self, files: &[(&str, &str)]) -> Self {
        files.iter().for_each(|(path, text)| write(&self.candidate(), path, text));
        self
    }

    pub(crate) fn with_baseline(mut self, files: &[(&str, &str)]) -> Self {
        let root = self.dir.path().join("baseline");
        fs::create_dir(&root).unwrap();
        files.iter().for_each(|(path, text)| write(&root, path, text));
        self.baseline = true;
        self
    }

    /// The manifest names this one file instead of the directory.
    pub(crate) fn artifact(mut self, path: &'static str) -> Self {
        self.artifact = Some(path);
        self
    }

    pub(crate) fn candidate(&self) -> PathBuf {
        self.dir.path().join("candidate")
    }

    pub(crate) fn plan_dir(&self) -> PathBuf {
        self.dir.path().join("plan")
    }

    /// The handoff of the candidate as it is now.
    pub(crate) fn intake(&self) -> Intake {
        let manifest = match self.artifact {
            Some(path) => self.plain_manifest(path),
            None => self.c6_manifest(),
        };
        intake_values(self.unit.clone().into(), manifest, None).expect("the fixture is admissible")
    }

    fn c6_manifest(&self) -> Value {
        let unit = WorkUnit::from_value(self.unit.clone().into()).unwrap();
        let digest = bundle::zip_dir_digest(&self.candidate()).unwrap_or_else(|_| Digest::of(b"not a bundle"));
        let reference = match &self.pull_request {
            Some(head) => {
                CandidateReference::PullRequest { repository: "acme/answer".into(), number: 7, head_sha: head.clone() }
            }
            None => CandidateReference::Bundle { locator: "candidate".into(), digest, media_type: None },
        };
        let worker =
            Worker { id: "worker-1".into(), kind: "agent".into(), adapter: "shell".into(), adapter_version: None };
        let manifest = C6Manifest {
            id: "acme/answer/1".into(),
            work_unit: &unit,
            source_revision: "rev-1".into(),
            reference,
            worker,
            attempt: 1,
            status: "succeeded".into(),
            started_at: Timestamp::from_micros(0),
            finished_at: Timestamp::from_micros(1),
            tool_versions: Default::default(),
        };
        build_c6_manifest(&manifest).unwrap().value().clone()
    }

    fn plain_manifest(&self, path: &str) -> Value {
        let unit = Value::from(self.unit.clone());
        let bytes = fs::read(self.candidate().join(path)).unwrap_or_default();
        let ids: Vec<Json> = self.unit["validators"].as_array().unwrap().iter().map(|v| v["id"].clone()).collect();
        Value::from(json!({
            "schema_version": "0.1", "id": "acme/answer/1", "work_unit_id": "acme/answer", "work_unit_version": 3,
            "attempt": 1, "worker": {"id": "worker-1", "type": "agent", "adapter": "shell"}, "status": "succeeded",
            "started_at": "2026-01-31T12:00:00Z", "finished_at": "2026-01-31T12:00:01Z",
            "produced_artifacts":
                [{"id": "answer", "type": "file", "locator": path, "digest": Digest::of(&bytes).to_string()}],
            "logs": [], "metrics": {}, "resources": {"wall_seconds": 1.5},
            "self_report": {"summary": "Done.", "claims": []},
            "provenance": {"work_unit_digest": Digest::c1(&unit).to_string(), "source_revision": "rev-1", "environment": {}},
            "verification_request": {"expected_validator_ids": ids, "evidence_artifact_ids": ["answer"]}
        }))
    }

    pub(crate) fn request(&self, intake: &Intake, checks: &str) -> Result<CheckRequest, VerifierError> {
        let plan = template(checks)?.bind(&intake.handoff, &intake.work_unit, "0.1.0")?;
        Ok(CheckRequest {
            plan,
            handoff: intake.handoff.clone(),
            binding: intake.binding.clone(),
            work_unit: intake.work_unit.clone(),
            candidate_root: self.candidate(),
            baseline_root: self.baseline.then(|| self.dir.path().join("baseline")),
            scratch: self.dir.path().join("scratch"),
            plan_dir: Some(self.plan_dir()),
            isolation: self.isolation,
            hidden: self.hidden.clone(),
            exe: exe(),
            head_commit: self.head_commit.clone(),
            candidate_submodules: Vec::new(),
            baseline_submodules: Vec::new(),
        })
    }

    /// Runs a plan whose checks are given as TOML, in a real child.
    pub(crate) fn report(&self, checks: &str) -> CheckReport {
        self.report_of(&self.intake(), checks)
    }

    pub(crate) fn report_of(&self, intake: &Intake, checks: &str) -> CheckReport {
        let request = self.request(intake, checks).unwrap_or_else(|error| panic!("{error}"));
        run_in_child(&exe(), &request, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The outcome of the only check.
    pub(crate) fn outcome(&self, check: &str) -> CheckOutcome {
        let mut checks = self.report(check).checks;
        assert_eq!(checks.len(), 1);
        checks.remove(0)
    }

    pub(crate) fn answer(&self, checks: &str) -> Answer {
        let intake = self.intake();
        let request = self.request(&intake, checks).unwrap();
        let report = run_in_child(&exe(), &request, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
        answer_of(&intake, &request, &report).unwrap_or_else(|error| panic!("{error}"))
    }
}

pub(crate) fn answer_of(
    intake: &Intake,
    request: &CheckRequest,
    report: &CheckReport,
) -> Result<Answer, VerifierError> {
    answer_by(&VerifierIdentity::of("acme-verifier-1", None, None), intake, request, report)
}

pub(crate) fn answer_by(
    identity: &VerifierIdentity,
    intake: &Intake,
    request: &CheckRequest,
    report: &CheckReport,
) -> Result<Answer, VerifierError> {
    assemble(&Assembly {
        report,
        handoff: &intake.handoff,
        binding: &intake.binding,
        work_unit: &intake.work_unit,
        plan: &request.plan,
        identity,
        place: SeatTry::OFF_THE_MESH,
        started_at: Timestamp::from_micros(1_000_000),
        finished_at: Timestamp::from_micros(2_000_000),
    })
}

pub(crate) fn template(checks: &str) -> Result<PlanTemplate, VerifierError> {
    let head = "schema_version = \"0.1\"\nid = \"acme/plan\"\n";
    // A test may set the visibility in front of its checks.
    let (visibility, checks) = checks.strip_prefix("hidden\n").map_or(("public", checks), |rest| ("hidden", rest));
    let plan = format!("{head}visibility = \"{visibility}\"\n[verifier]\nid = \"acme-verifier-1\"\n{checks}");
    PlanTemplate::parse(plan.as_bytes())
}

pub(crate) fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
