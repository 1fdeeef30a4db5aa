//! The report for terminals.

use quorum_policies::Assurance;

use super::model::{End, Model};
use super::{Subject, check_lines};

pub(super) fn render(model: &Model<'_>) -> String {
    let why = model.why();
    let mut lines = why.iter().peekable();
    let mut text = String::new();
    let mut add = |indent: &str, line: &str| text.extend([indent, line, "\n"]);
    // Its first line says that nobody else vouches for a local decision, and stays the first.
    let local = matches!(model.end, End::Decided(decision) if decision.assurance == Assurance::Local);
    if let Some(first) = lines.next_if(|_| local) {
        add("", first);
    }
    if let Subject::Decision { checks, .. } = model.subject {
        for line in check_lines(checks) {
            add("  ", &line);
        }
    }
    for line in lines {
        add("", line);
    }
    text
}
