//! The report for pull requests and job summaries.

use quorum_policies::{Assurance, Decision, Recommendation};

use super::clean;
use super::model::{End, Item, Level, Model, Part};
use crate::limits;

pub(super) fn render(model: &Model<'_>) -> String {
    let mut page = Page { text: format!("## {}Quorum: {}\n\n", mark(model), model.word()) };
    if let End::Decided(decision) = model.end {
        if decision.assurance == Assurance::Local {
            page.text.push_str("> 1 local verifier, not independent of this machine\n\n");
        }
        page.text.push_str("| | |\n|---|---|\n");
        for (name, value) in facts(decision) {
            page.text.push_str(&format!("| {name} | {value} |\n"));
        }
    }
    let parts = |wanted: fn(&Item) -> bool| model.items.iter().filter(move |item| wanted(item)).collect::<Vec<_>>();
    let verifiers = parts(|item| matches!(item.part, Part::Verifier(_)));
    page.table(["check", "status", "what it shows", "verifier"], &verifiers, verifier_row);
    let missing = parts(|item| matches!(item.part, Part::Refusals | Part::Seats));
    page.table(["not counted", "effect", "why"], &missing, missing_row);
    let notes = parts(|item| item.part == Part::Decision && item.name != "recommendation");
    page.table(["note", "meaning"], &notes, |item| vec![code(&item.rule.id.replace('_', " ")), code(&item.message)]);
    page.why(&model.why());
    page.text.push_str("A recommendation; integration is someone else's decision.\n");
    page.text
}

/// Only an accept has a check mark.
fn mark(model: &Model<'_>) -> &'static str {
    match model.end {
        End::Decided(decision) => match decision.recommendation {
            Recommendation::AcceptCandidate => "\u{2705} ",
            Recommendation::RejectCandidate => "\u{274c} ",
            Recommendation::Escalate => "\u{1f6d1} ",
            Recommendation::InsufficientEvidence => "\u{2754} ",
        },
        End::Undecided(_) => "\u{1f6d1} ",
    }
}

fn facts(decision: &Decision) -> [(&'static str, String); 5] {
    let digests = decision.candidate.digest.iter().map(|(algorithm, hex)| code(&format!("{algorithm}:{hex}")));
    [
        ("work unit", format!("{} v{}", code(&decision.work_unit.id), decision.work_unit.version)),
        ("worker", format!("{} ({})", code(&decision.worker_id), decision.worker_identity)),
        ("candidate", digests.collect::<Vec<_>>().join(" ")),
        ("policy", format!("{} {}", code(&decision.policy.id), code(&decision.policy.digest.to_string()))),
        ("handoff", code(&decision.handoff_id.to_string())),
    ]
}

fn verifier_row(item: &Item) -> Vec<String> {
    let verifier = match &item.part {
        Part::Verifier(id) => code(id),
        _ => String::new(),
    };
    match item.rule.id.strip_prefix("check_") {
        Some(status) => vec![code(&item.name), status.replace('_', " "), code(&item.message), verifier],
        None => vec![String::new(), item.rule.id.replace('_', " "), code(&item.message), verifier],
    }
}

fn missing_row(item: &Item) -> Vec<String> {
    let effect = if item.level == Level::Note { "not counted" } else { "missing" };
    vec![code(&item.name), effect.to_owned(), code(&item.message)]
}

/// A page that never outgrows what a host shows.
struct Page {
    text: String,
}

impl Page {
    /// A table, if there is anything in it; rows that do not fit are counted.
    fn table<const N: usize>(&mut self, head: [&str; N], items: &[&Item], row: impl Fn(&Item) -> Vec<String>) {
        if items.is_empty() {
            return;
        }
        self.text.push_str(&format!("\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(N)));
        for (shown, item) in items.iter().enumerate() {
            let line = format!("| {} |\n", row(item).join(" | "));
            if self.text.len() + line.len() > limits::MARKDOWN_BYTES {
                self.text.push_str(&format!("\nshowing {shown} of {}; the JSON report has all\n", items.len()));
                return;
            }
            self.text.push_str(&line);
        }
    }

    fn why(&mut self, lines: &[String]) {
        self.text.push_str("\n<details><summary>Why</summary>\n\n```text\n");
        for (shown, line) in lines.iter().enumerate() {
            // A fence inside the text would end the block.
            let line = clean::clip(line, limits::REPORT_MESSAGE_CHARS).replace("```", "'''");
            if self.text.len() + line.len() > limits::MARKDOWN_BYTES + WHY_RESERVE {
                self.text.push_str(&format!("showing {shown} of {} lines; the JSON report has all\n", lines.len()));
                break;
            }
            self.text.push_str(&line);
            self.text.push('\n');
        }
        self.text.push_str("```\n\n</details>\n\n");
    }
}

/// Bytes that the tables leave to the why.
const WHY_RESERVE: usize = 4000;

/// Text from documents, as code: a renderer shows it and sees in it no link, mention, emoji, HTML or column.
fn code(text: &str) -> String {
    let text: String = clean::message(text)
        .chars()
        .map(|character| match character {
            '`' => '\'',
            // Hosts that find HTML before code spans find none.
            '<' => '\u{2039}',
            '>' => '\u{203a}',
            other => other,
        })
        .collect();
    // A code span of nothing is no code span.
    if text.trim().is_empty() { String::new() } else { format!("`{}`", text.replace('|', "\\|")) }
}
