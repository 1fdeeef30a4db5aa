//! The json-answer example on a mesh of three verifiers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_handoff::{C6Manifest, CandidateReference, WorkUnit, Worker, build_c6_manifest};
use quorum_schemas::{Digest, Timestamp, Value, parse};
use quorum_testkit::{COORDINATOR, Party, Submitted, VerifierSpec, World, WorldPlan, find_nats_server};
use std::thread::JoinHandle;
use tempfile::TempDir;

pub(crate) const VERIFIERS: [&str; 3] = ["verifier-a", "verifier-b", "verifier-c"];
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Setting {
    pub(crate) world: World,
    pub(crate) unit: WorkUnit,
    coordinator: JoinHandle<Result<(), quorum_coordinator::CoordinatorError>>,
    attempts: u64,
    _dir: TempDir,
}

pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/json-answer").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(example(name)).unwrap()
}

impl Setting {
    /// A world whose coordinator runs; no verifier is started.
    pub(crate) async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let template = text("plan.toml");
        let verifiers = VERIFIERS.map(|id| {
            let plan = dir.path().join(format!("plan-{id}.toml"));
            std::fs::write(&plan, template.replace("\"verifier-a\"", &format!("\"{id}\""))).unwrap();
            VerifierSpec { party: Party::alone(id), plan }
        });
        let plan = WorldPlan {
            quorum: PathBuf::from(env!("CARGO_BIN_EXE_quorum-verifier-daemon")),
            nats_server: find_nats_server().unwrap(),
            dir: dir.path().to_owned(),
            policy: text("mesh-policy.toml"),
            verifiers: verifiers.into(),
            workers: vec![Party::alone("worker-1")],
            isolation: "process-sandbox".into(),
            timing: ("3s".into(), "2s".into()),
            env: Vec::new(),
        };
        let world = World::start(plan).await.unwrap();
        let config = dir.path().join(format!("coordinator-{COORDINATOR}.toml"));
        let config = quorum_coordinator::Config::load(&config).unwrap();
        let log = std::fs::File::create(dir.path().join("coordinator.log")).unwrap();
        // A thread of its own: it ends with the test's process.
        let coordinator = std::thread::spawn(move || {
            let subscriber =
                tracing_subscriber::fmt().with_writer(std::sync::Mutex::new(log)).with_ansi(false).finish();
            let _guard = tracing::subscriber::set_default(subscriber);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(quorum_coordinator::run(&config, std::future::pending()))
        });
        let unit = world.publish_work_unit(&parse(text("work-unit.json").as_bytes()).unwrap()).await.unwrap();
        Self { world, unit, coordinator, attempts: 0, _dir: dir }
    }

    pub(crate) fn start_verifiers(&mut self, ids: &[&str]) {
        for id in ids {
            self.world.start_verifier(id, &[]).unwrap();
        }
    }

    /// Hands in one of the example's candidates.
    pub(crate) async fn submit(&mut self, candidate: &str) -> Submitted {
        self.attempts += 1;
        let zip = quorum_verifier::bundle::zip_dir(&example(candidate)).unwrap();
        let manifest = build_c6_manifest(&C6Manifest {
            id: format!("worker-1/attempt-{}", self.attempts),
            work_unit: &self.unit,
            source_revision: "none".into(),
            reference: CandidateReference::Bundle {
                locator: "candidate.zip".into(),
                digest: Digest::of(&zip),
                media_type: Some("application/zip".into()),
            },
            worker: Worker {
                id: "worker-1".into(),
                kind: "agent".into(),
                adapter: "test".into(),
                adapter_version: None,
            },
            attempt: self.attempts,
            status: "succeeded".into(),
            started_at: Timestamp::from_micros(1_700_000_000_000_000),
            finished_at: Timestamp::from_micros(1_700_000_001_000_000),
            tool_versions: [].into(),
        })
        .unwrap();
        self.world.submit(&self.unit, manifest.value(), &zip).await.unwrap()
    }

    /// The recommendation of the first revision.
    pub(crate) async fn decision(&self, submitted: &Submitted) -> (String, Value) {
        assert!(!self.coordinator.is_finished(), "the coordinator has ended");
        let decided = self.world.decision(submitted.handoff, 1, PATIENCE).await;
        let (_, predicate) = decided.unwrap_or_else(|error| panic!("{error}\n{}", self.logs()));
        let recommendation = predicate.get("recommendation").and_then(Value::as_str).unwrap().to_owned();
        (recommendation, predicate)
    }

    /// The logs of every daemon, for a test that failed.
    pub(crate) fn logs(&self) -> String {
        let mut all = String::new();
        let verifiers = VERIFIERS.map(|id| format!("verifier-{id}.log"));
        for name in ["coordinator.log".to_owned(), "nats/nats.log".to_owned()].iter().chain(&verifiers) {
            let text = std::fs::read_to_string(self.world.dir().join(name)).unwrap_or_default();
            all.push_str(&format!("--- {name}\n{text}\n"));
        }
        all
    }
}
