//! The report as JUnit XML, in nextest's dialect.
//!
//! A test case stands for one claim and passes only where the claim is proven. Nothing is ever `skipped`: CI systems
//! count that as success.

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::model::{End, Item, Level, Model, Part};

pub(super) fn render(model: &Model<'_>) -> String {
    let mut report = Report::new("quorum");
    let mut suites: Vec<(&Part, TestSuite)> = Vec::new();
    for item in &model.items {
        let Some(case) = case(item) else { continue };
        let at = suites.iter().position(|(part, _)| *part == &item.part).unwrap_or_else(|| {
            suites.push((&item.part, TestSuite::new(suite_name(&item.part))));
            suites.len() - 1
        });
        suites[at].1.add_test_case(case);
    }
    // The first item is the recommendation, so the first suite is the decision's.
    if let Some((_, suite)) = suites.first_mut() {
        suite.add_properties(properties(model));
        suite.set_system_out(system_out(model));
    }
    report.add_test_suites(suites.into_iter().map(|(_, suite)| suite));
    let mut xml = report.to_string().expect("clean text is XML");
    xml.push('\n');
    xml
}

fn suite_name(part: &Part) -> String {
    match part {
        Part::Decision => "quorum".to_owned(),
        Part::Verifier(id) => format!("verifier {id}"),
        Part::Refusals => "refused evidence".to_owned(),
        Part::Seats => "seats".to_owned(),
    }
}

/// The test case of what is proven, disproven or missing; notes and what an accept bore are told in the suite's output.
fn case(item: &Item) -> Option<TestCase> {
    let kind = match item.level {
        Level::Failure => NonSuccessKind::Failure,
        Level::Error => NonSuccessKind::Error,
        Level::Pass => {
            let mut case = TestCase::new(&item.name, TestCaseStatus::success());
            case.set_classname(suite_name(&item.part)).set_system_out(&item.message);
            return Some(case);
        }
        Level::Warning | Level::Note => return None,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(item.rule.id).set_message(&item.message);
    status.set_description(format!("{}\n{} {}", item.message, item.rule.meaning, item.rule.action));
    let mut case = TestCase::new(&item.name, status);
    case.set_classname(suite_name(&item.part));
    Some(case)
}

fn properties(model: &Model<'_>) -> Vec<Property> {
    let mut properties = vec![
        Property::new("recommendation", model.word()),
        Property::new("exit_code", model.exit_code().number().to_string()),
    ];
    if let End::Decided(decision) = model.end {
        for (name, value) in [
            ("handoff_id", decision.handoff_id.to_string()),
            ("decision_digest", decision.digest().to_string()),
            ("policy_digest", decision.policy.digest.to_string()),
            ("assurance", decision.assurance.as_str().to_owned()),
        ] {
            properties.push(Property::new(name, value));
        }
    }
    properties
}

/// The why, and every item that is no test case.
fn system_out(model: &Model<'_>) -> String {
    let mut lines = model.why();
    for item in model.items.iter().filter(|item| matches!(item.level, Level::Warning | Level::Note)) {
        lines.push(format!("{}: {}: {}", item.level.as_str(), item.name, item.message));
    }
    lines.join("\n")
}
