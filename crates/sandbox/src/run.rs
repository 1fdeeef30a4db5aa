//! The caller's side of one run.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cgroup::Group;
use crate::follow::Follower;
use crate::spec::Isolation;
use crate::wire::{self, Description, DescriptorUse};
use crate::{Effect, OBSERVATION_LAYERS, RunReport, SandboxError, Spec, effect, helper, limits, probe, view};

/// Runs one command to its end. Blocks; may be called from any thread of a multi-threaded program.
///
/// # Errors
/// See [`SandboxError`]: a refused isolation class, an unusable spec, a program that cannot be started, or an outcome
/// that cannot be proved.
pub fn run(spec: &Spec) -> Result<RunReport, SandboxError> {
    run_wired(spec, Wiring::default())
}

/// Descriptors that a run is given beside the captured streams.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) numbered: Vec<(i32, OwnedFd)>,
    pub(crate) group: Group,
    /// Named pipes to be masked.
    pub(crate) pipes: Vec<PathBuf>,
    /// The run is ended when the other end of this is dropped.
    pub(crate) cancel: Option<UnixStream>,
}

/// As [`run`], with more descriptors.
pub(crate) fn run_wired(spec: &Spec, mut wiring: Wiring) -> Result<RunReport, SandboxError> {
    check(spec)?;
    let sandboxed = admit_class(spec.isolation)?;
    let prepared = effect::prepare(spec)?;
    wiring.pipes = prepared.pipes(spec)?;
    wiring.group = Group::make(spec);
    let description = describe(spec, sandboxed, &wiring)?;
    let report = execute(spec, &description, wiring)?;
    effect::finish(spec, prepared, report)
}

/// Refuses what cannot be enforced here; true for a process sandbox.
fn admit_class(wanted: Isolation) -> Result<bool, SandboxError> {
    match wanted {
        Isolation::None => Ok(false),
        Isolation::ProcessSandbox => {
            let found = probe::probe()?;
            if found.isolation >= wanted {
                Ok(true)
            } else {
                Err(SandboxError::IsolationUnavailable { wanted, why: found.why })
            }
        }
        Isolation::SharedKernelContainer | Isolation::HardwareVm => {
            Err(SandboxError::IsolationUnavailable { wanted, why: "this build has no runner of that class".to_owned() })
        }
    }
}

fn check(spec: &Spec) -> Result<(), SandboxError> {
    let invalid = |field: &'static str, why: &str| Err(SandboxError::InvalidSpec { field, why: why.to_owned() });
    if spec.argv.first().is_none_or(String::is_empty) {
        return invalid("argv", "is empty; name a program");
    }
    if spec.argv.len() > limits::ARGV_MAX {
        return invalid("argv", "has too many arguments");
    }
    if spec.argv.iter().any(|argument| argument.contains('\0')) {
        return invalid("argv", "an argument contains a NUL byte");
    }
    if spec.env.iter().any(|(name, value)| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')) {
        return invalid("env", "a name is empty or contains `=`, or a value contains a NUL byte");
    }
    if spec.timeout.is_zero() || spec.timeout > limits::TIMEOUT_MAX {
        return invalid("timeout", "must be above zero and at most a day");
    }
    if spec.stdout_limit > limits::OUTPUT_MAX || spec.stderr_limit > limits::OUTPUT_MAX {
        return invalid("stdout_limit", "a stream's bound is at most 64 MiB");
    }
    if spec.scratch_limit == 0 || spec.scratch_limit > limits::SCRATCH_MAX {
        return invalid("scratch_limit", "must be above zero and at most 16 GiB: it is memory");
    }
    if spec.memory_limit.is_some_and(|bytes| bytes < limits::MEMORY_MIN) {
        return invalid("memory_limit", "is below 1 MiB, in which no program starts");
    }
    if spec.cpu_limit.is_some_and(|cpu| cpu < limits::CPU_MIN) {
        return invalid("cpu_limit", "is below 10 thousandths of a CPU, which the kernel does not keep");
    }
    if spec.stdin.as_ref().is_some_and(|bytes| bytes.len() > limits::STDIN_MAX) {
        return invalid("stdin", "has more than 64 MiB");
    }
    Ok(())
}

