//! Upstream's EvaluatorPlan 0.1 to 0.4, imported with their documented meaning (reference idkmesh 1.5 and 3.8 to 3.10).
//!
//! An imported plan is run by our verifier under our verifier's name and key; its own `verifier` block only says which
//! meaning its fields have (decision 0011).

mod plan;
mod rule;

pub use plan::{EvaluatorPlan, EvaluatorVersion, ImportedCheck, PatchReview};
pub use rule::EvaluatorRule;

/// The name under which an imported plan is run where nobody else is named: on one machine, without a trust root.
pub const LOCAL_VERIFIER: &str = "quorum-local-verifier";
