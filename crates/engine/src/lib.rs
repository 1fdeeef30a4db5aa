//! One engine run to one `loom-result/1.1` envelope, whatever happens.
//!
//! Two axes that never mix: [`ProcessStatus`] says whether the engine ran, [`Engineering`] what its own JSON shows under
//! the assertion of its [`Descriptor`]. [`judge()`] is the pure table between them; [`run()`] starts the engine in a
//! sandbox and never fails: every trouble is an envelope.

mod arguments;
mod descriptor;
mod envelope;
mod error;
mod hash;
pub mod json_rules;
mod judge;
pub mod limits;
mod run;

pub use descriptor::{Assertion, Descriptor, Maturity, Predicate};
pub use error::{EngineError, errors};
pub use hash::{BinaryIdentity, input_hash};
pub use judge::{Engineering, ErrorRecord, ProcessEnd, ProcessStatus, Row, RunCode, Verdict, judge};
pub use run::{EngineRun, EngineSpec, run};
