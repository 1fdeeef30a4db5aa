//! No isolation: the command in a session of its own, its descendants adopted, killed and reaped.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid};

use super::{Job, StepError, step, target, wait_for};
use crate::sys;
use crate::wire::{self, Message};

/// Runs the command; returns when no descendant is left.
pub(crate) fn supervise(job: &mut Job) -> Result<(), StepError> {
    step("subreaper", nix::sys::prctl::set_child_subreaper(true))?;
    let child = match step("fork", sys::fork())? {
        ForkResult::Child => target::become_command(job, &target::join_groups(job)),
        ForkResult::Parent { child } => child,
    };
    job.release();
    let watched = step("pidfd", sys::pidfd(child))?;
    let ordered = step("poll", wait_for(&watched, &job.control))?;
    if !ordered && let Ok(status) = waitpid(child, None) {
        report_end(job, status);
    }
    kill_descendants();
    wire::report(&job.control, &Message::Quiesced);
    Ok(())
}

/// Tells how the command itself ended.
pub(crate) fn report_end(job: &Job, status: WaitStatus) {
    match status {
        WaitStatus::Exited(_, code) => wire::report(&job.control, &Message::Exited(code)),
        WaitStatus::Signaled(_, signal, _) => wire::report(&job.control, &Message::Signaled(signal as i32)),
        _ => {}
    }
}

/// Kills until there is nothing left to wait for.
///
/// An orphan's parent is the nearest subreaper, which is us or a live descendant of ours; so `ECHILD` proves that no
/// descendant is alive.
fn kill_descendants() {
    loop {
        let alive = descendants(Pid::this());
        // Stopped first: what is stopped cannot fork between our reading and our killing.
        for pid in &alive {
            let _ = kill(*pid, Signal::SIGSTOP);
        }
        for pid in descendants(Pid::this()).iter().chain(&alive) {
            let _ = kill(*pid, Signal::SIGKILL);
        }
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => break,
                Err(Errno::ECHILD) => return,
                Ok(_) | Err(_) => {}
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn descendants(of: Pid) -> Vec<Pid> {
    let mut found: Vec<Pid> = Vec::new();
    let mut unread = vec![of];
    while let Some(parent) = unread.pop() {
        for child in children(parent) {
            if !found.contains(&child) {
                found.push(child);
                unread.push(child);
            }
        }
    }
    found
}

fn children(of: Pid) -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{of}/task")) else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace().filter_map(|word| word.parse().ok()).map(Pid::from_raw).collect::<Vec<_>>()
        })
        .collect()
}
