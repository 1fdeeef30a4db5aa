//! What the checks found: the report that goes from the check child to its parent.

use std::collections::BTreeMap;

use quorum_sandbox::Isolation;
use quorum_schemas::C1Digest;
use serde::{Deserialize, Serialize};

use crate::Channel;

/// What one check shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed,
    /// It does not apply.
    Skipped,
    /// It ran and shows nothing.
    Inconclusive,
    /// It could not be run to an end.
    Error,
}

impl CheckStatus {
    /// The word in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Inconclusive => "inconclusive",
            Self::Error => "error",
        }
    }
}

/// The isolation that a check had; weaker classes come first, [`IsolationClass::NotApplicable`] satisfies any demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum IsolationClass {
    /// Nothing kept the command from the machine.
    #[serde(rename = "none")]
    None,
    /// Fresh namespaces, no network, no privileges.
    #[serde(rename = "process-sandbox")]
    ProcessSandbox,
    /// A container that shares the kernel.
    #[serde(rename = "shared-kernel-container")]
    SharedKernelContainer,
    /// A virtual machine.
    #[serde(rename = "hardware-vm")]
    HardwareVm,
    /// Only our own code ran, and it only read.
    #[serde(rename = "not_applicable")]
    NotApplicable,
}

impl IsolationClass {
    /// The word in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ProcessSandbox => "process-sandbox",
            Self::SharedKernelContainer => "shared-kernel-container",
            Self::HardwareVm => "hardware-vm",
            Self::NotApplicable => "not_applicable",
        }
    }
}

impl From<Isolation> for IsolationClass {
    fn from(class: Isolation) -> Self {
        match class {
            Isolation::None => Self::None,
            Isolation::ProcessSandbox => Self::ProcessSandbox,
            Isolation::SharedKernelContainer => Self::SharedKernelContainer,
            Isolation::HardwareVm => Self::HardwareVm,
        }
    }
}

/// One thing that a check found wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `info`, `low`, `medium`, `high` or `critical`.
    pub severity: String,
    /// A category of the VerificationResult schema.
    pub category: String,
    /// One sentence.
    pub summary: String,
    /// The file that it speaks about.
    pub path: Option<String>,
}

/// One file of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceFile {
    /// Path in the bundle.
    pub path: String,
    /// The bytes.
    #[serde(with = "base64_bytes")]
    pub bytes: Vec<u8>,
    /// The media type.
    pub media_type: String,
    /// An evidence type of the VerificationResult schema.
    pub evidence_type: String,
    /// One sentence.
    pub description: String,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// The validator that it serves.
    pub id: String,
    /// The kind of the check.
    pub kind: String,
    /// What it shows.
    pub status: CheckStatus,
    /// One sentence.
    pub summary: String,
    /// Details as minified JSON.
    pub diagnostics: Option<String>,
    /// How the result reached us.
    pub channel: Channel,
    /// The isolation that it had.
    pub isolation: IsolationClass,
    /// Exit status, where a process ended by itself.
    pub exit: Option<i32>,
    /// Whether we ended it at its deadline.
    pub timed_out: bool,
    /// Its time limit, where it had one.
    pub limit_ms: Option<u64>,
    /// How long the same check took on the baseline; only measured after a timeout.
    pub baseline_ms: Option<u64>,
    /// Whether only the exit status was believed.
    pub by_exit_status: bool,
    /// Whether the answer is the parent's, from the manifest.
    pub read_manifest: bool,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// At least one file.
    pub files: Vec<EvidenceFile>,
    /// How long it took.
    pub duration_ms: u64,
}

/// What the checks of one plan found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The plan that was run; the parent compares.
    pub plan_digest: C1Digest,
    /// One outcome per check, in the plan's order.
    pub checks: Vec<CheckOutcome>,
    /// The candidate that was checked.
    pub candidate_tree: C1Digest,
    /// The baseline, where there was one.
    pub baseline_tree: Option<C1Digest>,
    /// Files of the candidate and their bytes.
    pub candidate_files: u64,
    /// Bytes of the candidate.
    pub candidate_bytes: u64,
    /// Versions of the engines that ran.
    pub engines: BTreeMap<String, String>,
    /// How long all of it took.
    pub duration_ms: u64,
}

mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}
