//! One command run under limits, with what was really enforced.
//!
//! [`run`] starts a command in its own session, with an environment and descriptors that hold only what the [`Spec`]
//! names, and kills and reaps its whole tree at the deadline. With [`Isolation::ProcessSandbox`] it also runs in fresh
//! user, mount, process, network, IPC and host-name namespaces, on a read-only view of the file system, without
//! privileges. What could not be had is refused ([`SandboxError::IsolationUnavailable`]), never silently weakened: the
//! [`RunReport`] names the class that the run really had and every layer that was established.
//!
//! A run may also be an observation, which writes nothing, or a mutation of a throwaway copy, which is told: see
//! [`Effect`]. What each layer holds and what it does not is in `docs/sandbox.md`.
//!
//! The work between `fork` and `exec` needs a single-threaded process, so [`run`] starts a helper that is this same
//! program: **`main` of every program that calls [`run`] calls [`init_main`] first.** A test harness, whose `main` is
//! not ours, names another such program with [`use_helper`].

mod cgroup;
mod effect;
mod error;
mod follow;
mod helper;
mod init;
pub mod limits;
mod pair;
mod probe;
mod report;
mod roots;
mod run;
mod spec;
mod sys;
mod view;
mod wire;

pub use effect::OBSERVATION_LAYERS;
pub use error::{SandboxError, errors};
pub use helper::use_helper;
pub use init::filter::{NO_SOCKETS, REFUSED, Refused};
pub use init::init_main;
pub use pair::{PairReport, run_pair};
pub use probe::{Probe, probe};
pub use report::{
    Bound, BoundBy, Captured, Change, ChangeKind, Changes, End, Observation, Quiescence, RunReport, Usage,
};
pub use roots::{ROOTS_DIGEST_ALGORITHM, RootsState, read_roots};
pub use run::run;
pub use spec::{Effect, Identity, Isolation, Spec};
pub use sys::stdout_was_open;
