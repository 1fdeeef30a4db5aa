//! Running a verifier's plan on the candidate, in a child that has no key.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_attest::Entry;
use quorum_policies::Policy;
use quorum_sandbox::Isolation;
use quorum_schemas::Timestamp;
use quorum_verifier::{BoundPlan, CheckReport, CheckRequest, CheckSpec, PlanFile, VerifierError, run_in_child};

use crate::candidate::Candidate;
use crate::control::ControlFiles;
use crate::documents::Documents;
use crate::scratch::scratch;
use crate::{GateCode, GateError, clock, limits};

/// Version of the adapter in every bound plan and every result.
pub(crate) const ADAPTER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A plan file, and the folder from which its harness paths start.
pub(crate) struct Plan {
    pub(crate) file: PlanFile,
    folder: Option<PathBuf>,
    _scratch: Option<tempfile::TempDir>,
}

impl Plan {
    /// Reads `--plan`.
    ///
    /// # Errors
    /// `plan_*`, and those of [`ControlFiles::read`].
    pub(crate) fn read(control: &mut ControlFiles, path: &Path) -> Result<Self, GateError> {
        let bytes = control.read("--plan", path, limits::CONTROL_FILE)?;
        let file = PlanFile::parse(&bytes).map_err(|error| verifier_error("--plan", &error))?;
        let (folder, scratch) = if starts_programs(&file) { control.folder_of("--plan", path)? } else { (None, None) };
        Ok(Self { file, folder, _scratch: scratch })
    }

    /// The plan as this verifier runs it: an imported one names nobody of ours.
    pub(crate) fn run_by(self, verifier: Option<&str>) -> Self {
        match verifier {
            Some(id) => Self { file: self.file.run_by(id), ..self },
            None => self,
        }
    }

    /// A process that holds a key runs no command that could reach it.
    ///
    /// # Errors
    /// `key_needs_isolation`.
    pub(crate) fn check_key_is_out_of_reach(&self, isolation: Isolation) -> Result<(), GateError> {
        if isolation > Isolation::None || !starts_programs(&self.file) {
            return Ok(());
        }
        Err(GateError::control(
            GateCode::KeyNeedsIsolation,
            "--key with --isolation none: the plan's commands could read the key; write the statement with `quorum verify --unsigned` and sign it with `quorum sign` in another job",
        ))
    }

    /// The plan is the one of the verifier that signs.
    ///
    /// # Errors
    /// `plan_wrong_verifier`.
    pub(crate) fn check_verifier(&self, entry: &Entry) -> Result<(), GateError> {
        if self.file.verifier_id() == entry.id {
            return Ok(());
        }
        Err(GateError::control(
            GateCode::PlanWrongVerifier,
            format!("--plan is of verifier `{}`, --key is of `{}`", self.file.verifier_id(), entry.id),
        ))
    }
}

/// Whether anything but our own reading code runs.
fn starts_programs(file: &PlanFile) -> bool {
    let checks = match file {
        PlanFile::Template(template) => template.checks(),
        PlanFile::Bound(plan) => plan.checks(),
        PlanFile::Imported { .. } => return false,
    };
    checks.iter().any(|check| matches!(check.spec(), CheckSpec::Command(_) | CheckSpec::Engine(_)))
}

/// What the checks found.
pub(crate) struct Checked {
    pub(crate) plan: BoundPlan,
    pub(crate) report: CheckReport,
    pub(crate) started_at: Timestamp,
    pub(crate) finished_at: Timestamp,
}

/// Everything around one run of checks.
pub(crate) struct Setting<'a> {
    pub(crate) candidate: &'a Candidate,
    pub(crate) documents: &'a Documents,
    pub(crate) isolation: Isolation,
    /// Paths that no command may see.
    pub(crate) hidden: Vec<PathBuf>,
    /// Our own program.
    pub(crate) program: &'a Path,
}

