//! The process sandbox: namespaces around a process 1 of ours, whose end is the end of everything in it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, getegid, geteuid, pipe2};

use super::plain::report_end;
use super::root::Built;
use super::throwaway::Layer;
use super::{Job, StepError, changes, class_step, root, step, target, wait_for};
use crate::wire::{self, Message, View, ViewKind};
use crate::{limits, sys};

const NAMESPACES: CloneFlags = CloneFlags::CLONE_NEWNS
    .union(CloneFlags::CLONE_NEWPID)
    .union(CloneFlags::CLONE_NEWNET)
    .union(CloneFlags::CLONE_NEWIPC)
    .union(CloneFlags::CLONE_NEWUTS);

/// Runs the command; returns when process 1 of its namespace, hence everything in it, has been reaped.
pub(crate) fn supervise(job: &mut Job) -> Result<(), StepError> {
    let mut layers = Vec::new();
    // Should the caller die, the closed socket tells us; this is for the moments in which we do not listen. Without
    // namespaces it would be wrong: we are the ones who must live to find the command's descendants.
    step("pdeathsig", nix::sys::prctl::set_pdeathsig(Signal::SIGKILL))?;
    // Without a core, a ptrace or a /proc view from processes of the same user.
    step("dumpable", nix::sys::prctl::set_dumpable(false))?;
    let mapping = enter_namespaces(job, &mut layers)?;
    let process_one = match class_step("fork", sys::fork())? {
        ForkResult::Child => std::process::exit(process_one(job, mapping.as_ref(), layers)),
        ForkResult::Parent { child } => child,
    };
    drop(mapping);
    job.release();
    let watched = step("pidfd", sys::pidfd(process_one))?;
    if step("poll", wait_for(&watched, &job.control))? {
        let _ = kill(process_one, Signal::SIGKILL);
    }
    // The kernel reaps the whole namespace before the end of its process 1 can be waited for.
    step("reap", waitpid(process_one, None))?;
    wire::report(&job.control, &Message::Quiesced);
    Ok(())
}

/// As root: namespaces owned by the host, and the mapping that shows root's files as the command's own. Else: a user
/// namespace in which we are the command's user, with capabilities that reach nothing outside.
fn enter_namespaces(job: &Job, layers: &mut Vec<String>) -> Result<Option<OwnedFd>, StepError> {
    let mapping = if geteuid().is_root() {
        // Not every host allows it; then the writable folders change their owner instead.
        let shows = |view: &View| !matches!(view.kind, ViewKind::Masked | ViewKind::Private);
        let needed = job.description.view.iter().any(shows);
        let mapping = needed.then(|| owner_mapping(job.description.uid).ok()).flatten();
        class_step("unshare", unshare(NAMESPACES))?;
        mapping
    } else {
        let (uid, gid) = (geteuid(), getegid());
        class_step("unshare", unshare(NAMESPACES | CloneFlags::CLONE_NEWUSER))?;
        // The maps are written through /proc/self, which belongs to root while we are not dumpable.
        step("dumpable", nix::sys::prctl::set_dumpable(true))?;
        class_step("uid-map", target::write_maps(std::path::Path::new("/proc/self"), job.description.uid, uid, gid))?;
        step("dumpable", nix::sys::prctl::set_dumpable(false))?;
        layers.push("userns".to_owned());
        None
    };
    layers.extend(["pidns", "netns", "ipcns", "utsns"].map(str::to_owned));
    Ok(mapping)
}

/// Process 1: builds the view, starts the command, reaps, tells how the command ended, and ends.
fn process_one(job: &mut Job, mapping: Option<&OwnedFd>, mut layers: Vec<String>) -> i32 {
    let started = prepare(job, mapping, &mut layers).and_then(|built| {
        let gate = step("gate", Gate::new())?;
        match class_step("fork", sys::fork())? {
            ForkResult::Child => {
                // While it is still who made the groups.
                layers.extend(target::join_groups(job));
                let ready = target::become_nobody(job, &mut layers);
                if let Err(error) = ready.and_then(|()| class_step("proc-read-only", gate.pass())) {
                    error.report(&job.control);
                    std::process::exit(126);
                }
                target::become_command(job, &layers)
            }
            ForkResult::Parent { child } => {
                // It has described its user namespace by then, or is gone; what opens the gate comes after the seal.
                class_step(
                    "proc-read-only",
                    gate.open_after(|| if built.proc_is_open { root::seal_proc() } else { Ok(()) }),
                )?;
                Ok((child, built.throwaway))
            }
        }
    });
    match started {
        Ok((command, throwaway)) => {
            job.release();
            let code = reap_until(job, command);
            tell_changes(job, &throwaway);
            code
        }
        Err(error) => {
            error.report(&job.control);
            1
        }
    }
}

