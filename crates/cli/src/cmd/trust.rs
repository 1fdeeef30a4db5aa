//! `quorum trust`.

mod arguments;
mod edit;
mod proposal;
mod show;

use std::path::PathBuf;

use quorum_attest::{KeyId, Role};
use quorum_gate::ExitCode;
use quorum_schemas::Digest;

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
    /// Replace the key of an entry (rotation): writes the next version.
    ReplaceKey(ReplaceKeyArgs),
    /// Add a signature to a proposal, on the machine of one holder of a root key.
    Sign(SignArgs),
    /// Put a proposal that all who must have signed in the place of the trust root.
    Accept(AcceptArgs),
    /// Check a trust root: signatures, expiry, and that it follows from what is known.
    Verify(VerifyArgs),
    /// Print what a version or a proposal changes.
    Diff(DiffArgs),
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
    /// Write a proposal to this new file instead, for others to sign (`trust sign`, `trust accept`).
    #[arg(long, value_name = "FILE")]
    propose: Option<PathBuf>,
}

/// What every change takes.
#[derive(clap::Args)]
struct EditArgs {
    /// The trust root; its next version takes its place, and it stays beside it as `trust.<version>.json`.
    file: PathBuf,
    /// A root key (private PEM); repeatable, up to the threshold.
    #[arg(long = "root-key", value_name = "FILE", required = true)]
    root_keys: Vec<PathBuf>,
    /// When the next version expires: a time, or a span from now such as `365d`; default: as before.
    #[arg(long, value_name = "TIME")]
    expires: Option<Point>,
    /// Write the next version to this new file and leave the present one.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a proposal to this new file instead, for others to sign (`trust sign`, `trust accept`).
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    propose: Option<PathBuf>,
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
    /// Which of its keys, where it had several; default: the newest.
    #[arg(long, value_name = "KEY-ID")]
    key_id: Option<KeyId>,
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

/// Arguments of `quorum trust replace-key`.
#[derive(clap::Args)]
struct ReplaceKeyArgs {
    #[command(flatten)]
    edit: EditArgs,
    /// Its role.
    #[arg(long)]
    role: Role,
    /// Its name.
    #[arg(long)]
    id: String,
    /// The new key: a PEM file (of the public or the private key) or its base64.
    #[arg(long, value_name = "KEY")]
    public_key: String,
    /// When the old key ends and the new one begins; default: at the end of this second.
    #[arg(long, value_name = "TIME")]
    at: Option<Point>,
    /// Until when the new key is valid; default: as long as the trust root.
    #[arg(long, value_name = "TIME")]
    valid_until: Option<Point>,
    /// Revoke the old key instead of retiring it: from then on somebody else may have had it.
    #[arg(long, value_name = "TIME")]
    compromised_since: Option<Point>,
}

/// Arguments of `quorum trust sign`.
#[derive(clap::Args)]
struct SignArgs {
    /// The proposal; the one with your signature takes its place.
    proposal: PathBuf,
    /// The trust root that it follows; none for version 1.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Your root key (private PEM); repeatable.
    #[arg(long = "root-key", value_name = "FILE", required = true)]
    root_keys: Vec<PathBuf>,
    /// Sign only this content: what the others told you that they sign.
    #[arg(long, value_name = "sha256:HEX")]
    content: Option<Digest>,
    /// Write it to this new file and leave the proposal as it is.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Arguments of `quorum trust accept`.
#[derive(clap::Args)]
struct AcceptArgs {
    /// The trust root that the proposal follows, or, for version 1, the file to write.
    file: PathBuf,
    /// The proposal.
    proposal: PathBuf,
}

/// Arguments of `quorum trust verify`.
#[derive(clap::Args)]
struct VerifyArgs {
    /// The trust root, with earlier versions as `trust.<version>.json` beside it, or the directory of both.
    file: PathBuf,
    /// The digest of version 1: every version from there on is followed.
    #[arg(long, value_name = "sha256:HEX")]
    pin: Option<Digest>,
    /// A version that you know: every version from there on is followed.
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Refuse an older version than this one.
    #[arg(long, value_name = "N")]
    min_version: Option<u64>,
}

/// Arguments of `quorum trust diff`.
#[derive(clap::Args)]
struct DiffArgs {
    /// The version before.
    before: PathBuf,
    /// The version after, or a proposal for it.
    after: PathBuf,
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
        Command::ReplaceKey(args) => edit::replace_key(&args, ui),
        Command::Sign(args) => proposal::sign(&args, ui),
        Command::Accept(args) => proposal::accept(&args, ui),
        Command::Verify(args) => proposal::verify(&args, ui),
        Command::Diff(args) => proposal::diff(&args, ui),
        Command::Show { file } => show::run(&file, ui),
    }
}
