//! The policy engine: [`decide`], policy files, and the why.
//!
//! Everything here is pure: the time, the facts and the documents are arguments, and the bytes of a decision are a
//! function of them. The daemon, the gate and the auditor call this one function.

mod admit;
mod axes;
mod decide;
mod decision;
mod error;
mod facts;
mod groups;
pub mod limits;
mod policy;
pub mod record;
mod refusal;
mod revise;
mod shipped;
mod text;
mod verdict;
mod voices;
mod why;

#[doc(hidden)]
pub use admit::Memo;
pub use axes::{Axis, Channel, Isolation};
#[doc(hidden)]
pub use decide::decide_with;
pub use decide::{Case, decide};
pub use decision::{
    BoundDocument, Candidate, Decision, EffectiveRule, Heard, HeardEvidence, Missing, MissingCode, Outcome, Pending,
    Recommendation, RecordFile, Row, Shared, Standing, Superseded, Tally,
};
pub use error::PoliciesError;
pub use facts::{Assurance, EarlierAttempt, FactSheet, Facts, RULES_VERSION, Received, SeatFact, WorkerIdentity};
pub use groups::{Groups, Member};
pub use policy::{Fraction, Policy};
pub use refusal::{Refusal, RefusalCode, RefusalKind};
#[doc(hidden)]
pub use revise::revise_with;
pub use revise::{recompute, revise};
pub use verdict::{Verdict, verdict};
