//! One run: arguments admitted, engine started in a sandbox, envelope written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_sandbox::{End, Isolation, RunReport, SandboxError, Spec};
use quorum_schemas::Value;

use crate::envelope::{self, Facts};
use crate::hash::{BinaryIdentity, input_hash};
use crate::judge::{ProcessEnd, judge};
use crate::{Descriptor, Engineering, ProcessStatus, arguments, limits};

/// One engine run.
#[derive(Debug, Clone)]
pub struct EngineSpec {
    /// The program: a path, or a name sought in the `PATH` of [`EngineSpec::env`]. For the shipped engine this is
    /// `quorum` itself.
    pub binary: PathBuf,
    /// Arguments before the descriptor's own: `["engine-json-rules"]` for the shipped engine.
    pub leading_args: Vec<String>,
    /// What the engine declares; for a multi-command engine the chosen [`Descriptor::command`].
    pub descriptor: Descriptor,
    /// Named arguments, as the descriptor's `inputs` has them.
    pub args: BTreeMap<String, Value>,
    /// Working directory; artifacts are reported relative to it.
    pub cwd: PathBuf,
    /// Paths that must be readable.
    pub read_only: Vec<PathBuf>,
    /// Directories that may be written.
    pub writable: Vec<PathBuf>,
    /// Paths that must not be seen.
    pub hidden: Vec<PathBuf>,
    /// Deadline.
    pub timeout: Duration,
    /// Required class.
    pub isolation: Isolation,
    /// The whole environment; all of it enters the input hash (loom_h3).
    pub env: BTreeMap<String, String>,
    /// The engine's version when known; else it is asked with `--version`.
    pub version: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct EngineRun {
    /// The `loom-result/1.1` envelope, JSON.
    pub envelope: Vec<u8>,
    /// Did it run.
    pub status: ProcessStatus,
    /// What it shows.
    pub engineering: Engineering,
    /// One sentence.
    pub summary: String,
    /// `error.code` of the envelope.
    pub error_code: Option<String>,
    /// The engine's version.
    pub version: Option<String>,
    /// The class that the run really had; `None` (the option) when nothing ran.
    pub isolation: Option<Isolation>,
    /// The process, when there was one.
    pub report: Option<RunReport>,
}

/// Runs an engine. Never fails: every trouble is an envelope with `status: error` (loom_e1).
#[must_use]
pub fn run(spec: &EngineSpec) -> EngineRun {
    let admitted = arguments::admit(&spec.descriptor, &spec.args);
    let mut arguments = spec.leading_args.clone();
    arguments.extend(admitted.clone().unwrap_or_default());
    let resolved = resolve(&spec.binary, spec.env.get("PATH").map(String::as_str));
    let (end, report) = match (admitted, &resolved) {
        (Err(error), _) => (ProcessEnd::Refused { code: error.code().to_owned(), message: error.to_string() }, None),
        (Ok(_), None) => (not_found(&spec.binary), None),
        (Ok(_), Some(program)) => start(spec, program, &arguments),
    };
    let version = match (&spec.version, &resolved, &report) {
        (Some(version), ..) => Some(version.clone()),
        (None, Some(program), Some(_)) => ask_version(spec, program),
        _ => None,
    };
    finish(spec, resolved.as_deref(), &arguments, version, &end, report)
}

fn finish(
    spec: &EngineSpec,
    resolved: Option<&Path>,
    arguments: &[String],
    version: Option<String>,
    end: &ProcessEnd,
    report: Option<RunReport>,
) -> EngineRun {
    let stdout: &[u8] = report.as_ref().filter(|report| !report.stdout.truncated).map_or(&[], |r| &r.stdout.bytes);
    let verdict = judge(&spec.descriptor, end, stdout);
    let name = spec.binary.file_name().map_or_else(|| "engine".into(), |name| name.to_string_lossy());
    let mut cmd = vec![name.clone().into_owned()];
    cmd.extend_from_slice(arguments);
    let path = resolved.map(|path| path.to_string_lossy());
    let binary = path.as_deref().map_or(BinaryIdentity::Unresolved(&name), BinaryIdentity::Path);
    let facts = Facts {
        spec,
        verdict: &verdict,
        input_hash: input_hash(binary, version.as_deref(), &spec.env, &cmd),
        cmd,
        version: version.as_deref(),
        report: report.as_ref(),
    };
    EngineRun {
        envelope: envelope::write(&facts),
        status: verdict.status,
        engineering: verdict.engineering,
        summary: verdict.summary.clone(),
        error_code: verdict.error.as_ref().map(|error| error.code.clone()),
        isolation: report.as_ref().map(|report| report.isolation),
        version,
        report,
    }
}

fn not_found(binary: &Path) -> ProcessEnd {
    let message = format!("{} was not found or may not be executed; install it or name its path", binary.display());
    ProcessEnd::NotStarted(message)
}

/// The canonical path of an executable file.
fn resolve(binary: &Path, search: Option<&str>) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let executable = |path: PathBuf| {
        let found = path.metadata().ok()?;
        (found.is_file() && found.permissions().mode() & 0o111 != 0).then(|| path.canonicalize().ok()).flatten()
    };
    if binary.components().count() > 1 {
        return executable(binary.to_owned());
    }
    let search = search.unwrap_or("/usr/local/bin:/usr/bin:/bin");
    search
        .split(':')
        .filter(|folder| folder.starts_with('/'))
        .find_map(|folder| executable(Path::new(folder).join(binary)))
}

