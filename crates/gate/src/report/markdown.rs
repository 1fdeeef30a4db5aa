//! The report for pull requests and job summaries.

use quorum_policies::{Assurance, Recommendation};
use quorum_schemas::one_line;

use super::Subject;

pub(super) fn render(subject: &Subject<'_>) -> String {
    let decision = subject.decision;
    let mark = match decision.recommendation {
        Recommendation::AcceptCandidate => "\u{2705} ",
        Recommendation::RejectCandidate => "\u{274c} ",
        Recommendation::Escalate => "\u{1f6d1} ",
        Recommendation::InsufficientEvidence => "\u{2754} ",
    };
    let mut text = format!("## {mark}Quorum: {}\n\n", decision.recommendation);
    if decision.assurance == Assurance::Local {
        text.push_str("> 1 local verifier, not independent of this machine\n\n");
    }
    text.push_str("| | |\n|---|---|\n");
    for (name, value) in [
        ("work unit", format!("{} v{}", code(&decision.work_unit.id), decision.work_unit.version)),
        ("worker", format!("{} ({})", code(&decision.worker_id), decision.worker_identity)),
        ("candidate", digests(subject)),
        ("policy", format!("{} {}", code(&decision.policy.id), code(&decision.policy.digest.to_string()))),
        ("handoff", code(&decision.handoff_id.to_string())),
    ] {
        text.push_str(&format!("| {name} | {value} |\n"));
    }
    if !subject.checks.is_empty() {
        text.push_str("\n| check | status | what it shows |\n|---|---|---|\n");
        for check in subject.checks {
            text.push_str(&format!("| {} | {} | {} |\n", code(&check.id), check.status, words(&check.summary)));
        }
    }
    text.push_str("\n<details><summary>Why</summary>\n\n```text\n");
    for line in decision.why_text().lines() {
        // A fence inside the text would end the block.
        text.push_str(&line.replace("```", "'''"));
        text.push('\n');
    }
    text.push_str("```\n\n</details>\n\nA recommendation; integration is someone else's decision.\n");
    text
}

fn digests(subject: &Subject<'_>) -> String {
    let digests = subject.decision.candidate.digest.iter();
    digests.map(|(algorithm, hex)| code(&format!("{algorithm}:{hex}"))).collect::<Vec<_>>().join(" ")
}

/// Text from documents inside a table cell, as code: what it holds is shown and not obeyed.
fn code(text: &str) -> String {
    format!("`{}`", one_line(text).replace('`', "'").replace('|', "\\|"))
}

/// Text from documents inside a table cell, as words.
fn words(text: &str) -> String {
    let mut out = String::new();
    for character in one_line(text).chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '!' | '@' | '#' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}
