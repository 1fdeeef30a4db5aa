//! What a run did and what was enforced.

use std::path::PathBuf;
use std::time::Duration;

use crate::{Isolation, RootsState};

/// How a run ended. Says nothing about what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The command exited with this status.
    Exited(i32),
    /// The command was ended by this signal, not by us.
    Signaled(i32),
    /// We ended it at its deadline.
    TimedOut,
    /// We ended it because it flooded a stream (see [`crate::limits::FLOOD_SLACK`]).
    OutputLimit,
}

/// One output stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// The first bytes, up to the bound of the spec.
    pub bytes: Vec<u8>,
    /// There was more. A truncated stream must not be parsed as a result.
    pub truncated: bool,
}

/// How it is known that nothing of the command's tree is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiescence {
    /// Process 1 of its process namespace was waited for; the kernel ends a namespace before that. A proof.
    NamespaceReaped,
    /// Every process that the kernel handed to us as an orphan was killed and waited for. Good housekeeping and no proof
    /// against a hostile command: only [`Quiescence::NamespaceReaped`] may be called quiesced.
    DescendantsReaped,
}

/// What keeps a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundBy {
    /// A cgroup of version 1, for the whole tree.
    CgroupV1,
    /// A cgroup of version 2, for the whole tree.
    CgroupV2,
    /// A resource limit of each single process: many processes together may exceed it.
    RlimitOfEachProcess,
    /// A resource limit of the command's user in its own user namespace: for the whole tree.
    RlimitOfUser,
    /// The size of a private file system in memory.
    Tmpfs,
    /// We count, and end the run or drop what is more.
    Caller,
    /// Nothing.
    Nothing,
}

impl BoundBy {
    /// The word used in evidence.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CgroupV1 => "cgroup-v1",
            Self::CgroupV2 => "cgroup-v2",
            Self::RlimitOfEachProcess => "rlimit-of-each-process",
            Self::RlimitOfUser => "rlimit-of-user",
            Self::Tmpfs => "tmpfs",
            Self::Caller => "caller",
            Self::Nothing => "nothing",
        }
    }
}

/// One bound that was asked for, and what really kept it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// `memory`, `processes`, `cpu`, `file-size`, `open-files`, `scratch`, `stdout`, `stderr`, `wall-clock`.
    pub name: &'static str,
    /// Bytes, processes, thousandths of a CPU, descriptors, or milliseconds.
    pub value: u64,
    /// What keeps it.
    pub by: BoundBy,
}

/// What the tree used, as far as a cgroup counted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Most memory at once, in bytes.
    pub memory_peak: Option<u64>,
    /// CPU time of the whole tree.
    pub cpu_time: Option<Duration>,
    /// How often the kernel killed a process because of [`crate::Spec::memory_limit`]; the command's own end then is
    /// [`End::Signaled`] with 9.
    pub memory_kills: Option<u64>,
    /// How often a process or thread was refused because of [`crate::Spec::process_limit`].
    pub processes_refused: Option<u64>,
}

/// What stood behind an observation, and what it found. Without a [`RunReport`] there is none: a layer that could not be
/// had is a refusal, not a weaker record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Name of the mechanism, as upstream calls it.
    pub mechanism: &'static str,
    /// The user that the command was inside.
    pub uid: u32,
    /// The roots, canonical, in the order given.
    pub roots: Vec<PathBuf>,
    /// Their state before.
    pub before: RootsState,
    /// Their state after everything was reaped.
    pub after: RootsState,
    /// Paths that differ; see [`RootsState::differences`]. Not empty: an effect was detected.
    pub differences: Vec<String>,
    /// What this record does not claim.
    pub not_claimed: &'static [&'static str],
}

/// How a change came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Was not there before.
    Added,
    /// Other bytes, another link target, or another type.
    Changed,
    /// Only its mode is another.
    Mode,
    /// Is not there any more.
    Removed,
}

/// One path that a mutation left otherwise than it found it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Change {
    /// Number of the tree, as in [`crate::Effect::Mutation`].
    pub tree: usize,
    /// Relative to the tree; bytes that are no printable ASCII are escaped.
    pub path: String,
    /// How.
    pub kind: ChangeKind,
    /// Permission bits and type afterwards; absent when removed.
    pub mode: Option<u32>,
    /// Bytes afterwards, of a file.
    pub size: Option<u64>,
    /// SHA-256 of the bytes, or of the target of a link, as 64 hexadecimal digits.
    pub sha256: Option<String>,
}

/// What a mutation did to its throwaway copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// `overlay`: the trees were the read-only lower layer. `copy`: it ran on a copy.
    pub mechanism: &'static str,
    /// In the order of trees and paths; at most [`crate::limits::CHANGES`].
    pub list: Vec<Change>,
    /// There are more, or one could not be read. A list that is not whole shows only what is in it.
    pub truncated: bool,
}

/// One finished run. The whole tree of the command has been killed and reaped when this exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// How it ended.
    pub end: End,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// From the start of the helper until everything was reaped.
    pub duration: Duration,
    /// The class that it really had.
    pub isolation: Isolation,
    /// Layers that were established, in order: `pidns`, `netns`, `mount-ro-recursive`, `seccomp`, ...
    pub enforced: Vec<String>,
    /// How it is known that the tree is gone.
    pub quiescence: Quiescence,
    /// Every bound, and what kept it.
    pub limits: Vec<Bound>,
    /// What it used.
    pub usage: Usage,
    /// Of [`crate::Effect::Observation`].
    pub observation: Option<Observation>,
    /// Of [`crate::Effect::Mutation`]; absent when we had to end the command: what it had done by then is not known.
    pub changes: Option<Changes>,
    /// The kernel's release, on which all this was enforced.
    pub kernel: String,
}
