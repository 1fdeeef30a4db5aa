//! Afterwards: late evidence weakens, never strengthens.

use quorum_policies::Recommendation;

use crate::fixture::{GOOD, VERIFIERS, WRONG, World};

const ONE_SEAT: &str = "schema_version = \"0.1\"\nid = \"one-seat\"\nquorum = 1\npanel = 1\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_objection_withdraws_an_accept() {
    let world = World::with_policy(ONE_SEAT).await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    let mut verifiers = Vec::new();
    for id in VERIFIERS {
        verifiers.push(world.verifier(id).await);
    }
    // Whoever is offered the seat first supports; the next one that is offered it looks at other bytes and objects.
    let mut first = verifiers.remove(0);
    let job = first.next().await;
    let mut second = verifiers.remove(0);
    let other = second.next().await;
    let epoch = first.claim(&job).await;
    let support = first.answer(&job, epoch).await;
    first.publish(&job, &support).await;
    assert_eq!(world.decision(handoff, 1).await.recommendation, Recommendation::AcceptCandidate);
    let answer = second.assemble(&other, epoch, WRONG);
    assert_eq!(crate::fixture::verdict_of(&answer, &other.handoff), quorum_policies::Verdict::Rejects);
    second.mesh.put_blob(quorum_mesh::BlobRole::Verifier, &second.id, &answer.bundle.bytes).await.unwrap();
    let key = crate::fixture::key("verifier", &second.id);
    let objection = quorum_attest::sign(quorum_attest::PAYLOAD_TYPE, &answer.statement, &key);
    second.publish(&other, &objection).await;
    let revision = world.decision(handoff, 2).await;
    assert_eq!(revision.recommendation, Recommendation::Escalate);
    assert!(revision.withdraws);
    let superseded = revision.supersedes.clone().unwrap();
    assert_eq!((superseded.revision, superseded.digest), (1, world.decision(handoff, 1).await.digest()));
    let out = world.dir.path().join("record");
    let exported = quorum_coordinator::export(&world.auditor().await, handoff, &out).await.unwrap();
    assert_eq!((exported.revision, exported.recommendation), (2, Recommendation::Escalate));
    coordinator.stop().await.unwrap();
    // A restart finds nothing to add.
    let coordinator = world.coordinator();
    let next = world.submit(&work_unit, WRONG, 2).await;
    let _panel = world.panel(&VERIFIERS).await;
    world.decision(next, 1).await;
    let mesh = world.auditor().await;
    let third = quorum_mesh::Place::Decision { handoff, revision: 3 };
    assert!(mesh.read(&third).await.unwrap().is_none());
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_supporter_is_taken_back_without_a_restart() {
    let world = World::with_policy(ONE_SEAT).await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    let _panel = world.panel(&VERIFIERS).await;
    let accepted = world.decision(handoff, 1).await;
    assert_eq!(accepted.recommendation, Recommendation::AcceptCandidate);
    world.revoke(&accepted.heard[0].id);
    let revision = world.decision(handoff, 2).await;
    assert_eq!(revision.recommendation, Recommendation::InsufficientEvidence);
    assert!(revision.withdraws);
    assert_eq!((accepted.trust.version, revision.trust.version), (1, 2));
    coordinator.stop().await.unwrap();
    // The older trust root does not come back.
    std::fs::write(world.dir.path().join("trust.json"), world.trust.bytes()).unwrap();
    let error = quorum_coordinator::Config::load(&world.config("coordinator")).unwrap().check().unwrap_err();
    assert_eq!(error.code(), "trust_rollback");
}
