//! The proof tree of a decision: which rows of the table were tried, which condition stopped each, and what every key
//! counts as and why. It is made by the evaluation that decides, from the same [`Weighed`] evidence and the same table.

use quorum_handoff::WorkUnit;
use quorum_schemas::{C1, C1Digest, Digest, SchemaName, Timestamp, Value, validate};
use serde::Serialize;

use crate::admit::Memo;
use crate::conjunction::{Terms, demands, effective_rule};
use crate::decide::{Admitted, Weighed};
use crate::table::{TABLE, conditions};
use crate::{
    BoundDocument, Case, Condition, ConditionCode, Decision, Demand, GroupProof, Missing, PoliciesError, Policy,
    Recommendation, Refusal, RefusalCode, RefusalKind, Shared, Standing, Tally, Verdict, recompute, why,
};

/// What a policy asks together with a work unit, and for a case why it ends as it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// `0.1`.
    pub schema_version: &'static str,
    /// `policy-explanation`.
    pub kind: &'static str,
    /// The policy.
    pub policy: BoundDocument,
    /// The work unit that it was joined with, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_unit: Option<BoundDocument<C1>>,
    /// The effective conjunction, each part with everyone who asked.
    pub rule: Vec<Demand>,
    /// The case, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// Why a case ends as it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The handoff.
    pub handoff_id: C1Digest,
    /// When it was judged.
    pub now: Timestamp,
    /// A recommendation, or `pending`.
    pub conclusion: String,
    /// The row that fired.
    pub row: String,
    /// Seats that are open.
    pub open_seats: Vec<u32>,
    /// The counts; while seats are open, those so far.
    pub tally: Tally,
    /// The rows in order, up to the one that fired.
    pub rows: Vec<RowTrial>,
    /// Every key that was heard, by key id.
    pub keys: Vec<KeyProof>,
    /// The edges of the graph of supporters and worker.
    pub shared: Vec<Shared>,
    /// How the groups came to hold or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupProof>,
    /// Envelopes without any effect.
    pub refused: Vec<Refusal>,
    /// What stands between the tally and accept_candidate.
    pub missing: Vec<Missing>,
    /// What a revision made of the table's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<RevisionProof>,
}

/// One row of the table that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowTrial {
    /// The row's name; `pending` is row 1.
    pub row: &'static str,
    /// What it would recommend, or `pending`.
    pub recommends: &'static str,
    /// Whether every condition holds.
    pub fires: bool,
    /// Its conditions; all must hold. The last row has none.
    pub conditions: Vec<Condition>,
}

/// One key that was heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyProof {
    /// The key.
    pub key_id: String,
    /// Its entry in the trust root.
    pub id: String,
    /// What it counts as.
    pub standing: Standing,
    /// Why it is no voice although it supports; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// What it said.
    pub evidence: Vec<EvidenceProof>,
}

/// One authentic envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceProof {
    /// Digest of its bytes.
    pub envelope: Digest,
    /// Its verdict.
    pub verdict: Verdict,
    /// What takes its weight away.
    pub refusals: Vec<RefusalCode>,
}

/// What a revision made of the table's word (design section 5, *Afterwards*).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RevisionProof {
    /// The recommendation that was superseded.
    pub supersedes: Recommendation,
    /// What the table says now.
    pub table: String,
    /// Whether a revision was due.
    pub due: bool,
    /// Whether it takes an accept back.
    pub withdraws: bool,
}

/// What `policy` asks, joined with `work_unit` where one is given.
#[must_use]
pub fn explain_policy(policy: &Policy, work_unit: Option<&WorkUnit>) -> Explanation {
    let terms = work_unit.map(Terms::of_work_unit);
    let rule = effective_rule(policy, terms.as_ref(), policy.panel);
    Explanation {
        schema_version: "0.1",
        kind: "policy-explanation",
        policy: BoundDocument { id: policy.id.clone(), version: 1, digest: policy.digest() },
        work_unit: work_unit.map(|unit| BoundDocument {
            id: unit.id().to_owned(),
            version: unit.version(),
            digest: unit.digest(),
        }),
        rule: demands(policy, terms.as_ref(), &rule),
        proof: None,
    }
}

/// The proof tree of what [`crate::decide`] says of `case` at `now`.
///
/// # Errors
/// As [`crate::decide`].
pub fn explain(case: &Case<'_>, now: Timestamp) -> Result<Explanation, PoliciesError> {
    Admitted::admit(case, now)?.explain()
}

