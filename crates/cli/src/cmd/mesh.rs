//! `quorum mesh`: the configuration of a server and the streams on it.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use quorum_gate::{ExitCode, write_atomically};
use quorum_mesh::{MeshUser, ProvisionPlan, ServerSettings, UserRole, apply, server_config};
use quorum_schemas::Value;
use serde_json::json;

use super::submit::{BrokerOptions, block_on, broken};
use crate::error::CliError;
use crate::keyfile;
use crate::ui::Ui;

/// Arguments of `quorum mesh`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write a server configuration and one credentials file for each user into a new directory.
    Config(ConfigArgs),
    /// Make streams, the lease bucket and consumers, and read every configuration back.
    Apply(ApplyArgs),
}

#[derive(clap::Args)]
struct ConfigArgs {
    /// The new directory.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Port on 127.0.0.1.
    #[arg(long, value_name = "PORT", default_value_t = 4222)]
    port: u16,
    /// Monitoring port on 127.0.0.1.
    #[arg(long, value_name = "PORT")]
    http_port: Option<u16>,
    /// A coordinator's id in the trust root.
    #[arg(long, value_name = "ID")]
    coordinator: Vec<String>,
    /// An author's id.
    #[arg(long, value_name = "ID")]
    author: Vec<String>,
    /// A worker's id.
    #[arg(long, value_name = "ID")]
    worker: Vec<String>,
    /// A verifier's id.
    #[arg(long, value_name = "ID")]
    verifier: Vec<String>,
}

#[derive(clap::Args)]
struct ApplyArgs {
    #[command(flatten)]
    broker: BrokerOptions,
    /// A verifier that takes offers.
    #[arg(long, value_name = "ID")]
    verifier: Vec<String>,
    /// Copies of every stream: 1, or 3 in a cluster.
    #[arg(long, value_name = "N", default_value_t = 1)]
    replicas: usize,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    match args.command {
        Command::Config(args) => config(&args, ui),
        Command::Apply(args) => apply_plan(args, ui),
    }
}

fn config(args: &ConfigArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let named = [
        (UserRole::Coordinator, &args.coordinator),
        (UserRole::Author, &args.author),
        (UserRole::Worker, &args.worker),
        (UserRole::Verifier, &args.verifier),
    ];
    // Whoever runs a mesh provisions and audits it: these two are always there.
    let own = [(UserRole::Provisioner, "mesh"), (UserRole::Auditor, "mesh")];
    let ids = named.iter().flat_map(|(role, ids)| ids.iter().map(|id| (*role, id.as_str())));
    let users: Vec<MeshUser> = ids
        .chain(own)
        .map(|(role, id)| MeshUser::generate(role, id).map_err(|error| CliError::control(error.code(), error)))
        .collect::<Result<_, _>>()?;
    let wrong = |source| CliError::Write { path: args.out.clone(), source };
    let directory = std::path::absolute(&args.out).map_err(wrong)?;
    // The directory becomes the one that is asked for when all of it is written.
    let parent = directory.parent().unwrap_or(Path::new("/"));
    let scratch = tempfile::Builder::new().prefix(".quorum-out-").tempdir_in(parent).map_err(wrong)?;
    let made = scratch.path().join("mesh");
    std::fs::DirBuilder::new().mode(0o700).create(&made).map_err(wrong)?;
    let settings = ServerSettings::local(args.port, args.http_port, directory.join("store"));
    let text = server_config(&settings, &users).map_err(|error| CliError::control(error.code(), error))?;
    keyfile::create(&made.join("nats-server.conf"), text.as_bytes()).map_err(|error| match error {
        CliError::Write { source, .. } => wrong(source),
        other => other,
    })?;
    for user in &users {
        let path = made.join(format!("{}.toml", user.credentials.user()));
        user.credentials.save(&path).map_err(broken)?;
    }
    write_atomically(&made.join("README"), README.as_bytes())?;
    if directory.symlink_metadata().is_ok() {
        return Err(wrong(io::ErrorKind::AlreadyExists.into()));
    }
    std::fs::rename(&made, &directory).map_err(wrong)?;
    let files = users.iter().map(|user| format!("{}.toml", user.credentials.user()));
    report(ui, files.chain(["nats-server.conf".to_owned()]).map(|file| show(&args.out.join(file))).collect())
}

const README: &str = "\
nats-server.conf holds every password: only the server's user may read it. Give each *.toml to the process that it names
and to nobody else. Start the server with `nats-server -c nats-server.conf`, then run `quorum mesh apply`.
";

fn apply_plan(args: ApplyArgs, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let plan = ProvisionPlan { verifiers: args.verifier, replicas: args.replicas };
    let made = block_on(async {
        let mesh = args.broker.connect().await?;
        apply(&mesh, &plan).await.map_err(broken)
    })?;
    report(ui, made)
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

/// What was made, a line each.
fn report(ui: &mut Ui, made: Vec<String>) -> Result<ExitCode, CliError> {
    if ui.json() {
        ui.document(&Value::from_serde(json!({"made": made})))?;
    } else {
        made.into_iter().try_for_each(|name| ui.line(name))?;
    }
    Ok(ExitCode::Accept)
}
