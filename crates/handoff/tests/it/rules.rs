//! Every numbered rule has a named test, and the numbers are upstream's.

use std::collections::BTreeSet;

use quorum_handoff::{BuildRule, DerivationRule, ReferenceRule, Rule, SourceRule};

use crate::{build, check, derivation, reference, source};

/// The name of a test says the numbers of the rules that it shows: `idk_p04_v05_...` shows `idk_p04` and `idk_v05`.
pub(crate) fn named(test: &str, codes: &[&str]) {
    for code in codes {
        let number = code.trim_start_matches("idk");
        assert!(test.contains(&format!("{number}_")) || test.starts_with(code), "{test} does not say {code}");
    }
}

/// Fails when a rule has no case in the tables from which the tests are made.
#[test]
fn every_rule_has_a_test() {
    fn all<T: Copy + Ord + std::fmt::Display>(rules: &[T], covered: &[&[T]]) {
        let covered: BTreeSet<T> = covered.concat().into_iter().collect();
        let without: Vec<String> =
            rules.iter().filter(|rule| !covered.contains(*rule)).map(ToString::to_string).collect();
        assert!(without.is_empty(), "no test for {}", without.join(", "));
    }
    all(DerivationRule::ALL, &[derivation::COVERED, derivation::CONSTRUCTED]);
    all(SourceRule::ALL, &[source::COVERED]);
    all(ReferenceRule::ALL, &[reference::COVERED]);
    all(BuildRule::ALL, &[build::COVERED]);
    all(Rule::ALL, &[check::OF_RESULTS, check::OF_MANIFESTS]);
}

/// No number is left out but those that have their reason here.
#[test]
fn the_numbers_are_upstreams() {
    /// V2 and V17 judge a manifest by the experiment manifest that lists its work unit; that document comes with
    /// campaigns, and nothing here reads it.
    const ELSEWHERE: [&str; 2] = ["idk_v02", "idk_v17"];
    let numbers = |letter: char, last: usize| (1..=last).map(move |number| format!("idk_{letter}{number:02}"));
    let codes = |rules: &mut dyn Iterator<Item = &'static str>| rules.map(str::to_owned).collect::<Vec<_>>();
    let all = |rules: &[&'static str], letter, last| {
        assert_eq!(codes(&mut rules.iter().copied()), numbers(letter, last).collect::<Vec<_>>());
    };
    all(&DerivationRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>(), 'h', 47);
    all(&SourceRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>(), 'b', 13);
    all(&ReferenceRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>(), 'c', 11);
    all(&BuildRule::ALL.iter().map(|rule| rule.as_str()).collect::<Vec<_>>(), 'r', 17);
    let expected: Vec<String> = numbers('p', 10)
        .chain(numbers('v', 17).filter(|code| !ELSEWHERE.contains(&code.as_str())))
        .chain(["repeated_check".to_owned()])
        .collect();
    assert_eq!(codes(&mut Rule::ALL.iter().map(|rule| rule.as_str())), expected);
}
