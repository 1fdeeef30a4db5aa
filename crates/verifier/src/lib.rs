//! Verifier-owned plans, checks, evidence and bundles: a library that knows no mesh and holds no key.
//!
//! A [`PlanFile`] is bound to a handoff, its checks run in a child process ([`run_in_child`]), and [`assemble()`] makes of
//! their report one unsigned statement and one bundle.

mod assemble;
pub mod bundle;
mod checks;
mod child;
pub mod diff;
mod error;
mod evaluator;
mod git;
pub mod glob;
pub mod limits;
mod plan;
mod report;
mod request;
mod text;
pub mod tree;

pub use assemble::{Answer, Assembly, SeatTry, VerifierIdentity, WorkerFacts, assemble};
pub use checks::{CaseStatus, CommandEnd, Judgement, ManifestFacts, TestCase, judge_command, parse_junit, run_checks};
pub use child::{SUBCOMMAND, check_child_main, run_in_child};
pub use error::{VerifierError, errors};
pub use evaluator::{EvaluatorPlan, EvaluatorRule, EvaluatorVersion, ImportedCheck, LOCAL_VERIFIER, PatchReview};
pub use plan::{
    ADAPTER, BoundPlan, Channel, Check, CheckSpec, CommandCheck, EngineCheck, PatchText, PlanFile, PlanTemplate,
    SchemaCheck, SchemaOf, UnifiedDiffCheck,
};
pub use report::{CheckOutcome, CheckReport, CheckStatus, EvidenceFile, Finding, IsolationClass};
pub use request::CheckRequest;
