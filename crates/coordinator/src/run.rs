//! The daemon: connect, rebuild, work, stop.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use quorum_gate::TrustStore;
use quorum_mesh::consume::DeadLetters;
use quorum_mesh::{Delivery, LeaseCalls, Mesh, StreamName};
use quorum_schemas::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::actor::Actor;
use crate::config::Config;
use crate::context::Context;
use crate::{CoordinatorError, clock, limits};

/// Runs a coordinator until `shutdown` is ready, and finishes what it is just doing. Whatever the broker does meanwhile
/// is waited for: the state is built again from the streams.
///
/// # Errors
/// Everything that [`Config::check`] finds, a broker that is not there at the start or denies what a coordinator needs,
/// and faults that no retry can cure.
pub async fn run(config: &Config, shutdown: impl Future<Output = ()>) -> Result<(), CoordinatorError> {
    let now = clock::now();
    let mut trust = config.trust_store(now)?;
    let loaded = config.files(trust.root(), now)?;
    trust.keep(now)?;
    tracing::info!(coordinator = loaded.id, policy = loaded.policy.id, trust = loaded.trust.version(), "starting");
    let mut shutdown = pin!(shutdown);
    let mesh = tokio::select! {
        () = &mut shutdown => return Ok(()),
        mesh = Mesh::open(&config.nats, limits::PATIENCE) => mesh?,
    };
    let outer = tokio::select! {
        () = &mut shutdown => return Ok(()),
        outer = Mesh::open(&config.nats, limits::PATIENCE) => outer?,
    };
    let mut context = Context::new(mesh.clone(), loaded, config.timing);
    let mut pause = limits::RETRY.0;
    loop {
        let mut actor = Actor::new(context);
        let mut inputs = Inputs::default();
        let end = tokio::select! {
            () = &mut shutdown => break,
            ready = start(&mut actor, &mut inputs, &outer) => ready,
        };
        let end = match end {
            Ok(calls) => {
                pause = limits::RETRY.0;
                tracing::info!(trust = actor.context().loaded.trust.version(), "ready");
                work(config, &mut trust, &mut actor, &mut inputs, calls, shutdown.as_mut()).await
            }
            Err(error) => Err(error),
        };
        context = actor.into_context();
        let mut error = match end {
            Ok(()) => break,
            Err(error) => error,
        };
        // Not ready, until broker, clock, trust root and key are what they have to be.
        loop {
            if !error.is_passing() {
                return Err(error);
            }
            tracing::warn!(%error, code = error.code(), "not ready, trying again");
            tokio::select! {
                () = &mut shutdown => return stop(mesh, outer).await,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(limits::RETRY.1);
            match renew(config, &mut trust, &mut context) {
                Ok(()) => break,
                Err(unusable) => error = unusable,
            }
        }
    }
    stop(mesh, outer).await
}

async fn stop(mesh: Mesh, outer: Mesh) -> Result<(), CoordinatorError> {
    tracing::info!("stopped");
    outer.close().await.ok();
    mesh.close().await.or(Ok(()))
}

/// Reads trust root, key and policy again. A file that cannot be used leaves the old one in its place; but what is in
/// use must hold under the trust root that is in force.
fn renew(config: &Config, trust: &mut TrustStore, context: &mut Context) -> Result<(), CoordinatorError> {
    let now = clock::now();
    refresh(trust, now);
    match config.files(trust.root(), now) {
        Ok(loaded) => {
            context.reload(loaded);
            Ok(())
        }
        Err(error) => {
            tracing::error!(%error, code = error.code(), "the files of the configuration are unusable, the old ones stay");
            context.loaded.put_under(trust.root(), now).map_err(|error| match error {
                // Whoever brings another file makes this coordinator ready again.
                CoordinatorError::KeyNotCoordinator { .. } | CoordinatorError::PolicyNotAdmitted { .. } => {
                    CoordinatorError::NotUsable(Box::new(error))
                }
                other => other,
            })
        }
    }
}

/// Takes up the newest version of the trust root, or says why the one in use stays.
fn refresh(trust: &mut TrustStore, now: Timestamp) {
    let before = trust.root().version();
    match trust.refresh(now) {
        Ok(true) => tracing::info!(before, now = trust.root().version(), "a new version of the trust root is in force"),
        Ok(false) => {}
        Err(error) => {
            let code = error.code();
            tracing::error!(%error, code, in_use = before, "the trust root is unusable, the one in use stays");
        }
    }
}

/// Whether somebody replaced trust root, policy or key by ones that can be used, or the key in use is no longer in force.
fn control_files(config: &Config, trust: &mut TrustStore, context: &Context) -> Result<(), CoordinatorError> {
    let now = clock::now();
    refresh(trust, now);
    let loaded = &context.loaded;
    if loaded.trust.digest() != trust.root().digest() {
        return Err(CoordinatorError::ControlFilesChanged);
    }
    match config.files(trust.root(), now) {
        Ok(new) if loaded.differs(&new) => Err(CoordinatorError::ControlFilesChanged),
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::error!(%error, code = error.code(), "the files of the configuration are unusable, the old ones stay");
            loaded.own_entry(now).map(|_| ())
        }
    }
}

