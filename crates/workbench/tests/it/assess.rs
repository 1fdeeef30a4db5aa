//! W-100 and W-101: what a pass needs, and what each gap makes of it.

use quorum_schemas::Digest;
use quorum_workbench::{Completed, EffectMode, Expectation, Gap, Outcome, RelativePath, RunResult, Shown, assess};

use crate::result::outcomes;
use crate::support::{name, result};

fn expectation() -> Expectation {
    let result = result(outcomes().remove(0));
    Expectation {
        address: result.address,
        profile_digest: result.profile_digest,
        generation: result.generation,
        mode: EffectMode::Observation,
        roots: Some(Digest::from_bytes([1; 32])),
        pass: [0].into(),
        fail: [1].into(),
    }
}

fn observed(exit: Option<i32>, truncated: bool) -> RunResult {
    let Outcome::CompletedObservation(completed, record) = outcomes().remove(0) else { unreachable!() };
    result(Outcome::CompletedObservation(Completed { exit, truncated, ..completed }, record))
}

#[test]
fn w_100_a_pass_needs_everything() {
    let expected = expectation();
    assert_eq!(assess(&observed(Some(0), false), &expected), Shown::Passed);
    assert_eq!(assess(&observed(Some(1), false), &expected), Shown::Failed);
    let table = [
        (observed(Some(0), true), Gap::Truncated),
        (observed(Some(1), true), Gap::Truncated),
        (observed(None, false), Gap::Signal),
        (observed(Some(124), false), Gap::OtherExit),
        (result(outcomes().remove(1)), Gap::OtherMode),
        (result(outcomes().remove(3)), Gap::NotCompleted),
        (result(outcomes().remove(5)), Gap::EffectDetected),
        (result(outcomes().remove(6)), Gap::NotCompleted),
        (result(outcomes().remove(8)), Gap::NotCompleted),
    ];
    for (result, gap) in table {
        assert_eq!(assess(&result, &expected), Shown::Inconclusive(gap), "{result:?}");
    }
}

#[test]
fn w_100_another_run_is_no_answer() {
    let right = observed(Some(0), false);
    let mut path = expectation();
    path.address.path = RelativePath::new("src").unwrap();
    let generation = Expectation { generation: name("generation:2"), ..expectation() };
    let profile_digest = quorum_workbench::ContentDigest::of(&quorum_schemas::Value::Null).unwrap();
    let profile = Expectation { profile_digest, ..expectation() };
    for other in [path, generation, profile] {
        assert_eq!(assess(&right, &other), Shown::Inconclusive(Gap::OtherRun));
    }
    let roots = Expectation { roots: Some(Digest::from_bytes([2; 32])), ..expectation() };
    assert_eq!(assess(&right, &roots), Shown::Inconclusive(Gap::OtherRoots));
}

#[test]
fn w_101_nothing_missing_is_taken_for_the_stronger_value() {
    // No roots are known of a mutation, so that none can be equal to those expected.
    let mutation = Expectation { mode: EffectMode::Mutation, ..expectation() };
    let ran = result(outcomes().remove(1));
    assert_eq!(assess(&ran, &mutation), Shown::Inconclusive(Gap::OtherRoots));
    assert_eq!(assess(&ran, &Expectation { roots: None, ..mutation }), Shown::Failed);
    // An exit that passes and fails shows nothing.
    let both = Expectation { fail: [0].into(), ..expectation() };
    assert_eq!(assess(&observed(Some(0), false), &both), Shown::Inconclusive(Gap::OtherExit));
}
