//! `quorum gate`.

use std::path::{Path, PathBuf};

use quorum_gate::{ExitCode, GateOutcome, GateRequest, ReportPlaces, outside_candidate};
use quorum_schemas::Digest;

use super::options::{CandidateOptions, OutputOptions, WorkerOptions, program};
use super::reports::{self, Reports};
use crate::error::CliError;
use crate::interrupt;
use crate::progress::Progress;
use crate::ui::Ui;

/// Arguments of `quorum gate`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The work unit that the candidate answers.
    #[arg(long, value_name = "FILE")]
    work_unit: PathBuf,
    /// The worker's manifest, bare or signed; without it the gate builds an unsigned one.
    #[arg(long, value_name = "FILE")]
    result: Option<PathBuf>,
    #[command(flatten)]
    candidate: CandidateOptions,
    #[command(flatten)]
    worker: WorkerOptions,
    /// What this machine checks: a template (TOML), or a bound plan or one of upstream's EvaluatorPlans 0.1 to 0.4 (JSON).
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The policy: a file, or the name of a shipped one [default: local, or one-verifier with --trust].
    #[arg(long, value_name = "FILE|NAME")]
    policy: Option<String>,
    /// The trust root; without it this process vouches for itself.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Refuse a trust root older than this version.
    #[arg(long, value_name = "N")]
    trust_min_version: Option<u64>,
    /// The digest of version 1 of the trust root; every version from there on must stand beside it.
    #[arg(long, value_name = "sha256:HEX")]
    trust_pin: Option<Digest>,
    /// This machine's verifier key: run the plan and sign the evidence.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// A key of role gate: sign the decision.
    #[arg(long, value_name = "FILE")]
    decision_key: Option<PathBuf>,
    /// Evidence of another verifier; its bundle is sought beside it.
    #[arg(long, value_name = "FILE")]
    evidence: Vec<PathBuf>,
    /// Where the bundles of the evidence are, instead of beside it.
    #[arg(long, value_name = "DIR")]
    bundle: Option<PathBuf>,
    /// Refuse a control file with another digest.
    #[arg(long, value_name = "FILE=sha256:HEX")]
    pin: Vec<String>,
    /// `none` runs commands without isolation; the policy must name it too.
    #[arg(long, value_name = "CLASS", value_parser = ["none"])]
    isolation: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    interrupt::arm()?;
    let reports = args.output.report.parse()?;
    let request = GateRequest {
        work_unit: args.work_unit,
        result: args.result,
        worker: args.worker.claim(),
        candidate: args.candidate.source()?,
        plan: args.plan,
        policy: args.policy,
        trust: args.trust,
        trust_min_version: args.trust_min_version,
        trust_pin: args.trust_pin,
        key: args.key,
        decision_key: args.decision_key,
        evidence: args.evidence,
        bundles: args.bundle,
        pins: args.pin,
        isolation_none: args.isolation.is_some(),
        out: args.output.out.clone(),
        reports: reports.targets.iter().map(|target| target.file.clone()).collect(),
        program: program()?,
    };
    let allowed = |file: &Path| outside_candidate(&request.candidate, file);
    let progress = Progress::start("checking");
    let ended = quorum_gate::run(&request);
    drop(progress);
    let outcome = reports.or_told(ended.map_err(Into::into), ui, allowed)?;
    let places = reports::places(&request.work_unit, &request.candidate);
    show(&outcome, &places, &reports, args.output.out.as_deref(), ui)
}

/// Writes the reports, and one to stdout.
pub(super) fn show(
    outcome: &GateOutcome,
    places: &ReportPlaces,
    reports: &Reports,
    out: Option<&Path>,
    ui: &mut Ui,
) -> Result<ExitCode, CliError> {
    reports.tell(&reports::subject(outcome, places), ui)?;
    if let Some(out) = out {
        ui.say(format!("recorded in {}; `quorum audit {}` recomputes it", out.display(), out.display()));
    }
    Ok(outcome.decision.recommendation.into())
}
