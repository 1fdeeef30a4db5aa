//! A harness and a candidate that meet only through two pipes.

use std::os::unix::net::UnixStream;

use nix::fcntl::OFlag;
use nix::unistd::pipe2;

use crate::run::{Wiring, run_wired};
use crate::{Isolation, RunReport, SandboxError, Spec};

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
/// The candidate is killed when the harness ends; it then reports `Signaled(9)`. Give the harness's folders as `hidden`
/// of the candidate: nothing that the candidate can write is the result.
///
/// # Errors
/// As [`crate::run`], and an isolation below a process sandbox, the same [`crate::Identity`] for both, or a stdin for
/// the candidate is an invalid spec: it could not keep the two apart. The harness's error comes first.
pub fn run_pair(harness: &Spec, candidate: &Spec) -> Result<PairReport, SandboxError> {
    check(harness, candidate)?;
    let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|error| SandboxError::Helper(error.to_string()));
    let (question_read, question_write) = pipe()?;
    let (answer_read, answer_write) = pipe()?;
    let (cancel, cancelled) = UnixStream::pair().map_err(|error| SandboxError::Helper(error.to_string()))?;
    std::thread::scope(|scope| {
        let beside = scope.spawn(move || {
            let wiring = Wiring {
                stdin: Some(question_read),
                stdout: Some(answer_write),
                cancel: Some(cancelled),
                ..Wiring::default()
            };
            run_wired(candidate, wiring)
        });
        let wiring = Wiring { numbered: vec![(3, answer_read), (4, question_write)], ..Wiring::default() };
        let harness = run_wired(harness, wiring);
        drop(cancel);
        let candidate = beside
            .join()
            .unwrap_or_else(|_| Err(SandboxError::Helper("the thread beside the harness panicked".to_owned())));
        Ok(PairReport { harness: harness?, candidate: candidate? })
    })
}

fn check(harness: &Spec, candidate: &Spec) -> Result<(), SandboxError> {
    let invalid = |field: &'static str, why: &str| Err(SandboxError::InvalidSpec { field, why: why.to_owned() });
    if harness.isolation < Isolation::ProcessSandbox || candidate.isolation < Isolation::ProcessSandbox {
        return invalid("isolation", "harness and candidate are only apart in a process sandbox");
    }
    if harness.identity == candidate.identity {
        return invalid("identity", "harness and candidate need different identities");
    }
    if candidate.stdin.is_some() {
        return invalid("stdin", "the candidate's standard input comes from the harness");
    }
    Ok(())
}
