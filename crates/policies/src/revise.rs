//! Afterwards: what later evidence or a trust change does to a decision.

use quorum_schemas::Timestamp;

use crate::{Case, Decision, PoliciesError};

/// The revision that supersedes `previous`, if the recommendation changes (design section 5, *Afterwards*). It is never
/// an accept: a new accept needs a new panel.
///
/// # Errors
/// As [`crate::decide`].
pub fn revise(case: &Case<'_>, now: Timestamp, previous: &Decision) -> Result<Option<Decision>, PoliciesError> {
    let _ = (case, now, previous);
    todo!()
}
