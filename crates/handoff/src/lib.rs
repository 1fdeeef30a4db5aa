//! Documents of the handoff: what a worker offers, what a verifier is asked, and the rules that bind the two.
//!
//! Pure: bytes and values in, typed documents or typed refusals out. [`intake`] admits a work unit and a manifest
//! together and derives the [`Handoff`]; [`check_result`] holds a VerificationResult against that binding.

mod binding;
mod build;
mod check;
mod derive;
mod error;
mod export;
mod intake;
mod manifest;
mod read;
mod record;
mod reference;
mod rule;
mod source;
mod work_unit;

pub use binding::{BoundArtifact, ManifestBinding};
pub use build::{C6Manifest, Worker, build_c6_manifest, build_c6_manifest_bound, build_result_manifest};
pub use check::{check_binding, check_manifest, check_result, check_result_rules};
pub use derive::derive;
pub use error::{Document, HandoffError, Place, errors};
pub use export::{
    AttemptOutcome, HumanDecision, ImportedCheck, ImportedEvidence, Run, RunAttempt, check_run_report,
    import_evidence_report, record_human_decision, run_evidence_report, run_record, verification_semantic_digest,
    verify_human_decision,
};
pub use intake::{Intake, intake, intake_values};
pub use manifest::Manifest;
pub use record::Handoff;
pub use reference::{CandidateReference, CandidateSubject, candidate_subject};
pub use rule::{BuildRule, DerivationRule, ExportRule, ReferenceRule, Rule, SourceRule, Violation};
pub use source::WorkUnitSourceBinding;
pub use work_unit::{Strategy, Validator, WorkUnit, WorkerTrust};
