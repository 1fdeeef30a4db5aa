//! The small steps apart, for CI jobs on separate runners: derive and decide.

use std::path::{Path, PathBuf};

use quorum_attest::Role;
use quorum_policies::Assurance;
use quorum_schemas::{Digest, c1};

use crate::control::ControlFiles;
use crate::decision::{Question, decide_and_record};
use crate::evidence::EvidenceSet;
use crate::inputs::{self, PolicyFile};
use crate::out_dir::OutDir;
use crate::{GateError, GateOutcome, clock};

/// `quorum handoff derive`: the C1 bytes of the handoff.
///
/// # Errors
/// Exit 2 for the work unit or the trust root, exit 6 for the manifest.
pub fn derive_handoff(work_unit: &Path, result: &Path, trust: Option<&Path>) -> Result<Vec<u8>, GateError> {
    let now = clock::now()?;
    let mut control = ControlFiles::on_disk();
    let trust = match trust {
        Some(path) => Some(inputs::trust(&mut control, path, (None, None), now)?),
        None => None,
    };
    let documents = inputs::documents(&mut control, work_unit, result, trust.as_ref(), now)?;
    Ok(c1(documents.intake.handoff.value()))
}

/// What `quorum decide` is asked.
#[derive(Debug, Clone)]
pub struct DecideRequest {
    /// What was asked of the worker.
    pub work_unit: PathBuf,
    /// The worker's manifest, bare or signed.
    pub result: PathBuf,
    /// A policy file or the name of a shipped one.
    pub policy: String,
    /// Whose keys count.
    pub trust: PathBuf,
    /// The oldest version of the trust root that is good enough.
    pub trust_min_version: Option<u64>,
    /// The digest of version 1 of the trust root, from which every version beside it is followed.
    pub trust_pin: Option<Digest>,
    /// Evidence of verifiers.
    pub evidence: Vec<PathBuf>,
    /// Where its bundles are; beside it if absent.
    pub bundles: Option<PathBuf>,
    /// The key that signs the decision.
    pub decision_key: Option<PathBuf>,
    /// `FILE=sha256:...`.
    pub pins: Vec<String>,
    /// Where the decision is recorded.
    pub out: Option<PathBuf>,
}

/// Weighs evidence that others made; nothing is checked here.
///
/// # Errors
/// [`GateError`] with its exit code; nothing is written then.
pub fn decide(request: &DecideRequest) -> Result<GateOutcome, GateError> {
    let out = request.out.as_deref().map(OutDir::reserve).transpose()?;
    let mut control = ControlFiles::on_disk();
    for pin in &request.pins {
        control.pin(pin)?;
    }
    let now = clock::now()?;
    let trust = inputs::trust(&mut control, &request.trust, (request.trust_min_version, request.trust_pin), now)?;
    let policy = PolicyFile::read(&mut control, &request.policy)?;
    inputs::admitted(&policy.policy, &trust)?;
    let key = inputs::key(&mut control, "--decision-key", request.decision_key.as_ref(), Role::Gate, &trust, now)?;
    let documents = inputs::documents(&mut control, &request.work_unit, &request.result, Some(&trust), now)?;
    let evidence = EvidenceSet::read(&mut control, &request.evidence, request.bundles.as_deref())?;
    control.finish()?;
    let question = Question {
        documents: &documents,
        policy: &policy.policy,
        policy_bytes: &policy.bytes,
        trust: &trust,
        evidence: &evidence,
        plan: None,
        assurance: Assurance::TrustRoot,
        now,
    };
    let (decision, record) = decide_and_record(&question, key.as_ref().map(|(key, _)| key))?;
    if let Some(out) = out {
        out.write(record.files())?;
    }
    Ok(GateOutcome { decision, record, checks: Vec::new() })
}
