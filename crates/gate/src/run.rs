//! `quorum gate`: verify and decide in one go.

use std::path::PathBuf;

use quorum_attest::{PAYLOAD_TYPE, Role, TrustRoot, sign};
use quorum_policies::{Assurance, Decision};
use quorum_schemas::{Digest, Timestamp, c1};

use crate::answer;
use crate::candidate::Candidate;
use crate::checks::{self, Checked, Plan, Setting};
use crate::control::ControlFiles;
use crate::decision::{Question, decide_and_record};
use crate::documents::{Documents, admit, work_unit};
use crate::evidence::EvidenceSet;
use crate::inputs::{self, KeyEntry, PolicyFile};
use crate::keys::Ephemeral;
use crate::out_dir::OutDir;
use crate::report::{CheckLine, shown_checks};
use crate::{CandidateSource, GateCode, GateError, Record, WorkerClaim, clock, limits, manifest, ready};

/// What `quorum gate` is asked.
#[derive(Debug, Clone)]
pub struct GateRequest {
    /// What was asked of the worker.
    pub work_unit: PathBuf,
    /// The worker's manifest, bare or signed; built here if absent.
    pub result: Option<PathBuf>,
    /// Who did the work, for a manifest that is built here.
    pub worker: WorkerClaim,
    /// What is handed in.
    pub candidate: CandidateSource,
    /// What this machine checks.
    pub plan: Option<PathBuf>,
    /// A policy file or the name of a shipped one.
    pub policy: Option<String>,
    /// Whose keys count.
    pub trust: Option<PathBuf>,
    /// The oldest version of the trust root that is good enough.
    pub trust_min_version: Option<u64>,
    /// The digest of version 1 of the trust root, from which every version beside it is followed.
    pub trust_pin: Option<Digest>,
    /// This machine's verifier key.
    pub key: Option<PathBuf>,
    /// The key that signs the decision.
    pub decision_key: Option<PathBuf>,
    /// Evidence of others.
    pub evidence: Vec<PathBuf>,
    /// Where its bundles are; beside it if absent.
    pub bundles: Option<PathBuf>,
    /// `FILE=sha256:...`.
    pub pins: Vec<String>,
    /// Run commands without isolation.
    pub isolation_none: bool,
    /// Where the decision is recorded.
    pub out: Option<PathBuf>,
    /// Files that reports go to, which must stay out of the candidate.
    pub reports: Vec<PathBuf>,
    /// Our own program: it runs the checks as a child.
    pub program: PathBuf,
}

/// What came of it.
#[derive(Debug)]
pub struct GateOutcome {
    /// The recommendation and its why.
    pub decision: Decision,
    /// Every file of the record.
    pub record: Record,
    /// What the checks of this machine found; empty where it only decided.
    pub checks: Vec<CheckLine>,
}

/// Runs the gate.
///
/// # Errors
/// [`GateError`] with its exit code; nothing is written then.
pub fn run(request: &GateRequest) -> Result<GateOutcome, GateError> {
    check_options(request)?;
    ready::schemas(ready::RUN);
    let out = request.out.as_deref().map(OutDir::reserve).transpose()?;
    let (candidate, mut control) = Candidate::open(&request.candidate)?;
    for pin in &request.pins {
        control.pin(pin)?;
    }
    let outputs =
        request.reports.iter().map(|path| ("--report", path)).chain(request.out.iter().map(|path| ("--out", path)));
    for (option, path) in outputs {
        control.output(option, path)?;
    }
    let opened = clock::now()?;
    let inputs = Inputs::read(request, &mut control, opened)?;
    control.finish()?;
    let documents = inputs.documents(request, &candidate, opened)?;
    let checked = inputs.check(request, &candidate, &documents)?;
    let now = clock::now()?;
    let outcome = inputs.decide(documents, checked, now)?;
    if let Some(out) = out {
        out.write(outcome.record.files())?;
    }
    Ok(outcome)
}

/// Options that do not go together, before any file is opened.
fn check_options(request: &GateRequest) -> Result<(), GateError> {
    let refuse = |code, message: &str| Err(GateError::control(code, message));
    if request.trust.is_none() {
        if !request.evidence.is_empty() {
            return refuse(
                GateCode::EvidenceNeedsTrust,
                "--evidence without --trust: nothing says whose evidence counts",
            );
        }
        if request.key.is_some() || request.decision_key.is_some() {
            return refuse(
                GateCode::KeyNeedsTrust,
                "--key and --decision-key without --trust: nothing says whose keys they are",
            );
        }
        if request.trust_min_version.is_some() || request.trust_pin.is_some() {
            return refuse(GateCode::TrustVersionNeedsTrust, "--trust-min-version or --trust-pin without --trust");
        }
        if request.plan.is_none() {
            return refuse(
                GateCode::PlanMissing,
                "give --plan FILE: what this machine checks (`quorum init` writes one)",
            );
        }
    }
    match (&request.trust, &request.plan, &request.key) {
        (Some(_), Some(_), None) => {
            refuse(GateCode::PlanNeedsKey, "--plan with --trust needs --key: whose evidence would it be?")
        }
        (Some(_), None, Some(_)) => refuse(GateCode::PlanMissing, "--key needs --plan: what this verifier checks"),
        _ => Ok(()),
    }
}

