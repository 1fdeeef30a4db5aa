//! `quorum verify`.

use std::path::PathBuf;

use quorum_gate::{ExitCode, VerifyRequest, check_lines, verify};
use quorum_schemas::Digest;
use serde_json::json;

use super::options::{CandidateOptions, program};
use crate::error::CliError;
use crate::interrupt;
use crate::progress::Progress;
use crate::ui::Ui;

/// Arguments of `quorum verify`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The work unit that the candidate answers.
    #[arg(long, value_name = "FILE")]
    work_unit: PathBuf,
    /// The worker's manifest, bare or signed.
    #[arg(long, value_name = "FILE")]
    result: PathBuf,
    #[command(flatten)]
    candidate: CandidateOptions,
    /// What to check: a template (TOML), or a bound plan or one of upstream's EvaluatorPlans 0.1 to 0.4 (JSON).
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The verifier's private key.
    #[arg(
        long,
        value_name = "FILE",
        requires = "trust",
        required_unless_present = "unsigned",
        conflicts_with = "unsigned"
    )]
    key: Option<PathBuf>,
    /// Who answers, for an EvaluatorPlan with --unsigned: it names none of ours. With --key it is the key's entry.
    #[arg(long, value_name = "ID", requires = "unsigned")]
    verifier: Option<String>,
    /// The trust root that names the key.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Refuse a trust root older than this version.
    #[arg(long, value_name = "N", requires = "trust")]
    trust_min_version: Option<u64>,
    /// The digest of version 1 of the trust root; every version from there on must stand beside it.
    #[arg(long, value_name = "sha256:HEX", requires = "trust")]
    trust_pin: Option<Digest>,
    /// Write the statement without a signature, for `quorum sign` in another job.
    #[arg(long)]
    unsigned: bool,
    /// Refuse a control file with another digest.
    #[arg(long, value_name = "FILE=sha256:HEX")]
    pin: Vec<String>,
    /// The weakest isolation of commands and engines.
    #[arg(long, value_name = "CLASS", default_value = "process-sandbox")]
    isolation: String,
    /// The new directory for evidence, bundle and plan.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    interrupt::arm()?;
    let progress = Progress::start("checking");
    let outcome = verify(&VerifyRequest {
        work_unit: args.work_unit,
        result: args.result,
        candidate: args.candidate.source()?,
        plan: args.plan,
        verifier: args.verifier,
        key: args.key,
        trust: args.trust,
        trust_min_version: args.trust_min_version,
        trust_pin: args.trust_pin,
        pins: args.pin,
        isolation: args.isolation,
        out: args.out,
        program: program()?,
    });
    drop(progress);
    let outcome = outcome?;
    if ui.json() {
        let checks: Vec<serde_json::Value> = outcome
            .checks
            .iter()
            .map(|check| json!({"id": check.id, "kind": check.kind, "status": check.status, "summary": check.summary}))
            .collect();
        let value = json!({
            "verdict": outcome.verdict,
            "checks": checks,
            "evidence": outcome.evidence,
            "bundle": outcome.bundle,
        });
        ui.document(&value.into())?;
    } else {
        for line in check_lines(&outcome.checks) {
            ui.line(line)?;
        }
        ui.line(format!("verdict {}", outcome.verdict))?;
    }
    Ok(ExitCode::Accept)
}
