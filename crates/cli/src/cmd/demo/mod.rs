//! `quorum demo`: the whole mesh on this machine, with real processes, keys and NATS, and six stories told on it.

mod examples;
mod stories;
mod table;

use std::path::{Path, PathBuf};
use std::pin::pin;

use quorum_gate::ExitCode;
use quorum_mesh::UserRole;
use quorum_testkit::{AUDITOR, Party, TestkitError, VerifierSpec, World, WorldPlan};
use tokio::sync::mpsc;

use super::options::program;
use super::submit::{self, block_on};
use crate::codes::CliCode;
use crate::error::CliError;
use crate::ui::Ui;
use crate::{daemon, narrate, nats_server};

/// Lines that may wait to be printed.
const LINES: usize = 64;

/// Arguments of `quorum demo`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The nats-server to start [default: $QUORUM_NATS_SERVER, else the PATH].
    #[arg(long, value_name = "PATH")]
    nats_server: Option<PathBuf>,
    /// Work in this new directory and keep it, with every log, key and record.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Other examples than the shipped ones: a directory like examples/json-answer.
    #[arg(long, value_name = "DIR")]
    examples: Option<PathBuf>,
}

/// The verifiers, each with its plan: two compare the answer themselves, the third asks an engine.
pub(super) const VERIFIERS: [(&str, &str); 3] =
    [("verifier-a", "plan.toml"), ("verifier-b", "plan-b.toml"), ("verifier-c", "plan-c.toml")];

/// A worker for each story, since an attempt belongs to one worker.
pub(super) const WORKERS: [&str; 5] =
    ["worker-good", "worker-wrong", "worker-forbidden", "worker-self", "worker-again"];

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let server = nats_server::find(args.nats_server.as_deref())?;
    let unwritable = |source| CliError::Write { path: std::env::temp_dir(), source };
    let scratch = tempfile::Builder::new().prefix("quorum-demo-").tempdir().map_err(unwritable)?;
    let dir = match &args.dir {
        Some(dir) => {
            std::fs::create_dir(dir).map_err(|source| CliError::Write { path: dir.clone(), source })?;
            std::fs::canonicalize(dir).map_err(|source| CliError::Write { path: dir.clone(), source })?
        }
        None => scratch.path().to_owned(),
    };
    let examples = match args.examples {
        Some(examples) => examples,
        None => examples::write(&dir.join("examples"))?,
    };
    let plan = plan(program()?, server, &dir, &examples)?;
    let rows = block_on(async {
        let interrupted = daemon::shutdown()?;
        tokio::select! {
            rows = tell(plan, &examples, ui) => rows.map(Some),
            () = interrupted => Ok(None),
        }
    })?;
    let Some(rows) = rows else { return Ok(ExitCode::Interrupted) };
    table::print(&rows, ui)?;
    if args.dir.is_some() {
        ui.say(format!("everything is in {}", dir.display()));
    }
    Ok(if rows.iter().all(table::Row::holds) { ExitCode::Accept } else { ExitCode::Reject })
}

fn plan(quorum: PathBuf, nats_server: PathBuf, dir: &Path, examples: &Path) -> Result<WorldPlan, CliError> {
    let policy_file = examples.join("mesh-policy.toml");
    let policy =
        std::fs::read_to_string(&policy_file).map_err(|source| CliError::Read { path: policy_file, source })?;
    let verifiers = VERIFIERS.map(|(id, plan)| VerifierSpec { party: Party::alone(id), plan: examples.join(plan) });
    Ok(WorldPlan {
        quorum,
        nats_server,
        dir: dir.to_owned(),
        policy,
        verifiers: verifiers.into(),
        workers: WORKERS.map(Party::alone).into(),
        isolation: "process-sandbox".to_owned(),
        // Short, so that the seat of the killed verifier is soon offered again.
        timing: ("3s".to_owned(), "1s".to_owned()),
        env: Vec::new(),
    })
}

/// Starts the mesh, tells the stories, stops the mesh, and makes sure that no process is left.
async fn tell(plan: WorldPlan, examples: &Path, ui: &mut Ui) -> Result<Vec<table::Row>, CliError> {
    ui.say(format!("the mesh is in {}", plan.dir.display()));
    let mut world = World::start(plan).await.map_err(broken)?;
    world.start_daemons().map_err(broken)?;
    for (name, pid) in world.pids() {
        ui.say(format!("started    {name} as process {pid}"));
    }
    let rows = listen(&mut world, examples, ui).await;
    let pids = world.pids();
    world.stop().map_err(broken)?;
    let rows = rows?;
    match pids.iter().find(|(_, pid)| Path::new("/proc").join(pid.to_string()).exists()) {
        None => Ok(rows),
        Some((name, pid)) => {
            Err(CliError::infrastructure(CliCode::ProcessLeft, format!("{name}, process {pid}, still runs")))
        }
    }
}

/// Prints what the auditor sees on the mesh while the stories run.
async fn listen(world: &mut World, examples: &Path, ui: &mut Ui) -> Result<Vec<table::Row>, CliError> {
    let auditor = world.connect(UserRole::Auditor, AUDITOR).await.map_err(broken)?;
    let mut watch = auditor.watch("idkmesh.v1.>").await.map_err(submit::broken)?;
    let (say, mut said) = mpsc::channel(LINES);
    let mut stories = pin!(stories::tell(world, examples, &say));
    let rows = loop {
        tokio::select! {
            biased;
            Some((subject, body)) = watch.next() => {
                if let Some(line) = narrate::line(&subject, &body) {
                    ui.say(format!("  {line}"));
                }
            }
            Some(line) = said.recv() => ui.say(line),
            rows = &mut stories => break rows,
        }
    };
    auditor.close().await.map_err(submit::broken)?;
    rows
}

/// An error of the testkit as a command's.
fn broken(error: TestkitError) -> CliError {
    CliError::infrastructure(error.code(), error)
}
