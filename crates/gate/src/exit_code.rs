//! The exit codes of the product, as one public type.

use quorum_policies::Recommendation;

macro_rules! exit_codes {
    ($($(#[doc = $meaning:literal])+ $variant:ident = $number:literal, $name:literal;)*) => {
        /// How a `quorum` process ends. The numbers are a promise: scripts and CI jobs branch on them.
        ///
        /// `gate` and `decide` speak about the candidate: nothing short of `accept_candidate` is 0. Every other command
        /// speaks about itself: `verify` ends with 0 when evidence is written, *whatever the evidence shows*, and with 5
        /// when it could not run; `audit` with 0 when the decision is the same, 1 when it differs, 2 when there is nothing
        /// to compare. A process that is killed by a signal has no code of ours.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ExitCode { $($(#[doc = $meaning])+ $variant,)* }

        impl ExitCode {
            /// Every code, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The number that the process returns.
            #[must_use]
            pub const fn number(self) -> u8 {
                match self { $(Self::$variant => $number,)* }
            }

            /// The code of a number, if it is one.
            #[must_use]
            pub const fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }

            /// A word for programs.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it means, in one line.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($meaning),+).trim_ascii(),)* }
            }
        }
    };
}

exit_codes! {
    /// `accept_candidate`; for other commands: done, same, valid.
    Accept = 0, "accept";
    /// `reject_candidate`; `audit`: it differs; the checks of files (`schema check`, `policy check`): the file is wrong.
    Reject = 1, "reject";
    /// Usage, or a control file (work unit, policy, trust root, plan, key, evidence, pin) that cannot be used.
    Usage = 2, "usage";
    /// `insufficient_evidence`: too few independent voices.
    Insufficient = 3, "insufficient";
    /// `escalate`: a person has to look.
    Escalate = 4, "escalate";
    /// Infrastructure: a file that cannot be written, a process that cannot be started, a server that is away.
    Infrastructure = 5, "infrastructure";
    /// The worker's document was refused.
    WorkerDocument = 6, "worker_document";
    /// Interrupted by SIGINT, SIGTERM or SIGHUP.
    Interrupted = 130, "interrupted";
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

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> Self {
        code.number()
    }
}

/// A number that is no exit code of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no exit code of quorum; `quorum exit-codes` lists them")]
pub struct NotAnExitCode(pub u8);

impl TryFrom<u8> for ExitCode {
    type Error = NotAnExitCode;

    fn try_from(number: u8) -> Result<Self, NotAnExitCode> {
        Self::from_number(number).ok_or(NotAnExitCode(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_both_ways_and_rise() {
        let numbers: Vec<u8> = ExitCode::ALL.iter().map(|code| code.number()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 130]);
        for number in 0..=u8::MAX {
            let code = ExitCode::try_from(number);
            assert_eq!(code.ok().map(u8::from), numbers.contains(&number).then_some(number));
        }
        assert_eq!(ExitCode::try_from(7), Err(NotAnExitCode(7)));
    }
}
