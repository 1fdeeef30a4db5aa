//! `quorum export`.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use quorum_gate::{ExitCode, ExportRequest, export_run, write_atomically};
use quorum_handoff::{HandoffError, HumanDecision, check_run_report, record_human_decision, verify_human_decision};
use quorum_schemas::{Digest, Timestamp, Value, c1, one_line, parse};
use serde_json::json;

use super::options::written_or_shown;
use crate::codes::CliCode;
use crate::error::CliError;
use crate::input;
use crate::ui::Ui;

/// Arguments of `quorum export`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write upstream's run report of recorded attempts: what each verifier said; it selects nothing.
    RunReport(RunReport),
    /// Write down what a human decided about a run report; it executes nothing.
    HumanDecision(Decide),
    /// Hold a run report against its run, and a human's decision against its report: exit 0 if they hold, 1 if not.
    Verify(Verify),
}

#[derive(clap::Args)]
struct RunReport {
    /// Records that `gate`, `decide` or `show` wrote with --out, in the order of the attempts; a directory with only
    /// work-unit.json and perhaps result-manifest.json is an attempt that failed.
    #[arg(required = true)]
    directories: Vec<PathBuf>,
    /// The run's id [default: made from what the run consists of].
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// Also write the run record, of which the report is a function.
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// Where to write the report instead of to stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Decide {
    /// The run report that was decided about.
    #[arg(long, value_name = "FILE")]
    report: PathBuf,
    /// The decision's id: 3 to 128 characters of a-z0-9._/-.
    #[arg(long, value_name = "ID")]
    id: String,
    /// accept, reject or escalate: a human's words, not those of a recommendation.
    #[arg(long, value_name = "WORD")]
    decision: String,
    /// Why, in the decider's own words.
    #[arg(long, value_name = "TEXT")]
    rationale: String,
    /// Who decided.
    #[arg(long, value_name = "ID")]
    decider: String,
    /// What the decider is.
    #[arg(long, value_name = "KIND", default_value = "human", value_parser = ["human", "governance_body"])]
    decider_type: String,
    /// How the decider is shown.
    #[arg(long, value_name = "NAME")]
    display_name: Option<String>,
    /// The attempt that the decision is about [default: the run as a whole].
    #[arg(long, value_name = "ID")]
    attempt: Option<String>,
    /// When it was decided [default: now].
    #[arg(long, value_name = "TIME")]
    decided_at: Option<Timestamp>,
    /// Where to write it instead of to stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Verify {
    /// The run report.
    #[arg(long, value_name = "FILE")]
    report: PathBuf,
    /// The run record that the report must follow from.
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// The human's decision that must be about exactly this report.
    #[arg(long, value_name = "FILE")]
    decision: Option<PathBuf>,
}

pub(crate) fn run(args: Args, ui: &mut Ui) -> Result<ExitCode, CliError> {
    match args.command {
        Command::RunReport(args) => run_report(&args, ui),
        Command::HumanDecision(args) => human_decision(args, ui),
        Command::Verify(args) => verify(&args, ui),
    }
}

fn run_report(args: &RunReport, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let request = ExportRequest { directories: args.directories.clone(), run_id: args.run_id.clone() };
    let exported = export_run(&request)?;
    if let Some(path) = &args.run {
        write_atomically(path, &exported.run)?;
    }
    written_or_shown(args.output.as_deref(), &exported.report, ui)?;
    Ok(ExitCode::Accept)
}

fn human_decision(args: Decide, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let report = document(&args.report)?;
    let decided_at = args.decided_at.map_or_else(now, Ok)?;
    let said = HumanDecision {
        id: args.id,
        decision: args.decision,
        rationale: args.rationale,
        decider_id: args.decider,
        decider_type: args.decider_type,
        display_name: args.display_name,
        selected_attempt_id: args.attempt,
        decided_at,
    };
    let record = record_human_decision(&report, &said).map_err(|error| CliError::control(error.code(), error))?;
    written_or_shown(args.output.as_deref(), &c1(&record), ui)?;
    Ok(ExitCode::Accept)
}

fn verify(args: &Verify, ui: &mut Ui) -> Result<ExitCode, CliError> {
    let report = document(&args.report)?;
    let run = args.run.as_deref().map(document).transpose()?;
    let decision = args.decision.as_deref().map(document).transpose()?;
    let held = check_run_report(&report, run.as_ref())
        .and_then(|()| decision.as_ref().map_or(Ok(()), |decision| verify_human_decision(decision, &report)));
    let word = decision.as_ref().and_then(|decision| decision.get("decision")).and_then(Value::as_str);
    match held {
        Ok(()) => {
            let digest = Digest::c1(&report).to_string();
            if ui.json() {
                let (against_run, decision) = (run.is_some(), word);
                let value = json!({"holds": true, "report": digest, "against_run": against_run, "decision": decision});
                ui.document(&value.into())?;
            } else {
                ui.line(format!("holds: report {digest}"))?;
                ui.line(if run.is_some() { "it is what its run gives" } else { "not held against its run: --run" })?;
                if let Some(word) = word {
                    ui.line(format!("a human decided about exactly this report: {word}"))?;
                }
            }
            Ok(ExitCode::Accept)
        }
        Err(error) => does_not_hold(&error, ui),
    }
}

fn does_not_hold(error: &HandoffError, ui: &mut Ui) -> Result<ExitCode, CliError> {
    if ui.json() {
        let value = json!({"holds": false, "code": error.code(), "message": one_line(&error.to_string())});
        ui.document(&value.into())?;
    } else {
        ui.line(one_line(&format!("does not hold: {error}")))?;
    }
    Ok(ExitCode::Reject)
}

/// A parsed JSON document.
fn document(path: &Path) -> Result<Value, CliError> {
    let bytes = input::document(path)?;
    parse(&bytes).map_err(|error| input::refused(path, error.reason.code(), &error))
}

fn now() -> Result<Timestamp, CliError> {
    let micros =
        SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_micros()).ok());
    let micros = micros
        .ok_or_else(|| CliError::infrastructure(CliCode::ClockUnusable, "this machine's clock is before 1970"))?;
    // A record is about a second, not about a clock's ticks.
    Ok(Timestamp::from_micros(micros - micros % 1_000_000))
}
