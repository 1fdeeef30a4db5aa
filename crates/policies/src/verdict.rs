//! What one authentic envelope says about the candidate.

use quorum_schemas::Value;

use crate::axes::words;

words! {
    /// The verdict of one authentic envelope.
    Verdict {
        /// Every required check passed, and the result says so in every word.
        Supports => "supports",
        /// A required check failed, or the result recommends to reject.
        Rejects => "rejects",
        /// It looked and could not tell.
        Abstains => "abstains",
        /// It did not come to look.
        Absent => "absent",
    }
}

/// The verdict of a VerificationResult, first match. `required` are the handoff's ids: the result's own `required`
/// flags and checks beyond these ids have no say.
#[must_use]
pub fn verdict(result: &Value, required: &[String]) -> Verdict {
    let status = result.get("status").and_then(Value::as_str).unwrap_or_default();
    let recommendation = result.at(&["decision_support", "recommendation"]).and_then(Value::as_str).unwrap_or_default();
    let checks: Vec<&str> = required.iter().map(|id| check_status(result, id).unwrap_or_default()).collect();
    if matches!(status, "error" | "timeout" | "cancelled") {
        Verdict::Absent
    } else if checks.contains(&"failed") || recommendation == "reject_candidate" {
        Verdict::Rejects
    } else if checks.iter().all(|check| *check == "passed")
        && !checks.is_empty()
        && status == "passed"
        && recommendation == "accept_candidate"
    {
        Verdict::Supports
    } else if checks.contains(&"error") {
        Verdict::Absent
    } else {
        Verdict::Abstains
    }
}

/// The status of the check `id`.
fn check_status<'a>(result: &'a Value, id: &str) -> Option<&'a str> {
    let checks = result.get("checks").and_then(Value::as_array)?;
    let check = checks.iter().find(|check| check.get("id").and_then(Value::as_str) == Some(id))?;
    check.get("status").and_then(Value::as_str)
}
