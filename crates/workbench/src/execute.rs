//! From an admitted run to what happened. Whatever cannot be shown is `unknown` or a refusal, never a weaker claim.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_sandbox::{Effect, End, Observation, Quiescence, ROOTS_DIGEST_ALGORITHM, RunReport, SandboxError, Spec};
use quorum_schemas::{Digest, Sha256, Value};

use crate::limits::EXECUTABLE_BYTES;
use crate::{Admitted, Completed, EffectMode, Enforcement, NotRun, Outcome, Place, RefusalCode, RelativePath, Request};

/// Runs the command. Never fails: what goes wrong is an outcome. The report is there when the command came to an end.
pub(crate) fn execute(request: &Request, admitted: &Admitted, place: &Place) -> (Outcome, Option<Box<RunReport>>) {
    let mode = admitted.effect;
    let prepared = prepare(request, admitted, place);
    let (spec, program) = match prepared {
        Ok(prepared) => prepared,
        Err(code) => return (Outcome::NotRun { mode, code: code.into(), seen: NotRun::Workbench }, None),
    };
    match quorum_sandbox::run(&spec) {
        Ok(report) => (judge(mode, &report, program), Some(Box::new(report))),
        Err(error) => (failed(mode, &error), None),
    }
}

fn prepare(request: &Request, admitted: &Admitted, place: &Place) -> Result<(Spec, Digest), RefusalCode> {
    let root = place.roots.get(&request.address().root).ok_or(RefusalCode::WorkspaceRootUnknown)?;
    let cwd = below(root, &request.address().path).ok_or(RefusalCode::PathRefused)?;
    let program = resolve(request.profile().executable(), &place.search)?;
    let digest = digest(&program).map_err(|_| RefusalCode::CommandSpawnFailed)?;
    let mut argv = admitted.argv.clone();
    // Resolved once, here: the command's own PATH is not asked.
    program.to_str().ok_or(RefusalCode::CommandNotFound)?.clone_into(&mut argv[0]);
    let limits = request.profile().limits();
    let bytes = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let roots: Vec<PathBuf> = place.roots.values().cloned().collect();
    let mut spec = Spec::new(argv, cwd);
    spec.env = admitted.env.clone();
    spec.hidden = place.hidden.clone();
    spec.timeout = Duration::from_millis(admitted.timeout_ms);
    spec.stdout_limit = bytes(limits.stdout_bytes);
    spec.stderr_limit = bytes(limits.stderr_bytes);
    spec.effect = match admitted.effect {
        EffectMode::Observation => {
            spec.read_only = roots.clone();
            Effect::Observation { roots }
        }
        EffectMode::Mutation => Effect::Mutation { trees: roots },
    };
    Ok((spec, digest))
}

/// A folder below a root; no component is a link.
fn below(root: &Path, path: &RelativePath) -> Option<PathBuf> {
    let mut at = root.to_owned();
    if path.as_str() != "." {
        for component in path.as_str().split('/') {
            at.push(component);
            if !fs::symlink_metadata(&at).ok()?.is_dir() {
                return None;
            }
        }
    }
    fs::metadata(&at).ok()?.is_dir().then_some(at)
}

/// An absolute program as it is, a bare name in the owner's folders. A path relative to the workspace would be a program
/// of the candidate's under the owner's profile.
fn resolve(executable: &str, search: &[PathBuf]) -> Result<PathBuf, RefusalCode> {
    if executable.starts_with('/') {
        return Some(PathBuf::from(executable)).filter(|path| path.is_file()).ok_or(RefusalCode::CommandNotFound);
    }
    if executable.contains('/') {
        return Err(RefusalCode::CommandProfileDenied);
    }
    let found = search.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(executable));
    found.into_iter().find(|path| path.is_file()).ok_or(RefusalCode::CommandNotFound)
}

fn digest(program: &Path) -> io::Result<Digest> {
    let mut file = File::open(program)?.take(EXECUTABLE_BYTES + 1);
    let (mut hash, mut buffer, mut total) = (Sha256::default(), vec![0; 1 << 16], 0);
    loop {
        let read = file.read(&mut buffer)?;
        total += read as u64;
        match read {
            _ if total > EXECUTABLE_BYTES => return Err(io::Error::other("the program is too large to be hashed")),
            0 => return Ok(hash.finish()),
            _ => hash.update(&buffer[..read]),
        }
    }
}

/// Before `OutcomeUnknown` the sandbox says that nothing ran; an error that is not known here proves nothing.
fn failed(mode: EffectMode, error: &SandboxError) -> Outcome {
    let (code, seen) = match error {
        SandboxError::IsolationUnavailable { .. } => (RefusalCode::EffectModeUnenforceable, NotRun::Sandbox),
        SandboxError::Setup { .. } => (RefusalCode::ObservationSandboxFailed, NotRun::Sandbox),
        SandboxError::Unobservable { .. } => (RefusalCode::ObservationRootsUnprovable, NotRun::Sandbox),
        SandboxError::Spawn { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            (RefusalCode::CommandNotFound, NotRun::Sandbox)
        }
        SandboxError::Spawn { .. } => (RefusalCode::CommandSpawnFailed, NotRun::Sandbox),
        SandboxError::InvalidSpec { .. } | SandboxError::Path { .. } => (RefusalCode::PathRefused, NotRun::Workbench),
        SandboxError::Helper(_) => (RefusalCode::CommandSpawnFailed, NotRun::Workbench),
        _ => return unknown(mode, RefusalCode::ObservationOutcomeUnknown, RefusalCode::OperationInterrupted),
    };
    Outcome::NotRun { mode, code: code.into(), seen }
}

