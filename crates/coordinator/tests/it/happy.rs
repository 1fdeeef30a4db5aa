//! From manifest to signed decision, and the record of it.

use quorum_attest::{Envelope, PredicateType, authenticate};
use quorum_coordinator::{Config, export};
use quorum_mesh::{Place, StreamName};
use quorum_policies::{Recommendation, Standing, Verdict};
use quorum_schemas::Digest;

use crate::fixture::{GOOD, VERIFIERS, WRONG, World, verdicts};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_candidate_is_accepted_and_a_wrong_one_rejected() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let _panel = world.panel(&VERIFIERS).await;
    let work_unit = world.publish_work(1).await;
    let wrong = world.submit(&work_unit, WRONG, 1).await;
    let decision = world.decision(wrong, 1).await;
    assert_eq!(decision.recommendation, Recommendation::RejectCandidate);
    assert_eq!((decision.tally.s, decision.tally.o, decision.tally.n), (0, 3, 3));
    let good = world.submit(&work_unit, GOOD, 2).await;
    let decision = world.decision(good, 1).await;
    assert_eq!(decision.recommendation, Recommendation::AcceptCandidate);
    assert_eq!((decision.tally.s, decision.tally.o, decision.tally.q), (3, 0, 2));
    assert!(verdicts(&decision).values().all(|said| *said == [Verdict::Supports]));
    assert!(decision.heard.iter().all(|heard| heard.standing == Standing::Voice));
    let earlier: Vec<_> = decision.facts.facts.earlier_attempts.iter().map(|a| (a.attempt, a.handoff_id)).collect();
    assert_eq!(earlier, [(1, wrong)]);
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_decision_is_signed_and_its_record_is_whole() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let _panel = world.panel(&VERIFIERS).await;
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    let decision = world.decision(handoff, 1).await;
    let mesh = world.auditor().await;
    let stored = mesh.read(&Place::Decision { handoff, revision: 1 }).await.unwrap().unwrap();
    let envelope = Envelope::parse(&stored.body).unwrap();
    let authentic = authenticate(&envelope, &world.trust, PredicateType::Decision, stored.received_at).unwrap();
    assert_eq!(authentic.signer().id, "coordinator");
    let out = world.dir.path().join("record");
    let exported = export(&mesh, handoff, &out).await.unwrap();
    assert_eq!((exported.revision, exported.recommendation), (1, Recommendation::AcceptCandidate));
    for file in &decision.files {
        let bytes = std::fs::read(out.join(&file.path)).unwrap();
        assert_eq!(Digest::of(&bytes), file.sha256, "{}", file.path);
    }
    assert_eq!(exported.files.len(), decision.files.len() + 1);
    assert!(export(&mesh, handoff, &out).await.is_err(), "a directory with files in it is left alone");
    coordinator.stop().await.unwrap();
}

/// The acknowledged messages of one decision with three verifiers and small bundles.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_costs_at_most_twenty_messages() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let _panel = world.panel(&VERIFIERS[..3]).await;
    let mesh = world.auditor().await;
    let count = || async {
        let mut messages = 0;
        for stream in StreamName::ALL {
            messages += mesh.last_sequence(stream).await.unwrap();
        }
        messages
    };
    // Trust root and policy are published once, not once per decision.
    let control = crate::fixture::eventually("control files", || async {
        let sequence = mesh.last_sequence(StreamName::Blobs).await.unwrap();
        (sequence >= 2).then_some(sequence)
    })
    .await;
    assert_eq!(control, 2);
    let before = count().await;
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    world.decision(handoff, 1).await;
    let after = count().await;
    assert!(after - before <= 20, "{} messages", after - before);
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_configuration_is_checked_before_anything_starts() {
    let world = World::start().await;
    let path = world.config("coordinator");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(Config::load(&path).unwrap().check().unwrap().id, "coordinator");
    for (from, to, code) in [
        ("policy.toml", "trust.json", "policy_syntax"),
        ("coordinator.pem", "coordinator-2.toml", "file_exposed"),
        ("coordinator.pem", "seat.secret", "key_malformed"),
        ("trust.json", "policy.toml", "malformed"),
        ("seat.secret", "coordinator.pem", "secret_malformed"),
        ("seat.secret", "absent", "file_unreadable"),
        ("state_dir", "stat_dir", "config_malformed"),
        ("\"2s\"", "\"soon\"", "config_malformed"),
    ] {
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = Config::load(&path).and_then(|config| config.check()).unwrap_err();
        assert_eq!(error.code(), code, "{from} -> {to}: {error}");
    }
    std::fs::write(world.dir.path().join("other.toml"), "schema_version = \"0.1\"\nid = \"other\"\n").unwrap();
    std::fs::write(&path, text.replacen("policy.toml", "other.toml", 1)).unwrap();
    assert_eq!(Config::load(&path).unwrap().check().unwrap_err().code(), "policy_not_admitted");
}
