//! The check child: checks run in a process of their own, which has no key in its memory, environment or descriptors.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use quorum_sandbox::Isolation;

use crate::report::CheckReport;
use crate::{CheckRequest, VerifierError, limits, run_checks};

/// The hidden subcommand by which a program becomes the check child.
pub const SUBCOMMAND: &str = "__checks";

/// Runs the checks of `request` in `<exe> __checks` and waits for its report. The child gets an empty environment, the
/// request on stdin and nothing else; it and everything in its process group is killed after `timeout`.
///
/// # Errors
/// [`VerifierError::KeyInReach`] when a hidden path could not be hidden from a command without isolation,
/// [`VerifierError::HarnessUnusable`], [`VerifierError::RequestTooLarge`], [`VerifierError::ChildNotStarted`],
/// [`VerifierError::ChildDied`], [`VerifierError::ChildTimeout`], [`VerifierError::ChildGarbage`], and what [`run_checks`] refused. None of them is a verdict.
pub fn run_in_child(exe: &Path, request: &CheckRequest, timeout: Duration) -> Result<CheckReport, VerifierError> {
    if request.isolation == Isolation::None && !request.hidden.is_empty() && request.plan.starts_programs() {
        return Err(VerifierError::KeyInReach);
    }
    request.plan.check_request(request)?;
    for check in request.plan.checks() {
        // The operator's slip is told before anything runs.
        request.harness_of(check)?;
    }
    let bytes = request.to_bytes();
    if bytes.len() > limits::REQUEST_BYTES {
        return Err(VerifierError::RequestTooLarge { bytes: bytes.len(), limit: limits::REQUEST_BYTES });
    }
    let mut command = Command::new(exe);
    command.arg(SUBCOMMAND).env_clear().current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child =
        command.spawn().map_err(|error| VerifierError::ChildNotStarted(format!("{}: {error}", exe.display())))?;
    let (stdout, stderr, status) = Reaped(child).converse(bytes, timeout)?;
    let stderr = String::from_utf8_lossy(&stderr).trim().to_owned();
    if status.code() != Some(0) {
        let end = status.signal().map_or_else(
            || format!("exit status {}", status.code().unwrap_or(-1)),
            |signal| format!("signal {signal}"),
        );
        return Err(VerifierError::ChildDied { end, stderr });
    }
    let report = parse_report(&stdout)?;
    check_report(&report, request)?;
    Ok(report)
}

/// What the hidden subcommand does: reads a request from `input`, runs its checks, writes the report to `output`. Returns
/// the exit status. Call it first thing in `main`, before anything opens a file or reads a key.
pub fn check_child_main(input: &mut dyn Read, output: &mut dyn Write, errors: &mut dyn Write) -> i32 {
    shut_ourselves_off();
    let result = serve(input).and_then(|report| {
        let bytes = serde_json::to_vec(&report).map_err(|error| VerifierError::ChildGarbage(error.to_string()))?;
        output
            .write_all(&bytes)
            .and_then(|()| output.flush())
            .map_err(|error| VerifierError::ChildGarbage(error.to_string()))
    });
    match result {
        Ok(()) => 0,
        Err(error) => {
            // The parent shows it; nobody is left to tell when even this fails.
            let _ = write!(errors, "{error}");
            1
        }
    }
}

fn serve(input: &mut dyn Read) -> Result<CheckReport, VerifierError> {
    let mut bytes = Vec::new();
    let read = input.take(limits::REQUEST_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| VerifierError::ChildGarbage(error.to_string()))?;
    run_checks(&CheckRequest::parse(&bytes)?)
}

/// Closes every descriptor but the three, forbids core dumps and ptrace by our own user.
fn shut_ourselves_off() {
    // An interrupted parent wants no answer any more.
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    let inherited: Vec<i32> = std::fs::read_dir("/proc/self/fd")
        .map(|listing| listing.filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok()).collect())
        .unwrap_or_default();
    for descriptor in inherited.into_iter().filter(|number| *number > 2) {
        // One of them was the listing itself and is closed already.
        let _ = nix::unistd::close(descriptor);
    }
    let _ = nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_CORE, 0, 0);
    let _ = nix::sys::prctl::set_dumpable(false);
}

/// A child that does not outlive its parent's interest.
struct Reaped(Child);

type Spoken = (Vec<u8>, Vec<u8>, std::process::ExitStatus);

impl Reaped {
    fn converse(mut self, request: Vec<u8>, timeout: Duration) -> Result<Spoken, VerifierError> {
        let deadline = Instant::now() + timeout;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (self.0.stdin.take(), self.0.stdout.take(), self.0.stderr.take())
        else {
            return Err(VerifierError::ChildNotStarted("no pipes".into()));
        };
        // A child that dies early breaks this pipe; its end tells more than the error here.
        std::thread::spawn(move || stdin.write_all(&request));
        let errors = collect(stderr, limits::CHILD_STDERR_BYTES);
        let output = collect(stdout, limits::CHILD_REPORT_BYTES + 1);
        let left = || deadline.saturating_duration_since(Instant::now());
        let late = |_| VerifierError::ChildTimeout(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        let output = output.recv_timeout(left()).map_err(late)?;
        if output.len() > limits::CHILD_REPORT_BYTES {
            return Err(VerifierError::ChildGarbage(format!("more than {} bytes", limits::CHILD_REPORT_BYTES)));
        }
        let errors = errors.recv_timeout(left()).map_err(late)?;
        // Its streams are closed: it is ending, or it is told to.
        let status = loop {
            match self.0.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if left().is_zero() => return Err(late(mpsc::RecvTimeoutError::Timeout)),
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(VerifierError::ChildDied { end: error.to_string(), stderr: String::new() }),
            }
        };
        Ok((output, errors, status))
    }
}

impl Drop for Reaped {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.0.try_wait() {
            return;
        }
        if let Ok(pid) = i32::try_from(self.0.id()) {
            // Gone already is as good.
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.0.wait();
    }
}

fn collect(stream: impl Read + Send + 'static, most: usize) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut bounded = stream.take(most as u64);
        // What was read before an error is all there is.
        let _ = bounded.read_to_end(&mut bytes);
        let _ = std::io::copy(&mut bounded.into_inner(), &mut std::io::sink());
        sender.send(bytes)
    });
    receiver
}

fn parse_report(bytes: &[u8]) -> Result<CheckReport, VerifierError> {
    serde_json::from_slice(bytes).map_err(|error| VerifierError::ChildGarbage(format!("the report: {error}")))
}

/// A report answers exactly the request: every check of the plan once, in order, each with evidence.
fn check_report(report: &CheckReport, request: &CheckRequest) -> Result<(), VerifierError> {
    let garbage = |why: &str| Err(VerifierError::ChildGarbage(why.to_owned()));
    if report.plan_digest != request.plan.digest() {
        return garbage("a report on another plan");
    }
    let planned = request.plan.checks().iter().map(|check| (check.id(), check.kind(), check.channel()));
    if !planned.eq(report.checks.iter().map(|check| (check.id.as_str(), check.kind.as_str(), check.channel))) {
        return garbage("the checks of the report are not those of the plan");
    }
    if report.checks.iter().any(|check| check.files.is_empty()) {
        return garbage("a check without evidence");
    }
    Ok(())
}
