//! Killed anywhere: one revision 1, with the same recommendation and the same verdicts as the undisturbed run.

use std::time::Duration;

use quorum_mesh::StreamName;
use quorum_policies::Recommendation;
use quorum_schemas::Digest;

use crate::fixture::{GOOD, VERIFIERS, World, verdicts};

/// Decisions of revision 1 on the stream, per handoff: exactly one each.
async fn first_revisions(world: &World) -> usize {
    let mesh = world.auditor().await;
    mesh.scan(StreamName::Decisions, Some("idkmesh.v1.decision.*.1"), 1).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coordinator_killed_again_and_again_decides_once() {
    let world = World::start().await;
    let work_unit = world.publish_work(1).await;
    let _panel = world.panel(&VERIFIERS).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    // Growing pauses put the kills at ever later points of the way.
    for round in 0..12u64 {
        let coordinator = world.coordinator();
        tokio::time::sleep(Duration::from_millis(20 + round * 25)).await;
        coordinator.kill().await;
    }
    let coordinator = world.coordinator();
    let decision = world.decision(handoff, 1).await;
    assert_eq!(decision.recommendation, Recommendation::AcceptCandidate);
    assert_eq!(verdicts(&decision).len(), 3);
    assert_eq!(first_revisions(&world).await, 1);
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_replicas_give_one_decision_for_each_handoff() {
    let world = World::start().await;
    let replicas = [world.coordinator_named("coordinator"), world.coordinator_named("coordinator-2")];
    let work_unit = world.publish_work(1).await;
    let _panel = world.panel(&VERIFIERS).await;
    for attempt in 1..=3 {
        // Another candidate each time, all of them right.
        let candidate = [GOOD, b" ".repeat(attempt).as_slice()].concat();
        let handoff = world.submit(&work_unit, &candidate, attempt as u64).await;
        let decision = world.decision(handoff, 1).await;
        assert_eq!(decision.recommendation, Recommendation::AcceptCandidate, "attempt {attempt}");
        assert_eq!(verdicts(&decision).len(), 3);
    }
    assert_eq!(first_revisions(&world).await, 3);
    for replica in replicas {
        replica.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_in_between_loses_nothing() {
    let mut world = World::start().await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    world.server.kill9().unwrap();
    world.server.restart().unwrap();
    let _panel = world.panel(&VERIFIERS).await;
    let decision = world.decision(handoff, 1).await;
    assert_eq!(decision.recommendation, Recommendation::AcceptCandidate);
    assert_ne!(decision.digest().of_bytes(), Digest::of(b""));
    assert_eq!(first_revisions(&world).await, 1);
    coordinator.stop().await.unwrap();
}
