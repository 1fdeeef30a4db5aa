//! The commands: one file each, with its arguments and what it runs.

mod audit;
mod completions;
mod coordinator;
mod decide;
mod demo;
mod digest;
mod dsse;
mod errors;
mod export;
mod gate;
mod handoff;
mod hidden;
mod import;
mod init;
mod keys;
mod man;
mod manifest;
mod mesh;
mod options;
mod policy;
mod reference;
mod reports;
mod schema;
mod show;
mod sign;
mod submit;
mod trust;
mod verifier;
mod verify;
mod watch;

use clap::Subcommand;
pub(crate) use hidden::hidden;
use quorum_gate::ExitCode;

use crate::error::CliError;
use crate::ui::Ui;

/// What `quorum` can do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// The whole mesh on this machine: real processes, keys and NATS.
    Demo(demo::Args),
    /// Start in a repository: work unit, plan, policy, an example and a CI job.
    Init(init::Args),
    /// Build a result manifest from a path or a git head.
    Manifest(manifest::Args),
    /// Verify and decide in one go, without a broker.
    Gate(gate::Args),
    /// Derive the handoff of a manifest.
    Handoff(handoff::Args),
    /// Check a candidate and write the evidence.
    Verify(verify::Args),
    /// Sign a statement that `verify --unsigned` wrote.
    Sign(sign::Args),
    /// Check envelopes by hand.
    Dsse(dsse::Args),
    /// Weigh evidence and write the decision.
    Decide(decide::Args),
    /// Recompute a recorded decision offline.
    Audit(audit::Args),
    /// Write run reports and human decisions in upstream's form.
    Export(export::Args),
    /// Read upstream's older evidence reports.
    Import(import::Args),
    /// Run the coordinator's daemon.
    Coordinator(coordinator::Args),
    /// Run the verifier's daemon.
    Verifier(verifier::Args),
    /// Publish a candidate and its manifest.
    Submit(submit::Args),
    /// Follow the mesh as it works.
    Watch(watch::Args),
    /// Read one handoff's record from the mesh.
    Show(show::Args),
    /// Make and show keys.
    Keys(keys::Args),
    /// Make, extend and show trust roots.
    Trust(trust::Args),
    /// Show and check policies.
    Policy(policy::Args),
    /// Provision the mesh on a NATS server.
    Mesh(mesh::Args),
    /// List, show and check the document schemas.
    Schema(schema::Args),
    /// Print the digest of a JSON file.
    Digest(digest::Args),
    /// Explain an error code, or list them all.
    Errors(errors::Args),
    /// List the exit codes.
    ExitCodes(errors::ExitArgs),
    /// Print the completions for a shell.
    Completions(completions::Args),
    /// Write the man pages.
    Man(man::Args),
    /// Print the reference of the whole command line.
    Reference(reference::Args),
}

/// Runs one command.
pub(crate) fn run(command: Command, ui: &mut Ui) -> Result<ExitCode, CliError> {
    match command {
        Command::Demo(args) => demo::run(args, ui),
        Command::Init(args) => init::run(args, ui),
        Command::Manifest(args) => manifest::run(args, ui),
        Command::Gate(args) => gate::run(args, ui),
        Command::Handoff(args) => handoff::run(args, ui),
        Command::Verify(args) => verify::run(args, ui),
        Command::Sign(args) => sign::run(args, ui),
        Command::Dsse(args) => dsse::run(args, ui),
        Command::Decide(args) => decide::run(args, ui),
        Command::Audit(args) => audit::run(args, ui),
        Command::Export(args) => export::run(args, ui),
        Command::Import(args) => import::run(args, ui),
        Command::Coordinator(args) => coordinator::run(args, ui),
        Command::Verifier(args) => verifier::run(args, ui),
        Command::Submit(args) => submit::run(args, ui),
        Command::Watch(args) => watch::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Keys(args) => keys::run(args, ui),
        Command::Trust(args) => trust::run(args, ui),
        Command::Policy(args) => policy::run(args, ui),
        Command::Mesh(args) => mesh::run(args, ui),
        Command::Schema(args) => schema::run(args, ui),
        Command::Digest(args) => digest::run(args, ui),
        Command::Errors(args) => errors::run(args, ui),
        Command::ExitCodes(args) => errors::exit_codes(args, ui),
        Command::Completions(args) => completions::run(args, ui),
        Command::Man(args) => man::run(args, ui),
        Command::Reference(args) => reference::run(args, ui),
    }
}
