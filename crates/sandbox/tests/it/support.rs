//! Shared by the tests: the helper, specs, and this binary run again as another user or as an attacker.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_sandbox::{Isolation, RunReport, Spec};

/// Names the helper; every test that runs something calls this first.
pub(crate) fn ready() {
    let beside = std::env::current_exe().unwrap().with_file_name("quorum-sandbox-init");
    let built = Path::new(env!("CARGO_BIN_EXE_quorum-sandbox-init"));
    quorum_sandbox::use_helper(if beside.is_file() { &beside } else { built });
}

/// A shell line.
pub(crate) fn shell(line: &str, isolation: Isolation) -> Spec {
    ready();
    let mut spec = Spec::new(["/bin/sh", "-c", line].map(str::to_owned).to_vec(), PathBuf::from("/"));
    spec.isolation = isolation;
    spec.timeout = Duration::from_secs(20);
    spec
}

/// Standard output as text.
pub(crate) fn text(report: &RunReport) -> String {
    String::from_utf8_lossy(&report.stdout.bytes).into_owned()
}
