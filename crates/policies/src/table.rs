//! The table of design section 5 as data: each row with the conditions that make it fire, in the order in which the
//! rows are tried. A decision and its proof read the same table.

use serde::{Deserialize, Serialize};

use crate::axes::words;
use crate::decide::Weighed;
use crate::{Recommendation, Row, limits};

words! {
    /// One condition of a row.
    ConditionCode {
        /// A seat of the panel is open.
        OpenSeats => "open_seats",
        /// The deadline has not come.
        BeforeDeadline => "before_deadline",
        /// The strategy needs a rule that the policy does not have.
        OperatorRuleMissing => "operator_rule_missing",
        /// At least `needed` independent voices.
        Voices => "voices",
        /// At most `needed` objections.
        ObjectionsBorne => "objections_borne",
        /// The share of n that supports is large enough.
        Fraction => "fraction",
        /// The groups hold.
        Groups => "groups",
        /// At least `needed` objections.
        Objections => "objections",
        /// At least `needed` keys timed out where their baseline does not.
        TimedOut => "timed_out",
    }
}

/// One condition of a row, and what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Which.
    pub code: ConditionCode,
    /// The number found.
    pub found: u64,
    /// The number that it is held against.
    pub needed: u64,
    /// Whether it holds.
    pub holds: bool,
}

impl Condition {
    pub(crate) fn new(code: ConditionCode, found: u64, needed: u64, holds: bool) -> Self {
        Self { code, found, needed, holds }
    }

    fn at_least(code: ConditionCode, found: u64, needed: u64) -> Self {
        Self::new(code, found, needed, found >= needed)
    }

    fn truth(code: ConditionCode, holds: bool) -> Self {
        Self::new(code, holds.into(), 1, holds)
    }
}

/// Every row that a first decision can end in, in order; row 1 (a seat is open) comes before anything is counted.
pub(crate) const TABLE: [(Row, Recommendation); 6] = [
    (Row::NoOperatorRule, Recommendation::Escalate),
    (Row::QuorumMet, Recommendation::AcceptCandidate),
    (Row::SupportAndObjection, Recommendation::Escalate),
    (Row::RejectQuorumMet, Recommendation::RejectCandidate),
    (Row::ExhaustsVerifiers, Recommendation::Escalate),
    (Row::NotEnough, Recommendation::InsufficientEvidence),
];

/// What must hold for a row to fire: all of these. The last row has no condition.
pub(crate) fn conditions(row: Row, weighed: &Weighed<'_>) -> Vec<Condition> {
    use ConditionCode as Code;
    let (tally, rule) = (weighed.tally, &weighed.rule);
    match row {
        Row::NoOperatorRule => vec![Condition::truth(Code::OperatorRuleMissing, !weighed.has_operator_rule)],
        Row::QuorumMet => {
            let mut all = vec![
                Condition::at_least(Code::Voices, tally.s, tally.q),
                Condition::new(Code::ObjectionsBorne, tally.o, tally.tolerate, tally.o <= tally.tolerate),
            ];
            if rule.fraction.is_some() {
                all.push(Condition::new(Code::Fraction, tally.s, tally.n, weighed.fraction_holds()));
            }
            if let Some(groups) = &rule.groups {
                let holding = groups.holding(&weighed.operators) as u64;
                all.push(Condition::at_least(Code::Groups, holding, groups.k as u64));
            }
            all
        }
        Row::SupportAndObjection => {
            vec![Condition::at_least(Code::Objections, tally.o, 1), Condition::at_least(Code::Voices, tally.s, 1)]
        }
        Row::RejectQuorumMet => vec![Condition::at_least(Code::Objections, tally.o, rule.reject_quorum)],
        Row::ExhaustsVerifiers => {
            vec![Condition::at_least(Code::TimedOut, weighed.exhausted as u64, limits::EXHAUSTED_KEYS as u64)]
        }
        Row::NotEnough | Row::WithdrawnAndRejected => Vec::new(),
    }
}

/// The first row of which every condition holds.
pub(crate) fn table(weighed: &Weighed<'_>) -> (Row, Recommendation) {
    let fires = |row: Row| conditions(row, weighed).iter().all(|condition| condition.holds);
    TABLE.into_iter().find(|(row, _)| fires(*row)).unwrap_or((Row::NotEnough, Recommendation::InsufficientEvidence))
}
