//! `command`: a program of the verifier's choice beside the candidate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quorum_sandbox::{End, RunReport, SandboxError, Spec};
use quorum_schemas::{Digest, Value, c1};

use super::junit::{CaseStatus, TestCase, parse_junit};
use super::observed::Observed;
use super::workdir::{self, Workdir};
use super::{Context, number};
use crate::plan::{Channel, CommandCheck};
use crate::report::{CheckStatus, EvidenceFile, IsolationClass};
use crate::tree::Listing;
use crate::{VerifierError, limits, tree};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal, not ours.
    Signaled(i32),
    /// By us, at the deadline.
    TimedOut,
    /// By us, for a flood of output.
    OutputLimit,
}

/// What a command's end and report show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The status of the check.
    pub status: CheckStatus,
    /// Why, in one sentence.
    pub summary: String,
    /// Whether only the exit status was believed.
    pub by_exit_status: bool,
}

/// The result table of design section 7. `report` is the report where the plan asks for one, or why it is unusable.
///
/// A tool that crashed is never `failed`: only a failing expected test, or without expected tests an exit status that the
/// plan names, says something about the candidate.
#[must_use]
pub fn judge_command(
    end: CommandEnd,
    expect: &[String],
    fail_exit: &[i32],
    report: Option<&Result<Vec<TestCase>, String>>,
) -> Judgement {
    let judgement = |status, summary: String| Judgement { status, summary, by_exit_status: expect.is_empty() };
    let exit = match end {
        CommandEnd::Exited(exit) => exit,
        CommandEnd::Signaled(signal) => return judgement(CheckStatus::Error, format!("ended by signal {signal}")),
        CommandEnd::TimedOut => return judgement(CheckStatus::Error, "ended at its deadline".into()),
        CommandEnd::OutputLimit => return judgement(CheckStatus::Error, "ended for a flood of output".into()),
    };
    if expect.is_empty() {
        return match exit {
            0 => judgement(CheckStatus::Passed, "exit status 0".into()),
            _ if fail_exit.contains(&exit) => judgement(CheckStatus::Failed, format!("exit status {exit}")),
            _ => {
                judgement(CheckStatus::Error, format!("exit status {exit}, which the plan does not take for a failure"))
            }
        };
    }
    let none = Vec::new();
    let (cases, trouble) = match report {
        Some(Ok(cases)) => (cases, None),
        Some(Err(why)) => (&none, Some(why.as_str())),
        None => (&none, Some("there is none")),
    };
    let ended = |id: &String, status| cases.iter().filter(|case| case.id == *id && case.status == status).count();
    if let Some(id) = expect.iter().find(|id| ended(id, CaseStatus::Failed) > 0) {
        return judgement(CheckStatus::Failed, format!("`{id}` failed, exit status {exit}"));
    }
    if exit != 0 {
        let why = trouble.map_or_else(String::new, |why| format!("; the report: {why}"));
        return judgement(CheckStatus::Error, format!("exit status {exit} and no expected test failed{why}"));
    }
    let once = |id: &&String| ended(id, CaseStatus::Passed) == 1 && ended(id, CaseStatus::Skipped) == 0;
    match expect.iter().find(|id| !once(id)) {
        None => judgement(CheckStatus::Passed, format!("all {} expected tests passed once", expect.len())),
        Some(id) => {
            let why = trouble.map_or_else(
                || format!("`{id}` is missing, skipped or reported twice"),
                |why| format!("no usable report: {why}"),
            );
            judgement(CheckStatus::Inconclusive, format!("exit status 0, but {why}"))
        }
    }
}

/// One run of the command, on the candidate or on the baseline.
struct Run {
    main: RunReport,
    candidate: Option<RunReport>,
    report: Option<Result<Vec<u8>, String>>,
}

pub(super) fn run(context: &Context<'_>, spec: &CommandCheck, index: usize) -> Observed {
    let harness = match workdir::harness(context, index) {
        Ok(harness) => harness,
        Err(error) => return not_run(Observed::error(&error), spec),
    };
    let folder = harness.as_ref().map(|(path, _)| path.as_path());
    let run = match once(context, spec, index, "run", &context.candidate, folder) {
        Ok(run) => run,
        Err(observed) => return not_run(*observed, spec),
    };
    let end = end(run.main.end);
    let cases =
        run.report.as_ref().map(|report| report.as_ref().map_err(Clone::clone).and_then(|bytes| parse_junit(bytes)));
    let judgement = judge_command(end, &spec.expect, &spec.fail_exit, cases.as_ref());
    let mut observed = Observed::new(judgement.status, judgement.summary);
    observed.by_exit_status = judgement.by_exit_status;
    observed.isolation = run.isolation();
    observed.timed_out = end == CommandEnd::TimedOut;
    observed.limit_ms = Some(to_ms(spec.timeout));
    if let CommandEnd::Exited(exit) = end {
        observed.exit = Some(exit);
    }
    if observed.timed_out
        && let Some(baseline) = &context.baseline
    {
        let timed = once(context, spec, index, "baseline", baseline, folder).ok();
        observed.baseline_ms = timed.map(|run| to_ms(run.main.duration));
    }
    observed.files = files(&run, spec, index);
    if let Some((_, digest)) = harness {
        observed = observed.fact("harness_tree", digest);
    }
    if observed.status == CheckStatus::Failed {
        let summary = observed.summary.clone();
        observed = observed.finding("correctness", summary, None);
    }
    describe(observed, cases, spec)
}

