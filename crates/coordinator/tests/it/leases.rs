//! Seats over the wire: fencing, lapses, tries.

use std::time::Duration;

use quorum_mesh::{LeaseOp, LeaseReply};
use quorum_policies::Recommendation;

use crate::fixture::{GOOD, VERIFIERS, World};

const ONE_SEAT: &str = "schema_version = \"0.1\"\nid = \"one-seat\"\nquorum = 1\npanel = 1\nmax_tries = 2\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_holder_loses_its_seat_and_its_late_support_is_stale() {
    let world = World::with_policy(ONE_SEAT).await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    // Offers go round; the first verifier that is asked takes the seat and falls silent.
    let mut silent = None;
    let mut others = Vec::new();
    for id in VERIFIERS {
        let mut verifier = world.verifier(id).await;
        if silent.is_none()
            && let Ok(job) = tokio::time::timeout(Duration::from_millis(400), verifier.next()).await
        {
            silent = Some((verifier, job));
        } else {
            others.push(verifier);
        }
    }
    let (silent, job) = match silent {
        Some(found) => found,
        None => {
            let mut verifier = others.pop().unwrap();
            let job = verifier.next().await;
            (verifier, job)
        }
    };
    let epoch = silent.claim(&job).await;
    assert_eq!(silent.claim(&job).await, epoch, "a repeated claim is the same lease");
    let renewed = silent.lease(&job.request(LeaseOp::Renew, Some(epoch))).await;
    assert!(matches!(renewed, LeaseReply::Granted { epoch: same, .. } if same == epoch));
    let stale = silent.lease(&job.request(LeaseOp::Renew, Some(epoch + 1))).await;
    assert_eq!(stale, LeaseReply::Refused { code: "stale_epoch".into() });
    let lapses = world.audit("lease", 1).await;
    assert_eq!((lapses[0].code.as_str(), lapses[0].publisher.as_str()), ("lapsed", silent.id.as_str()));
    let lost = silent.lease(&job.request(LeaseOp::Renew, Some(epoch))).await;
    assert_eq!(lost, LeaseReply::Refused { code: "stale_epoch".into() });
    // The next one in the order takes try 2 before the silent one wakes up.
    let mut tasks = tokio::task::JoinSet::new();
    for mut verifier in others {
        tasks.spawn(async move {
            loop {
                let job = verifier.next().await;
                if job.offer.try_no == 2 {
                    let epoch = verifier.claim_until_over(&job).await;
                    return (verifier, job, epoch);
                }
                job.delivery.ack().await.unwrap();
            }
        });
    }
    let (second, second_job, second_epoch) = tasks.join_next().await.unwrap().unwrap();
    let second_epoch = second_epoch.expect("the seat is free");
    assert!(second_epoch > epoch);
    let late = silent.answer(&job, epoch).await;
    silent.publish(&job, &late).await;
    let envelope = second.answer(&second_job, second_epoch).await;
    second.publish(&second_job, &envelope).await;
    let decision = world.decision(handoff, 1).await;
    assert_eq!(decision.recommendation, Recommendation::AcceptCandidate);
    let refused: Vec<&str> = decision.refusals.iter().map(|refusal| refusal.code.as_str()).collect();
    assert_eq!(refused, ["stale_epoch"]);
    assert_eq!(decision.reissued_seats, [0]);
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_claims_what_it_was_not_offered_or_what_is_decided() {
    let world = World::with_policy(ONE_SEAT).await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    let verifier = world.verifier(VERIFIERS[0]).await;
    let request = |seat, try_no| quorum_mesh::LeaseRequest { op: LeaseOp::Claim, handoff, seat, try_no, epoch: None };
    for (seat, try_no, code) in [(7, 1, "unknown_seat"), (0, 9, "stale_try")] {
        let refused = crate::fixture::eventually("a refusal of the handoff's seats", || async {
            match verifier.lease(&request(seat, try_no)).await {
                LeaseReply::Refused { code } if code == "unknown_handoff" => None,
                other => Some(other),
            }
        })
        .await;
        assert_eq!(refused, LeaseReply::Refused { code: code.into() });
    }
    let _panel = world.panel(&VERIFIERS).await;
    world.decision(handoff, 1).await;
    let decided = verifier.lease(&request(0, 1)).await;
    assert!(matches!(decided, LeaseReply::Refused { .. }), "{decided:?}");
    coordinator.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deadline_ends_what_nobody_answers() {
    let policy = format!("{ONE_SEAT}deadline = \"2s\"\n");
    let world = World::with_policy(&policy).await;
    let coordinator = world.coordinator();
    let work_unit = world.publish_work(1).await;
    let handoff = world.submit(&work_unit, GOOD, 1).await;
    let decision = world.decision(handoff, 1).await;
    assert_eq!(decision.recommendation, Recommendation::InsufficientEvidence);
    assert_eq!(decision.facts.now, decision.facts.deadline, "now is the deadline once the stream's clock passed it");
    coordinator.stop().await.unwrap();
}
