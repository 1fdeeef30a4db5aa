//! One leased seat: fetch, check, sign, store.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quorum_handoff::CandidateReference;
use quorum_mesh::{Delivery, LeaseOp, LeaseReply, LeaseRequest, Mesh, MeshError};
use quorum_schemas::Timestamp;
use quorum_verifier::{BoundPlan, CheckReport, CheckRequest, CheckSpec, bundle, run_in_child, tree};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::config::Plan;
use crate::offer::Task;
use crate::trust::now;
use crate::{VerifierdError, limits};

/// Version of the adapter in every bound plan and every result.
pub(crate) const ADAPTER_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Answers of a coordinator that has just started or is in a race: they say nothing about the lease.
const NOT_YET: [&str; 3] = ["busy", "not_ready", "unknown_handoff"];

/// What a job works with.
pub(crate) struct Bench {
    pub(crate) mesh: Mesh,
    pub(crate) verifier: String,
    pub(crate) program: PathBuf,
    pub(crate) scratch: PathBuf,
    /// Paths that no command may see.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) isolation: quorum_sandbox::Isolation,
}

/// What the checks found, to be signed.
pub(crate) struct Checked {
    pub(crate) plan: BoundPlan,
    pub(crate) report: CheckReport,
    pub(crate) started_at: Timestamp,
    pub(crate) finished_at: Timestamp,
}

impl Bench {
    pub(crate) fn request(&self, task: &Task, op: LeaseOp, epoch: Option<u64>) -> LeaseRequest {
        let question = task.question;
        LeaseRequest { op, handoff: question.handoff, seat: question.seat, try_no: question.try_no, epoch }
    }

    pub(crate) async fn lease(&self, task: &Task, op: LeaseOp, epoch: Option<u64>) -> Result<LeaseReply, MeshError> {
        self.mesh.lease(&self.verifier, &self.request(task, op, epoch)).await
    }

    /// Runs the plan while the lease, which ends at `until`, is renewed and the delivery is kept alive.
    ///
    /// # Errors
    /// `lease_lost` as soon as a renewal is refused; whatever keeps the checks from running.
    pub(crate) async fn check(
        &self,
        task: &Task,
        plan: &Plan,
        (epoch, until): (u64, Timestamp),
        delivery: &Delivery,
    ) -> Result<Checked, VerifierdError> {
        let work = self.fetch_and_check(task, plan);
        let mut pause = pause_before_renewal(until, now());
        let renewal = sleep(pause);
        tokio::pin!(work, renewal);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = &mut renewal => {
                    delivery.progress().await?;
                    match self.lease(task, LeaseOp::Renew, Some(epoch)).await {
                        Ok(LeaseReply::Granted { until, .. }) => pause = pause_before_renewal(until, now()),
                        Ok(LeaseReply::Refused { code }) if NOT_YET.contains(&code.as_str()) => {
                            tracing::warn!(code, "the coordinator is not ready to renew");
                        }
                        Ok(LeaseReply::Refused { code }) => return Err(VerifierdError::LeaseLost(code)),
                        // Unknown: the lease may well stand; its end is for the coordinator to say.
                        Err(error) => tracing::warn!(%error, "a renewal without an answer"),
                    }
                    renewal.as_mut().reset(Instant::now() + pause);
                }
            }
        }
    }

    async fn fetch_and_check(&self, task: &Task, plan: &Plan) -> Result<Checked, VerifierdError> {
        let bound = plan.file.for_handoff(&task.handoff, &task.work_unit, ADAPTER_VERSION)?;
        let candidate = self.mesh.get_blob(&task.candidate).await?;
        let baseline = match &task.baseline {
            Some(blob) => Some(self.mesh.get_blob(blob).await?),
            None => None,
        };
        let room = Room::new(&self.scratch)?;
        let patience = patience(&bound);
        let request = CheckRequest {
            plan: bound,
            handoff: task.handoff.clone(),
            binding: task.binding.clone(),
            work_unit: task.work_unit.clone(),
            candidate_root: room.candidate.clone(),
            baseline_root: baseline.is_some().then(|| room.baseline.clone()),
            scratch: room.scratch.clone(),
            plan_dir: Some(plan.folder.clone()),
            isolation: self.isolation,
            hidden: self.hidden.clone(),
            exe: self.program.clone(),
            head_commit: None,
            candidate_submodules: Vec::new(),
            baseline_submodules: Vec::new(),
        };
        let program = self.program.clone();
        let started_at = now();
        let work = tokio::task::spawn_blocking(move || {
            unpack_candidate(&request, &candidate, &room.candidate)?;
            if let Some(bytes) = baseline {
                bundle::unzip_candidate(&bytes, &room.baseline)?;
            }
            let report = run_in_child(&program, &request, patience)?;
            Ok::<_, VerifierdError>((request.plan, report))
        });
        let (plan, report) = work.await.map_err(|error| VerifierdError::Runtime(error.to_string()))??;
        Ok(Checked { plan, report, started_at, finished_at: now() })
    }
}