/// Nothing ran, so nothing was isolated.
fn not_run(mut observed: Observed, spec: &CommandCheck) -> Observed {
    observed.isolation = IsolationClass::None;
    observed.limit_ms = Some(to_ms(spec.timeout));
    observed
}

fn describe(observed: Observed, cases: Option<Result<Vec<TestCase>, String>>, spec: &CommandCheck) -> Observed {
    let observed = observed.fact("channel", spec.channel.as_str()).fact("argv", spec.argv.clone());
    match cases {
        None => observed,
        Some(Err(why)) => observed.fact("report", why),
        Some(Ok(cases)) => {
            let count = |status| cases.iter().filter(|case| case.status == status).count() as u64;
            observed
                .fact("tests_passed", count(CaseStatus::Passed))
                .fact("tests_failed", count(CaseStatus::Failed))
                .fact("tests_skipped", count(CaseStatus::Skipped))
        }
    }
}

fn once(
    context: &Context<'_>,
    spec: &CommandCheck,
    index: usize,
    name: &str,
    source: &Listing,
    harness: Option<&Path>,
) -> Result<Run, Box<Observed>> {
    let refused = |error: VerifierError| Box::new(Observed::error(&error));
    let dirs = Workdir::make(context, index, name, source).map_err(refused)?;
    let places = Places { dirs: &dirs, harness, baseline: context.request.baseline_root.as_deref() };
    let main = main_spec(context, spec, &places).map_err(refused)?;
    let sandbox =
        |error: SandboxError| Box::new(Observed::new(CheckStatus::Error, error.to_string()).fact("code", error.code()));
    let (main, candidate) = match &spec.candidate_argv {
        None => (quorum_sandbox::run(&main).map_err(sandbox)?, None),
        Some(argv) => {
            let candidate = candidate_spec(context, spec, argv, &places).map_err(refused)?;
            let pair = quorum_sandbox::run_pair(&main, &candidate).map_err(sandbox)?;
            (pair.harness, Some(pair.candidate))
        }
    };
    let report = spec.junit.then(|| match tree::read_file(&dirs.report(), limits::REPORT_BYTES) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(format!("larger than {} bytes", limits::REPORT_BYTES)),
        Err(_) => Err("not written".to_owned()),
    });
    Ok(Run { main, candidate, report })
}

pub(super) struct Places<'a> {
    pub(super) dirs: &'a Workdir,
    pub(super) harness: Option<&'a Path>,
    pub(super) baseline: Option<&'a Path>,
}

impl Places<'_> {
    /// A word of an argv with its placeholders replaced.
    pub(super) fn fill(&self, word: &str) -> Result<String, VerifierError> {
        let report = self.dirs.report();
        let places = [
            ("{candidate}", Some(self.dirs.candidate.as_path())),
            ("{report}", Some(report.as_path())),
            ("{harness}", self.harness),
            ("{baseline}", self.baseline),
        ];
        let mut filled = word.to_owned();
        for (name, path) in places {
            if filled.contains(name) {
                let path = path.ok_or_else(|| {
                    VerifierError::CandidateUnusable(format!(
                        "`{word}` needs a {}, and none was given",
                        name.trim_matches(['{', '}'])
                    ))
                })?;
                let text = path.to_str().ok_or_else(|| VerifierError::PathUnsafe {
                    path: path.display().to_string(),
                    why: "is not UTF-8",
                })?;
                filled = filled.replace(name, text);
            }
        }
        Ok(filled)
    }

    fn fill_all(&self, argv: &[String]) -> Result<Vec<String>, VerifierError> {
        argv.iter().map(|word| self.fill(word)).collect()
    }
}

/// The environment of a check: what the plan names and a `PATH`, nothing of ours.
pub(super) fn environment(env: &BTreeMap<String, String>, path: &str) -> BTreeMap<String, String> {
    let mut env = env.clone();
    env.insert("PATH".to_owned(), path.to_owned());
    env
}

