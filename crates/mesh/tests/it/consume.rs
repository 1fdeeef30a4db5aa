//! Durable consumers.

use std::time::Duration;

use quorum_mesh::{BlobRef, BlobRole, Offer, Place, ProvisionPlan, StreamName, UserRole, apply};
use quorum_schemas::Digest;

use crate::common::{OTHER, VERIFIER, WORKER, World};

fn offer(seat: u32) -> Vec<u8> {
    let candidate = BlobRef { role: BlobRole::Worker, publisher: WORKER.into(), sha256: Digest::of(b"c"), bytes: 1 };
    let offer =
        Offer { handoff: b"{}".to_vec(), work_unit: b"{}".to_vec(), candidate, baseline: None, seat, try_no: 1 };
    offer.to_bytes().unwrap()
}

fn place(verifier: &str, seat: u32) -> Place {
    Place::Offer { verifier: verifier.into(), handoff: Digest::c1(&"h".into()), seat, try_no: 1 }
}

#[tokio::test]
async fn design_6_each_verifier_gets_its_own_offers_once_acknowledged() {
    let world = World::start().await;
    let (coordinator, verifier) = (world.coordinator().await, world.verifier().await);
    coordinator.publish(&place(OTHER, 0), &offer(0)).await.unwrap();
    let published = coordinator.publish(&place(VERIFIER, 1), &offer(1)).await.unwrap();
    let mut offers = verifier.offers(VERIFIER).unwrap();
    let first = offers.next().await.unwrap();
    assert_eq!(first.stored.place().unwrap(), place(VERIFIER, 1));
    assert_eq!((first.delivered, first.stored.received_at), (1, published.stored_at));
    assert_eq!(Offer::parse(&first.stored.body).unwrap().seat, 1);
    first.nak(Duration::ZERO).await.unwrap();
    let second = offers.next().await.unwrap();
    assert_eq!((second.delivered, second.stored.sequence), (2, first.stored.sequence));
    second.progress().await.unwrap();
    second.ack().await.unwrap();
    coordinator.publish(&place(VERIFIER, 2), &offer(2)).await.unwrap();
    let third = offers.next().await.unwrap();
    assert_eq!(third.stored.place().unwrap(), place(VERIFIER, 2));
    third.term().await.unwrap();
}

#[tokio::test]
async fn design_6_a_poison_message_ends_as_a_dead_letter_and_blocks_nothing() {
    let world = World::start().await;
    let (coordinator, worker) = (world.coordinator().await, world.worker().await);
    let mut dead = coordinator.dead_letters().await.unwrap();
    let result = |attempt| Place::Result { worker: WORKER.into(), work: "w".into(), version: 1, attempt };
    worker.publish(&result(1), b"poison").await.unwrap();
    worker.publish(&result(2), b"good").await.unwrap();
    let mut intake = coordinator.intake(StreamName::Results);
    let mut good = 0;
    let mut poison = 0;
    let letter = loop {
        tokio::select! {
            letter = dead.next() => break letter.unwrap(),
            delivery = intake.next() => {
                let delivery = delivery.unwrap();
                if delivery.stored.body.as_ref() == b"good" {
                    good += 1;
                    delivery.ack().await.unwrap();
                } else {
                    poison += 1;
                    assert_eq!(delivery.last(), poison == 20);
                    delivery.nak(Duration::ZERO).await.unwrap();
                }
            }
        }
    };
    assert_eq!((good, poison, letter.deliveries), (1, 20, 20));
    assert_eq!(letter.stored.unwrap().body.as_ref(), b"poison");
}

#[tokio::test]
async fn design_6_apply_is_repeatable_and_names_a_consumer_that_is_missing() {
    let world = World::start().await;
    let provisioner = world.user(UserRole::Provisioner, "provisioner").await;
    let plan = ProvisionPlan { verifiers: vec![VERIFIER.into(), OTHER.into()], replicas: 1 };
    let made = apply(&provisioner, &plan).await.unwrap();
    assert_eq!(made.len(), 9 + 3 + 2, "{made:?}");
    let error = provisioner.offers("unknown").unwrap().next().await.unwrap_err();
    assert_eq!(error.code(), "not_found");
    assert!(error.to_string().contains("quorum mesh apply"), "{error}");
}

#[tokio::test]
async fn design_6_a_live_watch_sees_what_is_published_after_it() {
    let world = World::start().await;
    let (coordinator, worker) = (world.coordinator().await, world.worker().await);
    let mut watch = worker.watch("idkmesh.v1.decision.>").await.unwrap();
    let place = Place::Decision { handoff: Digest::c1(&"h".into()), revision: 1 };
    coordinator.publish(&place, b"decision").await.unwrap();
    let (subject, body) = watch.next().await.unwrap();
    assert_eq!((Place::parse(&subject).unwrap(), body.as_ref()), (place, b"decision".as_ref()));
}

#[tokio::test]
async fn design_6_a_standing_pull_is_made_anew_when_its_consumer_is() {
    let world = World::start().await;
    let (coordinator, verifier) = (world.coordinator().await, world.verifier().await);
    let provisioner = world.user(UserRole::Provisioner, "provisioner").await;
    let mut offers = verifier.offers(VERIFIER).unwrap();
    coordinator.publish(&place(VERIFIER, 0), &offer(0)).await.unwrap();
    offers.next().await.unwrap().ack().await.unwrap();
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    let reader = tokio::spawn(async move {
        loop {
            // Between deletion and re-creation the consumer is missing, which the daemon's caller sees as an error.
            match offers.next().await {
                Ok(delivery) => sender.send(delivery.stored.sequence).unwrap(),
                Err(error) => assert_eq!(error.code(), "not_found"),
            }
        }
    });
    let consumer = "offers-acme=2fverifier=2e1";
    let delete = format!("$JS.API.CONSUMER.DELETE.IDKMESH_OFFERS.{consumer}");
    // The API's answer is no acknowledgement of a publication, which is all the same here.
    provisioner.publish_unconditionally(&delete, b"").await.unwrap_err();
    apply(&provisioner, &ProvisionPlan { verifiers: vec![VERIFIER.into()], replicas: 1 }).await.unwrap();
    let last = coordinator.publish(&place(VERIFIER, 1), &offer(1)).await.unwrap().sequence;
    while received.recv().await.unwrap() != last {}
    reader.abort();
}

#[tokio::test]
async fn anchors_4_5_a_pull_survives_a_server_that_hangs_longer_than_two_heartbeats() {
    use nix::sys::signal::Signal;
    let world = World::start().await;
    let (coordinator, verifier) = (world.coordinator().await, world.verifier().await);
    let mut offers = verifier.offers(VERIFIER).unwrap();
    let waiting = tokio::spawn(async move { offers.next().await.map(|delivery| delivery.stored.sequence) });
    coordinator.round_trip().await.unwrap();
    world.server.process().signal(Signal::SIGSTOP).unwrap();
    // The request hangs as the server does; when its five seconds are over twice, two heartbeats were missed.
    for _ in 0..2 {
        let outcome = coordinator.publish_unconditionally("idkmesh.v1.handoff.hangs", b"").await;
        assert_eq!(outcome.unwrap_err().code(), "timed_out");
    }
    world.server.process().signal(Signal::SIGCONT).unwrap();
    coordinator.publish(&place(VERIFIER, 0), &offer(0)).await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), 1);
}
