//! Clients that keep to their permissions and to nothing else.

use quorum_mesh::{LeaseOp, LeaseReply, LeaseRequest, Place, StreamName, UserRole};
use quorum_schemas::{C1Digest, Digest};
use quorum_testkit::RawClient;

use crate::common::{VERIFIER, WORKER, World};

const PLAIN: &[u8] = b"NATS/1.0\r\n\r\n";

fn handoff() -> C1Digest {
    Digest::c1(&"handoff".into())
}

fn result(attempt: u64) -> String {
    Place::Result { worker: WORKER.into(), work: "w".into(), version: 1, attempt }.subject().unwrap()
}

/// Subjects of other people's documents, as a stranger would like the server to write them.
fn targets() -> Vec<(StreamName, String)> {
    let decision = Place::Decision { handoff: handoff(), revision: 1 };
    let evidence = Place::Evidence { verifier: VERIFIER.into(), handoff: handoff(), seat: 0, try_no: 1 };
    let offer = Place::Offer { verifier: VERIFIER.into(), handoff: handoff(), seat: 0, try_no: 1 };
    let places = [decision, evidence, offer].map(|place| (place.stream(), place.subject().unwrap()));
    let lease = (StreamName::Leases, format!("$KV.idkmesh-leases.{}", handoff().hex()));
    places.into_iter().chain([lease]).collect()
}

#[tokio::test]
async fn design_6_a_reply_subject_writes_on_nobody_elses_stream() {
    let world = World::start().await;
    let mut worker = RawClient::connect(&world.server, UserRole::Worker, WORKER).unwrap();
    let mut attempt = 0;
    for (_, target) in targets() {
        attempt += 1;
        // The acknowledgement of a publication, and the answer to a read: bytes of the worker's choice.
        worker.publish(&result(attempt), &target, PLAIN, b"chosen bytes").unwrap();
        let read = format!("$JS.API.DIRECT.GET.IDKMESH_RESULTS.{}", result(attempt));
        worker.publish(&read, &target, PLAIN, b"").unwrap();
    }
    let auditor = world.user(UserRole::Auditor, "auditor").await;
    assert_eq!(auditor.last_sequence(StreamName::Results).await.unwrap(), attempt);
    for (stream, target) in targets() {
        assert_eq!(auditor.last_sequence(stream).await.unwrap(), 0, "the server wrote on {target} for a worker");
    }
}

#[tokio::test]
async fn design_6_a_lease_reply_goes_to_its_verifier_only() {
    let world = World::start().await;
    let mut calls = world.coordinator().await.lease_calls().await.unwrap();
    let mut raw = RawClient::connect(&world.server, UserRole::Verifier, VERIFIER).unwrap();
    let request = LeaseRequest { op: LeaseOp::Claim, handoff: handoff(), seat: 0, try_no: 1, epoch: None };
    let subject = format!("idkmesh.v1.lease.acme=2fverifier=2e1.{}.0", handoff().hex());
    let body = format!("{{\"handoff\":\"{}\",\"op\":\"claim\",\"seat\":0,\"try\":1}}", handoff());
    for (_, target) in targets() {
        raw.publish(&subject, &target, PLAIN, body.as_bytes()).unwrap();
        let call = calls.next().await.unwrap();
        assert_eq!((call.verifier.as_str(), call.request.clone()), (VERIFIER, request.clone()));
        call.reply(&LeaseReply::Refused { code: "unknown_handoff".into() }).await.unwrap();
    }
    let auditor = world.user(UserRole::Auditor, "auditor").await;
    // The answers of an honest verifier come after those to the raw one.
    for (stream, target) in targets() {
        assert_eq!(auditor.last_sequence(stream).await.unwrap(), 0, "the coordinator wrote on {target} for a verifier");
    }
}

#[tokio::test]
async fn design_5_the_time_of_reception_is_the_servers_whatever_a_publisher_writes() {
    let world = World::start().await;
    let mut worker = RawClient::connect(&world.server, UserRole::Worker, WORKER).unwrap();
    for (attempt, head) in [
        &b"NATS/1.0\r\nNats-Time-Stamp: 2001-01-01T00:00:00Z\r\n\r\n"[..],
        b"NATS/1.0\r\nNats-Sequence: 0\r\nNats-Subject: idkmesh.v1.result.other.w.1.1\r\n\r\n",
        b"NATS/1.0\r\nnats-sequence: 99\r\nNats-Sequence: none\r\n\r\n",
        b"NATS/1.0 404 Not here\r\n\r\n",
        b"NATS/1.0 503\r\n\r\n",
    ]
    .into_iter()
    .enumerate()
    {
        worker.publish(&result(attempt as u64 + 1), "", head, b"body").unwrap();
    }
    let coordinator = world.coordinator().await;
    let before = coordinator.server_time().await.unwrap();
    let stored = coordinator.scan(StreamName::Results, None, 1).await.unwrap();
    let told: Vec<(u64, String)> = stored.iter().map(|stored| (stored.sequence, stored.subject.clone())).collect();
    assert_eq!(told, (1..=5).map(|n| (n, result(n))).collect::<Vec<_>>());
    for stored in stored {
        assert!(before.micros_since(stored.received_at) < 60_000_000, "{stored:?}");
    }
}