/// Where the command's process waits for process 1.
struct Gate {
    waiting: (OwnedFd, OwnedFd),
    opened: (OwnedFd, OwnedFd),
}

impl Gate {
    fn new() -> nix::Result<Self> {
        let pipe = || pipe2(nix::fcntl::OFlag::O_CLOEXEC);
        Ok(Self { waiting: pipe()?, opened: pipe()? })
    }

    /// The command's side: says that it waits, and waits.
    fn pass(self) -> io::Result<()> {
        let (opened, theirs) = self.opened;
        drop(theirs);
        nix::unistd::write(&self.waiting.1, b"w")?;
        match nix::unistd::read(&opened, &mut [0; 1])? {
            1 => Ok(()),
            _ => Err(io::Error::from_raw_os_error(nix::libc::EPIPE)),
        }
    }

    /// The side of process 1: waits for the other, acts, opens.
    fn open_after(self, act: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let (waiting, theirs) = self.waiting;
        drop(theirs);
        // Nothing to read: it has failed and told why.
        if nix::unistd::read(&waiting, &mut [0; 1])? == 1 {
            act()?;
            nix::unistd::write(&self.opened.1, b"o")?;
        }
        Ok(())
    }
}

fn prepare(job: &Job, mapping: Option<&OwnedFd>, layers: &mut Vec<String>) -> Result<Built, StepError> {
    step("pdeathsig", nix::sys::prctl::set_pdeathsig(Signal::SIGKILL))?;
    let _ = nix::unistd::sethostname("sandbox");
    root::build(&job.description, mapping, layers)
}

fn reap_until(job: &Job, command: Pid) -> i32 {
    loop {
        match waitpid(None, None) {
            Ok(status) if status.pid() == Some(command) => {
                report_end(job, status);
                return 0;
            }
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return 1,
        }
    }
}

/// Ends what the command left running, then tells what it changed.
fn tell_changes(job: &Job, throwaway: &[Layer]) {
    if throwaway.is_empty() {
        return;
    }
    // From process 1 this is everybody else in the namespace; nobody writes any more once all are reaped.
    while kill(Pid::from_raw(-1), Signal::SIGKILL).is_ok() {
        while waitpid(None, None).is_ok() {}
    }
    let mut left = limits::CHANGES;
    let mut give = |change| wire::report(&job.control, &Message::Change(change));
    // Every layer is looked at, also after one that could not be read whole.
    let unread = throwaway.iter().filter(|layer| !changes::collect(layer, &mut left, &mut give)).count();
    let copied = throwaway.iter().any(|layer| layer.copied);
    wire::report(&job.control, &Message::Changes { copied, truncated: unread > 0 });
}

/// A user namespace whose mapping exchanges root and the command's user, for mounts that show owners through it.
fn owner_mapping(uid: u32) -> io::Result<OwnedFd> {
    let (ready_read, ready_write) = pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    let (done_read, done_write) = pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    let child = match sys::fork()? {
        ForkResult::Child => {
            drop((ready_read, done_write));
            let entered = unshare(CloneFlags::CLONE_NEWUSER).is_ok();
            let _ = nix::unistd::write(&ready_write, &[u8::from(entered)]);
            let _ = nix::unistd::read(&done_read, &mut [0; 1]);
            std::process::exit(0);
        }
        ForkResult::Parent { child } => child,
    };
    drop((ready_write, done_read));
    let mut entered = [0; 1];
    let result = nix::unistd::read(ready_read.as_fd(), &mut entered).map_err(io::Error::from).and_then(|_| {
        if entered != [1] {
            return Err(io::Error::from_raw_os_error(nix::libc::EPERM));
        }
        let map = format!("0 {uid} 1\n1 1 {}\n{uid} 0 1\n{} {} {}\n", uid - 1, uid + 1, uid + 1, u32::MAX - uid - 1);
        std::fs::write(format!("/proc/{child}/uid_map"), &map)?;
        std::fs::write(format!("/proc/{child}/gid_map"), &map)?;
        let namespace = std::fs::File::open(format!("/proc/{child}/ns/user"))?;
        sys::duplicate_high(namespace.as_fd())
    });
    drop(done_write);
    let _ = waitpid(child, None);
    result
}