/// The helper's orders for a spec.
pub(crate) fn describe(spec: &Spec, sandboxed: bool, wiring: &Wiring) -> Result<Description, SandboxError> {
    let cwd = spec.cwd.canonicalize().map_err(|source| SandboxError::Path { path: spec.cwd.clone(), source })?;
    let view = if sandboxed { view::plan(spec, &cwd, &wiring.pipes)? } else { Vec::new() };
    let mut descriptors = Vec::new();
    descriptors.extend(wiring.stdin.as_ref().map(|_| DescriptorUse::Stdin));
    descriptors.extend(wiring.stdout.as_ref().map(|_| DescriptorUse::Stdout));
    descriptors.extend(wiring.numbered.iter().map(|(number, _)| DescriptorUse::Number(*number)));
    descriptors.extend(wiring.group.doors().map(|_| DescriptorUse::Group));
    let required = match spec.effect {
        Effect::Observation { .. } => OBSERVATION_LAYERS.map(str::to_owned).to_vec(),
        Effect::Unclaimed | Effect::Mutation { .. } => Vec::new(),
    };
    Ok(Description {
        argv: Some(spec.argv.clone()),
        probe_args: Vec::new(),
        cwd,
        env: spec.env.clone(),
        view,
        sandboxed,
        uid: spec.identity.uid(),
        file_size: spec.file_size_limit,
        processes: spec.process_limit,
        required,
        scratch: spec.scratch_limit,
        memory: spec.memory_limit,
        cpu_seconds: spec.cpu_limit.map(|cpu| spec.timeout.as_secs().saturating_mul(cpu.into()) / 1000 + 1),
        controllers: wiring.group.doors().map(|(controller, _)| controller.to_owned()).collect(),
        descriptors,
        has_stdin: spec.stdin.is_some() && wiring.stdin.is_none(),
    })
}

/// Starts the helper with its orders and follows it to the end.
pub(crate) fn execute(spec: &Spec, description: &Description, wiring: Wiring) -> Result<RunReport, SandboxError> {
    let started = Instant::now();
    let (control, theirs) = UnixStream::pair().map_err(|error| SandboxError::Helper(error.to_string()))?;
    let program = helper::find()?;
    let mut child = Command::new(&program)
        .arg0(helper::MARKER)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| SandboxError::Helper(format!("{}: {error}", program.display())))?;
    let Wiring { stdin, stdout, numbered, group, cancel, .. } = wiring;
    let told = tell(&control, spec, description, [&stdin, &stdout], &numbered, &group);
    // Only the other side may hold these now, or the end of a stream would never be seen.
    drop((stdin, stdout, numbered));
    if let Err(error) = told {
        drop(control);
        reap(&mut child);
        return Err(SandboxError::Helper(format!("it did not take its orders: {error}")));
    }
    let followed = Follower::new(spec, control, cancel, &mut child, started)
        .and_then(|mut follower| follower.follow().map(|()| follower.seen));
    reap(&mut child);
    match followed {
        Ok(seen) => seen.into_report(spec, description, started.elapsed(), &group),
        Err(error) => Err(SandboxError::OutcomeUnknown {
            program: spec.argv.first().cloned().unwrap_or_default(),
            why: error.to_string(),
        }),
    }
}

/// Waits for the helper, whose socket is closed: that is its kill order. Killing it outright would leave a tree without
/// namespaces to itself.
fn reap(child: &mut Child) {
    let by = Instant::now() + limits::QUIESCE;
    // It has closed its socket, so it is about to be gone.
    let mut pause = Duration::from_micros(20);
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= by {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

fn tell(
    control: &UnixStream,
    spec: &Spec,
    description: &Description,
    streams: [&Option<OwnedFd>; 2],
    numbered: &[(i32, OwnedFd)],
    group: &Group,
) -> io::Result<()> {
    let descriptors: Vec<_> = streams
        .into_iter()
        .flatten()
        .chain(numbered.iter().map(|(_, descriptor)| descriptor))
        .chain(group.doors().map(|(_, door)| door))
        .map(AsRawFd::as_raw_fd)
        .collect();
    let stdin = if description.has_stdin { spec.stdin.as_deref().unwrap_or_default() } else { &[] };
    control.set_write_timeout(Some(limits::SETUP))?;
    wire::send(control, description, stdin, &descriptors)
}
