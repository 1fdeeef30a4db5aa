//! Run reports, records of human decisions, and imported evidence reports.

mod human;
mod import;
mod run;

use std::collections::BTreeSet;

use quorum_handoff::{Document, ExportRule, HandoffError};
use serde_json::Value as Json;

type Edit = (&'static str, Option<Json>);

fn refused<T: std::fmt::Debug>(
    found: Result<T, HandoffError>,
    rule: ExportRule,
    document: Document,
    place: &str,
) -> String {
    match found {
        Err(HandoffError::Export { rule: found, document: whose, pointer, message }) => {
            assert_eq!((found, whose, pointer.as_str()), (rule, document, place), "{message}");
            message
        }
        other => panic!("{other:?}"),
    }
}

/// Fails when a rule has no case in the tables from which the tests are made.
#[test]
fn every_export_rule_has_a_test() {
    let tables = [run::OF_RECORDS, run::OF_REPORTS, run::OF_RUNS, human::COVERED, import::COVERED];
    let covered: BTreeSet<ExportRule> = tables.concat().into_iter().collect();
    for rule in ExportRule::ALL {
        assert!(covered.contains(rule), "no test for {rule}");
    }
    let codes: BTreeSet<&str> = ExportRule::ALL.iter().map(|rule| rule.as_str()).collect();
    assert_eq!(codes.len(), ExportRule::ALL.len());
}
