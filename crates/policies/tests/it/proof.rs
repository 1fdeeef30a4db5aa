//! The proof tree: its conclusion is the decision's, for every random case, and what it says is what the decision says.

use std::collections::BTreeSet;

use quorum_policies::{Outcome, Policy, Row, Source, explain_policy, explain_recorded};

use crate::build::{Built, build, intake_of};
use crate::cases::{PlainWorkUnit, generate};
use crate::laws::cases_of;

/// It takes so many cases for every row to end one of them; fewer are asked for when one test run is one of hundreds.
const ALL_ROWS: u64 = 1_200;

/// Row 1 and every row of the table was the last one of some case.
#[test]
fn the_proofs_conclusion_is_the_decision_on_random_cases() {
    let mut rows = BTreeSet::new();
    let cases = cases_of(10_000);
    for seed in 60_000_000..60_000_000 + cases {
        let built = build(&generate(seed));
        let proof = built.explain().proof.expect("a case has a proof");
        let last = proof.rows.last().expect("row 1 is always tried");
        assert_eq!(proof.rows.iter().filter(|row| row.fires).count(), 1, "seed {seed}");
        assert!(last.fires && last.row == proof.row && last.recommends == proof.conclusion, "seed {seed}");
        for row in &proof.rows {
            let all_hold = row.conditions.iter().all(|condition| condition.holds);
            assert_eq!(row.fires, all_hold, "seed {seed}, row {}", row.row);
        }
        rows.insert(proof.row.clone());
        match built.decide() {
            Outcome::Pending(pending) => {
                assert_eq!(proof.conclusion, "pending", "seed {seed}");
                assert_eq!(proof.open_seats, pending.open_seats, "seed {seed}");
            }
            Outcome::Decided(decision) => {
                assert_eq!(proof.conclusion, decision.recommendation.as_str(), "seed {seed}");
                assert_eq!(proof.row, decision.row.as_str(), "seed {seed}");
                assert_eq!((proof.tally, &proof.shared), (decision.tally, &decision.shared), "seed {seed}");
                assert_eq!(proof.missing, decision.missing, "seed {seed}");
                let standing: Vec<_> = proof.keys.iter().map(|key| (key.key_id.clone(), key.standing)).collect();
                let heard: Vec<_> = decision.heard.iter().map(|key| (key.key_id.to_string(), key.standing)).collect();
                assert_eq!(standing, heard, "seed {seed}");
                let listed = proof.keys.iter().flat_map(|key| &key.evidence).map(|said| said.refusals.len());
                assert_eq!(listed.sum::<usize>() + proof.refused.len(), decision.refusals.len(), "seed {seed}");
            }
        }
    }
    let all: BTreeSet<String> = Row::ALL
        .iter()
        .filter(|row| **row != Row::WithdrawnAndRejected)
        .map(|row| row.to_string())
        .chain(["pending".to_owned()])
        .collect();
    assert!(rows.is_subset(&all), "{rows:?}");
    assert!(rows == all || cases < ALL_ROWS, "every row ends some case");
}

/// The schema is checked on the way out, so that a proof which does not follow it fails here.
#[test]
fn every_proof_follows_its_schema_and_says_the_same_twice() {
    for seed in 0..cases_of(300) {
        let built = build(&generate(seed));
        let explanation = built.explain();
        explanation.to_value().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(explanation.text(), built.explain().text(), "seed {seed}");
        assert!(!explanation.text().chars().any(|letter| letter.is_control() && letter != '\n'), "seed {seed}");
    }
}

/// The groups' tree holds where the decision says so: it is missing where it does not.
#[test]
fn the_groups_tree_says_what_is_missing() {
    let mut seen = BTreeSet::new();
    for seed in 0..cases_of(1_200) {
        let built = build(&generate(seed));
        let Some(decision) = built.decide().decision().cloned() else { continue };
        let Some(groups) = built.explain().proof.expect("a proof").groups else { continue };
        let missing = decision.missing.iter().any(|missing| missing.code.as_str() == "groups");
        let accepts = decision.recommendation.as_str() == "accept_candidate";
        assert_eq!(groups.holds, accepts || !missing, "seed {seed}");
        seen.insert(groups.holds);
    }
    assert_eq!(seen.len(), 2, "groups hold in some cases and not in others");
}

/// A recorded first decision and its explanation agree; a revision names what it supersedes.
#[test]
fn a_recorded_decision_is_explained_as_it_was_decided() {
    let mut revised = 0;
    let cases = cases_of(800);
    for seed in 0..cases {
        let built = build(&generate(seed));
        let Some(decision) = built.decide().decision().cloned() else { continue };
        let proof = explain_recorded(&built.case(), &decision).expect("it was decided").proof.expect("a proof");
        assert_eq!(proof.conclusion, decision.recommendation.as_str(), "seed {seed}");
        assert!(proof.revision.is_none());
        let silent = Built { facts: quorum_policies::Facts { received: [].into(), ..built.facts.clone() }, ..built };
        let silent = Built { envelopes: Vec::new(), ..silent };
        let Some(revision) = silent.revise(&decision) else { continue };
        let proof = explain_recorded(&silent.case(), &revision).expect("it was revised").proof.expect("a proof");
        assert_eq!(
            (proof.conclusion.as_str(), proof.row.as_str()),
            (revision.recommendation.as_str(), revision.row.as_str())
        );
        let said = proof.revision.expect("a revision");
        assert_eq!((said.supersedes, said.due, said.withdraws), (decision.recommendation, true, revision.withdraws));
        revised += 1;
    }
    assert!(revised * 40 > cases, "only {revised} revisions of {cases}");
}

#[test]
fn the_effective_conjunction_names_everyone_who_asks() {
    let policy = Policy::parse(b"schema_version = \"0.1\"\nid = \"p\"\nquorum = 2\npanel = 3\ntolerate = 1\n").unwrap();
    let unit = PlainWorkUnit {
        strategy: "all_required",
        quorum: Some(3),
        minimum_independent_verifiers: 1,
        independent_from_worker: true,
        sandbox_required: true,
    };
    let explanation = explain_policy(&policy, Some(&intake_of(unit, 0).work_unit));
    let demand = |name: &str| explanation.rule.iter().find(|demand| demand.name == name).expect(name).clone();
    let asked = |name: &str| -> Vec<(Source, String)> {
        demand(name).from.into_iter().map(|asked| (asked.source, asked.asks)).collect()
    };
    let text = |text: &str| text.to_owned();
    assert_eq!(demand("quorum").value, "3");
    assert_eq!(
        asked("quorum"),
        [
            (Source::Floor, text("1")),
            (Source::WorkUnit, text("1")),
            (Source::WorkUnit, text("3")),
            (Source::Policy, text("2"))
        ]
    );
    assert_eq!(demand("tolerate").value, "0");
    assert_eq!(asked("tolerate"), [(Source::WorkUnit, text("all_required")), (Source::Policy, text("1"))]);
    assert_eq!(demand("min_isolation").value, "process-sandbox");
    assert_eq!(asked("reject_quorum"), [(Source::PolicyDefault, text("1"))]);
    let alone = explain_policy(&policy, None);
    assert_eq!(alone.rule.iter().find(|demand| demand.name == "tolerate").expect("tolerate").value, "1");
    alone.to_value().expect("it follows the schema");
}
