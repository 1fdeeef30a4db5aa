//! What a policy that can be used may still get wrong.

use std::collections::{BTreeMap, BTreeSet};

use quorum_attest::{Entry, Role, TrustRoot};
use quorum_handoff::WorkUnit;
use quorum_schemas::counted;
use serde::Serialize;

use crate::axes::words;
use crate::conjunction::{Terms, effective_rule};
use crate::voices::{Declared, Supporter, voices};
use crate::{EffectiveRule, Groups, Isolation, Member, Policy, limits};

words! {
    /// What a warning is about.
    WarningCode {
        /// More voices are needed than there are seats.
        QuorumOverPanel => "quorum_over_panel",
        /// The groups need more operators than there are seats.
        GroupsOverPanel => "groups_over_panel",
        /// More objections reject than there are seats.
        RejectQuorumOverPanel => "reject_quorum_over_panel",
        /// Every objection of the panel is borne.
        EveryObjectionBorne => "every_objection_borne",
        /// Two keys of one operator are two voices.
        NothingIndependent => "nothing_independent",
        /// Candidate code may run next to the verifier.
        NoIsolation => "no_isolation",
        /// The strategy needs a rule that the policy does not have.
        OperatorRuleMissing => "operator_rule_missing",
        /// The trust root does not list the policy.
        NotAdmitted => "not_admitted",
        /// The trust root has fewer verifiers than there are seats.
        TooFewVerifiers => "too_few_verifiers",
        /// No verifier of the trust root is of an operator that the groups name.
        OperatorUnknown => "operator_unknown",
        /// Not even all operators of the trust root satisfy the groups.
        GroupsUnsatisfiable => "groups_unsatisfiable",
        /// Not even all verifiers of the trust root are enough voices.
        TooFewVoices => "too_few_voices",
        /// Not even all verifiers of the trust root are a large enough share.
        FractionUnreachable => "fraction_unreachable",
    }
}

/// One thing to think about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What it is about.
    pub code: WarningCode,
    /// In words, with the numbers.
    pub message: String,
}

/// What this policy may get wrong: by itself, joined with a work unit, and with the verifiers of a trust root.
#[must_use]
pub fn advise(policy: &Policy, work_unit: Option<&WorkUnit>, trust: Option<&TrustRoot>) -> Vec<Warning> {
    let terms = work_unit.map(Terms::of_work_unit);
    let rule = effective_rule(policy, terms.as_ref(), policy.panel);
    let mut found = Vec::new();
    by_itself(policy, terms.as_ref(), &rule, &mut found);
    if let Some(trust) = trust {
        with_trust(policy, &rule, trust, &mut found);
    }
    found
}

fn add(found: &mut Vec<Warning>, code: WarningCode, message: String) {
    found.push(Warning { code, message });
}

fn by_itself(policy: &Policy, terms: Option<&Terms>, rule: &EffectiveRule, found: &mut Vec<Warning>) {
    use WarningCode as Code;
    let panel = u64::from(policy.panel);
    let seats = counted(panel, "seat");
    if rule.quorum > panel {
        let message = format!("{} needed, and the panel has {seats}", counted(rule.quorum, "independent voice"));
        add(found, Code::QuorumOverPanel, message);
    }
    if let Some(groups) = &policy.groups {
        let fewest = fewest(groups);
        if fewest as u64 > panel {
            let message = format!("the groups need {}, and the panel has {seats}", counted(fewest as u64, "operator"));
            add(found, Code::GroupsOverPanel, message);
        }
    }
    if policy.reject_quorum > panel {
        let message = format!("{} reject, and the panel has {seats}", counted(policy.reject_quorum, "objection"));
        add(found, Code::RejectQuorumOverPanel, message);
    }
    if rule.tolerate >= panel {
        let message = format!("{} borne, and the panel has {seats}", counted(rule.tolerate, "objection"));
        add(found, Code::EveryObjectionBorne, message);
    }
    if policy.independent_on.is_empty() && rule.quorum > 1 {
        let message = "independent_on is empty: two keys of one operator are two voices".to_owned();
        add(found, Code::NothingIndependent, message);
    }
    if rule.min_isolation == Isolation::None {
        let message = "min_isolation is none: candidate code may run next to the verifier".to_owned();
        add(found, Code::NoIsolation, message);
    }
    if terms.is_some() {
        let needs = match rule.strategy.as_str() {
            "threshold" if policy.fraction.is_none() => "fraction",
            "custom" if policy.groups.is_none() => "groups",
            _ => return,
        };
        let message = format!("the work unit's strategy {} needs `{needs}`: it ends in escalate", rule.strategy);
        add(found, Code::OperatorRuleMissing, message);
    }
}

