//! Two evaluators, written from the same text by different people, agree on random cases.

use quorum_policies::Outcome;

use crate::build::build;
use crate::cases::generate;
use crate::laws::cases_of;
use crate::second;

#[test]
fn the_second_evaluator_agrees_on_random_cases() {
    let cases = cases_of(10_000);
    for seed in 50_000_000..50_000_000 + cases {
        let case = generate(seed);
        let built = build(&case);
        let first = match built.decide() {
            Outcome::Pending(_) => "pending".to_owned(),
            Outcome::Decided(decision) => decision.recommendation.to_string(),
        };
        let second = second::recommend(&case, &built.digests());
        assert_eq!(first, second, "first and second differ on seed {seed}: {case:#?}");
    }
}
