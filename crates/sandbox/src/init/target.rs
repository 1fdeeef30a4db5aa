//! The last steps before the command: who it is, what it may, what it holds.

use std::convert::Infallible;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};

use super::{Job, StepError, class_step, errno_of, filter, step};
use crate::wire::{self, Message, ViewKind};
use crate::{helper, limits, sys};

/// Search path of a command whose environment has none.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// Writes the single-entry maps of the calling process's fresh user namespace.
pub(crate) fn write_maps(process: &Path, inside: u32, uid: Uid, gid: Gid) -> io::Result<()> {
    fs::write(process.join("setgroups"), "deny")?;
    fs::write(process.join("uid_map"), format!("{inside} {uid} 1"))?;
    fs::write(process.join("gid_map"), format!("{inside} {gid} 1"))
}

/// Gives up root and every privilege, for good.
pub(crate) fn become_nobody(job: &Job, layers: &mut Vec<String>) -> Result<(), StepError> {
    let uid = job.description.uid;
    if geteuid().is_root() {
        class_step("setgroups", setgroups(&[]))?;
        let (user, group) = (Uid::from_raw(uid), Gid::from_raw(uid));
        class_step("setgid", setresgid(group, group, group))?;
        class_step("setuid", setresuid(user, user, user))?;
        layers.push(format!("uid:{uid}"));
        // A user namespace of its own gives it a process count of its own. The namespaces around it stay the host's.
        if own_user_namespace(uid, user, group).is_ok() {
            layers.push("userns".to_owned());
        }
    } else {
        layers.push("uid:own".to_owned());
    }
    class_step("capabilities", sys::drop_capabilities())?;
    class_step("no-new-privs", nix::sys::prctl::set_no_new_privs())?;
    layers.extend(["capabilities-dropped", "no-new-privs"].map(str::to_owned));
    layers.extend(confine_paths(job).unwrap_or_default());
    Ok(())
}

fn own_user_namespace(inside: u32, uid: Uid, gid: Gid) -> io::Result<()> {
    nix::sys::prctl::set_dumpable(true)?;
    // The count of processes is taken from the limit at this moment.
    unshare(CloneFlags::CLONE_NEWUSER)?;
    write_maps(Path::new("/proc/self"), inside, uid, gid)
}

/// Landlock as a second wall behind the mounts. Best effort; what was had is named.
fn confine_paths(job: &Job) -> Option<Vec<String>> {
    let abi = ABI::V6;
    let everything = AccessFs::from_all(abi);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)
        .ok()?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .ok()?
        .create()
        .ok()?
        .add_rule(PathBeneath::new(PathFd::new("/").ok()?, AccessFs::from_read(abi)))
        .ok()?;
    let writable = job
        .description
        .view
        .iter()
        .filter(|view| matches!(view.kind, ViewKind::Writable | ViewKind::Private | ViewKind::Throwaway(_)));
    let mut paths: Vec<PathBuf> = writable.map(|view| view.path.clone()).collect();
    paths.push(PathBuf::from("/dev"));
    for path in paths {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(path).ok()?, everything)).ok()?;
    }
    let status = rules.restrict_self().ok()?;
    let whole = match status.ruleset {
        RulesetStatus::FullyEnforced => "landlock",
        // An older kernel; every right to write is among the first that there were.
        RulesetStatus::PartiallyEnforced => "landlock-partial",
        RulesetStatus::NotEnforced => return None,
    };
    let mut layers = vec![whole.to_owned(), "landlock-write-deny".to_owned()];
    if let LandlockStatus::Available { effective_abi, kernel_abi } = status.landlock {
        layers.push(format!("landlock-abi:{}", kernel_abi.unwrap_or(effective_abi as i32)));
    }
    Some(layers)
}

/// Joins the groups, and names the controllers that now bound this process and what it starts.
pub(crate) fn join_groups(job: &Job) -> Vec<String> {
    let doors = job.groups.iter().zip(&job.description.controllers);
    doors
        .filter(|(door, _)| nix::unistd::write(door, b"0").is_ok())
        .map(|(_, controller)| format!("cgroup:{controller}"))
        .collect()
}

/// Becomes the command. Does not return; what goes wrong is told on the control socket.
pub(crate) fn become_command(job: &Job, layers: &[String]) -> ! {
    let failed = match last_steps(job, layers) {
        Err(error) => {
            error.report(&job.control);
            126
        }
        Ok(never) => match never {},
    };
    std::process::exit(failed)
}

