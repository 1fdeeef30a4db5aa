//! A mesh for hard times: three verifiers, one worker, many small work units, and what every decision rested on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_handoff::{C6Manifest, CandidateReference, WorkUnit, Worker, build_c6_manifest};
use quorum_mesh::{Place, Stored, StreamName, UserRole};
use quorum_schemas::{C1Digest, Digest, Timestamp, Value, parse};
use quorum_testkit::{AUDITOR, Party, VerifierSpec, World, WorldPlan, find_nats_server};
use serde_json::json;
use tempfile::TempDir;

pub(crate) const VERIFIERS: [&str; 3] = ["verifier-a", "verifier-b", "verifier-c"];
const PLANS: [&str; 3] = ["plan.toml", "plan-b.toml", "plan-c.toml"];
const WORKER: &str = "worker";
/// The longest that a decision may take: leases lapse, daemons start again, and other tests run beside.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Tries are plenty: each kill of a holder costs one, and these tests are about what must not be lost.
const POLICY: &str = r#"
schema_version = "0.1"
id = "chaos"
quorum = 2
panel = 3
tolerate = 0
deadline = "1h"
independent_on = ["operator", "host"]
min_isolation = "process-sandbox"
min_channel = "black_box"
max_tries = 32
"#;

pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/json-answer")
}

/// What one decision says, in words that do not depend on the world's random keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) recommendation: String,
    /// (verifier, verdict).
    pub(crate) verdicts: BTreeSet<(String, String)>,
}

pub(crate) struct Chaos {
    pub(crate) world: World,
    _dir: TempDir,
}

impl Chaos {
    pub(crate) async fn start() -> Self {
        Self::start_with(POLICY).await
    }

    /// A mesh under another policy.
    pub(crate) async fn start_with(policy: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let plan = WorldPlan {
            quorum: PathBuf::from(env!("CARGO_BIN_EXE_quorum")),
            nats_server: find_nats_server().unwrap(),
            dir: dir.path().to_owned(),
            policy: policy.to_owned(),
            verifiers: VERIFIERS
                .into_iter()
                .zip(PLANS)
                .map(|(id, plan)| VerifierSpec { party: Party::alone(id), plan: examples().join(plan) })
                .collect(),
            workers: vec![Party::alone(WORKER)],
            isolation: "process-sandbox".into(),
            timing: ("2s".into(), "500ms".into()),
            env: vec![("QUORUM_LOG".into(), "info".into())],
        };
        Self { world: World::start(plan).await.unwrap(), _dir: dir }
    }

    /// Publishes work unit number `number` and a candidate for it; every third candidate is wrong.
    pub(crate) async fn submit(&self, number: usize) -> C1Digest {
        let unit = work_unit(number);
        let unit = self.world.publish_work_unit(&unit).await.unwrap();
        let folder = examples().join(if number % 3 == 2 { "wrong" } else { "good" });
        let candidate = quorum_verifier::bundle::zip_dir(&folder).unwrap();
        let manifest = manifest(&unit, &candidate);
        self.world.submit(&unit, &manifest, &candidate).await.unwrap().handoff
    }

    /// Waits for revision 1 and says what it rests on.
    pub(crate) async fn told(&self, handoff: C1Digest) -> Told {
        let decision = self.world.decision(handoff, 1, PATIENCE).await;
        let (_, decision) = decision.unwrap_or_else(|error| panic!("{error}\n{}", self.logs()));
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap().to_owned();
        let mut verdicts = BTreeSet::new();
        for heard in decision.get("heard").and_then(Value::as_array).unwrap() {
            for evidence in heard.get("evidence").and_then(Value::as_array).unwrap() {
                verdicts.insert((text(heard, "id"), text(evidence, "verdict")));
            }
        }
        Told { recommendation: text(&decision, "recommendation"), verdicts }
    }

    /// Every message of a stream.
    pub(crate) async fn all(&self, stream: StreamName) -> Vec<Stored> {
        let auditor = self.world.connect(UserRole::Auditor, AUDITOR).await.unwrap();
        let stored = auditor.scan(stream, None, 1).await.unwrap();
        auditor.close().await.unwrap();
        stored
    }

    /// Revisions by handoff, as the stream holds them.
    pub(crate) async fn revisions(&self) -> BTreeMap<C1Digest, Vec<u32>> {
        let mut revisions: BTreeMap<C1Digest, Vec<u32>> = BTreeMap::new();
        for stored in self.all(StreamName::Decisions).await {
            if let Place::Decision { handoff, revision } = stored.place().unwrap() {
                revisions.entry(handoff).or_default().push(revision);
            }
        }
        revisions
    }

    /// The ends of all logs: what a failed test shows.
    pub(crate) fn logs(&self) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(self.world.dir()).unwrap().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "log") {
                let log = std::fs::read_to_string(entry.path()).unwrap_or_default();
                let last: Vec<&str> = log.lines().rev().take(60).collect();
                text += &format!("== {}\n", entry.path().display());
                text.extend(last.into_iter().rev().flat_map(|line| [line, "\n"]));
            }
        }
        text
    }
}

fn work_unit(number: usize) -> Value {
    let bytes = std::fs::read(examples().join("work-unit.json")).unwrap();
    let Value::Object(mut members) = parse(&bytes).unwrap() else { panic!("a work unit is an object") };
    members.insert("id".into(), format!("chaos/unit-{number}").into());
    Value::Object(members)
}

fn manifest(unit: &WorkUnit, candidate: &[u8]) -> Value {
    let reference = json!({"schema_version": "0.1", "type": "artifact_bundle", "locator": "candidate.zip",
        "digest": Digest::of(candidate), "media_type": "application/zip"});
    let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let input = C6Manifest {
        id: format!("result/{}", unit.id().replace('/', "-")),
        work_unit: unit,
        source_revision: "unversioned".into(),
        reference: CandidateReference::parse(&reference.into()).unwrap(),
        worker: Worker { id: WORKER.into(), kind: "agent".into(), adapter: "chaos".into(), adapter_version: None },
        attempt: 1,
        status: "succeeded".into(),
        started_at: at,
        finished_at: at,
        tool_versions: BTreeMap::new(),
    };
    build_c6_manifest(&input).unwrap().value().clone()
}
