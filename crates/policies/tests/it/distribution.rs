//! What the random cases are like: laws over cases that never accept would hold for nothing.

use std::collections::BTreeMap;

use quorum_policies::{Decision, Outcome, RefusalCode, Row};

use crate::build::build;
use crate::cases::generate;

/// A supporter that shares something with two others which share nothing with each other.
fn has_bridge(decision: &Decision) -> bool {
    let edges: Vec<(&str, &str)> = decision
        .shared
        .iter()
        .filter(|edge| edge.b != "worker")
        .flat_map(|edge| [(edge.a.as_str(), edge.b.as_str()), (edge.b.as_str(), edge.a.as_str())])
        .collect();
    edges.iter().any(|(a, b)| edges.iter().any(|(c, d)| a == c && b != d && !edges.contains(&(b, d))))
}

#[test]
fn the_random_cases_are_spread_over_all_outcomes() {
    let total: u64 = std::env::var("CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut count = |name: &str| *counts.entry(name.to_owned()).or_default() += 1;
    for seed in 0..total {
        match build(&generate(seed)).decide() {
            Outcome::Pending(_) => count("pending"),
            Outcome::Decided(decision) => {
                count(decision.recommendation.as_str());
                if decision.row == Row::ExhaustsVerifiers {
                    count("row exhausts_verifiers");
                }
                if has_bridge(&decision) {
                    count("bridge");
                }
                if decision.refusals.iter().any(|refusal| refusal.code == RefusalCode::Equivocation) {
                    count("equivocation");
                }
                if decision.shared.iter().any(|edge| edge.b == "worker") {
                    count("worker's neighbour");
                }
                for code in RefusalCode::ALL {
                    if decision.refusals.iter().any(|refusal| refusal.code == *code) {
                        count(&format!("refusal {code}"));
                    }
                }
            }
        }
    }
    for (name, count) in &counts {
        println!("{name:32} {count:6} of {total}");
    }
    let least = |name: &str, percent: u64| {
        let found = counts.get(name).copied().unwrap_or_default();
        assert!(found * 100 >= percent * total, "{name}: {found} of {total}, at least {percent} % are asked");
    };
    least("accept_candidate", 15);
    for outcome in ["reject_candidate", "escalate", "insufficient_evidence", "pending"] {
        least(outcome, 5);
    }
    for feature in ["bridge", "equivocation", "worker's neighbour"] {
        least(feature, 10);
    }
    for code in RefusalCode::ALL {
        // Wrong types and the worker as verifier have named tests; everything else must happen here too.
        if !matches!(code, RefusalCode::WrongType | RefusalCode::SelfVerification) {
            assert!(counts.contains_key(&format!("refusal {code}")), "{code} never happens in {total} cases");
        }
    }
}
