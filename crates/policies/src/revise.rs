//! Afterwards: what later evidence or a trust change does to a decision.

use quorum_schemas::Timestamp;

use crate::admit::Memo;
use crate::decide::{decide, decide_aged};
use crate::{Case, Decision, Missing, MissingCode, Outcome, PoliciesError, Recommendation, Row, Superseded};

/// The revision that supersedes `previous`, if the recommendation changes (design section 5, *Afterwards*). It is never
/// an accept: a new accept needs a new panel. An accept that evidence now rejects goes to people.
///
/// Ages stay those of `previous`: evidence and trust make a revision, not the passing of time. No seat is waited for:
/// the panel was closed when `previous` was decided.
///
/// # Errors
/// As [`crate::decide`].
pub fn revise(case: &Case<'_>, now: Timestamp, previous: &Decision) -> Result<Option<Decision>, PoliciesError> {
    revise_from(case, now, &Superseded::from(previous), &Memo::default())
}

/// The decision that `recorded` should be: what its case gives at its time, after the decision that it supersedes.
/// `None` where nothing is decided, or where no revision was due.
///
/// # Errors
/// As [`crate::decide`].
pub fn recompute(case: &Case<'_>, recorded: &Decision) -> Result<Option<Decision>, PoliciesError> {
    let now = recorded.facts.now;
    match &recorded.supersedes {
        None => decide(case, now).map(|outcome| outcome.decision().cloned()),
        Some(previous) => revise_from(case, now, previous, &Memo::default()),
    }
}

/// [`revise`] for tests that judge the same envelopes again and again.
///
/// # Errors
/// As [`crate::decide`].
#[doc(hidden)]
pub fn revise_with(
    case: &Case<'_>,
    now: Timestamp,
    previous: &Decision,
    memo: &Memo,
) -> Result<Option<Decision>, PoliciesError> {
    revise_from(case, now, &Superseded::from(previous), memo)
}

fn revise_from(
    case: &Case<'_>,
    now: Timestamp,
    previous: &Superseded,
    memo: &Memo,
) -> Result<Option<Decision>, PoliciesError> {
    let closed = Case { deadline: case.deadline.min(now), ..*case };
    let Outcome::Decided(mut decision) = decide_aged(&closed, now, previous.decided_at, memo)? else {
        return Ok(None);
    };
    decision.facts.deadline = case.deadline;
    let withdraws = previous.recommendation == Recommendation::AcceptCandidate;
    if withdraws && decision.recommendation == Recommendation::RejectCandidate {
        decision.recommendation = Recommendation::Escalate;
        decision.row = Row::WithdrawnAndRejected;
    }
    if decision.recommendation == previous.recommendation || decision.recommendation == Recommendation::AcceptCandidate
    {
        return Ok(None);
    }
    if withdraws {
        let message = "the accept was taken back; a new accept needs a new manifest attempt and its own panel";
        decision.missing.push(Missing { code: MissingCode::NewPanel, message: message.to_owned() });
    }
    decision.revision = previous.revision.saturating_add(1);
    decision.supersedes = Some(previous.clone());
    decision.withdraws = withdraws;
    Ok(Some(*decision))
}
