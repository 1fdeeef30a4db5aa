//! How many acknowledged JetStream messages one decision costs.

use quorum_mesh::{StreamName, UserRole};
use quorum_testkit::AUDITOR;

use crate::chaos::Chaos;

/// The bound of the design: three verifiers, small bundles.
const MOST: u64 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_with_three_verifiers_costs_at_most_20_messages() {
    let mut chaos = Chaos::start().await;
    chaos.world.start_daemons().unwrap();
    // The first decision warms up: the coordinator stores its policy and trust root once.
    let warm = chaos.submit(0).await;
    chaos.told(warm).await;
    let before = total(&chaos).await;
    let handoff = chaos.submit(1).await;
    let told = chaos.told(handoff).await;
    assert_eq!(told.recommendation, "accept_candidate");
    let after = total(&chaos).await;
    let rows: Vec<String> =
        before.iter().zip(&after).map(|((name, before), (_, after))| format!("{name} {}", after - before)).collect();
    let spent: u64 = after.iter().map(|(_, n)| n).sum::<u64>() - before.iter().map(|(_, n)| n).sum::<u64>();
    println!("{spent} messages: {}", rows.join(", "));
    assert!(spent <= MOST, "{spent} messages: {}", rows.join(", "));
}

/// The last sequence of every stream: each acknowledged message raised one of them by one.
async fn total(chaos: &Chaos) -> Vec<(&'static str, u64)> {
    let auditor = chaos.world.connect(UserRole::Auditor, AUDITOR).await.unwrap();
    let mut counts = Vec::new();
    for stream in StreamName::ALL {
        counts.push((stream.as_str(), auditor.last_sequence(stream).await.unwrap()));
    }
    auditor.close().await.unwrap();
    counts
}
