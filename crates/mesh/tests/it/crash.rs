//! kill -9 of the server.

use quorum_mesh::{Place, StreamName};
use quorum_schemas::Digest;

use crate::common::{VERIFIER, WORKER, World};

#[tokio::test]
async fn design_11_nothing_acknowledged_is_lost_and_clients_go_on_after_kill_9_of_the_server() {
    let mut world = World::start().await;
    let (worker, coordinator) = (world.worker().await, world.coordinator().await);
    let place = |attempt| Place::Result { worker: WORKER.into(), work: "w".into(), version: 1, attempt };
    let mut intake = coordinator.intake(StreamName::Results);
    let mut acknowledged = 0_u64;
    for round in 0..3_u64 {
        for index in 0..20 {
            worker.publish(&place(round * 100 + index), format!("{round}.{index}").as_bytes()).await.unwrap();
            acknowledged += 1;
        }
        world.server.kill9().unwrap();
        let late = {
            let worker = worker.clone();
            let place = place(round * 100 + 99);
            tokio::spawn(async move { worker.publish(&place, b"while the server is away").await })
        };
        world.server.restart().unwrap();
        late.await.unwrap().unwrap();
        acknowledged += 1;
    }
    let all = coordinator.scan(StreamName::Results, None, 1).await.unwrap();
    assert_eq!(all.len() as u64, acknowledged);
    let mut delivered = std::collections::BTreeSet::new();
    while (delivered.len() as u64) < acknowledged {
        let delivery = intake.next().await.unwrap();
        delivered.insert(delivery.stored.sequence);
        delivery.ack().await.unwrap();
    }
}

#[tokio::test]
async fn design_6_a_standing_pull_survives_a_restart_of_the_server() {
    let mut world = World::start().await;
    let (verifier, coordinator) = (world.verifier().await, world.coordinator().await);
    let mut offers = verifier.offers(VERIFIER).unwrap();
    let waiting = tokio::spawn(async move { offers.next().await.map(|delivery| delivery.stored.sequence) });
    coordinator.round_trip().await.unwrap();
    world.server.restart().unwrap();
    let place = Place::Offer { verifier: VERIFIER.into(), handoff: Digest::c1(&"h".into()), seat: 0, try_no: 1 };
    coordinator.publish(&place, b"{}").await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), 1);
}