/// A fresh directory of one job, gone when it ends.
struct Room {
    candidate: PathBuf,
    baseline: PathBuf,
    scratch: PathBuf,
    _dir: TempDir,
}

impl Room {
    fn new(parent: &Path) -> Result<Self, VerifierdError> {
        let failed = |error: std::io::Error| VerifierdError::StateUnwritable {
            path: parent.to_owned(),
            reason: error.to_string(),
        };
        let dir = tempfile::Builder::new().prefix("job-").tempdir_in(parent).map_err(failed)?;
        let room = Self {
            candidate: dir.path().join("candidate"),
            baseline: dir.path().join("baseline"),
            scratch: dir.path().join("scratch"),
            _dir: dir,
        };
        for path in [&room.candidate, &room.baseline, &room.scratch] {
            fs::create_dir(path).map_err(failed)?;
        }
        Ok(room)
    }
}

/// Puts the candidate where the checks look for it. What cannot be unpacked is left out: the integrity check then says
/// that the candidate is not what its digest names, which is a verdict and not our failure.
fn unpack_candidate(request: &CheckRequest, bytes: &[u8], root: &Path) -> Result<(), VerifierdError> {
    let (locator, zipped) = match request.binding.candidate_reference() {
        Some(CandidateReference::Bundle { locator, media_type, .. }) => {
            (locator.as_str(), media_type.as_deref() == Some("application/zip"))
        }
        Some(CandidateReference::PullRequest { .. }) => ("", true),
        None => (request.binding.candidate_locator(), false),
    };
    let failed = |path: &Path, error: std::io::Error| VerifierdError::StateUnwritable {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    if zipped {
        if let Err(error) = bundle::unzip_candidate(bytes, root) {
            tracing::warn!(%error, "the candidate cannot be unpacked");
            fs::remove_dir_all(root).and_then(|()| fs::create_dir(root)).map_err(|error| failed(root, error))?;
        }
        return Ok(());
    }
    if let Err(error) = tree::check_path(locator) {
        tracing::warn!(%error, "the candidate has no place in its root");
        return Ok(());
    }
    let target = root.join(locator);
    let folder = target.parent().unwrap_or(root);
    fs::create_dir_all(folder).and_then(|()| fs::write(&target, bytes)).map_err(|error| failed(&target, error))
}

/// How long to wait with the next renewal of a lease that ends at `until`. The end is on the coordinator's clock and read
/// on ours, so both bounds are needed.
fn pause_before_renewal(until: Timestamp, now: Timestamp) -> Duration {
    let left = u64::try_from(until.micros().saturating_sub(now.micros())).unwrap_or(0);
    let pause = Duration::from_micros(left) / limits::RENEWALS_PER_LEASE;
    pause.clamp(limits::RENEW_AT_LEAST, limits::RENEW_AT_MOST)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_6_a_lease_is_renewed_three_times_in_what_is_left_of_it() {
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        for (left_ms, pause_ms) in [
            (15_000, 5000),
            (6000, 2000),
            (900, 300),
            (300, 100),
            (90, 100),
            (0, 100),
            (-60_000, 100),
            (3_600_000, 5000),
        ] {
            let until = Timestamp::from_micros(now.micros() + left_ms * 1000);
            assert_eq!(pause_before_renewal(until, now), Duration::from_millis(pause_ms), "{left_ms} ms left");
        }
    }
}
