//! One mesh: server, keys, trust root, policy, a coordinator in this process, and verifiers to be played by the test.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use quorum_attest::{
    Entry, Envelope, PAYLOAD_TYPE, PredicateType, Revocation, Role, SigningKey, Statement, Subject, TrustDraft,
    TrustRoot, sign,
};
use quorum_coordinator::{Config, CoordinatorError, run};
use quorum_handoff::{
    C6Manifest, CandidateReference, Handoff, Manifest, ManifestBinding, WorkUnit, Worker, build_c6_manifest,
};
use quorum_mesh::{
    AuditRecord, BlobRole, Delivery, LeaseOp, LeaseReply, LeaseRequest, Mesh, MeshUser, Offer, Place, StreamName,
    UserRole,
};
use quorum_policies::{Decision, Verdict, verdict};
use quorum_schemas::{C1Digest, Digest, Timestamp, Value};
use quorum_testkit::{NatsServer, find_nats_server};
use quorum_verifier::{Assembly, CheckRequest, PlanTemplate, SeatTry, VerifierIdentity, assemble, bundle, run_checks};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const WORKER: &str = "worker-1";
pub(crate) const VERIFIERS: [&str; 4] = ["verifier-a", "verifier-b", "verifier-c", "verifier-d"];
pub(crate) const WORK: &str = "verification/local-smoke";
pub(crate) const GOOD: &[u8] = br#"{"answer":42,"schema_version":"0.1","status":"ready"}"#;
pub(crate) const WRONG: &[u8] = br#"{"answer":41,"schema_version":"0.1","status":"ready"}"#;
/// Longer than anything here takes; a test that needs it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

const POLICY: &str = r#"
schema_version = "0.1"
id = "two-of-three"
quorum = 2
panel = 3
"#;

const PLAN: &str = r#"
schema_version = "0.1"
id = "test/json-answer"
visibility = "public"
[verifier]
id = "VERIFIER"
[[check]]
id = "artifact-digest"
kind = "artifact_integrity"
[[check]]
id = "candidate-scope"
kind = "scope"
allowed_files = ["candidate.json"]
[[check]]
id = "independent-acceptance"
kind = "required_json"
required = { schema_version = "0.1", answer = 42, status = "ready" }
"#;

pub(crate) fn now() -> Timestamp {
    let micros = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros();
    Timestamp::from_micros(i64::try_from(micros).unwrap())
}

/// The key of a role and id: the same in every run, so that failures can be compared.
pub(crate) fn key(role: &str, id: &str) -> SigningKey {
    SigningKey::from_seed(Digest::of(format!("{role} {id}").as_bytes()).as_bytes())
}

pub(crate) fn work_unit(version: u64) -> WorkUnit {
    let validator = |id: &str, kind: &str| json!({"id": id, "type": kind, "required": true, "description": "a check"});
    let value = json!({
        "schema_version": "0.2", "id": WORK, "version": version, "kind": "testing",
        "objective": "Write the right answer.",
        "context": {"summary": "A fixture.", "references": [], "max_context_bytes": 1024},
        "inputs": [],
        "outputs": [{"id": "candidate-result", "type": "test_result", "description": "An answer."}],
        "dependencies": [],
        "requirements": {"capabilities": ["json-output"], "resources": {
            "cpu_cores_min": 0.1, "memory_mb_min": 32, "disk_mb_min": 1, "gpu": "none", "accelerator_capabilities": []}},
        "constraints": {"allowed_paths": ["candidate.json"], "forbidden_paths": ["verification/"], "policies": []},
        "uncertainty": [],
        "security": {"risk_class": "low", "data_classification": "public", "minimum_worker_trust": "untrusted",
            "sandbox_required": false, "notes": "Only parsed."},
        "permissions": {"network": "none", "network_allowlist": [], "filesystem_write": ["candidate.json"],
            "secrets": [], "process_execution": false},
        "verification_policy": {"strategy": "all_required", "independent_from_worker": true,
            "minimum_independent_verifiers": 1, "acceptance_rule": "All checks pass."},
        "validators": [validator("artifact-digest", "reproduction"), validator("candidate-scope", "review"),
            validator("independent-acceptance", "test")],
        "evidence_requirements": [
            {"type": "artifact_hash", "required": true, "description": "The digest of the candidate."},
            {"type": "test_output", "required": true, "description": "What the checks say."}],
        "budget": {"wall_seconds": 5, "compute_units": 0.01, "human_minutes": 0, "tokens": 0,
            "project_spend_usd_max": 0, "paid_fallback_allowed": false},
        "provenance": {"created_by": "a test", "creator_type": "hybrid", "source": "a test",
            "source_revision": "fixture-v1", "parent_work_unit_ids": []},
        "failure_semantics": {"retryable": false, "max_attempts": 3, "on_failure": "escalate"},
        "extensions": {}
    });
    WorkUnit::from_value(value.into()).unwrap()
}

