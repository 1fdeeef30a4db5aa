//! The exit codes of the product, as one public type.

use quorum_policies::Recommendation;

/// How a `quorum` process ends. The numbers are a promise: scripts and CI jobs branch on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ExitCode {
    /// 0: `accept_candidate`; for other commands: done, same, valid.
    Accept,
    /// 1: `reject_candidate`; `audit`: differs; `schema check` and `policy check`: the file does not follow its schema.
    Reject,
    /// 2: usage, or a control file (work unit, policy, trust root, plan, key, evidence, pin) that cannot be used.
    Usage,
    /// 3: `insufficient_evidence`.
    Insufficient,
    /// 4: `escalate`: a person has to look.
    Escalate,
    /// 5: infrastructure: a file that cannot be written, a process that cannot be started, a server that is away.
    Infrastructure,
    /// 6: the worker's document was refused.
    WorkerDocument,
    /// 130: interrupted.
    Interrupted,
}

impl ExitCode {
    /// Every code, in the order of its number.
    pub const ALL: &'static [Self] = &[
        Self::Accept,
        Self::Reject,
        Self::Usage,
        Self::Insufficient,
        Self::Escalate,
        Self::Infrastructure,
        Self::WorkerDocument,
        Self::Interrupted,
    ];

    /// The number that the process returns.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Accept => 0,
            Self::Reject => 1,
            Self::Usage => 2,
            Self::Insufficient => 3,
            Self::Escalate => 4,
            Self::Infrastructure => 5,
            Self::WorkerDocument => 6,
            Self::Interrupted => 130,
        }
    }
}

impl From<Recommendation> for ExitCode {
    fn from(recommendation: Recommendation) -> Self {
        match recommendation {
            Recommendation::AcceptCandidate => Self::Accept,
            Recommendation::RejectCandidate => Self::Reject,
            Recommendation::InsufficientEvidence => Self::Insufficient,
            Recommendation::Escalate => Self::Escalate,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}
