//! An explanation in words, one fact a line: the same bytes for the same explanation.

use quorum_schemas::one_line;

use crate::conjunction::Source;
use crate::{Condition, ConditionCode, Demand, Explanation, GroupProof, KeyProof, MemberProof, Proof, RowTrial};

impl Explanation {
    /// The explanation for people. What documents say stays on its own line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![format!("policy `{}`, {}", self.policy.id, self.policy.digest)];
        match &self.work_unit {
            Some(unit) => lines.push(format!("work unit `{}` version {}", unit.id, unit.version)),
            None => lines.push("no work unit: it may ask for more than what stands here, never for less".to_owned()),
        }
        lines.push("effective rule".to_owned());
        self.rule.iter().for_each(|demand| demand_lines(demand, &mut lines));
        if let Some(proof) = &self.proof {
            proof_lines(proof, &mut lines);
        }
        lines.iter().map(|line| indented(line)).collect()
    }
}

/// One line of output: leading spaces stay, everything else is made safe to print.
fn indented(line: &str) -> String {
    let text = line.trim_start_matches(' ');
    format!("{}{}\n", &line[..line.len() - text.len()], one_line(text))
}

fn demand_lines(demand: &Demand, lines: &mut Vec<String>) {
    lines.push(format!("  {} = {}: {}", demand.name, demand.value, demand.note));
    for asked in &demand.from {
        lines.push(match asked.source {
            Source::Floor => format!("      floor: {}", asked.asks),
            Source::WorkUnit => format!("      work unit, {}: {}", asked.key, asked.asks),
            Source::Policy => format!("      policy: {}", asked.asks),
            Source::PolicyDefault => format!("      policy, by default: {}", asked.asks),
            Source::Handoff => format!("      handoff: {}", asked.asks),
        });
    }
}

fn proof_lines(proof: &Proof, lines: &mut Vec<String>) {
    lines.push(format!("case {} at {}", proof.handoff_id, proof.now));
    lines.push(format!("conclusion: {} by {}", proof.conclusion, proof.row));
    if let Some(revision) = &proof.revision {
        let due = if revision.due { "a revision is due" } else { "no revision is due" };
        let withdraws = if revision.withdraws { "; it withdraws the accept" } else { "" };
        let (table, before) = (&revision.table, revision.supersedes);
        lines.push(format!("  revision of {before}: the table says {table}, {due}{withdraws}"));
    }
    lines.push("table, first match".to_owned());
    proof.rows.iter().for_each(|row| lines.push(row_text(row)));
    let tally = proof.tally;
    lines.push(format!("tally: voices s={}, objections o={}, others a={}, n={}", tally.s, tally.o, tally.a, tally.n));
    lines.push(format!("keys heard: {}", proof.keys.len()));
    proof.keys.iter().for_each(|key| key_lines(key, lines));
    if !proof.shared.is_empty() {
        lines.push("shared, so that two are one voice".to_owned());
        for edge in &proof.shared {
            lines.push(format!("  {} and {}: {}", name(proof, &edge.a), name(proof, &edge.b), edge.what.join(", ")));
        }
    }
    if let Some(groups) = &proof.groups {
        lines.push("groups, over the operators of supporters that share nothing with the worker".to_owned());
        group_lines(groups, 1, lines);
    }
    if !proof.refused.is_empty() {
        lines.push("refused, without any effect".to_owned());
        for refusal in &proof.refused {
            let place = if refusal.pointer.is_empty() { "/" } else { &refusal.pointer };
            let message = refusal.message.strip_prefix(&format!("{}: ", refusal.code)).unwrap_or(&refusal.message);
            lines.push(format!("  {} {} at {place}: {message}", refusal.code, refusal.envelope));
        }
    }
    if !proof.missing.is_empty() {
        lines.push("missing for accept_candidate".to_owned());
        lines.extend(proof.missing.iter().map(|missing| format!("  {}: {}", missing.code, missing.message)));
    }
}

fn row_text(row: &RowTrial) -> String {
    let word = if row.fires { "fires" } else { "no" };
    let mut conditions: Vec<String> = row.conditions.iter().map(condition_text).collect();
    if conditions.is_empty() {
        conditions.push("nothing else holds".to_owned());
    }
    format!("  {:<22} {word:<6} {}", row.row, conditions.join("; "))
}

fn condition_text(condition: &Condition) -> String {
    let Condition { code, found, needed, holds } = *condition;
    let text = match code {
        ConditionCode::OpenSeats => format!("{found} seats open"),
        ConditionCode::BeforeDeadline => "before the deadline".to_owned(),
        ConditionCode::OperatorRuleMissing => "the strategy needs a rule that the policy does not have".to_owned(),
        ConditionCode::Voices => format!("voices {found}, at least {needed}"),
        ConditionCode::ObjectionsBorne => format!("objections {found}, at most {needed}"),
        ConditionCode::Fraction => format!("{found} of n={needed} reach the fraction"),
        ConditionCode::Groups => format!("groups: {found} members hold, {needed} needed"),
        ConditionCode::Objections => format!("objections {found}, at least {needed}"),
        ConditionCode::TimedOut => format!("{found} keys timed out where their baseline does not, at least {needed}"),
    };
    format!("{text} ({})", if holds { "holds" } else { "does not hold" })
}

fn key_lines(key: &KeyProof, lines: &mut Vec<String>) {
    let because = if key.because.is_empty() { String::new() } else { format!(": {}", key.because) };
    lines.push(format!("  {} {}{because}", key.id, key.standing));
    for evidence in &key.evidence {
        let codes: Vec<&str> = evidence.refusals.iter().map(|code| code.as_str()).collect();
        let weight = if codes.is_empty() { String::new() } else { format!(", without weight: {}", codes.join(", ")) };
        lines.push(format!("      {} by {}{weight}", evidence.verdict, evidence.envelope));
    }
}

/// The name of a key that was heard, or `the worker`.
fn name(proof: &Proof, key: &str) -> String {
    match proof.keys.iter().find(|known| known.key_id == key) {
        Some(known) => known.id.clone(),
        None => format!("the {key}"),
    }
}

fn group_lines(group: &GroupProof, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let word = |holds: bool| if holds { "holds" } else { "does not hold" };
    lines.push(format!(
        "{indent}{} of {}: {} ({} of them hold)",
        group.k,
        group.of.len(),
        word(group.holds),
        group.holding
    ));
    for member in &group.of {
        match member {
            MemberProof::Operator { operator, holds } => lines.push(format!("{indent}  {operator}: {}", word(*holds))),
            MemberProof::Group(group) => group_lines(group, depth + 1, lines),
        }
    }
}