fn sandbox_spec(spec: &EngineSpec, program: &Path, arguments: &[String]) -> Spec {
    let mut argv = vec![program.to_string_lossy().into_owned()];
    argv.extend_from_slice(arguments);
    let mut inner = Spec::new(argv, spec.cwd.clone());
    inner.env.clone_from(&spec.env);
    inner.read_only.clone_from(&spec.read_only);
    // The engine itself may lie below a masked folder.
    inner.read_only.push(program.to_owned());
    inner.writable.clone_from(&spec.writable);
    inner.hidden.clone_from(&spec.hidden);
    inner.timeout = spec.timeout;
    inner.isolation = spec.isolation;
    inner.stdout_limit = limits::STDOUT;
    inner.stderr_limit = limits::STDERR;
    inner
}

fn start(spec: &EngineSpec, program: &Path, arguments: &[String]) -> (ProcessEnd, Option<RunReport>) {
    match quorum_sandbox::run(&sandbox_spec(spec, program, arguments)) {
        Ok(report) => {
            let end = match report.end {
                End::TimedOut => ProcessEnd::TimedOut(u64::try_from(spec.timeout.as_millis()).unwrap_or(u64::MAX)),
                End::OutputLimit => ProcessEnd::OutputTooLarge(limits::STDOUT),
                End::Exited(0) if report.stdout.truncated => ProcessEnd::OutputTooLarge(limits::STDOUT),
                End::Signaled(signal) => ProcessEnd::Signaled(signal),
                End::Exited(code) => ProcessEnd::Exited(code),
            };
            (end, Some(report))
        }
        Err(SandboxError::Spawn { .. }) => (not_found(&spec.binary), None),
        Err(error) => {
            // The envelope's codes have no hyphens.
            let code = error.code().replace('-', "_");
            (ProcessEnd::Refused { code, message: error.to_string() }, None)
        }
    }
}

/// Second word of the first line of `--version`: `vyges-NAME X.Y.Z (sha)`.
fn ask_version(spec: &EngineSpec, program: &Path) -> Option<String> {
    let mut arguments = spec.leading_args.clone();
    arguments.push("--version".to_owned());
    let mut inner = sandbox_spec(spec, program, &arguments);
    inner.timeout = limits::VERSION_TIMEOUT;
    inner.stdout_limit = 4096;
    inner.writable = Vec::new();
    let report = quorum_sandbox::run(&inner).ok().filter(|report| report.end == End::Exited(0))?;
    let text = String::from_utf8(report.stdout.bytes).ok()?;
    let version = text.lines().next()?.split_whitespace().nth(1)?;
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}