pub(crate) fn manifest(work_unit: &WorkUnit, candidate: &[u8], attempt: u64) -> Manifest {
    let reference = CandidateReference::Bundle {
        locator: "candidate.json".into(),
        digest: Digest::of(candidate),
        media_type: Some("application/json".into()),
    };
    build_c6_manifest(&C6Manifest {
        id: format!("result/test-{attempt}"),
        work_unit,
        source_revision: "fixture-v1".into(),
        reference,
        worker: Worker { id: WORKER.into(), kind: "agent".into(), adapter: "test".into(), adapter_version: None },
        attempt,
        status: "succeeded".into(),
        started_at: Timestamp::from_micros(1_750_000_000_000_000),
        finished_at: Timestamp::from_micros(1_750_000_001_000_000),
        tool_versions: BTreeMap::new(),
    })
    .unwrap()
}

/// The running mesh of one test.
pub(crate) struct World {
    pub(crate) server: NatsServer,
    pub(crate) dir: TempDir,
    pub(crate) trust: TrustRoot,
}

/// A coordinator in this process.
pub(crate) struct Coordinator {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), CoordinatorError>>,
}

impl Coordinator {
    /// Stops it as SIGTERM would, and gives what it returned.
    pub(crate) async fn stop(mut self) -> Result<(), CoordinatorError> {
        self.stop.take().unwrap().send(()).ok();
        tokio::time::timeout(PATIENCE, self.task).await.expect("a stop is quick").unwrap()
    }

