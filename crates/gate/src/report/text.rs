//! The report for terminals.

use super::{Subject, plain};

pub(super) fn render(subject: &Subject<'_>) -> String {
    let why = subject.decision.why_text();
    let mut lines = why.lines().map(plain).peekable();
    let mut text = String::new();
    // Its first line says that nobody else vouches for a local decision, and stays the first.
    let local = subject.decision.assurance == quorum_policies::Assurance::Local;
    text.extend(lines.next_if(|_| local).map(|line| line + "\n"));
    let width = subject.checks.iter().map(|check| check.id.chars().count()).max().unwrap_or(0);
    for check in subject.checks {
        let (status, id, summary) = (&check.status, plain(&check.id), plain(&check.summary));
        text.push_str(&format!("  {status:<12}  {id:<width$}  {summary}\n"));
    }
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text
}
