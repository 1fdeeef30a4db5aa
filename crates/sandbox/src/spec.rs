//! What to run, and what it must not reach.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::SandboxError;
use crate::limits;

/// How strongly a command is kept apart, from weak to strong. Claimed only after a probe that tried to escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// Own session, clean environment, no inherited descriptors, deadline and caps; nothing keeps it from the machine.
    None,
    /// Fresh namespaces with a read-only file system, no network, no privileges.
    ProcessSandbox,
    /// A container that shares the host's kernel. Not built here.
    SharedKernelContainer,
    /// A virtual machine of its own. Not built here.
    HardwareVm,
}

impl Isolation {
    /// The word used in evidence and policies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ProcessSandbox => "process-sandbox",
            Self::SharedKernelContainer => "shared-kernel-container",
            Self::HardwareVm => "hardware-vm",
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Isolation {
    type Err = SandboxError;

    fn from_str(text: &str) -> Result<Self, SandboxError> {
        [Self::None, Self::ProcessSandbox, Self::SharedKernelContainer, Self::HardwareVm]
            .into_iter()
            .find(|class| class.as_str() == text)
            .ok_or_else(|| SandboxError::UnknownIsolation(text.to_owned()))
    }
}

/// Which of the two unprivileged users a sandboxed command becomes.
///
/// Different users need a caller that is root; for an ordinary caller both are the caller's own user without
/// privileges, in separate user, process and mount namespaces, and [`RunReport::enforced`](crate::RunReport) says
/// `uid:own`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identity {
    /// A check, a tool, a harness (uid 65534).
    #[default]
    Checker,
    /// The candidate beside a harness (uid 65533).
    Candidate,
}

impl Identity {
    /// User and group number inside the sandbox.
    #[must_use]
    pub fn uid(self) -> u32 {
        match self {
            Self::Checker => 65_534,
            Self::Candidate => 65_533,
        }
    }
}

/// What the run is to show about its effects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Effect {
    /// Nothing is claimed: it may write below [`Spec::writable`].
    #[default]
    Unclaimed,
    /// No effect, enforced: nothing but private scratch can be written, and these directory trees are equal before and
    /// after, by digest and by change time. A trusted wall is the sandbox; the digest only finds what got through, so
    /// that this needs a process sandbox with every layer of [`crate::OBSERVATION_LAYERS`], or is refused.
    Observation {
        /// 1 to 8 directories, none below another; within the bounds of [`limits`].
        roots: Vec<PathBuf>,
    },
    /// Any effect, on a throwaway copy: the command sees these directories at their places and may write there; nothing
    /// of it reaches them, and [`RunReport::changes`](crate::RunReport) tells what it did. Needs a process sandbox.
    Mutation {
        /// 1 to 8 directories, none below another.
        trees: Vec<PathBuf>,
    },
}

/// One command. [`Spec::new`] has safe defaults; set the fields that differ.
///
/// In a process sandbox the command sees the host's file system read-only, with private empty `/tmp`, `/var/tmp` and
/// `/dev/shm`, and with `/run`, `/root`, `/home`, `$HOME` of the caller and everything in [`Spec::hidden`] masked.
/// [`Spec::read_only`], [`Spec::writable`] and [`Spec::cwd`] are visible even below a masked directory; a hidden path
/// below one of them is masked again: the deeper path wins. Reads are otherwise those of its user: name every key folder
/// in [`Spec::hidden`].
///
/// Bounds of the whole tree (memory, processes, CPU) need a cgroup; [`RunReport::limits`](crate::RunReport) says by what
/// each bound was really kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Program and arguments; no shell. A program without `/` is sought in the `PATH` of [`Spec::env`].
    pub argv: Vec<String>,
    /// Working directory; absolute.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// Paths that must be readable.
    pub read_only: Vec<PathBuf>,
    /// Directories that may be written; throwaway ones. What a command of another user writes belongs to the caller
    /// outside; on a file system that cannot map owners, the directory is given to that user instead. Under
    /// [`Isolation::None`] nothing enforces this list.
    pub writable: Vec<PathBuf>,
    /// Paths that must not be seen: key directories, sockets, hidden tests.
    pub hidden: Vec<PathBuf>,
    /// Wall-clock time until the whole tree is killed; at most [`limits::TIMEOUT_MAX`].
    pub timeout: Duration,
    /// Bytes of standard output that are kept.
    pub stdout_limit: usize,
    /// Bytes of standard error that are kept.
    pub stderr_limit: usize,
    /// The class that this run must have. Weaker is refused; [`Isolation::None`] only when named.
    pub isolation: Isolation,
    /// Bytes for standard input; `None` is `/dev/null`.
    pub stdin: Option<Vec<u8>>,
    /// The user that the command becomes.
    pub identity: Identity,
    /// Largest file it may write, in bytes.
    pub file_size_limit: u64,
    /// What the run is to show about its effects.
    pub effect: Effect,
    /// Most memory of the whole tree, in bytes, scratch included. Kept by a cgroup; where there is none, a bound of each
    /// single process stands in, and the report says so.
    pub memory_limit: Option<u64>,
    /// Most CPU time of the whole tree, in thousandths of one CPU. As for memory.
    pub cpu_limit: Option<u32>,
    /// Bytes of each private directory of a sandbox, and of the changes of a mutation.
    pub scratch_limit: u64,
    /// Most processes and threads in a sandbox at once. Not applied under [`Isolation::None`] without a cgroup,
    /// where the kernel would count the caller's other processes too.
    pub process_limit: u64,
}

impl Spec {
    /// A run in a process sandbox with an empty environment and the limits of [`limits`].
    #[must_use]
    pub fn new(argv: Vec<String>, cwd: PathBuf) -> Self {
        Self {
            argv,
            cwd,
            env: BTreeMap::new(),
            read_only: Vec::new(),
            writable: Vec::new(),
            hidden: Vec::new(),
            timeout: limits::TIMEOUT_DEFAULT,
            stdout_limit: limits::OUTPUT_DEFAULT,
            stderr_limit: limits::OUTPUT_DEFAULT,
            isolation: Isolation::ProcessSandbox,
            stdin: None,
            identity: Identity::Checker,
            file_size_limit: limits::FILE_SIZE,
            process_limit: limits::PROCESSES,
            effect: Effect::Unclaimed,
            memory_limit: None,
            cpu_limit: None,
            scratch_limit: limits::TMPFS_BYTES,
        }
    }
}
