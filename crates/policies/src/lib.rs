//! The policy engine: [`decide`], policy files, and the why.
//!
//! Everything here is pure: the time, the facts and the documents are arguments, and the bytes of a decision are a
//! function of them. The daemon, the gate and the auditor call this one function.

mod admit;
mod advice;
mod axes;
mod cases;
mod catalogue;
mod conjunction;
mod decide;
mod decision;
mod error;
mod facts;
mod groups;
pub mod limits;
mod policy;
mod proof;
mod proof_text;
pub mod record;
mod refusal;
mod revise;
mod shipped;
mod table;
mod text;
mod tlog;
mod verdict;
mod voices;
mod vsa;
mod why;

#[doc(hidden)]
pub use admit::Memo;
pub use advice::{Warning, WarningCode, advise};
pub use axes::{Axis, Channel, Isolation};
pub use cases::{CaseFile, CaseFormat, CaseReport, Mismatch};
pub use conjunction::{Asked, Demand, Source};
#[doc(hidden)]
pub use decide::decide_with;
pub use decide::{Admitted, Case, decide};
pub use decision::{
    BoundDocument, Candidate, Decision, EffectiveRule, Heard, HeardEvidence, Missing, MissingCode, Outcome, Pending,
    Recommendation, RecordFile, Row, Shared, Standing, Superseded, Tally,
};
pub use error::{PoliciesError, errors};
pub use facts::{Assurance, EarlierAttempt, FactSheet, Facts, RULES_VERSION, Received, SeatFact, WorkerIdentity};
pub use groups::{GroupProof, Groups, Member, MemberProof};
pub use policy::{Fraction, Policy};
pub use proof::{
    EvidenceProof, Explanation, KeyProof, Proof, RevisionProof, RowTrial, explain, explain_policy, explain_recorded,
};
pub use refusal::{Refusal, RefusalCode, RefusalKind};
#[doc(hidden)]
pub use revise::revise_with;
pub use revise::{recompute, revise};
pub use table::{Condition, ConditionCode};
pub use tlog::{Imported, LeaveOut, TlogGroup, TlogLog, TlogPolicy, TlogWitness, Vkey};
pub use verdict::{Verdict, verdict};
pub use vsa::{VSA_EXTENSION, resource_uri, vsa};