/// Binds the plan and runs its checks; when this returns, the child is gone.
///
/// # Errors
/// `plan_*`, `self_verification`, `baseline_missing`, `check_child_*`.
pub(crate) fn run(plan: &Plan, setting: &Setting<'_>) -> Result<Checked, GateError> {
    let intake = &setting.documents.intake;
    let bound = plan
        .file
        .for_handoff(&intake.handoff, &intake.work_unit, ADAPTER_VERSION)
        .map_err(|error| verifier_error("--plan", &error))?
        .observing(&intake.manifest);
    let needs_baseline = |spec: &CheckSpec| matches!(spec, CheckSpec::Scope { allowed_files: None });
    if setting.candidate.baseline.is_none() && bound.checks().iter().any(|check| needs_baseline(check.spec())) {
        return Err(GateError::control(
            GateCode::BaselineMissing,
            "the plan compares the candidate with its baseline; give --baseline, or `allowed_files` in the plan",
        ));
    }
    let scratch = scratch()?;
    let request = CheckRequest {
        plan: bound,
        handoff: intake.handoff.clone(),
        binding: intake.binding.clone(),
        work_unit: intake.work_unit.clone(),
        candidate_root: setting.candidate.root.clone(),
        baseline_root: setting.candidate.baseline.clone(),
        scratch: scratch.path().to_owned(),
        plan_dir: plan.folder.clone(),
        isolation: setting.isolation,
        hidden: setting.hidden.clone(),
        exe: setting.program.to_owned(),
        head_commit: setting.candidate.head_commit.clone(),
        candidate_submodules: setting.candidate.submodules.clone(),
        baseline_submodules: setting.candidate.baseline_submodules.clone(),
    };
    let started_at = clock::now()?;
    let report = run_in_child(setting.program, &request, patience(&request.plan))
        .map_err(|error| verifier_error("checks", &error))?;
    Ok(Checked { plan: request.plan, report, started_at, finished_at: clock::now()? })
}

/// How long the child may take: every program twice (the baseline is timed too), and as much as our own reading takes.
fn patience(plan: &BoundPlan) -> Duration {
    let programs = plan.checks().iter().map(|check| match check.spec() {
        CheckSpec::Command(command) => command.timeout,
        CheckSpec::Engine(engine) => engine.timeout,
        _ => Duration::ZERO,
    });
    programs.sum::<Duration>() * 2 + limits::OWN_CHECKS
}

/// The isolation that commands and engines must have.
///
/// # Errors
/// `isolation_none_not_admitted`: it needs the flag and a policy that names it, and a work unit that does not ask for more.
pub(crate) fn isolation(none: bool, policy: &Policy, documents: &Documents) -> Result<Isolation, GateError> {
    let wanted: Isolation = policy.min_isolation.as_str().parse().unwrap_or(Isolation::HardwareVm);
    let sandbox_required = documents.intake.work_unit.sandbox_required();
    if !none {
        return Ok(wanted.max(Isolation::ProcessSandbox));
    }
    let why = if wanted != Isolation::None {
        format!("the policy `{}` asks for min_isolation `{}`", policy.id, policy.min_isolation)
    } else if sandbox_required {
        "the work unit has sandbox_required".to_owned()
    } else {
        return Ok(Isolation::None);
    };
    Err(GateError::control(GateCode::IsolationNoneNotAdmitted, format!("--isolation none: {why}")))
}

/// What the worker handed in cannot be a candidate.
const UNFIT: [&str; 4] = ["tree_too_large", "tree_special_file", "path_unsafe", "check_request_too_large"];

/// An error of the verifier's, as a control file's or as infrastructure.
pub(crate) fn verifier_error(what: &str, error: &VerifierError) -> GateError {
    let message = format!("{what}: {error}");
    // The child tells its error in words, which start with the code.
    let unfit = match error {
        VerifierError::ChildDied { stderr, .. } => UNFIT.iter().find(|code| stderr.starts_with(**code)),
        other => UNFIT.iter().find(|code| **code == other.code()),
    };
    if let Some(code) = unfit {
        return GateError::worker(*code, message);
    }
    if error.is_control_file() {
        GateError::control(error.code(), message)
    } else {
        GateError::infrastructure(error.code(), message)
    }
}
