//! The loop: one offer at a time is worked on, the others wait for their seat or stay at the broker.

use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use quorum_attest::{AttestError, Role, sign_statement};
use quorum_mesh::{Deliveries, Delivery, LeaseOp, LeaseReply, Mesh, MeshError, fault};
use quorum_schemas::Timestamp;
use quorum_verifier::{Assembly, SeatTry, VerifierIdentity, assemble};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::answers::{Answers, Question, Signed};
use crate::config::{Config, Loaded};
use crate::job::{Bench, Checked};
use crate::offer::{self, Task};
use crate::trust::now;
use crate::{VerifierdError, limits};

/// Runs the daemon until SIGTERM or SIGINT. `program` is the `quorum` binary, which runs the checks as its child.
///
/// # Errors
/// Those of [`run`]; `runtime` if there are no threads or signals.
pub fn serve(config: &Config, program: &Path) -> Result<(), VerifierdError> {
    let unusable = |error: std::io::Error| VerifierdError::Runtime(error.to_string());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(unusable)?;
    let outcome = runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).map_err(unusable)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(unusable)?;
        let shutdown = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        run(config, program, shutdown).await
    });
    // A check child that still runs dies with this process.
    runtime.shutdown_background();
    outcome
}

/// Runs the daemon until `shutdown`; then takes no more offers and gives its lease back.
///
/// # Errors
/// Those of [`Config::check`]; `state_locked`, `state_unwritable`; `connect_failed`, `server_too_old`,
/// `permission_denied`, `not_found` (no consumer: run `quorum mesh apply`). Failures in between are bridged.
pub async fn run(config: &Config, program: &Path, shutdown: impl Future<Output = ()>) -> Result<(), VerifierdError> {
    let mut loaded = config.check()?;
    let answers = Answers::open(&config.state_dir, &config.verifier)?;
    loaded.trust.keep(now())?;
    let scratch = config.state_dir.join("scratch");
    // Rooms of jobs that a crash interrupted.
    let fresh = std::fs::remove_dir_all(&scratch).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    fresh
        .and_then(|()| std::fs::create_dir_all(&scratch))
        .map_err(|error| VerifierdError::StateUnwritable { path: scratch.clone(), reason: error.to_string() })?;
    tracing::info!(verifier = config.verifier, trust = loaded.trust.root().version(), "starting");
    let mut shutdown = pin!(shutdown);
    let mesh = tokio::select! {
        () = &mut shutdown => return Ok(()),
        mesh = Mesh::open(&config.nats, limits::PATIENCE) => mesh?,
    };
    let offers = mesh.offers(&config.verifier)?;
    let bench = Bench {
        mesh: mesh.clone(),
        verifier: config.verifier.clone(),
        program: program.to_owned(),
        scratch,
        hidden: vec![config.key.clone(), config.nats.credentials.clone(), config.state_dir.join("answers")],
        isolation: loaded.isolation,
    };
    let mut daemon = Daemon { bench: Arc::new(bench), loaded, answers, parked: Vec::new() };
    let outcome = tokio::select! {
        () = &mut shutdown => Ok(None),
        outcome = daemon.serve(offers) => outcome.map(Some),
    };
    daemon.goodbye().await;
    tracing::info!("stopped");
    outcome.map(drop)
}

/// Refusals of a claim after which this offer can never lead to a seat. `stale_try` is none of them: a coordinator that
/// has just started again may be the one that is behind.
const FINAL: [&str; 5] = ["seat_closed", "deadline_passed", "handoff_decided", "unknown_seat", "not_eligible"];

/// An offer that is being worked on or waits.
struct Open {
    task: Arc<Task>,
    delivery: Arc<Delivery>,
    /// The lease, once there is one.
    epoch: Option<u64>,
}

struct Daemon {
    bench: Arc<Bench>,
    loaded: Loaded,
    answers: Answers,
    /// The offers that wait for their seat, and at its head the one in work.
    parked: Vec<Open>,
}

type Job = Pin<Box<dyn Future<Output = Result<Checked, VerifierdError>> + Send>>;

/// What becomes of an offer after a claim.
enum Claim {
    /// The seat is ours under this epoch, until then.
    Granted { epoch: u64, until: Timestamp },
    /// Somebody holds the seat, or the outcome is unknown: ask again.
    Wait,
    /// There is nothing to be had any more.
    Over(String),
}

