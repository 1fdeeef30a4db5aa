//! The effective rule: the conjunction of floor, work unit and policy, with where each number comes from.

use quorum_handoff::{Strategy, WorkUnit, WorkerTrust};
use serde::{Deserialize, Serialize};

use crate::axes::words;
use crate::{Case, EffectiveRule, Isolation, Policy};

/// The demands of a work unit that a policy is joined with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) strategy: Strategy,
    pub(crate) quorum: Option<u64>,
    pub(crate) minimum_independent_verifiers: u64,
    pub(crate) independent_from_worker: bool,
    pub(crate) sandbox_required: bool,
    pub(crate) minimum_worker_trust: WorkerTrust,
}

impl Terms {
    pub(crate) fn of_case(case: &Case<'_>) -> Self {
        Self {
            strategy: case.handoff.strategy(),
            quorum: case.handoff.quorum(),
            minimum_independent_verifiers: case.handoff.minimum_independent_verifiers(),
            ..Self::of_work_unit(case.work_unit)
        }
    }

    pub(crate) fn of_work_unit(work_unit: &WorkUnit) -> Self {
        Self {
            strategy: work_unit.strategy(),
            quorum: work_unit.quorum(),
            minimum_independent_verifiers: work_unit.minimum_independent_verifiers(),
            independent_from_worker: work_unit.independent_from_worker(),
            sandbox_required: work_unit.sandbox_required(),
            minimum_worker_trust: work_unit.minimum_worker_trust(),
        }
    }
}

words! {
    /// Who asks for something.
    Source {
        /// The program: below it nothing may go.
        Floor => "floor",
        /// The work unit.
        WorkUnit => "work_unit",
        /// The policy file.
        Policy => "policy",
        /// A key that the policy file leaves out.
        PolicyDefault => "policy_default",
        /// The seats of the signed handoff.
        Handoff => "handoff",
    }
}

/// One who asks, and for what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Who.
    pub source: Source,
    /// The key that asks.
    pub key: String,
    /// What for.
    pub asks: String,
}

/// One part of the effective rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demand {
    /// What is asked.
    pub name: String,
    /// What holds in the end.
    pub value: String,
    /// Everyone who has a say, in order.
    pub from: Vec<Asked>,
    /// What follows, where the numbers do not say it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub note: String,
}

/// The least isolation that a work unit leaves a policy.
pub(crate) fn isolation_floor(sandbox_required: bool) -> Isolation {
    if sandbox_required { Isolation::ProcessSandbox } else { Isolation::None }
}

/// The rule that a policy and a work unit's terms make together; without terms what the policy and the floor ask alone.
pub(crate) fn effective_rule(policy: &Policy, terms: Option<&Terms>, panel: u32) -> EffectiveRule {
    let strategy = terms.map_or(Strategy::Quorum, |terms| terms.strategy);
    let asked = terms.map_or((1, 1), |terms| (terms.quorum.unwrap_or(1), terms.minimum_independent_verifiers));
    let floor = isolation_floor(terms.is_some_and(|terms| terms.sandbox_required));
    EffectiveRule {
        strategy: strategy.as_str().to_owned(),
        quorum: policy.quorum.max(asked.0).max(asked.1).max(1),
        panel,
        tolerate: if strategy == Strategy::AllRequired { 0 } else { policy.tolerate },
        reject_quorum: policy.reject_quorum,
        fraction: policy.fraction,
        groups: policy.groups.clone(),
        independent_on: policy.independent_on.clone(),
        min_isolation: policy.min_isolation.max(floor),
        min_channel: policy.min_channel,
        max_age_seconds: policy.max_age_seconds,
    }
}

/// The parts of [`effective_rule`], each with everyone who asked.
pub(crate) fn demands(policy: &Policy, terms: Option<&Terms>, rule: &EffectiveRule) -> Vec<Demand> {
    let unit = |key: &str, asks: String| terms.map(|_| asked(Source::WorkUnit, key, asks));
    let own = |key: &'static str, asks: String| {
        let source = if policy.gives(key) { Source::Policy } else { Source::PolicyDefault };
        asked(source, key, asks)
    };
    let demand = |name: &str, value: String, from: Vec<Option<Asked>>, note: &str| Demand {
        name: name.to_owned(),
        value,
        from: from.into_iter().flatten().collect(),
        note: note.to_owned(),
    };
    let verification = |key: &str| format!("verification_policy.{key}");
    let voices = vec![
        Some(asked(Source::Floor, "", "1".to_owned())),
        terms.and_then(|terms| {
            unit(&verification("minimum_independent_verifiers"), terms.minimum_independent_verifiers.to_string())
        }),
        terms.and_then(|terms| unit(&verification("quorum"), terms.quorum?.to_string())),
        Some(own("quorum", policy.quorum.to_string())),
    ];
    let strategy = terms.and_then(|terms| unit(&verification("strategy"), terms.strategy.as_str().to_owned()));
    let all_required = rule.strategy == Strategy::AllRequired.as_str() && terms.is_some();
    let mut all = vec![
        demand("quorum", rule.quorum.to_string(), voices, "independent voices that must support: the largest of all"),
        demand(
            "panel",
            rule.panel.to_string(),
            vec![
                (rule.panel != policy.panel).then(|| asked(Source::Handoff, "panel", rule.panel.to_string())),
                Some(own("panel", policy.panel.to_string())),
            ],
            "seats; who abstains stays in the denominator",
        ),
        demand(
            "tolerate",
            rule.tolerate.to_string(),
            vec![strategy.clone().filter(|_| all_required), Some(own("tolerate", policy.tolerate.to_string()))],
            if all_required { "objections borne; all_required bears none" } else { "objections borne" },
        ),
        demand(
            "reject_quorum",
            rule.reject_quorum.to_string(),
            vec![Some(own("reject_quorum", policy.reject_quorum.to_string()))],
            "objections that reject when nobody supports",
        ),
    ];
    all.extend(operator_rules(policy, rule, strategy));
    all.extend(strength(policy, terms, rule, &own));
    all
}

