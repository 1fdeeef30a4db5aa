//! Messages that somebody may publish and that must stop nobody else.

use quorum_attest::{PredicateType, Subject};
use quorum_mesh::{BlobRole, Place, StreamName, UserRole};
use quorum_policies::Recommendation;
use quorum_schemas::Digest;
use quorum_testkit::RawClient;

use crate::fixture::{GOOD, VERIFIERS, WORKER, World, eventually, key, manifest, result_place, signed};

/// Header blocks that the client library closes its connection at.
const BROKEN: [&[u8]; 3] = [b"garbage\r\n\r\n", b"NATS/1.0\r\nA: \xff\r\n\r\n", b"NATS/1.0\r\nno colon\r\n\r\n"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn header_blocks_that_nobody_can_parse_stop_nobody() {
    let world = World::start().await;
    let mut worker = RawClient::connect(&world.server, UserRole::Worker, WORKER).unwrap();
    let mut verifier = RawClient::connect(&world.server, UserRole::Verifier, VERIFIERS[3]).unwrap();
    let handoff = Digest::c1(&"nothing".into());
    for (number, head) in (0..).zip(BROKEN) {
        let body = format!("body {number}").into_bytes();
        worker.publish(&result_place(9, number).subject().unwrap(), "", head, &body).unwrap();
        let evidence = Place::Evidence { verifier: VERIFIERS[3].into(), handoff, seat: 0, try_no: number as u32 };
        verifier.publish(&evidence.subject().unwrap(), "", head, &body).unwrap();
    }
    let work_unit = world.publish_work(1).await;
    let coordinator = world.coordinator();
    let _panel = world.panel(&VERIFIERS[..3]).await;
    let lease = format!("idkmesh.v1.lease.{}.{}.0", VERIFIERS[3], handoff.hex());
    for head in BROKEN {
        verifier.publish(&lease, "_INBOX.verifier-verifier-d.x", head, b"{}").unwrap();
    }
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    assert_eq!(world.decision(handoff, 1).await.recommendation, Recommendation::AcceptCandidate);
    assert_eq!(world.audit("refusal", 6).await.len(), 6);
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_candidate_that_verifiers_could_not_fetch_gets_no_handoff() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let mut raw = RawClient::connect(&world.server, UserRole::Worker, WORKER).unwrap();
    let worker = world.user(UserRole::Worker, WORKER).await;
    let sized = |bytes: usize| format!("NATS/1.0\r\nQuorum-Size: {bytes}\r\n\r\n").into_bytes();
    let broken = b"NATS/1.0\r\nQuorum-Size: 3\r\nA: \xff\r\n\r\n".to_vec();
    let cases = [("other bytes", sized(3)), ("another size", sized(7)), ("no size", BROKEN[0].into()), ("bad", broken)];
    for (attempt, (bytes, head)) in (1..).zip(cases) {
        let candidate = format!("candidate {attempt}");
        let (role, publisher) = (BlobRole::Worker, WORKER.to_owned());
        let chunk = Place::Blob { role, publisher, sha256: Digest::of(candidate.as_bytes()), chunk: 0 };
        raw.publish(&chunk.subject().unwrap(), "", &head, &bytes.as_bytes()[..3]).unwrap();
        let manifest = manifest(&work_unit, candidate.as_bytes(), attempt);
        let intake = quorum_handoff::intake_values(work_unit.value().clone(), manifest.value().clone(), None).unwrap();
        let subject = Subject::sha256(intake.binding.candidate_artifact_id(), Digest::of(candidate.as_bytes()));
        let envelope = signed(PredicateType::ResultManifest, subject, manifest.value().clone(), &key("worker", WORKER));
        worker.publish(&result_place(1, attempt), &envelope).await.unwrap();
        let records = world.audit("refusal", attempt as usize).await;
        let codes: Vec<&str> = records.iter().map(|record| record.code.as_str()).collect();
        let expected = if attempt > 3 { "attempts_exhausted" } else { "candidate_unreadable" };
        assert_eq!(codes.last(), Some(&expected), "{attempt}: {records:?}");
    }
    assert_eq!(world.auditor().await.last_sequence(StreamName::Handoffs).await.unwrap(), 0);
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_cannot_fill_a_decision_with_seats_that_do_not_exist() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    let mesh = world.user(UserRole::Verifier, VERIFIERS[3]).await;
    let place = |seat, try_no| Place::Evidence { verifier: VERIFIERS[3].into(), handoff, seat, try_no };
    for number in 0..6 {
        // A seat beyond the panel, then a try beyond the policy's.
        let place = if number % 2 == 0 { place(100 + number, 1) } else { place(0, 100 + number) };
        mesh.publish(&place, format!("stray {number}").as_bytes()).await.unwrap();
    }
    let mut codes: Vec<String> = world.audit("refusal", 6).await.into_iter().map(|record| record.code).collect();
    codes.sort();
    assert_eq!(codes, ["malformed", "malformed", "too_many", "too_many", "too_many", "too_many"]);
    let _panel = world.panel(&VERIFIERS[..3]).await;
    let decision = world.decision(handoff, 1).await;
    assert_eq!(decision.recommendation, Recommendation::AcceptCandidate);
    assert_eq!(decision.facts.facts.received.len(), 3 + 2, "three answers and the first two strays");
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_manifest_repeated_as_evidence_is_refused_there_and_nowhere_else() {
    let world = World::start().await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    let auditor = world.auditor().await;
    let manifest = eventually("the manifest", || async { auditor.read(&result_place(1, 1)).await.unwrap() }).await;
    let mesh = world.user(UserRole::Verifier, VERIFIERS[3]).await;
    let place =
        Place::Evidence { verifier: VERIFIERS[3].into(), handoff: Digest::c1(&"none".into()), seat: 0, try_no: 1 };
    mesh.publish(&place, &manifest.body).await.unwrap();
    world.audit("refusal", 1).await;
    coordinator.stop().await.unwrap();
    // What was refused is read from the audit stream again, and the case is still there.
    let coordinator = world.coordinator();
    let _panel = world.panel(&VERIFIERS[..3]).await;
    assert_eq!(world.decision(handoff, 1).await.recommendation, Recommendation::AcceptCandidate);
    coordinator.stop().await.unwrap();
}
