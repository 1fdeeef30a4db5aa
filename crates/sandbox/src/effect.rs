//! What a run is to show about its effects: prepared before, judged after.

use std::path::PathBuf;

use crate::report::{Observation, Quiescence};
use crate::roots::{self, RootsError, RootsState};
use crate::{Effect, Isolation, RunReport, SandboxError, Spec, limits, view};

/// The layers without which nothing is called an observation.
pub const OBSERVATION_LAYERS: [&str; 15] = [
    "pidns",
    "netns",
    "ipcns",
    "utsns",
    "mount-ro-recursive",
    "private-tmp",
    "private-dev",
    "fresh-proc",
    "capabilities-dropped",
    "no-new-privs",
    "landlock-write-deny",
    "descriptors-closed",
    "environment-cleared",
    "sockets-refused",
    "seccomp",
];

/// Upstream's name for a read-only namespace that an unprivileged user is put into.
const MECHANISM: &str = "linux-unprivileged-readonly-namespace.v1";

/// What remains possible, said rather than hidden.
const NOT_CLAIMED: &[&str] = &[
    "reads are those of the inner user: hide what must not be read",
    "a named pipe outside of the roots can be read where its mode allows, which takes what is in it",
    "advisory locks can be taken on readable files while the command runs",
    "the kernel is shared",
];

/// What is remembered from before the start.
#[derive(Debug)]
pub(crate) enum Prepared {
    Nothing,
    Observation { roots: Vec<PathBuf>, before: RootsState },
    Mutation,
}

fn invalid(field: &'static str, why: String) -> SandboxError {
    SandboxError::InvalidSpec { field, why }
}

fn unobservable(error: RootsError) -> SandboxError {
    SandboxError::Unobservable { path: error.path, why: error.why }
}

/// Checks the combination and reads the roots.
pub(crate) fn prepare(spec: &Spec) -> Result<Prepared, SandboxError> {
    let (Effect::Observation { roots: named } | Effect::Mutation { trees: named }) = &spec.effect else {
        return Ok(Prepared::Nothing);
    };
    if spec.isolation < Isolation::ProcessSandbox {
        return Err(SandboxError::IsolationUnavailable {
            wanted: Isolation::ProcessSandbox,
            why: format!("effects are kept in nothing weaker, and the run is to have `{}`", spec.isolation),
        });
    }
    if named.is_empty() || named.len() > limits::ROOTS {
        return Err(invalid("effect", format!("names {} folders; name 1 to {}", named.len(), limits::ROOTS)));
    }
    let canonical = roots::canonical(named)
        .map_err(|error| invalid("effect", format!("{} {}", error.path.display(), error.why)))?;
    if matches!(spec.effect, Effect::Mutation { .. }) {
        return Ok(Prepared::Mutation);
    }
    if let Some(writable) = spec.writable.first() {
        let why = format!("names {}, but an observation writes nothing except private scratch", writable.display());
        return Err(invalid("writable", why));
    }
    let before = roots::read(&canonical).map_err(unobservable)?;
    Ok(Prepared::Observation { roots: canonical, before })
}

impl Prepared {
    /// Named pipes that a read-only mount would let through.
    ///
    /// Landlock refuses to write to one, except below a private folder, where its rules cannot tell what is the command's
    /// own from what is shown there.
    pub(crate) fn pipes(&self, spec: &Spec) -> Result<Vec<PathBuf>, SandboxError> {
        let Self::Observation { roots, before } = self else { return Ok(Vec::new()) };
        let mut found = before.pipes.clone();
        let mut left = limits::ROOTS_ENTRIES;
        for path in spec.read_only.iter().chain([&spec.cwd]) {
            let Ok(path) = path.canonicalize() else { continue };
            let shown_in_private = view::PRIVATE.iter().any(|private| path.starts_with(private));
            if shown_in_private && !roots.iter().any(|root| path.starts_with(root)) {
                roots::pipes_below(&path, &mut left, &mut found).map_err(unobservable)?;
            }
        }
        Ok(found)
    }
}

/// Judges what was prepared.
pub(crate) fn finish(spec: &Spec, prepared: Prepared, mut report: RunReport) -> Result<RunReport, SandboxError> {
    let program = || spec.argv.first().cloned().unwrap_or_default();
    let unknown = |why: String| SandboxError::OutcomeUnknown { program: program(), why };
    match prepared {
        Prepared::Nothing => {}
        Prepared::Mutation => {
            let ended = matches!(report.end, crate::End::TimedOut | crate::End::OutputLimit);
            if report.changes.is_none() && !ended {
                return Err(unknown("the helper did not say what was changed".to_owned()));
            }
        }
        Prepared::Observation { roots, before } => {
            let has = |layer: &str| report.enforced.iter().any(|found| found == layer);
            // The command does not start without them (see `init`); this is for who edits one side alone.
            if let Some(missing) = OBSERVATION_LAYERS.into_iter().find(|layer| !has(layer)) {
                return Err(unknown(format!("it ran without the layer `{missing}`")));
            }
            if report.quiescence != Quiescence::NamespaceReaped {
                return Err(unknown("nothing proves that its tree is gone".to_owned()));
            }
            let after = roots::read(&roots).map_err(|error| {
                unknown(format!("{} cannot be read afterwards: {}", error.path.display(), error.why))
            })?;
            let differences = before.differences(&after);
            report.observation = Some(Observation {
                mechanism: MECHANISM,
                uid: spec.identity.uid(),
                roots,
                before,
                after,
                differences,
                not_claimed: NOT_CLAIMED,
            });
        }
    }
    Ok(report)
}
