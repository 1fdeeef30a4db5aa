//! The trust root on a running mesh, changed with the commands that an operator uses: compromise and withdrawal, retiring,
//! keys that follow each other, root keys that hand over by co-signing, expiry.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use quorum_attest::{Envelope, PAYLOAD_TYPE, Role, SigningKey, Statement, TrustRoot, sign};
use quorum_mesh::{AuditRecord, Place, StreamName, UserRole};
use quorum_schemas::{C1Digest, Value};
use quorum_testkit::AUDITOR;

use crate::chaos::{Chaos, PATIENCE};

/// All three must support, so that one support less is too few.
const ALL_THREE: &str = r#"
schema_version = "0.1"
id = "all-three"
quorum = 3
panel = 3
tolerate = 0
deadline = "1h"
independent_on = ["operator", "host"]
min_isolation = "process-sandbox"
min_channel = "black_box"
max_tries = 32
"#;

/// Longer than before any verifier of a test has answered.
const LONG_AGO: &str = "2020-01-01T00:00:00Z";

fn quorum(chaos: &Chaos, line: &str) -> Output {
    let arguments = line.split_whitespace();
    Command::new(env!("CARGO_BIN_EXE_quorum")).args(arguments).current_dir(chaos.world.dir()).output().unwrap()
}

fn ok(chaos: &Chaos, line: &str) -> String {
    let output = quorum(chaos, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn fails(chaos: &Chaos, line: &str, code: &str) {
    let output = quorum(chaos, line);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}: {talk}");
    assert!(talk.contains(&format!("error[{code}]")), "{line}: {talk}");
}

fn trust(chaos: &Chaos) -> TrustRoot {
    TrustRoot::load(&fs::read(chaos.world.dir().join("trust.json")).unwrap()).unwrap()
}

/// Waits until a log holds all of `words` in one line that was written after the first `from` bytes.
fn wait_log(chaos: &Chaos, name: &str, from: usize, words: &[&str]) {
    let path = chaos.world.dir().join(name);
    let until = Instant::now() + PATIENCE;
    loop {
        let log = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(log.get(from..).unwrap_or_default()).into_owned();
        if text.lines().any(|line| words.iter().all(|word| line.contains(word))) {
            return;
        }
        assert!(Instant::now() < until, "{name} never said {words:?}\n{}", chaos.logs());
        std::thread::sleep(Duration::from_millis(50));
    }
}

const COORDINATOR_LOG: &str = "coordinator-coordinator.log";

fn log_length(chaos: &Chaos, name: &str) -> usize {
    fs::read(chaos.world.dir().join(name)).unwrap_or_default().len()
}

/// Runs a change and waits until the coordinator works under the new version.
fn change(chaos: &Chaos, lines: &[&str]) {
    let from = log_length(chaos, COORDINATOR_LOG);
    for line in lines {
        ok(chaos, line);
    }
    let version = format!("\"trust\":{}", trust(chaos).version());
    wait_log(chaos, COORDINATOR_LOG, from, &["\"ready\"", &version]);
}

fn text<'a>(decision: &'a Value, member: &str) -> &'a str {
    decision.get(member).and_then(Value::as_str).unwrap()
}

/// `quorum show` writes the record, `quorum audit` confirms it under the trust root that the operator has now.
fn show_and_audit(chaos: &Chaos, handoff: C1Digest, name: &str) -> PathBuf {
    let credentials = chaos.world.credentials(UserRole::Auditor, AUDITOR);
    let (id, nats) = (handoff.hex(), chaos.world.server.url());
    ok(chaos, &format!("show {id} --nats {nats} --credentials {} --out {name}", credentials.display()));
    audit(chaos, name);
    chaos.world.dir().join(name)
}

fn audit(chaos: &Chaos, name: &str) {
    let said = ok(chaos, &format!("audit {name} --trust trust.json"));
    assert!(said.starts_with("same: "), "{said}");
}

/// What a revision says, if there is one.
async fn revision(chaos: &Chaos, handoff: C1Digest, revision: u32) -> Option<String> {
    let mesh = chaos.world.connect(UserRole::Auditor, AUDITOR).await.unwrap();
    let stored = mesh.read(&Place::Decision { handoff, revision }).await.unwrap();
    mesh.close().await.unwrap();
    let statement = Statement::parse(Envelope::parse(&stored?.body).unwrap().payload()).unwrap();
    Some(String::from_utf8(quorum_schemas::c1(&statement.predicate)).unwrap())
}