/// The fewest operators that satisfy the groups; each stands in them once.
fn fewest(groups: &Groups) -> usize {
    let mut each: Vec<usize> = groups
        .of
        .iter()
        .map(|member| match member {
            Member::Operator(_) => 1,
            Member::Group(group) => fewest(group),
        })
        .collect();
    each.sort_unstable();
    each.iter().take(groups.k).sum()
}

fn with_trust(policy: &Policy, rule: &EffectiveRule, trust: &TrustRoot, found: &mut Vec<Warning>) {
    use WarningCode as Code;
    if !trust.admits_policy(&policy.digest()) {
        let message = format!("the trust root version {} does not list {}", trust.version(), policy.digest());
        add(found, Code::NotAdmitted, message);
    }
    // Who is laid down or revoked takes no seat any more.
    let verifiers: Vec<&Entry> = trust
        .entries()
        .iter()
        .filter(|entry| entry.role == Role::Verifier && entry.retired_at.is_none() && entry.revoked_at.is_none())
        .collect();
    if (verifiers.len() as u64) < u64::from(policy.panel) {
        let (have, seats) = (counted(verifiers.len() as u64, "verifier"), counted(policy.panel.into(), "seat"));
        add(found, Code::TooFewVerifiers, format!("the trust root has {have} for {seats}"));
    }
    let operators: BTreeSet<&str> =
        verifiers.iter().filter_map(|entry| entry.attributes.get("operator").map(String::as_str)).collect();
    if let Some(groups) = &policy.groups {
        for operator in groups.operators().into_iter().filter(|name| !operators.contains(name)) {
            let message = format!("no verifier of the trust root is of operator {operator:?}");
            add(found, Code::OperatorUnknown, message);
        }
        if !groups.holds(&operators) {
            let message = format!("{} cannot hold with the trust root's operators", groups.describe());
            add(found, Code::GroupsUnsatisfiable, message);
        }
    }
    // Beyond that many the largest set is not counted exactly; there are more than enough to find out on the mesh.
    if verifiers.len() > limits::PANEL as usize {
        return;
    }
    let most = most_voices(&verifiers, rule);
    if most < rule.quorum {
        let have = counted(most, "independent voice");
        let message = format!("all verifiers of the trust root together are {have}, {} needed", rule.quorum);
        add(found, Code::TooFewVoices, message);
    }
    if let Some(fraction) = rule.fraction.filter(|fraction| !fraction.holds(most, rule.panel.into())) {
        let message = format!("{most} of {} seats are the most that can support, {fraction} must", rule.panel);
        add(found, Code::FractionUnreachable, message);
    }
}

/// The most voices that these verifiers can be, with a worker that shares nothing with them.
fn most_voices(verifiers: &[&Entry], rule: &EffectiveRule) -> u64 {
    let supporters: Vec<Supporter<'_>> = verifiers
        .iter()
        .map(|entry| Supporter {
            key_id: entry.public_key.key_id(),
            id: &entry.id,
            attributes: &entry.attributes,
            declared: Declared::default(),
        })
        .collect();
    // An attribute of no verifier: a known value that nobody shares, and no unknown one.
    let stranger: BTreeMap<String, String> =
        rule.independent_on.iter().map(|axis| (axis.as_str().to_owned(), "\u{0}nobody's".to_owned())).collect();
    voices(&supporters, &stranger, &rule.independent_on).chosen.len() as u64
}