    /// Ends it wherever it just is, as kill -9 would.
    pub(crate) async fn kill(self) {
        self.task.abort();
        self.task.await.ok();
    }
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with_policy(POLICY).await
    }

    pub(crate) async fn with_policy(policy: &str) -> Self {
        // What the coordinator says is shown when a test fails.
        let filter = tracing_subscriber::EnvFilter::new("quorum_coordinator=debug,quorum_mesh=info");
        tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init().ok();
        let dir = tempfile::tempdir().unwrap();
        let users = users();
        fs::create_dir(dir.path().join("nats")).unwrap();
        let server = NatsServer::start(&find_nats_server().unwrap(), &dir.path().join("nats"), &users).unwrap();
        server.provision(&VERIFIERS).await.unwrap();
        let trust = trust(policy);
        let write = |name: &str, bytes: &[u8], mode| {
            let path = dir.path().join(name);
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for id in ["coordinator", "coordinator-2"] {
            write(&format!("{id}.pem"), key("coordinator", id).to_pkcs8_pem().as_bytes(), 0o600);
            let user = users.iter().find(|user| user.id == id).unwrap();
            user.credentials.save(&dir.path().join(format!("{id}.nats"))).unwrap();
            write(&format!("{id}.toml"), config(id, &server.url()).as_bytes(), 0o644);
        }
        write("seat.secret", &[7; 32], 0o600);
        write("trust.json", trust.bytes(), 0o644);
        write("policy.toml", policy.as_bytes(), 0o644);
        Self { server, dir, trust }
    }

    pub(crate) fn config(&self, id: &str) -> PathBuf {
        self.dir.path().join(format!("{id}.toml"))
    }

    pub(crate) fn coordinator(&self) -> Coordinator {
        self.coordinator_named("coordinator")
    }

    pub(crate) fn coordinator_named(&self, id: &str) -> Coordinator {
        let config = Config::load(&self.config(id)).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            run(&config, async {
                stopped.await.ok();
            })
            .await
        });
        Coordinator { stop: Some(stop), task }
    }

    /// Brings version 2 of the trust root, in which this verifier's key counts as compromised from the beginning.
    pub(crate) fn revoke(&self, verifier: &str) {
        let mut draft = TrustDraft::from(&self.trust);
        draft.next_version(now().plus_seconds(-1), now().plus_seconds(86_400));
        let revocation = Revocation { at: now(), compromised_since: Some(now().plus_seconds(-3600)) };
        draft.revoke((Role::Verifier, verifier), None, revocation).unwrap();
        let (path, new) = (self.dir.path().join("trust.json"), self.dir.path().join("trust.new"));
        fs::write(&new, draft.sign(&[&key("root", "root")]).unwrap()).unwrap();
        fs::rename(new, path).unwrap();
    }

    pub(crate) async fn user(&self, role: UserRole, id: &str) -> Mesh {
        self.server.connect(role, id).await.unwrap()
    }

    pub(crate) async fn auditor(&self) -> Mesh {
        self.user(UserRole::Auditor, "auditor").await
    }

    pub(crate) async fn publish_work(&self, version: u64) -> WorkUnit {
        let work_unit = work_unit(version);
        let subject = Subject::sha256(work_unit.id(), work_unit.digest());
        let envelope = signed(PredicateType::WorkUnit, subject, work_unit.value().clone(), &key("author", "author"));
        let place = Place::Work { work: work_unit.id().into(), version };
        self.user(UserRole::Author, "author").await.publish(&place, &envelope).await.unwrap();
        work_unit
    }

    /// Publishes candidate and manifest; gives the handoff that has to follow.
    pub(crate) async fn submit(&self, work_unit: &WorkUnit, candidate: &[u8], attempt: u64) -> C1Digest {
        let mesh = self.user(UserRole::Worker, WORKER).await;
        mesh.put_blob(BlobRole::Worker, WORKER, candidate).await.unwrap();
        let manifest = manifest(work_unit, candidate, attempt);
        let intake = quorum_handoff::intake_values(work_unit.value().clone(), manifest.value().clone(), None).unwrap();
        let subject = Subject::sha256(intake.binding.candidate_artifact_id(), Digest::of(candidate));
        let envelope = signed(PredicateType::ResultManifest, subject, manifest.value().clone(), &key("worker", WORKER));
        mesh.publish(&result_place(work_unit.version(), attempt), &envelope).await.unwrap();
        intake.handoff.id()
    }

    pub(crate) async fn decision(&self, handoff: C1Digest, revision: u32) -> Decision {
        let mesh = self.auditor().await;
        let place = Place::Decision { handoff, revision };
        let stored = eventually("a decision", || async { mesh.read(&place).await.unwrap() }).await;
        let statement = Statement::parse(Envelope::parse(&stored.body).unwrap().payload()).unwrap();
        Decision::parse(&statement.predicate).unwrap()
    }

    /// The audit records of a kind, once there are as many as wanted.
    pub(crate) async fn audit(&self, kind: &str, wanted: usize) -> Vec<AuditRecord> {
        let mesh = self.auditor().await;
        eventually("audit records", || async {
            let filter = format!("idkmesh.v1.audit.{kind}.*");
            let stored = mesh.scan(StreamName::Audit, Some(&filter), 1).await.unwrap();
            let records: Vec<_> = stored.iter().map(|s| AuditRecord::parse(&s.body).unwrap()).collect();
            (records.len() >= wanted).then_some(records)
        })
        .await
    }

    pub(crate) async fn verifier(&self, id: &str) -> Verifier {
        let mesh = self.user(UserRole::Verifier, id).await;
        let offers = mesh.offers(id).unwrap();
        let dir = tempfile::tempdir_in(self.dir.path()).unwrap();
        Verifier { id: id.into(), mesh, offers, trust: self.trust.clone(), dir }
    }

    /// All verifiers answer whatever they are offered, until dropped.
    pub(crate) async fn panel(&self, ids: &[&str]) -> Panel {
        let mut tasks = tokio::task::JoinSet::new();
        for id in ids {
            let mut verifier = self.verifier(id).await;
            tasks.spawn(async move {
                loop {
                    let job = verifier.next().await;
                    if let Some(epoch) = verifier.claim_until_over(&job).await {
                        let envelope = verifier.answer(&job, epoch).await;
                        verifier.publish(&job, &envelope).await;
                    }
                    job.delivery.ack().await.ok();
                }
            });
        }
        Panel { _tasks: tasks }
    }
}

/// Verifiers at work; dropped, they are gone.
pub(crate) struct Panel {
    _tasks: tokio::task::JoinSet<()>,
}

pub(crate) fn result_place(version: u64, attempt: u64) -> Place {
    Place::Result { worker: WORKER.into(), work: WORK.into(), version, attempt }
}