/// The control files.
struct Inputs {
    work_unit: Vec<u8>,
    result: Option<Vec<u8>>,
    policy: PolicyFile,
    trust: Option<TrustRoot>,
    plan: Option<Plan>,
    key: Option<KeyEntry>,
    decision_key: Option<KeyEntry>,
    evidence: EvidenceSet,
}

impl Inputs {
    fn read(request: &GateRequest, control: &mut ControlFiles, now: Timestamp) -> Result<Self, GateError> {
        let trust = match &request.trust {
            Some(path) => Some(inputs::trust(control, path, (request.trust_min_version, request.trust_pin), now)?),
            None => None,
        };
        let default = if trust.is_some() { "one-verifier" } else { "local" };
        let policy = PolicyFile::read(control, request.policy.as_deref().unwrap_or(default))?;
        let (mut key, mut decision_key) = (None, None);
        if let Some(trust) = &trust {
            inputs::admitted(&policy.policy, trust)?;
            key = inputs::key(control, "--key", request.key.as_ref(), Role::Verifier, trust, now)?;
            decision_key =
                inputs::key(control, "--decision-key", request.decision_key.as_ref(), Role::Gate, trust, now)?;
        }
        let named = key.as_ref().map(|(_, entry)| entry.id.as_str());
        let plan = request.plan.as_ref().map(|path| Plan::read(control, path)).transpose()?;
        let plan = plan.map(|plan| plan.run_by(named));
        if let (Some(plan), Some((_, entry))) = (&plan, &key) {
            plan.check_verifier(entry)?;
        }
        let work_unit = control.read("--work-unit", &request.work_unit, limits::ENVELOPE)?;
        let result = request.result.as_deref().map(inputs::workers_document).transpose()?;
        let evidence = EvidenceSet::read(control, &request.evidence, request.bundles.as_deref())?;
        Ok(Self { work_unit, result, policy, trust, plan, key, decision_key, evidence })
    }

    fn documents(&self, request: &GateRequest, candidate: &Candidate, now: Timestamp) -> Result<Documents, GateError> {
        let manifest = match &self.result {
            Some(bytes) => bytes.clone(),
            None => {
                let unit = work_unit(&self.work_unit, self.trust.as_ref(), now)?;
                c1(manifest::build(&unit, candidate, &request.worker, now)?.value())
            }
        };
        let documents = admit(self.work_unit.clone(), manifest, self.trust.as_ref(), now)?;
        candidate.is_named_by(&documents.intake.binding)?;
        manifest::started_from(&documents.intake, candidate)?;
        Ok(documents)
    }

    fn check(
        &self,
        request: &GateRequest,
        candidate: &Candidate,
        documents: &Documents,
    ) -> Result<Option<Checked>, GateError> {
        let Some(plan) = &self.plan else { return Ok(None) };
        let isolation = checks::isolation(request.isolation_none, &self.policy.policy, documents)?;
        if self.key.is_some() || self.decision_key.is_some() {
            plan.check_key_is_out_of_reach(isolation)?;
        }
        let hidden = [&request.key, &request.decision_key].into_iter().flatten();
        let setting = Setting {
            candidate,
            documents,
            isolation,
            hidden: hidden.filter_map(|path| path.canonicalize().ok()).collect(),
            program: &request.program,
        };
        checks::run(plan, &setting).map(Some)
    }

    /// No check child is left when keys are made or used here.
    fn decide(
        mut self,
        documents: Documents,
        checked: Option<Checked>,
        now: Timestamp,
    ) -> Result<GateOutcome, GateError> {
        let local = self.trust.is_none();
        let (trust, key, decision_key) = match (self.trust.take(), self.plan.take()) {
            (None, Some(plan)) => {
                let made = Ephemeral::new(plan.file.verifier_id(), self.policy.policy.digest(), now)?;
                (made.trust, Some(made.verifier), Some(made.gate))
            }
            (Some(trust), _) => {
                (trust, self.key.take().map(|(key, _)| key), self.decision_key.take().map(|(key, _)| key))
            }
            (None, None) => {
                return Err(GateError::control(GateCode::PlanMissing, "give --plan FILE: what this machine checks"));
            }
        };
        let mut evidence = std::mem::take(&mut self.evidence);
        let mut lines = Vec::new();
        let mut plan = None;
        if let (Some(checked), Some(key)) = (checked, &key) {
            lines = shown_checks(&checked.report.checks, checked.plan.hidden());
            let answer = answer::assemble(&checked, &documents, Some(&trust))?;
            plan = (!checked.plan.hidden()).then_some(answer.plan);
            evidence.add(sign(PAYLOAD_TYPE, &answer.statement, key), Some(answer.bundle.bytes));
            evidence.seal(answer.sealed);
        }
        let question = Question {
            documents: &documents,
            policy: &self.policy.policy,
            policy_bytes: &self.policy.bytes,
            trust: &trust,
            evidence: &evidence,
            plan: plan.as_deref(),
            assurance: if local { Assurance::Local } else { Assurance::TrustRoot },
            now,
        };
        let (decision, record) = decide_and_record(&question, decision_key.as_ref())?;
        Ok(GateOutcome { decision, record, checks: lines })
    }
}