/// Root keys hand over to two of three holders who sign apart; then they mark a verifier compromised since before its
/// evidence, and the accept that rested on it is taken back.
#[tokio::test(flavor = "multi_thread")]
async fn co_signed_root_rotation_then_a_compromised_verifier_withdraws_the_accept() {
    let mut chaos = Chaos::start_with(ALL_THREE).await;
    chaos.world.start_daemons().unwrap();
    let handoff = chaos.submit(1).await;
    assert_eq!(chaos.told(handoff).await.recommendation, "accept_candidate");

    for holder in ["a", "b", "c"] {
        ok(&chaos, &format!("keys new holder-{holder}.pem"));
    }
    let new_roots = "--new-root holder-a.pem --new-root holder-b.pem --new-root holder-c.pem --threshold 2";
    ok(&chaos, &format!("trust rotate trust.json --root-key root.pem {new_roots} --propose next.json"));
    fails(&chaos, "trust accept trust.json next.json", "threshold_not_met");
    fails(&chaos, "trust show next.json", "threshold_not_met");
    change(
        &chaos,
        &[
            "trust sign next.json --trust trust.json --root-key holder-b.pem",
            "trust sign next.json --trust trust.json --root-key holder-c.pem",
            "trust accept trust.json next.json",
        ],
    );
    assert_eq!((trust(&chaos).threshold(), trust(&chaos).root_keys().len()), (2, 3));
    assert_eq!(revision(&chaos, handoff, 2).await, None, "other root keys change no decision");

    fails(&chaos, "trust admit-policy trust.json --root-key root.pem local", "unknown_signer");
    let revoke = format!(
        "trust revoke trust.json --root-key holder-a.pem --role verifier --id verifier-a --compromised-since {LONG_AGO} \
         --propose revoked.json"
    );
    change(
        &chaos,
        &[
            &revoke,
            "trust sign revoked.json --trust trust.json --root-key holder-c.pem",
            "trust accept trust.json revoked.json",
        ],
    );
    let revised = chaos.world.decision(handoff, 2, PATIENCE).await;
    let (_, revised) = revised.unwrap_or_else(|error| panic!("{error}\n{}", chaos.logs()));
    assert_eq!(text(&revised, "recommendation"), "insufficient_evidence");
    assert_eq!(revised.get("withdraws").and_then(Value::as_bool), Some(true));
    let record = show_and_audit(&chaos, handoff, "record");
    assert_eq!(fs::read(record.join("trust.json")).unwrap(), trust(&chaos).bytes());
    ok(&chaos, "trust verify trust.json --known trust.1.json --min-version 3");
    chaos.world.stop().unwrap();
}

/// Retiring leaves every decision alone. A verifier's new key and a coordinator's new key work without a restart; what
/// the old one signs late is refused by name; decisions of before are still recomputed.
#[tokio::test(flavor = "multi_thread")]
async fn retired_and_rotated_keys_leave_decisions_alone_and_new_keys_work_without_a_restart() {
    let mut chaos = Chaos::start_with(ALL_THREE).await;
    chaos.world.start_daemons().unwrap();
    let pids = chaos.world.pids();
    let before = chaos.submit(1).await;
    assert_eq!(chaos.told(before).await.recommendation, "accept_candidate");
    show_and_audit(&chaos, before, "record-before");

    let old = chaos.world.key(Role::Verifier, "verifier-b").unwrap().public();
    replace(&chaos, Role::Verifier, "verifier-b");
    assert_eq!(revision(&chaos, before, 2).await, None, "what was received before stays");
    late_evidence_is_refused(&chaos, before).await;

    let coordinator = chaos.world.key(Role::Coordinator, "coordinator").unwrap().public();
    replace(&chaos, Role::Coordinator, "coordinator");
    let after = chaos.submit(3).await;
    assert_eq!(chaos.told(after).await.recommendation, "accept_candidate");
    let (stored, decision) = chaos.world.decision(after, 1, PATIENCE).await.unwrap();
    assert_ne!(Envelope::parse(&stored.body).unwrap().key_id(), coordinator.key_id(), "the new key signs");
    let heard = decision.get("heard").and_then(Value::as_array).unwrap();
    let keys: Vec<&str> = heard.iter().filter_map(|heard| heard.get("key_id").and_then(Value::as_str)).collect();
    assert!(!keys.contains(&old.key_id().to_string().as_str()), "the verifier's old key is out: {keys:?}");

    // Both ages of decisions hold under the trust root of now, which has the earlier versions beside it.
    show_and_audit(&chaos, after, "record-after");
    audit(&chaos, "record-before");
    show_and_audit(&chaos, before, "record-before-again");
    assert_eq!(revision(&chaos, before, 2).await, None);
    assert_eq!(chaos.world.pids(), pids, "nobody was restarted");
    chaos.world.stop().unwrap();
}

/// A key that is laid down without another in its place: the accept that its earlier evidence bore stands and is recomputed,
/// and what it signs from then on is refused by name.
#[tokio::test(flavor = "multi_thread")]
async fn a_retired_keys_earlier_evidence_counts_and_its_later_evidence_is_refused() {
    let mut chaos = Chaos::start_with(ALL_THREE).await;
    chaos.world.start_daemons().unwrap();
    let handoff = chaos.submit(1).await;
    assert_eq!(chaos.told(handoff).await.recommendation, "accept_candidate");
    let key = chaos.world.key(Role::Verifier, "verifier-b").unwrap().public().key_id();
    change(&chaos, &["trust retire trust.json --root-key root.pem --role verifier --id verifier-b"]);
    let now = trust(&chaos);
    let entry = now.by_key_id(&key).unwrap();
    assert!(entry.retired_at.is_some() && entry.revoked_at.is_none(), "retired and not revoked: {entry:?}");
    // All three must support: without the retired key's voice the accept would be taken back.
    assert_eq!(revision(&chaos, handoff, 2).await, None, "what was received before stays");
    late_evidence_is_refused(&chaos, handoff).await;
    let record = show_and_audit(&chaos, handoff, "record");
    assert_eq!(fs::read(record.join("trust.json")).unwrap(), fs::read(chaos.world.dir().join("trust.1.json")).unwrap());
    chaos.world.stop().unwrap();
}

