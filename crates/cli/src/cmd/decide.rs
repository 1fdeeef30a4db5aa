//! `quorum decide`.

use std::path::PathBuf;

use quorum_gate::{DecideRequest, ExitCode, ReportPlaces, decide};
use quorum_schemas::Digest;

use super::options::OutputOptions;
use super::reports;
use crate::error::CliError;
use crate::interrupt;
use crate::ui::Ui;

/// Arguments of `quorum decide`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The work unit that the candidate answers.
    #[arg(long, value_name = "FILE")]
    work_unit: PathBuf,
    /// The worker's manifest, bare or signed.
    #[arg(long, value_name = "FILE")]
    result: PathBuf,
    /// The policy: a file, or the name of a shipped one.
    #[arg(long, value_name = "FILE|NAME", default_value = "one-verifier")]
    policy: String,
    /// The trust root.
    #[arg(long, value_name = "FILE")]
    trust: PathBuf,
    /// Refuse a trust root older than this version.
    #[arg(long, value_name = "N")]
    trust_min_version: Option<u64>,
    /// The digest of version 1 of the trust root; every version from there on must stand beside it.
    #[arg(long, value_name = "sha256:HEX")]
    trust_pin: Option<Digest>,
    /// Evidence of a verifier; its bundle is sought beside it.
    #[arg(long, value_name = "FILE")]
    evidence: Vec<PathBuf>,
    /// Where the bundles of the evidence are, instead of beside it.
    #[arg(long, value_name = "DIR")]
    bundle: Option<PathBuf>,
    /// A key of role gate: sign the decision.
    #[arg(long, value_name = "FILE")]
    decision_key: Option<PathBuf>,
    /// Refuse a control file with another digest.
    #[arg(long, value_name = "FILE=sha256:HEX")]
    pin: Vec<String>,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    interrupt::arm()?;
    let reports = args.output.report.parse()?;
    let work_unit = reports::relative(&args.work_unit);
    let decided = decide(&DecideRequest {
        work_unit: args.work_unit,
        result: args.result,
        policy: args.policy,
        trust: args.trust,
        trust_min_version: args.trust_min_version,
        trust_pin: args.trust_pin,
        evidence: args.evidence,
        bundles: args.bundle,
        decision_key: args.decision_key,
        pins: args.pin,
        out: args.output.out.clone(),
    });
    // No candidate is in sight that a report could land in.
    let outcome = reports.or_told(decided.map_err(Into::into), ui, |_| true)?;
    let candidate = reports::candidate_of(&outcome.decision);
    super::gate::show(&outcome, &ReportPlaces { work_unit, candidate }, &reports, args.output.out.as_deref(), ui)
}
