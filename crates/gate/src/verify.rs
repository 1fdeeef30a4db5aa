//! `quorum verify`: check a candidate, write evidence.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quorum_attest::{PAYLOAD_TYPE, Role, TrustRoot, sign};
use quorum_sandbox::Isolation;
use quorum_schemas::Digest;

use crate::answer;
use crate::candidate::Candidate;
use crate::checks::{self, Plan, Setting};
use crate::out_dir::OutDir;
use crate::report::{CheckLine, shown_checks};
use crate::{CandidateSource, GateCode, GateError, clock, inputs, manifest, record};

/// What `quorum verify` is asked.
#[derive(Debug, Clone)]
pub struct VerifyRequest {
    /// What was asked of the worker.
    pub work_unit: PathBuf,
    /// The worker's manifest, bare or signed.
    pub result: PathBuf,
    /// What is handed in.
    pub candidate: CandidateSource,
    /// What to check.
    pub plan: PathBuf,
    /// Who answers, where an imported plan is run without a key; with one it is the key's entry.
    pub verifier: Option<String>,
    /// The verifier's key; without it the statement is written unsigned.
    pub key: Option<PathBuf>,
    /// The trust root; needed with a key.
    pub trust: Option<PathBuf>,
    /// The oldest version of the trust root that is good enough.
    pub trust_min_version: Option<u64>,
    /// The digest of version 1 of the trust root, from which every version beside it is followed.
    pub trust_pin: Option<Digest>,
    /// `FILE=sha256:...`.
    pub pins: Vec<String>,
    /// The weakest class of commands and engines.
    pub isolation: String,
    /// Where evidence, bundle and plan go.
    pub out: PathBuf,
    /// Our own program: it runs the checks as a child.
    pub program: PathBuf,
}

/// What was written.
#[derive(Debug)]
pub struct VerifyOutcome {
    /// supports, rejects, abstains or absent.
    pub verdict: String,
    /// What each check found.
    pub checks: Vec<CheckLine>,
    /// File name of the evidence.
    pub evidence: String,
    /// File name of the bundle.
    pub bundle: String,
}

/// Runs the plan and writes what it shows.
///
/// # Errors
/// [`GateError`] with its exit code; nothing is written then.
pub fn verify(request: &VerifyRequest) -> Result<VerifyOutcome, GateError> {
    let isolation: Isolation = request
        .isolation
        .parse()
        .map_err(|error: quorum_sandbox::SandboxError| GateError::control(GateCode::IsolationUnknown, error))?;
    let out = OutDir::reserve(&request.out)?;
    let (candidate, mut control) = Candidate::open(&request.candidate)?;
    for pin in &request.pins {
        control.pin(pin)?;
    }
    control.output("--out", &request.out)?;
    let opened = clock::now()?;
    let trust: Option<TrustRoot> = match &request.trust {
        Some(path) => Some(inputs::trust(&mut control, path, (request.trust_min_version, request.trust_pin), opened)?),
        None => None,
    };
    let key = match (&trust, &request.key) {
        (Some(trust), Some(_)) => {
            inputs::key(&mut control, "--key", request.key.as_ref(), Role::Verifier, trust, opened)?
        }
        (None, Some(_)) => {
            return Err(GateError::control(GateCode::KeyNeedsTrust, "--key without --trust: whose key is it?"));
        }
        (_, None) => None,
    };
    let named = key.as_ref().map(|(_, entry)| entry.id.as_str()).or(request.verifier.as_deref());
    let plan = Plan::read(&mut control, &request.plan)?.run_by(named);
    if let Some((_, entry)) = &key {
        plan.check_verifier(entry)?;
        plan.check_key_is_out_of_reach(isolation)?;
    }
    let documents = inputs::documents(&mut control, &request.work_unit, &request.result, trust.as_ref(), opened)?;
    control.finish()?;
    manifest::started_from(&documents.intake, &candidate)?;
    let setting = Setting {
        candidate: &candidate,
        documents: &documents,
        isolation,
        hidden: request.key.iter().filter_map(|path| path.canonicalize().ok()).collect(),
        program: &request.program,
    };
    let checked = checks::run(&plan, &setting)?;
    let answer = answer::assemble(&checked, &documents, trust.as_ref())?;
    let evidence = if key.is_some() { "evidence.dsse.json" } else { "evidence.statement.json" }.to_owned();
    let bundle = format!("bundle-{}.zip", answer.bundle.digest.hex());
    let verdict = answer.verdict().to_owned();
    let bytes = match &key {
        Some((key, _)) => sign(PAYLOAD_TYPE, &answer.statement, key),
        None => answer.statement.clone(),
    };
    let mut files = BTreeMap::from([(evidence.clone(), bytes), (bundle.clone(), answer.bundle.bytes)]);
    if let Some(sealed) = answer.sealed {
        // For coordinator and auditor only: another name, so that nobody publishes it by a pattern.
        files.insert(format!("sealed-{}.zip", sealed.digest.hex()), sealed.bytes);
    }
    if !checked.plan.hidden() {
        files.insert(record::PLAN.to_owned(), answer.plan);
    }
    out.write(&files)?;
    let checks = shown_checks(&checked.report.checks, checked.plan.hidden());
    Ok(VerifyOutcome { verdict, checks, evidence, bundle })
}
