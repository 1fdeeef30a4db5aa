//! What survived against what is listed.

use std::collections::BTreeMap;

use super::Mutant;
use super::survivors::{Key, Survivors, key};

/// What came of one mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A test failed.
    Caught,
    /// The tests did not end: caught too.
    TimedOut,
    /// It does not compile.
    Unviable,
    /// Every test passed.
    Survives,
}

impl Outcome {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Caught => "caught",
            Self::TimedOut => "timed out",
            Self::Unviable => "does not compile",
            Self::Survives => "SURVIVES",
        }
    }
}

/// Differences from the list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Survivors that are not listed, or more often than listed.
    pub(super) new: Vec<Mutant>,
    /// Listed, and caught where no other place can be meant.
    pub(super) caught: Vec<Mutant>,
}

/// Holds what was tried, of the mutants of `all`, against the list. The same mutation at several places of one function
/// is one entry with a count: more survivors than that are new, and more caught than the rest of the places are too many.
pub(super) fn compare(tried: &[(Mutant, Outcome)], all: &[Mutant], known: &Survivors) -> Found {
    let mut surviving: BTreeMap<Key, Vec<&Mutant>> = BTreeMap::new();
    let mut others: BTreeMap<Key, Vec<&Mutant>> = BTreeMap::new();
    for (mutant, outcome) in tried {
        let side = if *outcome == Outcome::Survives { &mut surviving } else { &mut others };
        side.entry(key(mutant)).or_default().push(mutant);
    }
    let times = |key: &Key| known.listed.get(key).copied().unwrap_or_default();
    let places = |wanted: &Key| all.iter().filter(|mutant| key(mutant) == *wanted).count();
    let new = surviving.iter().flat_map(|(key, mutants)| mutants.iter().skip(times(key)));
    let caught = others.iter().flat_map(|(key, mutants)| {
        let rest = if times(key) == 0 { usize::MAX } else { places(key).saturating_sub(times(key)) };
        mutants.iter().skip(rest)
    });
    Found {
        new: new.map(|mutant| (*mutant).clone()).collect(),
        caught: caught.map(|mutant| (*mutant).clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(line: usize) -> Mutant {
        Mutant {
            name: format!("f:{line}:1: m"),
            package: "c".to_owned(),
            file: "f".to_owned(),
            function: "g".to_owned(),
            mutation: "m".to_owned(),
            diff: String::new(),
        }
    }

    /// Of two places with the same mutation: how many survive and are caught, how many are listed, and what is said.
    #[test]
    fn new_survivors_and_caught_ones_are_told_by_count() {
        use Outcome::{Caught, Survives, TimedOut, Unviable};
        let all = [mutant(1), mutant(2)];
        for (outcomes, listed, new, caught) in [
            (vec![Survives], 0, 1, 0),
            (vec![Survives], 1, 0, 0),
            (vec![Survives, Survives], 1, 1, 0),
            (vec![Survives, Survives], 2, 0, 0),
            (vec![Caught], 0, 0, 0),
            (vec![Caught], 1, 0, 0),
            (vec![Caught], 2, 0, 1),
            (vec![Caught, TimedOut], 1, 0, 1),
            (vec![Unviable, Survives], 1, 0, 0),
            (vec![Unviable, Survives], 2, 0, 1),
            (vec![Caught, Caught], 0, 0, 0),
        ] {
            let tried: Vec<(Mutant, Outcome)> = all.iter().cloned().zip(outcomes.iter().copied()).collect();
            let list = if listed == 0 { BTreeMap::new() } else { [(key(&all[0]), listed)].into() };
            let known = Survivors::of(list);
            let found = compare(&tried, &all, &known);
            assert_eq!((found.new.len(), found.caught.len()), (new, caught), "{outcomes:?}, {listed} listed");
        }
    }
}
