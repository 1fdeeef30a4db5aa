//! Lease requests and the fenced bucket.

use quorum_mesh::{LeaseOp, LeaseReply, LeaseRequest};
use quorum_schemas::{Digest, Timestamp};

use crate::common::{VERIFIER, World};

#[tokio::test]
async fn design_6_a_lease_request_reaches_a_coordinator_with_the_verifiers_id_and_is_answered() {
    let world = World::start().await;
    let (verifier, coordinator) = (world.verifier().await, world.coordinator().await);
    let mut calls = coordinator.lease_calls().await.unwrap();
    let request =
        LeaseRequest { op: LeaseOp::Claim, handoff: Digest::c1(&"h".into()), seat: 2, try_no: 1, epoch: None };
    let wanted = LeaseReply::Granted { epoch: 7, until: Timestamp::from_micros(1_800_000_000_000_000) };
    let answer = wanted.clone();
    let asked = request.clone();
    let server = tokio::spawn(async move {
        let call = calls.next().await.unwrap();
        assert_eq!((call.verifier.as_str(), &call.request), (VERIFIER, &asked));
        call.reply(&answer).await.unwrap();
        let call = calls.next().await.unwrap();
        call.reply(&LeaseReply::Refused { code: "held".into() }).await.unwrap();
        calls
    });
    assert_eq!(verifier.lease(VERIFIER, &request).await.unwrap(), wanted);
    let refused = verifier.lease(VERIFIER, &request).await.unwrap();
    assert_eq!(refused, LeaseReply::Refused { code: "held".into() });
    drop(server.await.unwrap());
}

#[tokio::test]
async fn design_6_without_a_coordinator_the_outcome_of_a_lease_request_is_unknown() {
    let world = World::start().await;
    let request =
        LeaseRequest { op: LeaseOp::Claim, handoff: Digest::c1(&"h".into()), seat: 0, try_no: 1, epoch: None };
    assert_eq!(world.verifier().await.lease(VERIFIER, &request).await.unwrap_err().code(), "timed_out");
}

#[tokio::test]
async fn design_6_the_lease_bucket_is_fenced_by_revision() {
    let world = World::start().await;
    let store = world.coordinator().await.lease_store();
    assert_eq!(store.get("h.0").await.unwrap(), None);
    let first = store.put("h.0", b"one", 0).await.unwrap();
    assert_eq!(store.put("h.0", b"two", 0).await.unwrap_err().code(), "lease_conflict");
    let second = store.put("h.0", b"two", first).await.unwrap();
    assert!(second > first);
    assert_eq!(store.put("h.0", b"late", first).await.unwrap_err().code(), "lease_conflict");
    let entry = store.get("h.0").await.unwrap().unwrap();
    assert_eq!((entry.value.as_slice(), entry.revision), (b"two".as_slice(), second));
    store.put("h.1", b"x", 0).await.unwrap();
    let all = store.all().await.unwrap();
    assert_eq!(all.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["h.0", "h.1"]);
    assert_eq!(store.put("H 0", b"x", 0).await.unwrap_err().code(), "token_malformed");
}
