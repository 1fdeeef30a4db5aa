//! Named points at which a test may hold a process, to kill it or its server just there: see docs/testing.md.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{Signal, raise};

/// Environment variable that names the point; absent in every real run.
pub const VARIABLE: &str = "QUORUM_FAULT_POINT";

/// The points, in the order in which a handoff passes them.
pub const POINTS: [&str; 5] = [
    "after_lease",
    "after_blob",
    "after_evidence_before_offer_ack",
    "after_evidence_stored_before_decision",
    "after_decision_before_ack",
];

/// Stops the whole process (`SIGSTOP`) the first time that it passes the point which `QUORUM_FAULT_POINT` names. Whoever
/// set the variable sees it stopped, and then kills it or another process with -9, or lets it go on with `SIGCONT`.
pub fn point(name: &str) {
    static STOPPED: AtomicBool = AtomicBool::new(false);
    if std::env::var_os(VARIABLE).is_some_and(|wanted| wanted == name) && !STOPPED.swap(true, Ordering::SeqCst) {
        // The kernel refuses SIGSTOP to oneself never; if it did, the test that waits for it would fail.
        let _ = raise(Signal::SIGSTOP);
    }
}