fn unknown(mode: EffectMode, observation: RefusalCode, mutation: RefusalCode) -> Outcome {
    let code = if mode == EffectMode::Observation { observation } else { mutation };
    Outcome::Unknown { mode, code: code.into() }
}

/// What a finished run shows. Only the wall counts: without its record there is no observation, whatever a digest says.
fn judge(mode: EffectMode, report: &RunReport, program: Digest) -> Outcome {
    let completed = |exit, report: &RunReport| Completed {
        exit,
        stdout: report.stdout.bytes.clone(),
        stderr: report.stderr.bytes.clone(),
        truncated: report.stdout.truncated || report.stderr.truncated,
    };
    let flood = || unknown(mode, RefusalCode::OutputFlood, RefusalCode::OutputFlood);
    let exit = match report.end {
        End::Exited(code) => Some(Some(code)),
        End::Signaled(_) => Some(None),
        End::TimedOut | End::OutputLimit => None,
    };
    if mode == EffectMode::Mutation {
        return match (exit, report.end) {
            (Some(exit), _) => Outcome::CompletedMutation(completed(exit, report)),
            (None, End::OutputLimit) => flood(),
            (None, _) => unknown(mode, RefusalCode::ObservationOutcomeUnknown, RefusalCode::ProcessTimeout),
        };
    }
    let Some(observation) = report.observation.as_ref().filter(|_| report.quiescence == Quiescence::NamespaceReaped)
    else {
        return unknown(mode, RefusalCode::ObservationOutcomeUnknown, RefusalCode::OperationInterrupted);
    };
    if !observation.differences.is_empty() || !observation.before.same_content(&observation.after) {
        return Outcome::EffectDetected;
    }
    match (exit, report.end) {
        (Some(exit), _) => {
            let record = enforcement(observation, report, program);
            Outcome::CompletedObservation(completed(exit, report), record)
        }
        (None, End::TimedOut) => Outcome::TimeoutQuiesced(observation.after.digest),
        (None, _) => flood(),
    }
}

fn enforcement(observation: &Observation, report: &RunReport, program: Digest) -> Enforcement {
    let texts = |list: Vec<&str>| Value::Array(list.into_iter().map(Value::from).collect());
    let extra = [
        ("x/roots-digest-alg", Value::from(ROOTS_DIGEST_ALGORITHM)),
        ("x/isolation-class", Value::from(report.isolation.as_str())),
        ("x/layers", texts(report.enforced.iter().map(String::as_str).collect())),
        ("x/host-kernel", Value::from(report.kernel.as_str())),
        ("x/not-claimed", texts(observation.not_claimed.to_vec())),
        ("x/executable-digest", program.into()),
    ];
    Enforcement {
        mechanism: observation.mechanism.to_owned(),
        uid: observation.uid,
        roots: vec![RelativePath::root()],
        roots_digest: observation.after.digest,
        extra: extra.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use quorum_sandbox::{Captured, Isolation, Usage};

    use super::*;

    fn code(outcome: &Outcome) -> (&'static str, String) {
        match outcome {
            Outcome::NotRun { code, seen: NotRun::Sandbox, .. } => ("guest-admission", code.to_string()),
            Outcome::NotRun { code, seen: NotRun::Workbench, .. } => ("none", code.to_string()),
            Outcome::Unknown { code, .. } => ("unknown", code.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn section_7_each_error_of_the_sandbox_has_its_outcome() {
        let source = |kind| io::Error::from(kind);
        let program = || "p".to_owned();
        let why = program;
        let table = [
            (
                SandboxError::IsolationUnavailable { wanted: Isolation::ProcessSandbox, why: why() },
                ["guest-admission", "effect-mode-unenforceable", "effect-mode-unenforceable"],
            ),
            (
                SandboxError::Setup { step: why(), source: source(io::ErrorKind::Other) },
                ["guest-admission", "observation-sandbox-failed", "observation-sandbox-failed"],
            ),
            (
                SandboxError::Unobservable { path: PathBuf::new(), why: why() },
                ["guest-admission", "observation-roots-unprovable", "observation-roots-unprovable"],
            ),
            (
                SandboxError::Spawn { program: program(), source: source(io::ErrorKind::NotFound) },
                ["guest-admission", "command-not-found", "command-not-found"],
            ),
            (SandboxError::Helper(why()), ["none", "command-spawn-failed", "command-spawn-failed"]),
            (
                SandboxError::OutcomeUnknown { program: program(), why: why() },
                ["unknown", "observation-outcome-unknown", "operation-interrupted"],
            ),
        ];
        for (error, [class, observation, mutation]) in table {
            assert_eq!(code(&failed(EffectMode::Observation, &error)), (class, observation.to_owned()), "{error}");
            assert_eq!(code(&failed(EffectMode::Mutation, &error)), (class, mutation.to_owned()), "{error}");
        }
    }

    #[test]
    fn an_observation_without_the_sandboxs_record_is_unknown_whatever_its_exit() {
        let report = |end| RunReport {
            end,
            stdout: Captured::default(),
            stderr: Captured::default(),
            duration: Duration::ZERO,
            isolation: Isolation::ProcessSandbox,
            enforced: Vec::new(),
            quiescence: Quiescence::NamespaceReaped,
            limits: Vec::new(),
            usage: Usage::default(),
            observation: None,
            changes: None,
            kernel: String::new(),
        };
        for end in [End::Exited(0), End::Exited(1), End::Signaled(9), End::TimedOut] {
            let outcome = judge(EffectMode::Observation, &report(end), Digest::of(b""));
            assert_eq!(code(&outcome), ("unknown", "observation-outcome-unknown".to_owned()), "{end:?}");
        }
        let flood = judge(EffectMode::Mutation, &report(End::OutputLimit), Digest::of(b""));
        assert_eq!(code(&flood), ("unknown", "output-flood".to_owned()));
    }
}
