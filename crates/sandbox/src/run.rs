//! The caller's side of one run.

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::spec::Isolation;
use crate::wire::{self, Description, DescriptorUse, Message};
use crate::{Captured, End, RunReport, SandboxError, Spec, helper, limits, probe, view};

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
    /// The run is ended when the other end of this is dropped.
    pub(crate) cancel: Option<UnixStream>,
}

/// As [`run`], with more descriptors.
pub(crate) fn run_wired(spec: &Spec, wiring: Wiring) -> Result<RunReport, SandboxError> {
    check(spec)?;
    let sandboxed = admit_class(spec.isolation)?;
    let description = describe(spec, sandboxed, &wiring)?;
    execute(spec, &description, wiring)
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
    if spec.stdin.as_ref().is_some_and(|bytes| bytes.len() > limits::STDIN_MAX) {
        return invalid("stdin", "has more than 64 MiB");
    }
    Ok(())
}

/// The helper's orders for a spec.
pub(crate) fn describe(spec: &Spec, sandboxed: bool, wiring: &Wiring) -> Result<Description, SandboxError> {
    let cwd = spec.cwd.canonicalize().map_err(|source| SandboxError::Path { path: spec.cwd.clone(), source })?;
    let view = if sandboxed { view::plan(spec, &cwd)? } else { Vec::new() };
    let mut descriptors = Vec::new();
    descriptors.extend(wiring.stdin.as_ref().map(|_| DescriptorUse::Stdin));
    descriptors.extend(wiring.stdout.as_ref().map(|_| DescriptorUse::Stdout));
    descriptors.extend(wiring.numbered.iter().map(|(number, _)| DescriptorUse::Number(*number)));
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
    let Wiring { stdin, stdout, numbered, cancel } = wiring;
    let told = tell(&control, spec, description, [&stdin, &stdout], &numbered);
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
        Ok(seen) => seen.into_report(spec, description, started.elapsed()),
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
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= by {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn tell(
    control: &UnixStream,
    spec: &Spec,
    description: &Description,
    streams: [&Option<OwnedFd>; 2],
    numbered: &[(i32, OwnedFd)],
) -> io::Result<()> {
    let descriptors: Vec<_> = streams
        .into_iter()
        .flatten()
        .chain(numbered.iter().map(|(_, descriptor)| descriptor))
        .map(AsRawFd::as_raw_fd)
        .collect();
    let stdin = if description.has_stdin { spec.stdin.as_deref().unwrap_or_default() } else { &[] };
    control.set_write_timeout(Some(limits::SETUP))?;
    wire::send(control, description, stdin, &descriptors)
}

/// What has been seen of a run so far.
#[derive(Debug, Default)]
struct Seen {
    stdout: Captured,
    stderr: Captured,
    enforced: Vec<String>,
    end: Option<End>,
    /// Why we ordered the kill.
    killed: Option<End>,
    failed: Option<(String, i32, bool)>,
    not_executed: Option<i32>,
    quiesced: bool,
}

impl Seen {
    fn into_report(
        self,
        spec: &Spec,
        description: &Description,
        duration: Duration,
    ) -> Result<RunReport, SandboxError> {
        let program = spec.argv.first().cloned().unwrap_or_default();
        if let Some((step, errno, class)) = self.failed {
            let source = io::Error::from_raw_os_error(errno);
            return Err(if class {
                SandboxError::IsolationUnavailable { wanted: spec.isolation, why: format!("{step}: {source}") }
            } else {
                SandboxError::Setup { step, source }
            });
        }
        if let Some(errno) = self.not_executed {
            return Err(SandboxError::Spawn { program, source: io::Error::from_raw_os_error(errno) });
        }
        if !self.quiesced {
            let why = "the helper ended without the proof that every process was reaped".to_owned();
            return Err(SandboxError::OutcomeUnknown { program, why });
        }
        // What ended by itself was not timed out; a flood was one in any case.
        let flooded = self.killed.filter(|why| *why == End::OutputLimit);
        let Some(end) = flooded.or(self.end).or(self.killed) else {
            let why = "the helper did not say how the command ended".to_owned();
            return Err(SandboxError::OutcomeUnknown { program, why });
        };
        let isolation = if description.sandboxed && holds_class(&self.enforced) {
            Isolation::ProcessSandbox
        } else {
            Isolation::None
        };
        if isolation < spec.isolation && !self.enforced.is_empty() {
            let why = format!("only {} were established", self.enforced.join(", "));
            return Err(SandboxError::IsolationUnavailable { wanted: spec.isolation, why });
        }
        Ok(RunReport { end, stdout: self.stdout, stderr: self.stderr, duration, isolation, enforced: self.enforced })
    }
}

/// The layers without which nobody may say `process-sandbox`.
fn holds_class(enforced: &[String]) -> bool {
    ["pidns", "netns", "ipcns", "mount-ro-recursive", "capabilities-dropped", "no-new-privs", "seccomp"]
        .iter()
        .all(|needed| enforced.iter().any(|layer| layer == needed))
}

/// Follows one helper until it is gone.
struct Follower {
    control: UnixStream,
    unread: Vec<u8>,
    cancel: Option<UnixStream>,
    stdout: Option<Stream>,
    stderr: Option<Stream>,
    deadline: Instant,
    quiesce_by: Option<Instant>,
    seen: Seen,
}

struct Stream {
    pipe: Box<dyn PipeRead>,
    limit: usize,
    dropped: usize,
    /// Nothing more is read; the pipe stays open, or the command would see our end of it and not our kill.
    flooded: bool,
}

trait PipeRead: Read + AsFd + Send {}
impl<T: Read + AsFd + Send> PipeRead for T {}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// What reading a stream came to.
#[derive(PartialEq, Eq)]
enum Drained {
    Blocked,
    Ended,
    Flooded,
}

impl Stream {
    fn new(pipe: impl PipeRead + 'static, limit: usize) -> io::Result<Self> {
        set_nonblocking(&pipe)?;
        Ok(Self { pipe: Box::new(pipe), limit, dropped: 0, flooded: false })
    }

    fn drain(&mut self, into: &mut Captured) -> io::Result<Drained> {
        let mut buffer = [0; 64 * 1024];
        loop {
            let got = match self.pipe.read(&mut buffer) {
                Ok(0) => return Ok(Drained::Ended),
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Drained::Blocked),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let kept = got.min(self.limit - into.bytes.len());
            into.bytes.extend_from_slice(&buffer[..kept]);
            self.dropped += got - kept;
            into.truncated |= got > kept;
            if self.dropped > limits::FLOOD_SLACK {
                self.flooded = true;
                return Ok(Drained::Flooded);
            }
        }
    }
}

fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd.as_fd(), FcntlArg::F_GETFL)?);
    fcntl(fd.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

impl Follower {
    fn new(
        spec: &Spec,
        control: UnixStream,
        cancel: Option<UnixStream>,
        child: &mut Child,
        started: Instant,
    ) -> io::Result<Self> {
        let missing = || io::Error::other("the helper has no output pipes");
        control.set_nonblocking(true)?;
        Ok(Self {
            control,
            unread: Vec::new(),
            cancel,
            stdout: Some(Stream::new(child.stdout.take().ok_or_else(missing)?, spec.stdout_limit)?),
            stderr: Some(Stream::new(child.stderr.take().ok_or_else(missing)?, spec.stderr_limit)?),
            deadline: started + spec.timeout,
            quiesce_by: None,
            seen: Seen::default(),
        })
    }

    /// Until the helper's end of the control socket is closed, which is when it is gone.
    fn follow(&mut self) -> io::Result<()> {
        loop {
            self.wait()?;
            let helper_gone = self.read_reports()?;
            self.drain_streams()?;
            if helper_gone {
                return Ok(());
            }
            self.enforce_deadline()?;
        }
    }

    fn wait(&mut self) -> io::Result<()> {
        let until = self.quiesce_by.unwrap_or(self.deadline);
        let left = until.saturating_duration_since(Instant::now()).as_millis() + 1;
        let timeout = PollTimeout::try_from(left.min(60_000)).unwrap_or(PollTimeout::MAX);
        let mut fds = vec![PollFd::new(self.control.as_fd(), PollFlags::POLLIN)];
        for stream in [&self.stdout, &self.stderr].into_iter().flatten().filter(|stream| !stream.flooded) {
            fds.push(PollFd::new(stream.pipe.as_fd(), PollFlags::POLLIN));
        }
        let cancellable = self.cancel.as_ref().map(|cancel| {
            fds.push(PollFd::new(cancel.as_fd(), PollFlags::POLLIN));
            fds.len() - 1
        });
        match poll(&mut fds, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let cancelled = cancellable.is_some_and(|index| fds[index].any() == Some(true));
        drop(fds);
        if cancelled {
            self.cancel = None;
            self.order_kill(End::Signaled(nix::libc::SIGKILL));
        }
        Ok(())
    }

    fn read_reports(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        let gone = loop {
            match self.control.read(&mut buffer) {
                Ok(0) => break true,
                Ok(got) => self.unread.extend_from_slice(&buffer[..got]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break true,
                Err(error) => return Err(error),
            }
            if self.unread.len() > limits::REPORT {
                return Err(io::Error::other("the helper's report is too large"));
            }
        };
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            self.note(serde_json::from_slice(&line)?);
        }
        Ok(gone)
    }

    fn note(&mut self, message: Message) {
        let seen = &mut self.seen;
        match message {
            Message::Enforced(layers) => seen.enforced = layers,
            Message::Failed { step, errno, class } => {
                seen.failed.get_or_insert((step, errno, class));
            }
            Message::NotExecuted { errno } => seen.not_executed = Some(errno),
            Message::Exited(code) => seen.end = Some(End::Exited(code)),
            Message::Signaled(signal) => seen.end = Some(End::Signaled(signal)),
            Message::Quiesced => seen.quiesced = true,
        }
    }

    fn drain_streams(&mut self) -> io::Result<()> {
        let mut flooded = false;
        let both = [(&mut self.stdout, &mut self.seen.stdout), (&mut self.stderr, &mut self.seen.stderr)];
        for (stream, captured) in both {
            let readable = stream.as_mut().filter(|stream| !stream.flooded);
            let drained = readable.map(|stream| stream.drain(captured)).transpose()?;
            if drained == Some(Drained::Ended) {
                *stream = None;
            }
            flooded |= drained == Some(Drained::Flooded);
        }
        if flooded {
            self.order_kill(End::OutputLimit);
        }
        Ok(())
    }

    fn enforce_deadline(&mut self) -> io::Result<()> {
        let now = Instant::now();
        match self.quiesce_by {
            Some(by) if now >= by => Err(io::Error::other("the command's tree could not be ended")),
            None if now >= self.deadline => {
                self.order_kill(End::TimedOut);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The helper kills and reaps; its end of the socket stays open until it is done.
    fn order_kill(&mut self, why: End) {
        if self.quiesce_by.is_none() {
            self.seen.killed = Some(why);
            self.quiesce_by = Some(Instant::now() + limits::QUIESCE);
            let _ = self.control.shutdown(std::net::Shutdown::Write);
        }
    }
}
