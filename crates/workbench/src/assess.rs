//! What a result shows to somebody who expected something (W-100, W-101). Nothing missing is taken for the stronger value.

use std::collections::BTreeSet;

use quorum_schemas::Digest;

use crate::{Address, Completed, ContentDigest, EffectMode, Outcome, Ref, RunResult};

/// What the result must be about, and which exits mean what. Whether 1 is "failed" belongs to the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// Where it was to run.
    pub address: Address,
    /// The pinned profile.
    pub profile_digest: ContentDigest,
    /// The current generation.
    pub generation: Ref,
    /// What the owner needs to have enforced; a mutation is never taken for an observation.
    pub mode: EffectMode,
    /// The digest that the roots must have, where one is known.
    pub roots: Option<Digest>,
    /// Exits that pass.
    pub pass: BTreeSet<i32>,
    /// Exits that fail. One that is in both passes nothing.
    pub fail: BTreeSet<i32>,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Everything that a pass needs is there.
    Passed,
    /// It ran to an end that means failed.
    Failed,
    /// Neither; why.
    Inconclusive(Gap),
}

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// It is a result of another place, profile or generation.
    OtherRun,
    /// It was to be an observation and is a mutation, or the other way round.
    OtherMode,
    /// The observed roots are not those that were expected.
    OtherRoots,
    /// It did not run to an end.
    NotCompleted,
    /// The command broke the promise of its profile: an alarm, and no vote.
    EffectDetected,
    /// Its output was cut (W-070).
    Truncated,
    /// A signal ended it.
    Signal,
    /// Its exit means nothing here.
    OtherExit,
}

/// Holds a result against what was expected.
#[must_use]
pub fn assess(result: &RunResult, expected: &Expectation) -> Shown {
    let same = result.address == expected.address
        && result.profile_digest == expected.profile_digest
        && result.generation == expected.generation;
    if !same {
        return Shown::Inconclusive(Gap::OtherRun);
    }
    if result.outcome.mode() != expected.mode {
        return Shown::Inconclusive(Gap::OtherMode);
    }
    match &result.outcome {
        Outcome::CompletedObservation(_, record)
            if expected.roots.is_some_and(|roots| roots != record.roots_digest) =>
        {
            Shown::Inconclusive(Gap::OtherRoots)
        }
        // Nobody said what roots a mutation saw.
        Outcome::CompletedMutation(_) if expected.roots.is_some() => Shown::Inconclusive(Gap::OtherRoots),
        Outcome::CompletedObservation(completed, _) | Outcome::CompletedMutation(completed) => {
            exit(completed, expected)
        }
        Outcome::EffectDetected => Shown::Inconclusive(Gap::EffectDetected),
        Outcome::NotRun { .. } | Outcome::TimeoutQuiesced(_) | Outcome::Unknown { .. } => {
            Shown::Inconclusive(Gap::NotCompleted)
        }
    }
}

fn exit(completed: &Completed, expected: &Expectation) -> Shown {
    if completed.truncated {
        return Shown::Inconclusive(Gap::Truncated);
    }
    let Some(code) = completed.exit else { return Shown::Inconclusive(Gap::Signal) };
    match (expected.pass.contains(&code), expected.fail.contains(&code)) {
        (true, false) => Shown::Passed,
        (false, true) => Shown::Failed,
        _ => Shown::Inconclusive(Gap::OtherExit),
    }
}
