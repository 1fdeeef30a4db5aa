//! The verdict table V1 to V15, as a pure function.

use serde_json::value::RawValue;

use crate::Descriptor;

/// Did the process run? Never about the design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProcessStatus {
    /// It ran to its end and said something that can be read.
    Ok,
    /// It did not.
    Error,
}

/// What the engine's own result shows. Only [`Engineering::Pass`] is proof; there is deliberately no `is_ok`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engineering {
    /// The declared assertion held over a complete result.
    Pass,
    /// The declared assertion was false.
    Fail,
    /// Nothing was shown.
    Unknown,
    /// The operation makes no claim.
    NotApplicable,
}

/// The row of the table that applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the rule numbers, described at `judge`")]
pub enum Row {
    V1,
    V2,
    V3,
    V4,
    V5,
    V6,
    V7,
    V8,
    V9,
    V10,
    V11,
    V12,
    V13,
    V14,
    V15,
}

/// How the engine's process ended, as far as the table cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEnd {
    /// Could not be started; the message names what was looked for.
    NotStarted(String),
    /// The request was refused before anything was started.
    Refused {
        /// Stable code, `invalid_request` or an isolation code.
        code: String,
        /// The reason.
        message: String,
    },
    /// Killed by us at the deadline, in seconds.
    TimedOut(u64),
    /// Killed by us because a stream was flooded, at this many kept bytes.
    OutputTooLarge(usize),
    /// Ended by this signal.
    Signaled(i32),
    /// Exit status.
    Exited(i32),
}

/// `error` of the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRecord {
    /// Stable code.
    pub code: String,
    /// For people.
    pub message: String,
    /// Exit status where there was one.
    pub exit_code: Option<i32>,
}

/// The two axes of one run.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Did it run.
    pub status: ProcessStatus,
    /// What it shows.
    pub engineering: Engineering,
    /// Id of the assertion that was judged.
    pub assertion: Option<String>,
    /// One sentence.
    pub summary: String,
    /// The row that applied.
    pub row: Row,
    /// Set exactly with [`ProcessStatus::Error`].
    pub error: Option<ErrorRecord>,
    /// The engine's JSON as it printed it.
    pub result: Option<Box<RawValue>>,
}

/// Judges one run; the first row that fits decides.
#[must_use]
pub fn judge(_descriptor: &Descriptor, _end: &ProcessEnd, _stdout: &[u8]) -> Verdict {
    todo!()
}
