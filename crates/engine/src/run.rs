//! One run: arguments admitted, engine started in a sandbox, envelope written.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use quorum_sandbox::{Isolation, RunReport};
use quorum_schemas::Value;

use crate::{Descriptor, Engineering, ProcessStatus};

/// One engine run.
#[derive(Debug, Clone)]
pub struct EngineSpec {
    /// The program, absolute; for the shipped engine this is `quorum` itself.
    pub binary: PathBuf,
    /// Arguments before the descriptor's own: `["engine-json-rules"]` for the shipped engine.
    pub leading_args: Vec<String>,
    /// What the engine declares.
    pub descriptor: Descriptor,
    /// Named arguments, as the descriptor's `inputs` has them.
    pub args: BTreeMap<String, Value>,
    /// Working directory; artifacts are reported relative to it.
    pub cwd: PathBuf,
    /// Paths that must be readable.
    pub read_only: Vec<PathBuf>,
    /// Directories that may be written.
    pub writable: Vec<PathBuf>,
    /// Paths that must not be seen.
    pub hidden: Vec<PathBuf>,
    /// Deadline.
    pub timeout: Duration,
    /// Required class.
    pub isolation: Isolation,
    /// The whole environment; all of it enters the input hash.
    pub env: BTreeMap<String, String>,
    /// The engine's version when known; else it is asked with `--version`.
    pub version: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct EngineRun {
    /// The `loom-result/1.1` envelope, JSON.
    pub envelope: Vec<u8>,
    /// Did it run.
    pub status: ProcessStatus,
    /// What it shows.
    pub engineering: Engineering,
    /// One sentence.
    pub summary: String,
    /// `error.code` of the envelope.
    pub error_code: Option<String>,
    /// The engine's version.
    pub version: Option<String>,
    /// The class that the run really had; `None` (the option) when nothing ran.
    pub isolation: Option<Isolation>,
    /// The process, when there was one.
    pub report: Option<RunReport>,
}

/// Runs an engine. Never fails: every trouble is an envelope with `status: error` (loom_e1).
#[must_use]
pub fn run(_spec: &EngineSpec) -> EngineRun {
    todo!()
}