/// The operator makes a new key, has the trust root replace the old one, and puts it in the place of the old file.
fn replace(chaos: &Chaos, role: Role, id: &str) {
    ok(chaos, &format!("keys new new-{id}.pem"));
    let from = log_length(chaos, COORDINATOR_LOG);
    ok(
        chaos,
        &format!("trust replace-key trust.json --root-key root.pem --role {role} --id {id} --public-key new-{id}.pem"),
    );
    let own = role == Role::Coordinator;
    if own {
        // Between both steps it must not sign with a key that is retired.
        wait_log(chaos, COORDINATOR_LOG, from, &["not ready", "key_not_valid_then"]);
    }
    let key: &Path = &chaos.world.dir().join(format!("new-{id}.pem"));
    fs::copy(key, chaos.world.dir().join("exchange.pem")).unwrap();
    fs::rename(chaos.world.dir().join("exchange.pem"), chaos.world.key_file(role, id)).unwrap();
    let version = format!("\"trust\":{}", trust(chaos).version());
    wait_log(chaos, COORDINATOR_LOG, from, &["\"ready\"", &version]);
}

/// The old key of verifier-b, which somebody found, objects to what was decided.
async fn late_evidence_is_refused(chaos: &Chaos, handoff: C1Digest) {
    let stored = chaos.all(StreamName::Evidence).await;
    let first = stored
        .iter()
        .find(|stored| matches!(stored.place(), Ok(Place::Evidence { verifier, .. }) if verifier == "verifier-b"))
        .unwrap();
    let statement = Statement::parse(Envelope::parse(&first.body).unwrap().payload()).unwrap();
    let mut value = statement.predicate.to_serde();
    value["result"]["status"] = "failed".into();
    value["result"]["decision_support"]["recommendation"] = "reject_candidate".into();
    let late = Statement { predicate: Value::from_serde(value), ..statement };
    let key: &SigningKey = chaos.world.key(Role::Verifier, "verifier-b").unwrap();
    let verifier = chaos.world.connect(UserRole::Verifier, "verifier-b").await.unwrap();
    let envelope = sign(PAYLOAD_TYPE, &late.to_bytes(), key);
    verifier.publish_unconditionally(&first.subject, &envelope).await.unwrap();
    verifier.close().await.unwrap();
    let until = Instant::now() + PATIENCE;
    loop {
        let records = chaos.all(StreamName::Audit).await;
        let codes: Vec<String> = records
            .iter()
            .filter_map(|stored| AuditRecord::parse(&stored.body).ok())
            .filter(|record| record.handoff.is_some() && record.publisher == "verifier-b")
            .map(|record| record.code)
            .collect();
        if codes.iter().any(|code| code == "key_not_valid_then") {
            break;
        }
        assert!(Instant::now() < until, "{codes:?}\n{}", chaos.logs());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(revision(chaos, handoff, 2).await, None, "an old key's late word changes nothing");
}

/// An expired root: a daemon does not start (exit 2); one that runs is not ready, says so, and goes on with the next one.
#[tokio::test(flavor = "multi_thread")]
async fn an_expired_root_is_exit_2_at_the_start_and_not_ready_later() {
    let mut chaos = Chaos::start_with(ALL_THREE).await;
    chaos.world.start_coordinator(&[]).unwrap();
    wait_log(&chaos, COORDINATOR_LOG, 0, &["\"ready\""]);
    let soon = quorum_schemas::Timestamp::from_micros(now_micros() + 20_000_000);
    change(&chaos, &[&format!("trust admit-policy trust.json --root-key root.pem local --expires {soon}")]);
    let from = log_length(&chaos, COORDINATOR_LOG);
    wait_log(&chaos, COORDINATOR_LOG, from, &["not ready", "trust_root_expired"]);
    for command in ["coordinator --config coordinator-coordinator.toml", "verifier --config verifier-verifier-a.toml"] {
        fails(&chaos, command, "trust_root_expired");
    }
    fails(&chaos, "trust admit-policy trust.json --root-key root.pem one-verifier", "trust_root_expired");
    change(&chaos, &["trust admit-policy trust.json --root-key root.pem one-verifier --expires 1d"]);
    chaos.world.stop().unwrap();
}

fn now_micros() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    // Whole seconds, as people write them.
    i64::try_from(since.as_secs()).unwrap() * 1_000_000
}
