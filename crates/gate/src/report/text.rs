//! The report for terminals.

use super::{Subject, check_lines};

pub(super) fn render(subject: &Subject<'_>) -> String {
    let why = subject.decision.why_text();
    let mut lines = why.lines().peekable();
    let mut text = String::new();
    let mut add = |indent: &str, line: &str| text.extend([indent, line, "\n"]);
    // Its first line says that nobody else vouches for a local decision, and stays the first.
    let local = subject.decision.assurance == quorum_policies::Assurance::Local;
    if let Some(first) = lines.next_if(|_| local) {
        add("", first);
    }
    for line in check_lines(subject.checks) {
        add("  ", &line);
    }
    for line in lines {
        add("", line);
    }
    text
}
