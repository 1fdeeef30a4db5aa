//! The bytes of many random decisions. An edit that means to be faster must not move this digest; one that means to change
//! what a decision says moves it, and says so.

use quorum_policies::Outcome;
use quorum_schemas::{Digest, Sha256, c1};

use crate::build::build;
use crate::cases::generate;

/// Over the decisions of these seeds, each as a line, as the first version of `decide` wrote them.
const DECISIONS: &str = "sha256:f81afa852ed4422b1de981a44654dbdc88c504eda038e9728306206a5cd81a3e";
const SEEDS: u64 = 1500;

#[test]
fn decisions_are_the_bytes_that_they_were() {
    let mut all = Sha256::default();
    let mut decided = 0;
    for seed in 0..SEEDS {
        match build(&generate(seed)).decide() {
            Outcome::Pending(pending) => all.update(format!("{:?}", pending.open_seats).as_bytes()),
            Outcome::Decided(decision) => {
                decided += 1;
                all.update(&c1(&decision.to_value()));
            }
        }
        all.update(b"\n");
    }
    assert!(decided >= SEEDS / 2, "{decided} of {SEEDS} are decided");
    let expected: Digest = DECISIONS.parse().unwrap();
    assert_eq!(all.finish(), expected);
}
