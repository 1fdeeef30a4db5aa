//! Named points at which a test may hold the process, to kill it just there: see docs/decisions/0006-fault-points.md.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{Signal, raise};

/// The points, in the order in which a run passes them.
pub const POINTS: [&str; 3] = ["workbench_after_marker", "workbench_before_store", "workbench_after_store"];

/// Stops the process the first time that it passes the point which `QUORUM_FAULT_POINT` names; nothing in every real run.
pub(crate) fn point(name: &str) {
    static STOPPED: AtomicBool = AtomicBool::new(false);
    let wanted = std::env::var_os("QUORUM_FAULT_POINT").is_some_and(|wanted| wanted == name);
    if wanted && !STOPPED.swap(true, Ordering::SeqCst) {
        // If the kernel refused, the test that waits for it would fail.
        let _ = raise(Signal::SIGSTOP);
    }
}