fn last_steps(job: &Job, layers: &[String]) -> Result<Infallible, StepError> {
    let description = &job.description;
    step("pdeathsig", nix::sys::prctl::set_pdeathsig(Signal::SIGKILL))?;
    // A descendant of a session leader could still hold the caller's terminal.
    step("session", nix::unistd::setsid())?;
    set_limits(job, layers)?;
    let cwd = format!("cwd {}", description.cwd.display());
    step(&cwd, nix::unistd::chdir(&description.cwd))?;
    step("descriptors", wire_descriptors(job))?;
    step("signals", reset_signals())?;
    let mut layers = layers.to_vec();
    layers.extend(["session", "descriptors-closed", "environment-cleared", "rlimits"].map(str::to_owned));
    if description.sandboxed {
        layers.extend(["sockets-refused".to_owned(), "seccomp".to_owned(), filter::layer()]);
        if let Some(missing) = description.required.iter().find(|needed| !layers.contains(needed)) {
            class_step(missing, Err::<(), _>(io::Error::from_raw_os_error(nix::libc::EOPNOTSUPP)))?;
        }
        class_step("seccomp", filter::install())?;
    }
    wire::report(&job.control, &Message::Enforced(layers));
    let error = execute(job);
    wire::report(&job.control, &Message::NotExecuted { errno: errno_of(&error) });
    std::process::exit(127)
}

fn set_limits(job: &Job, layers: &[String]) -> Result<(), StepError> {
    let description = &job.description;
    let joined = |controller: &str| layers.iter().any(|layer| layer.strip_prefix("cgroup:") == Some(controller));
    if let Some(bytes) = description.memory.filter(|_| !joined("memory")) {
        step("rlimit-data", lower(Resource::RLIMIT_DATA, bytes))?;
    }
    if let Some(seconds) = description.cpu_seconds.filter(|_| !joined("cpu")) {
        step("rlimit-cpu", lower(Resource::RLIMIT_CPU, seconds))?;
    }
    step("rlimit-core", setrlimit(Resource::RLIMIT_CORE, 0, 0))?;
    step("rlimit-fsize", lower(Resource::RLIMIT_FSIZE, description.file_size))?;
    step("rlimit-nofile", lower(Resource::RLIMIT_NOFILE, limits::OPEN_FILES))?;
    if description.sandboxed {
        step("rlimit-nproc", lower(Resource::RLIMIT_NPROC, description.processes))?;
    }
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o022));
    Ok(())
}

/// Never raises: the caller may be under a tighter limit.
fn lower(resource: Resource, wanted: u64) -> nix::Result<()> {
    let (_, hard) = nix::sys::resource::getrlimit(resource)?;
    let bound = wanted.min(hard);
    setrlimit(resource, bound, bound)
}

fn wire_descriptors(job: &Job) -> io::Result<()> {
    match &job.stdin {
        Some(stdin) => sys::install(stdin, 0)?,
        None => sys::install(fs::File::open("/dev/null")?, 0)?,
    }
    if let Some(stdout) = &job.stdout {
        sys::install(stdout, 1)?;
    }
    let mut first_closed = 3;
    for (number, descriptor) in &job.numbered {
        debug_assert!(*number < 10 && descriptor.as_raw_fd() >= 10, "numbered descriptors are below all owned ones");
        sys::install(descriptor, *number)?;
        first_closed = first_closed.max(number.unsigned_abs() + 1);
    }
    sys::close_on_exec_from(first_closed)
}

fn reset_signals() -> nix::Result<()> {
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
    // Ignored signals stay ignored over exec: the caller's (a daemon under nohup) and Rust's own SIGPIPE.
    for signal in Signal::iterator().filter(|signal| !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP)) {
        sys::default_signal(signal)?;
    }
    Ok(())
}

fn execute(job: &Job) -> io::Error {
    let description = &job.description;
    let invalid = || io::Error::from_raw_os_error(nix::libc::EINVAL);
    let environment: Result<Vec<CString>, _> =
        description.env.iter().map(|(name, value)| CString::new(format!("{name}={value}"))).collect();
    let (programs, arguments) = match &description.argv {
        None => {
            let mut arguments = vec![helper::PROBE_MARKER.to_owned()];
            arguments.extend(description.probe_args.iter().cloned());
            (vec![PathBuf::from("/proc/self/exe")], arguments)
        }
        Some(argv) => (candidates(&argv[0], description.env.get("PATH")), argv.clone()),
    };
    let arguments: Result<Vec<CString>, _> = arguments.into_iter().map(CString::new).collect();
    let (Ok(environment), Ok(arguments)) = (environment, arguments) else {
        return invalid();
    };
    let mut answer = io::Error::from_raw_os_error(nix::libc::ENOENT);
    for program in programs {
        let Ok(program) = CString::new(program.into_os_string().into_encoded_bytes()) else {
            return invalid();
        };
        let Err(error) = nix::unistd::execve(&program, &arguments, &environment);
        // As a shell does: a file that may not be executed is remembered, the search goes on.
        if !matches!(error, nix::errno::Errno::ENOENT | nix::errno::Errno::ENOTDIR) {
            answer = error.into();
        }
    }
    answer
}

fn candidates(program: &str, path: Option<&String>) -> Vec<PathBuf> {
    if program.contains('/') {
        return vec![PathBuf::from(program)];
    }
    let path = path.map_or(PATH_DEFAULT, String::as_str);
    path.split(':').filter(|folder| folder.starts_with('/')).map(|folder| Path::new(folder).join(program)).collect()
}
