//! A harness and a candidate that meet only through two pipes.

use crate::{RunReport, SandboxError, Spec};

/// The two ends of [`run_pair`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairReport {
    /// The harness: its exit status and its output are the result.
    pub harness: RunReport,
    /// The candidate; its standard output went to the harness and is empty here.
    pub candidate: RunReport,
}

/// Runs a harness beside a candidate in another user, process and mount namespace.
///
/// The harness reads the candidate's standard output on descriptor 3 and writes its standard input on descriptor 4.
/// The candidate is killed when the harness ends. Give the harness's folders as `hidden` of the candidate: nothing that
/// the candidate can write is the result.
///
/// # Errors
/// As [`crate::run`], and an isolation below a process sandbox is an invalid spec: it could not keep the two apart.
pub fn run_pair(_harness: &Spec, _candidate: &Spec) -> Result<PairReport, SandboxError> {
    todo!()
}
