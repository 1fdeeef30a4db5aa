//! Control-C in one-shot commands: scratch space goes, the exit code says so, no child stays.

use std::process;
use std::thread;

use nix::sys::signal::{SigSet, Signal};
use quorum_gate::ExitCode;

use crate::codes::CliCode;
use crate::error::CliError;

/// From now on SIGINT, SIGTERM and SIGHUP end this process in an orderly way. Children are not affected: they start with an
/// empty signal mask, and the check child dies with its parent.
pub(crate) fn arm() -> Result<(), CliError> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    // A terminal that goes away is an interruption too.
    signals.add(Signal::SIGHUP);
    let failed = |error: &dyn std::fmt::Display| CliError::infrastructure(CliCode::SignalsUnavailable, error);
    // Blocked everywhere, so that only the thread below takes them.
    signals.thread_block().map_err(|error| failed(&error))?;
    let wait = move || {
        if signals.wait().is_ok() {
            quorum_gate::remove_scratch();
            process::exit(i32::from(ExitCode::Interrupted.number()));
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).map(drop).map_err(|error| failed(&error))
}
