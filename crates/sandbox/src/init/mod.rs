//! The helper's side: it prepares, starts, watches, kills and reaps.

mod changes;
pub(crate) mod filter;
mod plain;
mod root;
mod sandboxed;
mod target;
mod throwaway;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::libc;
use nix::sys::signal::Signal;

use crate::wire::{self, Description, DescriptorUse, Message};
use crate::{helper, probe, sys};

/// Becomes the sandbox helper when started as such, else returns at once.
///
/// First statement of `main` of every program that calls [`crate::run`]: before threads, before arguments are read.
pub fn init_main() {
    let name = std::env::args_os().next();
    let is = |marker: &str| name.as_deref() == Some(marker.as_ref());
    if is(helper::PROBE_MARKER) {
        std::process::exit(probe::attempt_escapes());
    }
    if is(helper::MARKER) {
        std::process::exit(serve());
    }
    helper::remember_ourselves();
}

/// A step that failed, and whether the isolation class itself cannot be had because of it.
#[derive(Debug)]
pub(crate) struct StepError {
    step: String,
    errno: i32,
    class: bool,
}

impl StepError {
    fn report(self, control: &UnixStream) {
        wire::report(control, &Message::Failed { step: self.step, errno: self.errno, class: self.class });
    }
}

fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

/// Names a failing step. Steps of the isolation class use [`class_step`].
fn step<T, E: Into<io::Error>>(name: &str, result: Result<T, E>) -> Result<T, StepError> {
    result.map_err(|error| StepError { step: name.to_owned(), errno: errno_of(&error.into()), class: false })
}

/// As [`step`], for a step without which the class cannot be claimed.
fn class_step<T, E: Into<io::Error>>(name: &str, result: Result<T, E>) -> Result<T, StepError> {
    step(name, result).map_err(|error| StepError { class: true, ..error })
}

/// One run as the helper holds it.
pub(crate) struct Job {
    pub(crate) description: Description,
    pub(crate) control: UnixStream,
    /// Standard input, when not `/dev/null`.
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: Option<OwnedFd>,
    pub(crate) numbered: Vec<(i32, OwnedFd)>,
    /// Doors of the groups that the command joins.
    pub(crate) groups: Vec<OwnedFd>,
}

impl Job {
    /// Closes what only the command may hold: a pipe ends for its reader when its last writer is gone.
    pub(crate) fn release(&mut self) {
        self.stdin = None;
        self.stdout = None;
        self.numbered.clear();
        self.groups.clear();
    }
}

fn serve() -> i32 {
    match open_job() {
        Ok(mut job) => {
            let sandboxed = job.description.sandboxed;
            let done = if sandboxed { sandboxed::supervise(&mut job) } else { plain::supervise(&mut job) };
            match done {
                Ok(()) => 0,
                Err(error) => {
                    error.report(&job.control);
                    1
                }
            }
        }
        // There is nobody to tell: the socket itself is what failed.
        Err(_) => 2,
    }
}

fn open_job() -> io::Result<Job> {
    sys::close_from(3)?;
    // A caller that ignores it would have the kernel reap what we wait for.
    sys::default_signal(Signal::SIGCHLD)?;
    let control = UnixStream::from(sys::take_stdin()?);
    let null = std::fs::File::open("/dev/null")?;
    sys::install(&null, 0)?;
    // EPERM means that we lead a group already; the command gets a session of its own in any case.
    let _ = nix::unistd::setsid();
    nix::sys::prctl::set_no_new_privs()?;
    let (description, stdin_bytes, descriptors) = wire::receive(&control)?;
    let mut job = Job { description, control, stdin: None, stdout: None, numbered: Vec::new(), groups: Vec::new() };
    for (descriptor, purpose) in descriptors.into_iter().zip(job.description.descriptors.clone()) {
        let descriptor = sys::duplicate_high(descriptor.as_fd())?;
        match purpose {
            DescriptorUse::Stdin => job.stdin = Some(descriptor),
            DescriptorUse::Stdout => job.stdout = Some(descriptor),
            DescriptorUse::Group => job.groups.push(descriptor),
            DescriptorUse::Number(number) => job.numbered.push((number, descriptor)),
        }
    }
    if job.description.has_stdin {
        job.stdin = Some(stdin_file(&stdin_bytes)?);
    }
    Ok(job)
}

/// The bytes as an anonymous file, so that nobody has to feed a pipe.
fn stdin_file(bytes: &[u8]) -> io::Result<OwnedFd> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    use std::io::{Seek, Write};
    let mut file = std::fs::File::from(memfd_create(c"stdin", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    sys::duplicate_high(file.as_fd())
}

/// Blocks until the child ends or the caller orders the kill (or is gone). True: ordered.
fn wait_for(child: &OwnedFd, control: &UnixStream) -> io::Result<bool> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    loop {
        let mut fds = [PollFd::new(child.as_fd(), PollFlags::POLLIN), PollFd::new(control.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) => {}
            Err(nix::errno::Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if fds[0].any() == Some(true) {
            return Ok(false);
        }
        if fds[1].any() == Some(true) {
            return Ok(true);
        }
    }
}
