//! Following one helper: its reports, the command's streams, the deadline and the kill order.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cgroup::Group;
use crate::spec::Isolation;
use crate::wire::{Description, Message};
use crate::{Bound, BoundBy, Captured, Change, Changes, End, Quiescence, RunReport, SandboxError, Spec, limits};

/// What has been seen of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    stdout: Captured,
    stderr: Captured,
    enforced: Vec<String>,
    end: Option<End>,
    /// Why we ordered the kill.
    killed: Option<End>,
    failed: Option<(String, i32, bool)>,
    not_executed: Option<i32>,
    quiesced: bool,
    changed: Vec<Change>,
    changes: Option<Changes>,
}

impl Seen {
    pub(crate) fn into_report(
        self,
        spec: &Spec,
        description: &Description,
        duration: Duration,
        group: &Group,
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
        let quiescence =
            if description.sandboxed { Quiescence::NamespaceReaped } else { Quiescence::DescendantsReaped };
        Ok(RunReport {
            end,
            stdout: self.stdout,
            stderr: self.stderr,
            duration,
            isolation,
            limits: bounds(spec, description.sandboxed, &self.enforced, group),
            enforced: self.enforced,
            quiescence,
            usage: group.usage(),
            observation: None,
            changes: self.changes,
            kernel: nix::sys::utsname::uname()
                .map(|names| names.release().to_string_lossy().into_owned())
                .unwrap_or_default(),
        })
    }
}

/// Every bound and what keeps it.
fn bounds(spec: &Spec, sandboxed: bool, enforced: &[String], group: &Group) -> Vec<Bound> {
    let joined = |controller: &str| {
        let layer = format!("cgroup:{controller}");
        enforced.contains(&layer).then(|| group.by(controller)).flatten()
    };
    let or_nothing = |by: BoundBy| if sandboxed { by } else { BoundBy::Nothing };
    let processes = joined("pids").unwrap_or_else(|| or_nothing(BoundBy::RlimitOfUser));
    let milliseconds = u64::try_from(spec.timeout.as_millis()).unwrap_or(u64::MAX);
    let mut bounds = vec![
        Bound { name: "wall-clock", value: milliseconds, by: BoundBy::Caller },
        Bound { name: "stdout", value: spec.stdout_limit as u64, by: BoundBy::Caller },
        Bound { name: "stderr", value: spec.stderr_limit as u64, by: BoundBy::Caller },
        Bound { name: "file-size", value: spec.file_size_limit, by: BoundBy::RlimitOfEachProcess },
        Bound { name: "open-files", value: limits::OPEN_FILES, by: BoundBy::RlimitOfEachProcess },
        Bound { name: "processes", value: spec.process_limit, by: processes },
        Bound { name: "scratch", value: spec.scratch_limit, by: or_nothing(BoundBy::Tmpfs) },
    ];
    for (name, value) in [("memory", spec.memory_limit), ("cpu", spec.cpu_limit.map(u64::from))] {
        let by = joined(name).unwrap_or(BoundBy::RlimitOfEachProcess);
        bounds.extend(value.map(|value| Bound { name, value, by }));
    }
    bounds
}

/// The layers without which nobody may say `process-sandbox`.
fn holds_class(enforced: &[String]) -> bool {
    ["pidns", "netns", "ipcns", "mount-ro-recursive", "capabilities-dropped", "no-new-privs", "seccomp"]
        .iter()
        .all(|needed| enforced.iter().any(|layer| layer == needed))
}

/// Follows one helper until it is gone.
pub(crate) struct Follower {
    control: UnixStream,
    unread: Vec<u8>,
    cancel: Option<UnixStream>,
    stdout: Option<Stream>,
    stderr: Option<Stream>,
    deadline: Instant,
    quiesce_by: Option<Instant>,
    pub(crate) seen: Seen,
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
    pub(crate) fn new(
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
    pub(crate) fn follow(&mut self) -> io::Result<()> {
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
            self.note_lines()?;
            if self.unread.len() > limits::REPORT || self.seen.changed.len() > limits::CHANGES {
                return Err(io::Error::other("the helper's report is too large"));
            }
        };
        self.note_lines()?;
        Ok(gone)
    }

    fn note_lines(&mut self) -> io::Result<()> {
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            self.note(serde_json::from_slice(&line)?);
        }
        Ok(())
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
            Message::Change(change) => seen.changed.push(change),
            Message::Changes { copied, truncated } => {
                let mut list = std::mem::take(&mut seen.changed);
                list.sort();
                let mechanism = if copied { "copy" } else { "overlay" };
                seen.changes = Some(Changes { mechanism, list, truncated });
            }
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
