//! Shared by the tests: the helper, specs, and this binary run again as another user or as an attacker.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use quorum_sandbox::{End, Isolation, RunReport, Spec};

pub(crate) const BOTH: [Isolation; 2] = [Isolation::None, Isolation::ProcessSandbox];
const HELPER: &str = "quorum-sandbox-init";

/// Names the helper; every test that runs something calls this first.
pub(crate) fn ready() {
    let beside = exe().with_file_name(HELPER);
    let built = Path::new(env!("CARGO_BIN_EXE_quorum-sandbox-init"));
    quorum_sandbox::use_helper(if beside.is_file() { &beside } else { built });
}

fn exe() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// A shell line.
pub(crate) fn shell(line: &str, isolation: Isolation) -> Spec {
    ready();
    let mut spec = Spec::new(["/bin/sh", "-c", line].map(str::to_owned).to_vec(), PathBuf::from("/"));
    spec.isolation = isolation;
    spec.timeout = Duration::from_secs(30);
    spec
}

/// One of the functions in `attacks`, in a process sandbox.
pub(crate) fn attacker(name: &str, argument: &str) -> Spec {
    ready();
    let argv = [exe().to_str().unwrap(), "--exact", "attacks::entry", "--nocapture"].map(str::to_owned).to_vec();
    let mut spec = Spec::new(argv, PathBuf::from("/"));
    spec.env.insert("QUORUM_ATTACK".to_owned(), name.to_owned());
    spec.env.insert("QUORUM_ATTACK_ARGUMENT".to_owned(), argument.to_owned());
    spec.read_only.push(exe());
    spec.timeout = Duration::from_secs(30);
    spec
}

/// Runs an attacker; every line that it prints about a try must say `refused`.
pub(crate) fn assert_refused(spec: &Spec) -> RunReport {
    let report = quorum_sandbox::run(spec).unwrap();
    let said = text(&report);
    let errors = String::from_utf8_lossy(&report.stderr.bytes).into_owned();
    assert_eq!(report.end, End::Exited(0), "{said}\n{errors}");
    assert_eq!(report.isolation, Isolation::ProcessSandbox);
    let tries: Vec<&str> = said.lines().filter(|line| line.starts_with("try ")).collect();
    assert!(!tries.is_empty(), "{said}");
    for line in tries {
        assert!(line.contains(": refused"), "{line}");
    }
    report
}

/// Runs an attacker as a plain child, with what a child inherits: each of these tries gets out. So the test can fail.
pub(crate) fn assert_escapes_outside(spec: &Spec, tries: &[&str]) {
    let output = Command::new(&spec.argv[0])
        .args(&spec.argv[1..])
        .envs(&spec.env)
        .env("QUORUM_HARMLESS", "1")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for name in tries {
        let start = format!("try {name}");
        let line = said.lines().find(|line| line.starts_with(&start));
        assert!(line.is_some_and(|line| line.contains(": ESCAPED")), "{name}: {line:?}\n{said}\n{errors}");
    }
}

/// Standard output as text.
pub(crate) fn text(report: &RunReport) -> String {
    String::from_utf8_lossy(&report.stdout.bytes).into_owned()
}

/// Runs one test of this binary again as uid 65534. An ordinary caller has shown the same by the test itself.
pub(crate) fn again_as_ordinary_user(test: &str) {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    // Where this binary lies need not be readable for others.
    let folder = open_folder();
    for (from, name) in [(exe(), "it"), (PathBuf::from(env!("CARGO_BIN_EXE_quorum-sandbox-init")), HELPER)] {
        fs::copy(from, folder.path().join(name)).unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let output = Command::new(folder.path().join("it"))
        .args(["--exact", test, "--nocapture"])
        .env("HOME", "/nonexistent")
        .env_remove("TMPDIR")
        .uid(65_534)
        .gid(65_534)
        .output()
        .unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "as uid 65534: {said}\n{errors}");
}

/// A folder that everybody may write, so that only the sandbox is in the way.
pub(crate) fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("quorum-sandbox-").tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

/// A number of seconds to sleep that no other process has, by which the process is found.
pub(crate) fn token() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("98765.{}{:03}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// How many processes of this machine have the token as an argument of their own.
pub(crate) fn alive(token: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| line.split(|byte| *byte == 0).any(|word| word == token.as_bytes()))
        .count()
}

/// Waits for a condition that must come.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a test that counts what belongs to the process in a process of its own, whatever the harness does. True: this is
/// that process, go on.
pub(crate) fn in_own_process(test: &str) -> bool {
    if std::env::var("QUORUM_ALONE").is_ok_and(|alone| alone == test) {
        return true;
    }
    let output = Command::new(exe()).args(["--exact", test, "--nocapture"]).env("QUORUM_ALONE", test).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{errors}");
    false
}

/// This thread, and what it starts, gets "not supported" from a call.
pub(crate) fn lack(call: nix::libc::c_long) {
    use seccompiler::{SeccompAction, SeccompFilter};
    let answer = SeccompAction::Errno(nix::libc::EOPNOTSUPP.cast_unsigned());
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new([(call, Vec::new())].into(), SeccompAction::Allow, answer, arch).unwrap();
    let program: seccompiler::BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}