fn main_spec(context: &Context<'_>, spec: &CommandCheck, places: &Places<'_>) -> Result<Spec, VerifierError> {
    let black_box = spec.channel == Channel::BlackBox;
    let cwd = if black_box { &places.dirs.out } else { &places.dirs.candidate };
    let mut main = base_spec(context, spec, places.fill_all(&spec.argv)?, cwd.clone());
    main.writable.push(places.dirs.out.clone());
    main.read_only.extend([places.harness, places.baseline].into_iter().flatten().map(Path::to_owned));
    match spec.channel {
        Channel::InProcess => main.writable.push(places.dirs.candidate.clone()),
        Channel::Data => main.read_only.push(places.dirs.candidate.clone()),
        // A harness that can read the candidate's files could be made to run them.
        Channel::BlackBox => {
            main.hidden.extend([places.dirs.candidate.clone(), context.request.candidate_root.clone()])
        }
    }
    Ok(main)
}

fn candidate_spec(
    context: &Context<'_>,
    spec: &CommandCheck,
    argv: &[String],
    places: &Places<'_>,
) -> Result<Spec, VerifierError> {
    let mut candidate = base_spec(context, spec, places.fill_all(argv)?, places.dirs.candidate.clone());
    candidate.identity = quorum_sandbox::Identity::Candidate;
    candidate.writable.push(places.dirs.candidate.clone());
    candidate.hidden.push(places.dirs.out.clone());
    candidate.hidden.extend(places.harness.map(Path::to_owned));
    candidate.hidden.extend(context.request.plan_dir.clone());
    Ok(candidate)
}

fn base_spec(context: &Context<'_>, spec: &CommandCheck, argv: Vec<String>, cwd: PathBuf) -> Spec {
    let mut made = Spec::new(argv, cwd);
    made.env = environment(&spec.env, &spec.path);
    made.hidden.clone_from(&context.request.hidden);
    made.timeout = spec.timeout;
    made.stdout_limit = limits::LOG_BYTES;
    made.stderr_limit = limits::LOG_BYTES;
    made.isolation = context.request.isolation;
    made
}

impl Run {
    /// The weaker of the two, where there are two.
    fn isolation(&self) -> IsolationClass {
        let main = IsolationClass::from(self.main.isolation);
        self.candidate.as_ref().map_or(main, |candidate| main.min(candidate.isolation.into()))
    }
}

fn files(run: &Run, spec: &CommandCheck, index: usize) -> Vec<EvidenceFile> {
    let nth = number(index);
    let mut files = process_files(&nth, "", &run.main, &spec.argv, to_ms(spec.timeout));
    if let (Some(candidate), Some(argv)) = (&run.candidate, &spec.candidate_argv) {
        files.extend(process_files(&nth, "-candidate", candidate, argv, to_ms(spec.timeout)));
    }
    if let Some(Ok(bytes)) = &run.report {
        files.push(EvidenceFile {
            path: format!("reports/{nth}.xml"),
            bytes: bytes.clone(),
            media_type: "application/xml".into(),
            evidence_type: "test_output".into(),
            description: format!("the report of check {nth}, as the command wrote it"),
        });
    }
    files
}

/// The record of a process and its two streams.
pub(super) fn process_files(
    nth: &str,
    suffix: &str,
    run: &RunReport,
    argv: &[String],
    limit_ms: u64,
) -> Vec<EvidenceFile> {
    let stream = |captured: &quorum_sandbox::Captured| {
        let digest = Digest::of(&captured.bytes).to_string();
        serde_json::json!({"sha256": digest, "bytes": captured.bytes.len(), "truncated": captured.truncated})
    };
    let record = serde_json::json!({
        "schema": "quorum-process-run/0.1",
        "argv": argv,
        "end": end(run.end).to_string(),
        "duration_ms": to_ms(run.duration),
        "limit_ms": limit_ms,
        "isolation": run.isolation.as_str(),
        "enforced": run.enforced,
        "stdout": stream(&run.stdout),
        "stderr": stream(&run.stderr),
    });
    let file = |path: String, bytes: Vec<u8>, media: &str, kind: &str, what: &str| EvidenceFile {
        path,
        bytes,
        media_type: media.to_owned(),
        evidence_type: kind.to_owned(),
        description: format!("{what} of check {nth}{suffix}"),
    };
    let mut files = vec![file(
        format!("runs/{nth}{suffix}.json"),
        c1(&Value::from(record)),
        "application/json",
        "trace",
        "the process",
    )];
    for (name, captured) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        if !captured.bytes.is_empty() {
            let path = format!("logs/{nth}{suffix}.{name}.txt");
            files.push(file(path, captured.bytes.clone(), "text/plain", "test_output", name));
        }
    }
    files
}

fn end(end: End) -> CommandEnd {
    match end {
        End::Exited(exit) => CommandEnd::Exited(exit),
        End::Signaled(signal) => CommandEnd::Signaled(signal),
        End::TimedOut => CommandEnd::TimedOut,
        End::OutputLimit => CommandEnd::OutputLimit,
    }
}

impl std::fmt::Display for CommandEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(exit) => write!(f, "exited {exit}"),
            Self::Signaled(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("timed_out"),
            Self::OutputLimit => f.write_str("output_limit"),
        }
    }
}

pub(super) fn to_ms(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