/// Asks until there is an answer.
pub(crate) async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(tokio::time::Instant::now() < end, "no sign of {what} within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

pub(crate) fn signed(predicate_type: PredicateType, subject: Subject, predicate: Value, key: &SigningKey) -> Vec<u8> {
    sign(PAYLOAD_TYPE, &Statement { subject: vec![subject], predicate_type, predicate }.to_bytes(), key)
}

fn users() -> Vec<MeshUser> {
    let verifiers = VERIFIERS.iter().map(|id| (UserRole::Verifier, *id));
    let others = [
        (UserRole::Worker, WORKER),
        (UserRole::Worker, "worker-2"),
        (UserRole::Coordinator, "coordinator"),
        (UserRole::Coordinator, "coordinator-2"),
        (UserRole::Author, "author"),
        (UserRole::Auditor, "auditor"),
        (UserRole::Provisioner, "provisioner"),
    ];
    verifiers.chain(others).map(|(role, id)| MeshUser::generate(role, id).unwrap()).collect()
}

fn trust(policy: &str) -> TrustRoot {
    let root = key("root", "root");
    let (from, until) = (now().plus_seconds(-3600), now().plus_seconds(86_400));
    let mut draft = TrustDraft::new(from, until, 1, vec![root.public()]);
    let entry = |role: Role, id: &str| Entry::new(role, id, key(role.as_str(), id).public(), from, until);
    let placed = |entry: Entry| {
        let (operator, host) = (format!("operator of {}", entry.id), format!("host of {}", entry.id));
        entry.with_attribute("operator", operator).with_attribute("host", host)
    };
    draft.add(entry(Role::Author, "author")).unwrap();
    draft.add(entry(Role::Coordinator, "coordinator")).unwrap();
    draft.add(entry(Role::Coordinator, "coordinator-2")).unwrap();
    draft.add(placed(entry(Role::Worker, WORKER))).unwrap();
    draft.add(placed(entry(Role::Worker, "worker-2"))).unwrap();
    for id in VERIFIERS {
        draft.add(placed(entry(Role::Verifier, id))).unwrap();
    }
    draft.admit_policy(Digest::of(policy.as_bytes())).unwrap();
    TrustRoot::load(&draft.sign(&[&root]).unwrap()).unwrap()
}

fn config(id: &str, url: &str) -> String {
    format!(
        "key = \"{id}.pem\"\ntrust = \"trust.json\"\npolicy = \"policy.toml\"\nseat_secret_file = \"seat.secret\"\n\
         state_dir = \"state-{id}\"\n[nats]\nurl = \"{url}\"\ncredentials = \"{id}.nats\"\n\
         [timing]\nlease = \"2s\"\noffer = \"1s\"\n"
    )
}

/// One verifier, played by the test: it really checks, with the library that the daemon uses.
pub(crate) struct Verifier {
    pub(crate) id: String,
    pub(crate) mesh: Mesh,
    offers: quorum_mesh::Deliveries,
    trust: TrustRoot,
    dir: TempDir,
}

/// An offer, opened.
pub(crate) struct Job {
    pub(crate) offer: Offer,
    pub(crate) handoff: Handoff,
    pub(crate) binding: ManifestBinding,
    work_unit: WorkUnit,
    pub(crate) delivery: Delivery,
}

impl Job {
    pub(crate) fn request(&self, op: LeaseOp, epoch: Option<u64>) -> LeaseRequest {
        let (seat, try_no) = (self.offer.seat, self.offer.try_no);
        LeaseRequest { op, handoff: self.handoff.id(), seat, try_no, epoch }
    }
}

impl Verifier {
    pub(crate) async fn next(&mut self) -> Job {
        let delivery = tokio::time::timeout(PATIENCE * 3, self.offers.next()).await.expect("an offer").unwrap();
        let offer = Offer::parse(&delivery.stored.body).unwrap();
        let predicate = |bytes: &[u8]| Statement::parse(Envelope::parse(bytes).unwrap().payload()).unwrap().predicate;
        let signed = predicate(&offer.handoff);
        Job {
            handoff: Handoff::parse(signed.get("handoff").unwrap()).unwrap(),
            binding: ManifestBinding::parse(signed.get("manifest_binding").unwrap()).unwrap(),
            work_unit: WorkUnit::from_value(predicate(&offer.work_unit)).unwrap(),
            offer,
            delivery,
        }
    }

    pub(crate) async fn lease(&self, request: &LeaseRequest) -> LeaseReply {
        eventually("a lease reply", || async { self.mesh.lease(&self.id, request).await.ok() }).await
    }

    /// Asks as the daemon does: temporary refusals are waited out.
    pub(crate) async fn claim_until_over(&self, job: &Job) -> Option<u64> {
        loop {
            match self.lease(&job.request(LeaseOp::Claim, None)).await {
                LeaseReply::Granted { epoch, .. } => return Some(epoch),
                LeaseReply::Refused { code } if code == "seat_taken" || code == "holds_other_seat" => {
                    job.delivery.progress().await.ok();
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                LeaseReply::Refused { .. } => return None,
            }
        }
    }

    pub(crate) async fn claim(&self, job: &Job) -> u64 {
        match self.lease(&job.request(LeaseOp::Claim, None)).await {
            LeaseReply::Granted { epoch, .. } => epoch,
            refused => panic!("{refused:?}"),
        }
    }

    /// Fetches, checks, packs, publishes the bundle and signs.
    pub(crate) async fn answer(&self, job: &Job, epoch: u64) -> Vec<u8> {
        self.answer_as(job, epoch, &key("verifier", &self.id)).await
    }

    pub(crate) async fn answer_as(&self, job: &Job, epoch: u64, key: &SigningKey) -> Vec<u8> {
        let candidate = self.mesh.get_blob(&job.offer.candidate).await.unwrap();
        let answer = self.assemble(job, epoch, &candidate);
        self.mesh.put_blob(BlobRole::Verifier, &self.id, &answer.bundle.bytes).await.unwrap();
        sign(PAYLOAD_TYPE, &answer.statement, key)
    }

    pub(crate) fn assemble(&self, job: &Job, epoch: u64, candidate: &[u8]) -> quorum_verifier::Answer {
        let room = tempfile::tempdir_in(self.dir.path()).unwrap();
        let (root, scratch) = (room.path().join("candidate"), room.path().join("scratch"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&scratch).unwrap();
        fs::write(root.join("candidate.json"), candidate).unwrap();
        let template = PlanTemplate::parse(PLAN.replace("VERIFIER", &self.id).as_bytes()).unwrap();
        let plan = template.bind(&job.handoff, &job.work_unit, "test").unwrap();
        let started_at = now();
        let report = run_checks(&CheckRequest {
            plan: plan.clone(),
            handoff: job.handoff.clone(),
            binding: job.binding.clone(),
            work_unit: job.work_unit.clone(),
            candidate_root: root,
            baseline_root: None,
            scratch,
            plan_dir: None,
            isolation: quorum_sandbox::Isolation::ProcessSandbox,
            hidden: Vec::new(),
            exe: PathBuf::from("/nonexistent"),
            head_commit: None,
            candidate_submodules: Vec::new(),
            baseline_submodules: Vec::new(),
        })
        .unwrap();
        let entry = self.trust.by_id(Role::Verifier, &self.id);
        let identity = VerifierIdentity::of(&self.id, entry, self.trust.by_id(Role::Worker, WORKER));
        let answer = assemble(&Assembly {
            report: &report,
            handoff: &job.handoff,
            binding: &job.binding,
            work_unit: &job.work_unit,
            plan: &plan,
            identity: &identity,
            place: SeatTry { seat: job.offer.seat, try_no: job.offer.try_no, epoch },
            started_at,
            finished_at: now(),
        })
        .unwrap();
        bundle::check(&answer.bundle.bytes, &answer.predicate).unwrap();
        answer
    }

    pub(crate) async fn publish(&self, job: &Job, envelope: &[u8]) {
        self.mesh.publish(&self.place(job), envelope).await.unwrap();
    }

    pub(crate) fn place(&self, job: &Job) -> Place {
        let (seat, try_no) = (job.offer.seat, job.offer.try_no);
        Place::Evidence { verifier: self.id.clone(), handoff: job.handoff.id(), seat, try_no }
    }
}

/// What an evidence says, for comparisons between runs: which key, which verdict.
pub(crate) fn verdicts(decision: &Decision) -> BTreeMap<String, Vec<Verdict>> {
    let said = |heard: &quorum_policies::Heard| heard.evidence.iter().map(|evidence| evidence.verdict).collect();
    decision.heard.iter().map(|heard| (heard.id.clone(), said(heard))).collect()
}

/// The verdict of an answer, by the policy engine's own reading.
pub(crate) fn verdict_of(answer: &quorum_verifier::Answer, handoff: &Handoff) -> Verdict {
    verdict(answer.predicate.get("result").unwrap(), handoff.required_validator_ids())
}