/// The proof tree of a recorded decision, which may be a revision.
///
/// # Errors
/// As [`crate::decide`].
pub fn explain_recorded(case: &Case<'_>, recorded: &Decision) -> Result<Explanation, PoliciesError> {
    let now = recorded.facts.now;
    let Some(previous) = &recorded.supersedes else { return explain(case, now) };
    let closed = Case { deadline: case.deadline.min(now), ..*case };
    let mut explanation = Admitted::aged(&closed, now, previous.decided_at, &Memo::default())?.explain()?;
    let revised = recompute(case, recorded)?;
    if let Some(proof) = &mut explanation.proof {
        proof.revision = Some(RevisionProof {
            supersedes: previous.recommendation,
            table: proof.conclusion.clone(),
            due: revised.is_some(),
            withdraws: revised.as_ref().is_some_and(|revised| revised.withdraws),
        });
        if let Some(revised) = revised {
            proof.conclusion = revised.recommendation.to_string();
            proof.row = revised.row.to_string();
            proof.missing = revised.missing;
        }
    }
    Ok(explanation)
}

pub(crate) fn explanation(case: &Case<'_>, now: Timestamp, open_seats: &[u32], weighed: &Weighed<'_>) -> Explanation {
    let mut rows = vec![waiting(case, now, open_seats)];
    for (row, recommendation) in TABLE {
        if rows.last().is_some_and(|last| last.fires) {
            break;
        }
        let conditions = conditions(row, weighed);
        let fires = conditions.iter().all(|condition| condition.holds);
        rows.push(RowTrial { row: row.as_str(), recommends: recommendation.as_str(), fires, conditions });
    }
    let (row, conclusion) = rows.last().map_or(("", ""), |last| (last.row, last.recommends));
    let accepts = conclusion == Recommendation::AcceptCandidate.as_str();
    let keys = keys(weighed);
    let because = keys.iter().map(|key| (key.id.as_str(), key.because.as_str()));
    let missing = if accepts { Vec::new() } else { why::missing(weighed, because) };
    let proof = Proof {
        handoff_id: case.handoff.id(),
        now,
        conclusion: conclusion.to_owned(),
        row: row.to_owned(),
        open_seats: open_seats.to_vec(),
        tally: weighed.tally,
        rows,
        keys,
        shared: weighed.voices.clone().listed().1,
        groups: weighed.group_proof(),
        refused: weighed.refusals.iter().filter(|refusal| refusal.kind == RefusalKind::Authenticity).cloned().collect(),
        missing,
        revision: None,
    };
    let terms = Terms::of_case(case);
    Explanation {
        rule: demands(case.policy, Some(&terms), &weighed.rule),
        proof: Some(proof),
        ..explain_policy(case.policy, Some(case.work_unit))
    }
}

/// Row 1: a seat is open and the deadline has not come.
fn waiting(case: &Case<'_>, now: Timestamp, open_seats: &[u32]) -> RowTrial {
    let open = open_seats.len() as u64;
    let before = now < case.deadline;
    let conditions = vec![
        Condition::new(ConditionCode::OpenSeats, open, 1, open >= 1),
        Condition::new(ConditionCode::BeforeDeadline, before.into(), 1, before),
    ];
    RowTrial { row: "pending", recommends: "pending", fires: open >= 1 && before, conditions }
}

fn keys(weighed: &Weighed<'_>) -> Vec<KeyProof> {
    weighed
        .heard
        .iter()
        .zip(&weighed.standing)
        .map(|((key, said), standing)| KeyProof {
            key_id: key.to_string(),
            id: said[0].evidence.signer.id.clone(),
            standing: *standing,
            because: why::because(weighed, *key, *standing),
            evidence: said
                .iter()
                .map(|counted| EvidenceProof {
                    envelope: counted.evidence.envelope,
                    verdict: counted.evidence.verdict,
                    refusals: counted.weight().map(|refusal| refusal.code).collect(),
                })
                .collect(),
        })
        .collect()
}

impl Explanation {
    /// The document `policy-explain-v0.1`, validated on the way out.
    ///
    /// # Errors
    /// [`PoliciesError::SchemaInvalid`].
    pub fn to_value(&self) -> Result<Value, PoliciesError> {
        let value = Value::from_serde(serde_json::to_value(self).expect("strings, numbers and lists always serialise"));
        validate(SchemaName::PolicyExplain, &value)
            .map_err(|violations| PoliciesError::SchemaInvalid { document: "policy_explain", violations })?;
        Ok(value)
    }
}
