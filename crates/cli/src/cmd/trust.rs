//! `quorum trust`.

mod arguments;
mod edit;
mod show;

use std::path::PathBuf;

use quorum_attest::Role;
use quorum_gate::ExitCode;

use self::arguments::{Attribute, Point};
use crate::error::CliError;
use crate::ui::Ui;

/// Arguments of `quorum trust`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write version 1 of a trust root.
    Init(InitArgs),
    /// Add a key, or a policy: writes the next version.
    Add(AddArgs),
    /// Revoke a key: writes the next version.
    Revoke(RevokeArgs),
    /// Lay a key down in good order (what was received before stays): writes the next version.
    Retire(RetireArgs),
    /// Admit policies: writes the next version.
    AdmitPolicy(PolicyArgs),
    /// No longer admit policies: writes the next version.
    WithdrawPolicy(PolicyArgs),
    /// Hand over to other root keys: writes the next version, signed by old and new ones.
    Rotate(RotateArgs),
    /// Print a trust root.
    Show {
        /// The trust root.
        file: PathBuf,
    },
}

/// Arguments of `quorum trust init`.
#[derive(clap::Args)]
struct InitArgs {
    /// The trust root to write; it must not exist.
    file: PathBuf,
    /// A root key that signs (private PEM); repeatable.
    #[arg(long = "root-key", value_name = "FILE", required = true)]
    root_keys: Vec<PathBuf>,
    /// A root key whose holder signs later versions (public PEM or base64); repeatable.
    #[arg(long = "root-public", value_name = "KEY")]
    root_publics: Vec<String>,
    /// How many root keys must sign.
    #[arg(long, default_value_t = 1)]
    threshold: u64,
    /// When it expires: a time, or a span from now such as `365d`.
    #[arg(long, value_name = "TIME", default_value = "365d")]
    expires: Point,
    /// A policy to admit: a file, a shipped name or `sha256:...`; repeatable.
    #[arg(long = "policy", value_name = "POLICY")]
    policies: Vec<String>,
}

/// What every change takes.
#[derive(clap::Args)]
struct EditArgs {
    /// The trust root; its next version takes its place.
    file: PathBuf,
    /// A root key (private PEM); repeatable, up to the threshold.
    #[arg(long = "root-key", value_name = "FILE", required = true)]
    root_keys: Vec<PathBuf>,
    /// When the next version expires: a time, or a span from now such as `365d`; default: as before.
    #[arg(long, value_name = "TIME")]
    expires: Option<Point>,
    /// Write the next version here and leave the present one.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Arguments of `quorum trust add`.
#[derive(clap::Args)]
struct AddArgs {
    #[command(flatten)]
    edit: EditArgs,
    /// author, worker, coordinator, verifier or gate.
    #[arg(long, requires_all = ["id", "public_key"], required_unless_present = "policies")]
    role: Option<Role>,
    /// The name, unique in its role.
    #[arg(long, requires = "role")]
    id: Option<String>,
    /// The key: a PEM file (of the public or the private key) or its base64.
    #[arg(long, value_name = "KEY", requires = "role")]
    public_key: Option<String>,
    /// What independence is judged by, such as `operator=acme`; repeatable.
    #[arg(long = "attribute", value_name = "AXIS=VALUE", requires = "role")]
    attributes: Vec<Attribute>,
    /// From when on it is valid; default: now.
    #[arg(long, value_name = "TIME", requires = "role")]
    valid_from: Option<Point>,
    /// Until when; default: as long as the trust root.
    #[arg(long, value_name = "TIME", requires = "role")]
    valid_until: Option<Point>,
    /// A policy to admit: a file, a shipped name or `sha256:...`; repeatable.
    #[arg(long = "policy", value_name = "POLICY")]
    policies: Vec<String>,
}

/// Which entry.
#[derive(clap::Args)]
struct EntryArgs {
    /// Its role.
    #[arg(long)]
    role: Role,
    /// Its name.
    #[arg(long)]
    id: String,
    /// From when on; default: now.
    #[arg(long, value_name = "TIME")]
    at: Option<Point>,
}

/// Arguments of `quorum trust revoke`.
#[derive(clap::Args)]
struct RevokeArgs {
    #[command(flatten)]
    edit: EditArgs,
    #[command(flatten)]
    entry: EntryArgs,
    /// From when on somebody else may have had the key: what it supported since then drops.
    #[arg(long, value_name = "TIME")]
    compromised_since: Option<Point>,
}

/// Arguments of `quorum trust retire`.
#[derive(clap::Args)]
struct RetireArgs {
    #[command(flatten)]
    edit: EditArgs,
    #[command(flatten)]
    entry: EntryArgs,
}

/// Arguments of `quorum trust admit-policy` and `withdraw-policy`.
#[derive(clap::Args)]
struct PolicyArgs {
    #[command(flatten)]
    edit: EditArgs,
    /// A file, a shipped name or `sha256:...`.
    #[arg(required = true)]
    policies: Vec<String>,
}

/// Arguments of `quorum trust rotate`.
#[derive(clap::Args)]
struct RotateArgs {
    #[command(flatten)]
    edit: EditArgs,
    /// A root key of the next version (public or private PEM, or base64); repeatable: name all of them.
    #[arg(long = "new-root", value_name = "KEY", required = true)]
    new_roots: Vec<String>,
    /// How many of them must sign.
    #[arg(long)]
    threshold: u64,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    match args.command {
        Command::Init(args) => edit::init(&args, ui),
        Command::Add(args) => edit::add(&args, ui),
        Command::Revoke(args) => edit::revoke(&args, ui),
        Command::Retire(args) => edit::retire(&args, ui),
        Command::AdmitPolicy(args) => edit::admit_policies(&args, ui),
        Command::WithdrawPolicy(args) => edit::withdraw_policies(&args, ui),
        Command::Rotate(args) => edit::rotate(&args, ui),
        Command::Show { file } => show::run(&file, ui),
    }
}