impl Daemon {
    async fn serve(&mut self, mut offers: Deliveries) -> Result<std::convert::Infallible, VerifierdError> {
        self.publish_leftovers().await?;
        let mut tick = interval(limits::RETRY_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut job: Option<(Question, Job)> = None;
        loop {
            let busy = job.is_some();
            tokio::select! {
                done = async {
                    match &mut job {
                        Some((question, work)) => (*question, work.await),
                        None => std::future::pending().await,
                    }
                } => {
                    job = None;
                    self.finish(done.0, done.1).await;
                }
                delivery = offers.next(), if !busy && self.parked.len() < limits::PARKED => {
                    if let Some(question) = self.take(delivery?).await {
                        job = self.claim(question).await;
                    }
                }
                _ = tick.tick() => {
                    for open in self.parked.iter().filter(|open| open.epoch.is_none()) {
                        open.delivery.progress().await?;
                    }
                    let waiting: Vec<Question> = self.parked.iter().map(|open| open.task.question).collect();
                    for question in waiting.into_iter().take_while(|_| !busy) {
                        job = self.claim(question).await;
                        if job.is_some() {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// What was signed and not published in full before: the same bytes, before anything new. An offer that comes again
    /// tries again what fails here.
    async fn publish_leftovers(&self) -> Result<(), VerifierdError> {
        for question in self.answers.unpublished()? {
            if let Err(error) = self.answers.publish(&self.bench.mesh, &question).await {
                tracing::error!(handoff = %question.handoff, %error, "the answer is stored and not published");
            }
        }
        Ok(())
    }

    /// Opens a delivery; returns the question if it is to be claimed.
    async fn take(&mut self, delivery: Delivery) -> Option<Question> {
        if let Err(error) = self.loaded.renew() {
            tracing::error!(%error, code = error.code(), "not ready");
            rest(&delivery, limits::REST).await;
            return None;
        }
        let task = match offer::open(&delivery.stored, &self.bench.verifier, self.loaded.trust.root()) {
            Ok(task) => task,
            Err(error @ VerifierdError::Attest(AttestError::UnknownSigner { .. })) => {
                // The key may be of a newer trust root than the one that has come here.
                tracing::warn!(%error, subject = delivery.stored.subject, "an offer by an unknown key; it waits");
                rest(&delivery, limits::REST).await;
                return None;
            }
            Err(error) => {
                tracing::warn!(%error, subject = delivery.stored.subject, "offer refused");
                end(&delivery).await;
                return None;
            }
        };
        let question = task.question;
        if self.answers.holds(&question) {
            self.publish_and_acknowledge(&question, &delivery).await;
            return None;
        }
        if now() >= task.deadline {
            tracing::info!(handoff = %question.handoff, "the deadline has passed");
            end(&delivery).await;
            return None;
        }
        if let Err(reason) = self.answerable(&task) {
            tracing::warn!(handoff = %question.handoff, reason, "no answer from here");
            end(&delivery).await;
            return None;
        }
        if self.parked.iter().any(|open| open.task.question == question) {
            // The broker took our silence for a crash; the delivery that is at work answers.
            return None;
        }
        self.give_up_earlier_tries(&question).await;
        self.parked.push(Open { task: Arc::new(task), delivery: Arc::new(delivery), epoch: None });
        Some(question)
    }

    /// A later try of a seat was offered, so its earlier ones are over.
    async fn give_up_earlier_tries(&mut self, newest: &Question) {
        let earlier = |open: &mut Open| {
            let Question { handoff, seat, try_no } = open.task.question;
            open.epoch.is_none() && (handoff, seat) == (newest.handoff, newest.seat) && try_no < newest.try_no
        };
        let over: Vec<Open> = self.parked.extract_if(.., earlier).collect();
        for open in over {
            end(&open.delivery).await;
        }
    }

    fn answerable(&self, task: &Task) -> Result<(), String> {
        let id = task.work_unit.id();
        let plan = self.loaded.plan(id).ok_or_else(|| format!("no [[plan]] for the work unit `{id}`"))?;
        let bound = plan.file.for_handoff(&task.handoff, &task.work_unit, crate::job::ADAPTER_VERSION);
        bound.map(drop).map_err(|error| error.to_string())
    }

    /// Asks for the seat of a parked offer and starts the work on it.
    async fn claim(&mut self, question: Question) -> Option<(Question, Job)> {
        let index = self.parked.iter().position(|open| open.task.question == question)?;
        let open = self.parked.get(index)?;
        let (task, delivery) = (open.task.clone(), open.delivery.clone());
        let claim = if now() >= task.deadline { Claim::Over("deadline_passed".into()) } else { self.ask(&task).await };
        match claim {
            Claim::Wait => None,
            Claim::Over(code) => {
                tracing::info!(handoff = %question.handoff, seat = question.seat, code, "no seat");
                self.parked.remove(index);
                end(&delivery).await;
                None
            }
            Claim::Granted { epoch, until } => {
                tracing::info!(handoff = %question.handoff, seat = question.seat, try_no = question.try_no, epoch, "leased");
                fault::point("after_lease");
                self.parked.get_mut(index)?.epoch = Some(epoch);
                let plan = self.loaded.plan(task.work_unit.id())?.clone();
                let bench = self.bench.clone();
                let work = async move { bench.check(&task, &plan, (epoch, until), &delivery).await };
                Some((question, Box::pin(work)))
            }
        }
    }

    async fn ask(&self, task: &Task) -> Claim {
        match self.bench.lease(task, LeaseOp::Claim, None).await {
            Ok(LeaseReply::Granted { epoch, until }) => Claim::Granted { epoch, until },
            Ok(LeaseReply::Refused { code }) if FINAL.contains(&code.as_str()) => Claim::Over(code),
            // Free again when a holder falls silent, or once the coordinator has caught up. An offer that was given up
            // would never come again, since its subject is written once.
            Ok(LeaseReply::Refused { .. }) => Claim::Wait,
            Err(MeshError::TimedOut { .. }) => Claim::Wait,
            Err(error) => {
                tracing::warn!(%error, "a claim without an answer");
                Claim::Wait
            }
        }
    }

    /// Signs, stores and publishes what a job found, or lets the seat go.
    async fn finish(&mut self, question: Question, checked: Result<Checked, VerifierdError>) {
        let Some(index) = self.parked.iter().position(|open| open.task.question == question) else { return };
        let open = self.parked.remove(index);
        let epoch = open.epoch.unwrap_or_default();
        let stored = checked.and_then(|checked| self.sign_and_store(&open.task, &checked, epoch));
        match stored {
            Ok(()) => self.publish_and_acknowledge(&question, &open.delivery).await,
            Err(VerifierdError::LeaseLost(code)) => {
                tracing::warn!(handoff = %question.handoff, seat = question.seat, code, "the lease is lost, nothing is signed");
                end(&open.delivery).await;
            }
            Err(error) => {
                tracing::error!(handoff = %question.handoff, seat = question.seat, %error, "the checks could not run");
                self.release(&open.task, epoch).await;
                rest(&open.delivery, limits::REST).await;
            }
        }
    }

    fn sign_and_store(&mut self, task: &Task, checked: &Checked, epoch: u64) -> Result<(), VerifierdError> {
        let root = self.loaded.trust.root();
        let worker = root.by_id(Role::Worker, task.binding.worker_id());
        let identity = VerifierIdentity::of(&self.bench.verifier, Some(&self.loaded.entry), worker);
        let Question { seat, try_no, .. } = task.question;
        let answer = assemble(&Assembly {
            report: &checked.report,
            handoff: &task.handoff,
            binding: &task.binding,
            work_unit: &task.work_unit,
            plan: &checked.plan,
            identity: &identity,
            place: SeatTry { seat, try_no, epoch },
            started_at: checked.started_at,
            finished_at: checked.finished_at,
        })?;
        let evidence = sign_statement(&answer.statement, &self.loaded.key, root, now())?;
        tracing::info!(handoff = %task.question.handoff, seat, try_no, verdict = answer.verdict(), "answered");
        let sealed = answer.sealed.as_ref().map(|bundle| bundle.bytes.as_slice());
        self.answers.store(&task.question, &Signed { evidence: &evidence, bundle: &answer.bundle.bytes, sealed })
    }

    async fn publish_and_acknowledge(&self, question: &Question, delivery: &Delivery) {
        match self.answers.publish(&self.bench.mesh, question).await {
            Ok(()) => {
                fault::point("after_evidence_before_offer_ack");
                end(delivery).await;
            }
            Err(error) => {
                tracing::error!(handoff = %question.handoff, %error, "the answer is stored and not published");
                rest(delivery, limits::REST).await;
            }
        }
    }

    async fn release(&self, task: &Task, epoch: u64) {
        if let Err(error) = self.bench.lease(task, LeaseOp::Release, Some(epoch)).await {
            tracing::warn!(%error, "the lease could not be given back; it will run out");
        }
    }

    /// Gives back what is held, within a short time.
    async fn goodbye(&mut self) {
        let back = async {
            for open in &self.parked {
                if let Some(epoch) = open.epoch {
                    self.release(&open.task, epoch).await;
                }
                rest(&open.delivery, Duration::ZERO).await;
            }
            self.bench.mesh.round_trip().await.ok();
        };
        if timeout(limits::GOODBYE, back).await.is_err() {
            tracing::warn!("the broker did not answer; leases will run out");
        }
    }
}

/// The offer is over for us.
async fn end(delivery: &Delivery) {
    if let Err(error) = delivery.ack().await {
        tracing::warn!(%error, "an acknowledgement without an answer; the offer may come again");
    }
}

/// The offer comes again later.
async fn rest(delivery: &Delivery, pause: Duration) {
    let pause = pause.saturating_mul(u32::try_from(delivery.delivered).unwrap_or(u32::MAX));
    if let Err(error) = delivery.nak(pause).await {
        tracing::warn!(%error, "the offer comes again by itself");
    }
}
