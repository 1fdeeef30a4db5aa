//! A command profile, one run under it, and a result that says only what was seen.
//!
//! The contract is `sensorium-workbench-process-run-result.v1` with its command profile; docs/workbench.md lists its rules
//! (`W-nnn`) with their tests. The heart is pure (documents, [`admit`], [`step`]); only [`Store`] and [`run`] touch the
//! machine. A program that calls [`run`] calls `quorum_sandbox::init_main` first in its `main`.

mod admit;
mod assess;
mod code;
mod digest;
mod enforcement;
mod error;
mod execute;
mod fault;
pub mod limits;
mod names;
mod profile;
mod result;
mod run;
mod state;
mod store;

pub use admit::{Admitted, Grant, Host, Request, admit};
pub use assess::{Expectation, Gap, Shown, assess};
pub use code::{Refusal, RefusalCode, Retry, Stage};
pub use digest::{ContentDigest, same_digest};
pub use enforcement::Enforcement;
pub use error::{WorkbenchError, errors};
pub use fault::POINTS;
pub use names::{Address, Code, Key, PathFault, Ref, RelativePath};
pub use profile::{CommandProfile, EffectMode, EnvPolicy, ProfileLimits};
pub use result::{Completed, NotRun, Outcome, RunResult};
pub use run::{Answer, Now, Place, run};
pub use state::{Effect, Entry, Event, Retention, step};
pub use store::{Held, Store};
