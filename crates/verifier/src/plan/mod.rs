//! Plans: what one verifier checks, and how.
//!
//! A [`PlanTemplate`] is TOML that an operator writes; [`PlanTemplate::bind`] makes the [`BoundPlan`] of one handoff, whose
//! C1 digest stands in the evidence as `verifier_config_digest`.

mod bound;
mod check;
mod fields;
mod template;

pub use bound::BoundPlan;
pub use check::{Channel, Check, CheckSpec, CommandCheck, EngineCheck, SchemaCheck, SchemaOf};
pub use template::PlanTemplate;

use quorum_handoff::{Handoff, WorkUnit};

use crate::VerifierError;

/// The adapter that every plan of ours names.
pub const ADAPTER: &str = "quorum";

/// The plan file as an operator gives it: a template in TOML or a plan that is already bound, in JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanFile {
    /// A template.
    Template(PlanTemplate),
    /// A bound plan.
    Bound(BoundPlan),
}

impl PlanFile {
    /// Reads either form; JSON starts with `{`, which no TOML file does.
    ///
    /// # Errors
    /// As [`PlanTemplate::parse`] and [`BoundPlan::parse`].
    pub fn parse(bytes: &[u8]) -> Result<Self, VerifierError> {
        if bytes.trim_ascii_start().starts_with(b"{") {
            BoundPlan::parse(bytes).map(Self::Bound)
        } else {
            PlanTemplate::parse(bytes).map(Self::Template)
        }
    }

    /// The plan of this handoff: bound now, or checked against the handoff if it was bound before.
    ///
    /// # Errors
    /// As [`PlanTemplate::bind`] and [`BoundPlan::check_handoff`].
    pub fn for_handoff(
        &self,
        handoff: &Handoff,
        work_unit: &WorkUnit,
        adapter_version: &str,
    ) -> Result<BoundPlan, VerifierError> {
        match self {
            Self::Template(template) => template.bind(handoff, work_unit, adapter_version),
            Self::Bound(plan) => plan.check_handoff(handoff).map(|()| plan.clone()),
        }
    }

    /// The verifier that the plan names.
    #[must_use]
    pub fn verifier_id(&self) -> &str {
        match self {
            Self::Template(template) => template.verifier_id(),
            Self::Bound(plan) => plan.verifier_id(),
        }
    }
}
