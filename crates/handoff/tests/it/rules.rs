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

/// A rule's code, its sentence and its tests.
type Row = (&'static str, &'static str, BTreeSet<&'static str>);

fn rows<T: Copy + PartialEq>(
    rules: &[T],
    code: fn(T) -> &'static str,
    summary: fn(T) -> &'static str,
    tests: &[(T, &'static str)],
) -> Vec<Row> {
    let of = |rule: T| tests.iter().filter(|(shown, _)| *shown == rule).map(|(_, test)| *test).collect();
    rules.iter().map(|rule| (code(*rule), summary(*rule), of(*rule))).collect()
}

/// Every numbered rule with its tests, as the tables have them from which the tests are made.
fn families() -> [(&'static str, Vec<Row>); 5] {
    let pairs = [check::OF_RESULTS, check::OF_MANIFESTS].concat();
    let pairs: Vec<(Rule, &str)> =
        pairs.into_iter().flat_map(|(rules, test)| rules.iter().map(move |rule| (*rule, test))).collect();
    let derivation = [derivation::COVERED, derivation::CONSTRUCTED].concat();
    [
        ("Derivation", rows(DerivationRule::ALL, DerivationRule::as_str, DerivationRule::summary, &derivation)),
        ("Source binding", rows(SourceRule::ALL, SourceRule::as_str, SourceRule::summary, source::COVERED)),
        (
            "Candidate reference",
            rows(ReferenceRule::ALL, ReferenceRule::as_str, ReferenceRule::summary, reference::COVERED),
        ),
        ("Manifest builder", rows(BuildRule::ALL, BuildRule::as_str, BuildRule::summary, build::COVERED)),
        ("Bindings between documents", rows(Rule::ALL, Rule::as_str, Rule::summary, &pairs)),
    ]
}

/// Fails when a rule has no case.
#[test]
fn every_rule_has_a_test() {
    for (family, rows) in families() {
        let without: Vec<&str> = rows.iter().filter(|(.., tests)| tests.is_empty()).map(|(code, ..)| *code).collect();
        assert!(without.is_empty(), "{family}: no test for {}", without.join(", "));
    }
}

/// docs/rules.md is this table; `UPDATE=1` writes it.
#[test]
fn the_page_of_rules_is_generated() {
    let mut page = String::from(PREFACE);
    for (family, rows) in families() {
        page += &format!("\n## {family}\n\n| code | rule | tests |\n|---|---|---|\n");
        for (code, summary, tests) in rows {
            let tests: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
            page += &format!("| `{code}` | {summary} | {} |\n", tests.join("<br>"));
        }
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == kept, "docs/rules.md is not what the tables give; run this test with UPDATE=1");
}

const PREFACE: &str = "# Rules by number

Upstream's checks have numbers here: H for the derivation of a handoff, B for the binding of a work unit to a git revision,
C for the candidate reference, R for the manifest builder, P and V for what binds work unit, manifest and result to each
other. A refusal carries the number as its code. Each rule is shown by the tests beside it, all in `crates/handoff/tests/it`;
this page is generated from their tables, and a rule without a test fails.

V2 (the manifest's work unit is one of the experiment's) and V17 (the experiment manifest itself is consistent) judge an
experiment manifest, which nothing here reads. The E rules of imported plans live in `crates/verifier`. V10 is reported and
never held against a result: a worker that asks for one more validator must not void every result.

Beyond upstream: integers are integer tokens (`1.0` and `true` are none), an explicit `null` counts as present, and an
object of the builder's arguments has no unknown members.
";

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
