//! Plans: what one verifier checks, and how.
//!
//! A [`PlanTemplate`] is TOML that an operator writes; [`PlanTemplate::bind`] makes the [`BoundPlan`] of one handoff, whose
//! C1 digest stands in the evidence as `verifier_config_digest`.

mod bound;
mod check;
mod fields;
mod template;

pub use bound::BoundPlan;
pub use check::{
    Channel, Check, CheckSpec, CommandCheck, EngineCheck, PatchText, SchemaCheck, SchemaOf, UnifiedDiffCheck,
};
pub use template::PlanTemplate;

use quorum_handoff::{Handoff, WorkUnit};
use quorum_schemas::parse;

use crate::VerifierError;
use crate::evaluator::{EvaluatorPlan, LOCAL_VERIFIER};

/// The adapter that every plan of ours names.
pub const ADAPTER: &str = "quorum";

/// The plan file as an operator gives it: a template in TOML, or in JSON a plan that is already bound or one of upstream's.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanFile {
    /// A template.
    Template(PlanTemplate),
    /// A bound plan.
    Bound(BoundPlan),
    /// An EvaluatorPlan of upstream's, and the name under which we run it.
    Imported {
        /// The plan.
        plan: EvaluatorPlan,
        /// Our verifier's id.
        verifier: String,
    },
}

impl PlanFile {
    /// Reads any form; JSON starts with `{`, which no TOML file does.
    ///
    /// # Errors
    /// As [`PlanTemplate::parse`], [`BoundPlan::parse`] and [`EvaluatorPlan::parse`].
    pub fn parse(bytes: &[u8]) -> Result<Self, VerifierError> {
        if !bytes.trim_ascii_start().starts_with(b"{") {
            return PlanTemplate::parse(bytes).map(Self::Template);
        }
        let value = parse(bytes).map_err(|error| VerifierError::PlanSyntax(error.to_string()))?;
        if EvaluatorPlan::claims(&value) {
            let plan = EvaluatorPlan::from_value(value)?;
            return Ok(Self::Imported { plan, verifier: LOCAL_VERIFIER.to_owned() });
        }
        BoundPlan::from_value(value).map(Self::Bound)
    }

    /// The same plan, run under this name where the plan itself names none of ours: an imported one does not.
    #[must_use]
    pub fn run_by(self, id: &str) -> Self {
        match self {
            Self::Imported { plan, .. } => Self::Imported { plan, verifier: id.to_owned() },
            named => named,
        }
    }

    /// Whether its checks read the worker's own status and logs.
    #[must_use]
    pub fn reads_worker_status(&self) -> bool {
        match self {
            Self::Imported { plan, .. } => plan.reads_worker_status(),
            Self::Template(_) | Self::Bound(_) => false,
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
            Self::Imported { plan, verifier } => {
                plan.check_handoff(handoff, verifier)?;
                plan.check_work_unit(work_unit)?;
                BoundPlan::of_evaluator(plan.clone(), verifier, adapter_version)
            }
        }
    }

    /// The verifier that the plan names.
    #[must_use]
    pub fn verifier_id(&self) -> &str {
        match self {
            Self::Template(template) => template.verifier_id(),
            Self::Bound(plan) => plan.verifier_id(),
            Self::Imported { verifier, .. } => verifier,
        }
    }
}
