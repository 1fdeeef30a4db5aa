//! What is refused, and that every refusal is published once.

use quorum_attest::{PredicateType, Subject};
use quorum_mesh::{BlobRole, Place, StreamName, UserRole};
use quorum_policies::Recommendation;
use quorum_schemas::{Digest, Value};

use crate::fixture::{GOOD, VERIFIERS, WORK, WORKER, WRONG, World, key, manifest, result_place, signed};

/// Publishes a changed manifest as attempt 1 of `version`; gives nothing, since no handoff may follow.
async fn publish(world: &World, version: u64, signer: &str, change: impl FnOnce(&mut quorum_schemas::Object)) {
    let work_unit = crate::fixture::work_unit(version);
    let mesh = world.user(UserRole::Worker, WORKER).await;
    mesh.put_blob(BlobRole::Worker, WORKER, GOOD).await.unwrap();
    let Value::Object(mut value) = manifest(&work_unit, GOOD, 1).value().clone() else { unreachable!() };
    change(&mut value);
    let subject = Subject::sha256("candidate", Digest::of(GOOD));
    let envelope = signed(PredicateType::ResultManifest, subject, Value::Object(value), &key("worker", signer));
    mesh.publish(&result_place(version, 1), &envelope).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn manifests_that_may_not_be_handed_on_are_refused_by_name() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    for version in 1..=3 {
        world.publish_work(version).await;
    }
    publish(&world, 3, WORKER, |value| {
        value.insert("accepted".into(), true.into());
    })
    .await;
    let records = world.audit("refusal", 1).await;
    assert_eq!((records[0].code.as_str(), records[0].place.as_str()), ("idk_h03", "/accepted"));
    assert_eq!(records[0].publisher, WORKER);
    publish(&world, 2, "worker-2", |_| {}).await;
    publish(&world, 1, WORKER, |_| {}).await;
    let records = world.audit("refusal", 3).await;
    let codes: std::collections::BTreeSet<&str> = records.iter().map(|record| record.code.as_str()).collect();
    assert_eq!(codes, ["idk_h03", "superseded_work_unit", "worker_mismatch"].into());
    let mesh = world.auditor().await;
    assert_eq!(mesh.last_sequence(StreamName::Handoffs).await.unwrap(), 0, "nothing became a handoff");
    coordinator.stop().await.unwrap();

    // A replay publishes no refusal twice, and refuses nothing less.
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(4).await;
    world.submit(&work_unit, GOOD, 1).await;
    let mesh = world.auditor().await;
    crate::fixture::eventually("a handoff", || async {
        (mesh.last_sequence(StreamName::Handoffs).await.unwrap() == 1).then_some(())
    })
    .await;
    assert_eq!(world.audit("refusal", 3).await.len(), 3);
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_conflicts_and_rejected_candidates_get_no_handoff() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let _panel = world.panel(&VERIFIERS).await;
    let work_unit = world.publish_work(1).await;
    let rejected = world.submit(&work_unit, WRONG, 1).await;
    assert_eq!(world.decision(rejected, 1).await.recommendation, Recommendation::RejectCandidate);
    world.submit(&work_unit, WRONG, 2).await;
    let records = world.audit("refusal", 1).await;
    assert_eq!(records[0].code, "candidate_rejected");
    world.submit(&work_unit, GOOD, 4).await;
    let records = world.audit("refusal", 2).await;
    assert!(records.iter().any(|record| record.code == "attempts_exhausted"), "{records:?}");

    // A second manifest of the same attempt: the stream holds two, the second is a conflict.
    let mesh = world.user(UserRole::Worker, WORKER).await;
    mesh.put_blob(BlobRole::Worker, WORKER, GOOD).await.unwrap();
    let value = manifest(&work_unit, GOOD, 1).value().clone();
    let subject = Subject::sha256("candidate", Digest::of(GOOD));
    let envelope = signed(PredicateType::ResultManifest, subject, value, &key("worker", WORKER));
    mesh.publish_unconditionally(&result_place(1, 1).subject().unwrap(), &envelope).await.unwrap();
    let records = world.audit("refusal", 3).await;
    assert!(records.iter().any(|record| record.code == "attempt_conflict"), "{records:?}");
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_waits_for_its_work_unit() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let _panel = world.panel(&VERIFIERS).await;
    let handoff = world.submit(&crate::fixture::work_unit(1), GOOD, 1).await;
    let mesh = world.auditor().await;
    assert!(mesh.read(&Place::Handoff { handoff }).await.unwrap().is_none());
    world.publish_work(1).await;
    assert_eq!(world.decision(handoff, 1).await.recommendation, Recommendation::AcceptCandidate);
    assert_eq!(mesh.last_sequence(StreamName::Audit).await.unwrap(), 0, "nothing was refused meanwhile");
    coordinator.stop().await.unwrap();
}

/// The worker's own evidence through a verifier's credentials: kept, listed, without effect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_by_a_worker_is_refused_as_wrong_role_and_listed() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, WRONG, 1).await;
    // Whoever is offered a seat sells its credentials to the worker.
    let mut jobs = Vec::new();
    for id in VERIFIERS {
        let mut verifier = world.verifier(id).await;
        let offered = tokio::time::timeout(std::time::Duration::from_millis(700), verifier.next()).await;
        if let Ok(job) = offered {
            jobs.push((verifier, job));
        }
        if jobs.len() == 3 {
            break;
        }
    }
    let (traitor, job) = &jobs[0];
    let epoch = traitor.claim(job).await;
    let forged = traitor.answer_as(job, epoch, &key("worker", WORKER)).await;
    traitor.mesh.publish_unconditionally(&traitor.place(job).subject().unwrap(), &forged).await.unwrap();
    let records = world.audit("refusal", 1).await;
    assert_eq!((records[0].code.as_str(), records[0].handoff), ("wrong_role", Some(handoff)));
    // The panel goes on: the seat is still open and everyone answers honestly.
    for (verifier, job) in &jobs {
        let epoch = verifier.claim(job).await;
        let envelope = verifier.answer(job, epoch).await;
        verifier.mesh.publish_unconditionally(&verifier.place(job).subject().unwrap(), &envelope).await.unwrap();
    }
    let decision = world.decision(handoff, 1).await;
    assert_eq!(decision.recommendation, Recommendation::RejectCandidate);
    let refused: Vec<&str> = decision.refusals.iter().map(|refusal| refusal.code.as_str()).collect();
    assert_eq!(refused, ["wrong_role"]);
    assert_eq!(decision.tally.o, 3);
    assert_eq!(WORK, work_unit.id());
    coordinator.stop().await.unwrap();
}
