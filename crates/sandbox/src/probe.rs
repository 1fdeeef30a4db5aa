//! What this host can really enforce, found by trying to get out.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::run::{Wiring, describe, execute};
use crate::{End, Isolation, SandboxError, Spec};

/// The answer of [`probe`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The strongest class that held while the probe tried to escape.
    pub isolation: Isolation,
    /// Layers that were established.
    pub enforced: Vec<String>,
    /// Escapes that were tried, and what came of each: `write-outside: refused`.
    pub attempts: Vec<String>,
    /// Why nothing stronger; empty with a process sandbox.
    pub why: String,
}

/// Tries, once per process, to escape from a process sandbox.
///
/// # Errors
/// Only when no helper can be started at all; a host without namespaces is an answer, not an error.
pub fn probe() -> Result<Probe, SandboxError> {
    static FOUND: OnceLock<Probe> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    // Two threads may both try; both come to the same answer.
    let found = attempt()?;
    Ok(FOUND.get_or_init(|| found).clone())
}

fn attempt() -> Result<Probe, SandboxError> {
    let helper = |error: std::io::Error| SandboxError::Helper(format!("the probe's bait: {error}"));
    // Where we may listen ourselves; inside another sandbox there may be nothing to reach.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok();
    let port = listener.as_ref().and_then(|listener| listener.local_addr().ok()).map_or(9, |address| address.port());
    let bait = Bait::new().map_err(helper)?;
    let socket = bait.0.join("socket");
    let listening = std::os::unix::net::UnixListener::bind(&socket).ok();
    if listening.is_some() {
        fs::set_permissions(&socket, std::os::unix::fs::PermissionsExt::from_mode(0o777)).map_err(helper)?;
    }
    let mut spec = Spec::new(vec![crate::helper::PROBE_MARKER.to_owned()], bait.0.clone());
    spec.timeout = Duration::from_secs(20);
    let mut description = describe(&spec, true, &Wiring::default())?;
    description.argv = None;
    description.probe_args = vec![bait.0.display().to_string(), port.to_string(), std::process::id().to_string()];
    let none =
        |why: String, attempts: Vec<String>| Probe { isolation: Isolation::None, enforced: Vec::new(), attempts, why };
    match execute(&spec, &description, Wiring::default()) {
        Ok(report) => {
            let text = String::from_utf8_lossy(&report.stdout.bytes).into_owned();
            let attempts: Vec<String> = text.lines().map(str::to_owned).collect();
            if report.end == End::Exited(0) && report.isolation == Isolation::ProcessSandbox {
                let enforced = report.enforced;
                Ok(Probe { isolation: report.isolation, enforced, attempts, why: String::new() })
            } else {
                Ok(none(format!("the probe got out or did not finish ({:?})", report.end), attempts))
            }
        }
        Err(SandboxError::IsolationUnavailable { why, .. }) => Ok(none(why, Vec::new())),
        Err(SandboxError::Setup { step, source }) => Ok(none(format!("{step}: {source}"), Vec::new())),
        Err(error) => Err(error),
    }
}

/// A folder that the caller can write and the sandbox must not.
struct Bait(std::path::PathBuf);

impl Bait {
    fn new() -> std::io::Result<Self> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().canonicalize()?.join(format!("quorum-probe-{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        // Open to everybody, so that only the sandbox is in the way.
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o777))?;
        Ok(Self(path))
    }
}

impl Drop for Bait {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Inside the sandbox: tries to get out, says what came of each try; 0 when all were refused.
#[allow(clippy::print_stdout, reason = "the sandboxed probe's output is its report")]
pub(crate) fn attempt_escapes() -> i32 {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bait, port, caller] = arguments.as_slice() else {
        return 2;
    };
    let tries = [
        ("write-outside", fs::write(Path::new(bait).join("out"), b"x").is_ok()),
        ("write-root", fs::create_dir("/quorum-probe-out").is_ok()),
        ("network", connects(port)),
        ("host-processes", sees_others()),
        ("signal-caller", caller.parse().is_ok_and(|pid| kill(Pid::from_raw(pid), None).is_ok())),
        ("socket-file", std::os::unix::net::UnixStream::connect(Path::new(bait).join("socket")).is_ok()),
        ("user-namespace", unshare(CloneFlags::CLONE_NEWUSER).is_ok()),
        ("mount", mounts()),
        ("become-root", nix::unistd::setuid(nix::unistd::Uid::from_raw(0)).is_ok()),
    ];
    for (name, escaped) in tries {
        println!("{name}: {}", if escaped { "ESCAPED" } else { "refused" });
    }
    i32::from(tries.iter().any(|(_, escaped)| *escaped))
}

fn connects(port: &str) -> bool {
    port.parse().is_ok_and(|port| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok()
    })
}

/// Nothing but process 1 of the namespace and this one.
fn sees_others() -> bool {
    let Ok(entries) = fs::read_dir("/proc") else {
        return true;
    };
    let own = std::process::id();
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()))
        .any(|pid| pid != 1 && pid != own)
}

fn mounts() -> bool {
    use nix::mount::{MsFlags, mount};
    let nothing: Option<&str> = None;
    mount(nothing, "/", nothing, MsFlags::MS_REMOUNT | MsFlags::MS_BIND, nothing).is_ok()
        || mount(Some("tmpfs"), "/tmp", Some("tmpfs"), MsFlags::empty(), nothing).is_ok()
}