/// The share and the groups, and what the strategy makes of their absence.
fn operator_rules(policy: &Policy, rule: &EffectiveRule, strategy: Option<Asked>) -> Vec<Demand> {
    let part = |name: &'static str, value: Option<String>, needing: Strategy, plain: &str| {
        let needed = strategy.is_some() && rule.strategy == needing.as_str();
        let mut from: Vec<Asked> = strategy.clone().filter(|_| needed).into_iter().collect();
        if policy.gives(name) {
            from.push(asked(Source::Policy, name, value.clone().unwrap_or_default()));
        }
        let note = match (&value, needed) {
            (None, true) => format!("strategy {needing} without it ends in escalate", needing = needing.as_str()),
            _ => plain.to_owned(),
        };
        Demand { name: name.to_owned(), value: value.unwrap_or_else(|| "none".to_owned()), from, note }
    };
    vec![
        part("fraction", rule.fraction.map(|f| f.to_string()), Strategy::Threshold, "least share of n that supports"),
        part(
            "groups",
            rule.groups.as_ref().map(crate::Groups::describe),
            Strategy::Custom,
            "operators that must be among the supporters",
        ),
    ]
}

/// How strong and how fresh evidence has to be, and who may have made the candidate.
fn strength(
    policy: &Policy,
    terms: Option<&Terms>,
    rule: &EffectiveRule,
    own: &dyn Fn(&'static str, String) -> Asked,
) -> Vec<Demand> {
    let unit = |key: &str, asks: String| asked(Source::WorkUnit, key, asks);
    let demand = |name: &str, value: String, from: Vec<Asked>, note: &str| Demand {
        name: name.to_owned(),
        value,
        from,
        note: note.to_owned(),
    };
    let axes: Vec<&str> = rule.independent_on.iter().map(|axis| axis.as_str()).collect();
    let axes = if axes.is_empty() { "nothing".to_owned() } else { axes.join(", ") };
    let mut axes_from = vec![own("independent_on", axes.clone())];
    let mut isolation_from = vec![own("min_isolation", policy.min_isolation.to_string())];
    let mut signed_from = vec![own("require_signed_worker", policy.require_signed_worker.to_string())];
    let mut signed = policy.require_signed_worker;
    if let Some(terms) = terms {
        axes_from
            .insert(0, unit("verification_policy.independent_from_worker", terms.independent_from_worker.to_string()));
        isolation_from.insert(0, unit("security.sandbox_required", terms.sandbox_required.to_string()));
        signed_from.insert(0, unit("security.minimum_worker_trust", terms.minimum_worker_trust.as_str().to_owned()));
        signed |= terms.minimum_worker_trust != WorkerTrust::Untrusted;
    }
    let seconds = |seconds: u64| format!("{seconds}s");
    vec![
        demand(
            "independent_on",
            axes,
            axes_from,
            "no two voices share one of these, and none shares one with the worker",
        ),
        demand("min_isolation", rule.min_isolation.to_string(), isolation_from, "the strongest of all"),
        demand(
            "min_channel",
            rule.min_channel.to_string(),
            vec![own("min_channel", policy.min_channel.to_string())],
            "most forgeable channel that may support",
        ),
        demand(
            "max_age",
            seconds(rule.max_age_seconds),
            vec![own("max_age", seconds(policy.max_age_seconds))],
            "oldest evidence that may support",
        ),
        demand(
            "deadline",
            seconds(policy.deadline_seconds),
            vec![own("deadline", seconds(policy.deadline_seconds))],
            "from the handoff on; then open seats are not waited for",
        ),
        demand(
            "signed_worker",
            signed.to_string(),
            signed_from,
            "whether a manifest without a trusted signature is refused",
        ),
    ]
}

fn asked(source: Source, key: &str, asks: String) -> Asked {
    Asked { source, key: key.to_owned(), asks }
}