/// What wakes the actor.
#[derive(Default)]
struct Inputs {
    deliveries: Option<mpsc::Receiver<(StreamName, Delivery)>>,
    pumps: JoinSet<()>,
    dead: Option<DeadLetters>,
}

/// Rebuilds the state and opens the inputs. What others publish comes over `outer` as they wrote it, and a header block
/// that the client library cannot parse costs a connection: that must not be the one that the actor works with.
async fn start(actor: &mut Actor, inputs: &mut Inputs, outer: &Mesh) -> Result<LeaseCalls, CoordinatorError> {
    actor.context().readiness().await?;
    actor.rebuild().await?;
    let mesh = actor.context().mesh.clone();
    let calls = outer.lease_calls().await?;
    let (sender, receiver) = mpsc::channel(limits::QUEUE);
    for stream in [StreamName::Work, StreamName::Results, StreamName::Evidence] {
        inputs.pumps.spawn(pump(outer.clone(), stream, sender.clone()));
    }
    inputs.deliveries = Some(receiver);
    inputs.dead = Some(mesh.dead_letters().await?);
    Ok(calls)
}

/// Brings the deliveries of one consumer to the actor.
async fn pump(mesh: Mesh, stream: StreamName, sender: mpsc::Sender<(StreamName, Delivery)>) {
    let mut deliveries = mesh.intake(stream);
    loop {
        match deliveries.next().await {
            Ok(delivery) => {
                if sender.send((stream, delivery)).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                // The actor still sees everything: it looks through the streams by itself.
                tracing::warn!(%error, stream = stream.as_str(), "no deliveries");
                tokio::time::sleep(limits::RETRY.1).await;
            }
        }
    }
}

async fn work(
    config: &Config,
    trust: &mut TrustStore,
    actor: &mut Actor,
    inputs: &mut Inputs,
    mut calls: LeaseCalls,
    mut shutdown: std::pin::Pin<&mut impl Future<Output = ()>>,
) -> Result<(), CoordinatorError> {
    let (Some(deliveries), Some(dead)) = (inputs.deliveries.as_mut(), inputs.dead.as_mut()) else { return Ok(()) };
    let mut tick = every(limits::TICK);
    let mut resync = every(limits::RESYNC);
    let mut readiness = every(limits::READINESS);
    // One select linearises everything. A branch that was taken runs to its end, so that a stop never cuts it.
    loop {
        tokio::select! {
            () = &mut shutdown => return Ok(()),
            call = calls.next() => match call {
                Some(call) => actor.on_lease(call).await?,
                None => return Err(quorum_mesh::MeshError::Closed.into()),
            },
            Some((stream, delivery)) = deliveries.recv() => actor.on_delivery(stream, delivery).await?,
            _ = tick.tick() => actor.on_tick().await?,
            _ = resync.tick() => actor.on_resync().await?,
            Some(letter) = dead.next() => actor.on_dead_letter(&letter).await?,
            _ = readiness.tick() => {
                control_files(config, trust, actor.context())?;
                actor.context().readiness().await?;
            }
        }
    }
}

fn every(period: Duration) -> Interval {
    let mut interval = interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
