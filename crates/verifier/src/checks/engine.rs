//! `engine`: an engine's own verdict, through its `loom-result/1.1` envelope.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quorum_engine::{Descriptor, EngineRun, EngineSpec, Engineering, ProcessStatus, json_rules};
use quorum_sandbox::{End, Spec};
use quorum_schemas::Value;

use super::command::{Places, environment, process_files, to_ms};
use super::observed::Observed;
use super::workdir::{self, Workdir};
use super::{Context, number};
use crate::plan::{Channel, EngineCheck};
use crate::report::{CheckStatus, EvidenceFile, IsolationClass};
use crate::tree::Listing;
use crate::{VerifierError, limits};

/// The name of the shipped engine in plans, and of the hidden subcommand that it is.
const SHIPPED: (&str, &str) = ("json-rules", "engine-json-rules");

pub(super) fn run(context: &Context<'_>, spec: &EngineCheck, index: usize) -> Observed {
    match prepared(context, spec, index) {
        Ok((run, harness)) => {
            let observed = judge(&run, spec, index);
            harness.into_iter().fold(observed, |observed, digest| observed.fact("harness_tree", digest))
        }
        Err(error) => {
            let mut observed = Observed::error(&error);
            observed.isolation = IsolationClass::None;
            observed
        }
    }
}

type Prepared = (Judged, Option<quorum_schemas::C1Digest>);

struct Judged {
    run: EngineRun,
    name: String,
    baseline_ms: Option<u64>,
}

fn prepared(context: &Context<'_>, spec: &EngineCheck, index: usize) -> Result<Prepared, VerifierError> {
    let harness = workdir::harness(context, index)?;
    let folder = harness.as_ref().map(|(path, _)| path.as_path());
    let (binary, leading_args) = find(context, spec)?;
    let descriptor = describe(context, spec, &binary, &leading_args)?;
    let name = descriptor.name().to_owned();
    let once = |label: &str, source: &Listing| -> Result<EngineRun, VerifierError> {
        let dirs = Workdir::make(context, index, label, source)?;
        let places = Places { dirs: &dirs, harness: folder, baseline: context.request.baseline_root.as_deref() };
        let candidate = dirs.candidate.clone();
        let mut read_only: Vec<PathBuf> = [folder, places.baseline].into_iter().flatten().map(Path::to_owned).collect();
        read_only.push(binary.clone());
        let mut writable = vec![dirs.out.clone()];
        if spec.channel == Channel::InProcess { &mut writable } else { &mut read_only }.push(candidate.clone());
        Ok(quorum_engine::run(&EngineSpec {
            binary: binary.clone(),
            leading_args: leading_args.clone(),
            descriptor: descriptor.clone(),
            args: fill(&spec.args, &places)?,
            cwd: candidate,
            read_only,
            writable,
            hidden: context.request.hidden.clone(),
            timeout: spec.timeout,
            isolation: context.request.isolation,
            env: environment(&spec.env, &spec.path),
            version: None,
        }))
    };
    let run = once("engine", &context.candidate)?;
    let baseline = context.baseline.as_ref().filter(|_| timed_out(&run));
    let baseline_ms = baseline
        .and_then(|root| once("baseline", root).ok())
        .and_then(|run| run.report)
        .map(|report| to_ms(report.duration));
    Ok((Judged { run, name, baseline_ms }, harness.map(|(_, digest)| digest)))
}

fn timed_out(run: &EngineRun) -> bool {
    run.report.as_ref().is_some_and(|report| report.end == End::TimedOut)
}

/// pass -> passed, fail -> failed, unknown -> inconclusive, not applicable -> skipped; an engine that did not run -> error.
pub(super) fn status(process: ProcessStatus, engineering: Engineering) -> CheckStatus {
    match (process, engineering) {
        (ProcessStatus::Error, _) => CheckStatus::Error,
        (ProcessStatus::Ok, Engineering::Pass) => CheckStatus::Passed,
        (ProcessStatus::Ok, Engineering::Fail) => CheckStatus::Failed,
        (ProcessStatus::Ok, Engineering::Unknown) => CheckStatus::Inconclusive,
        (ProcessStatus::Ok, Engineering::NotApplicable) => CheckStatus::Skipped,
    }
}

fn judge(judged: &Judged, spec: &EngineCheck, index: usize) -> Observed {
    let run = &judged.run;
    let nth = number(index);
    let mut observed = Observed::new(status(run.status, run.engineering), format!("{}: {}", judged.name, run.summary))
        .fact("engine", judged.name.as_str())
        .fact("channel", spec.channel.as_str());
    if let Some(code) = &run.error_code {
        observed = observed.fact("error_code", code.as_str());
    }
    observed.isolation = run.isolation.map_or(IsolationClass::None, IsolationClass::from);
    observed.limit_ms = Some(to_ms(spec.timeout));
    observed.timed_out = timed_out(run);
    observed.baseline_ms = judged.baseline_ms;
    observed.engine = run.version.clone().map(|version| (judged.name.clone(), version));
    observed.files.push(EvidenceFile {
        path: format!("engines/{nth}.json"),
        bytes: run.envelope.clone(),
        media_type: "application/json".into(),
        evidence_type: "trace".into(),
        description: format!("the loom-result/1.1 envelope of check {nth}"),
    });
    if let Some(report) = &run.report {
        if let End::Exited(exit) = report.end {
            observed.exit = Some(exit);
        }
        observed.files.extend(process_files(&nth, "", report, std::slice::from_ref(&judged.name), to_ms(spec.timeout)));
    }
    if observed.status == CheckStatus::Failed {
        let summary = observed.summary.clone();
        observed = observed.finding("correctness", summary, None);
    }
    observed
}

fn find(context: &Context<'_>, spec: &EngineCheck) -> Result<(PathBuf, Vec<String>), VerifierError> {
    if spec.engine == SHIPPED.0 {
        return Ok((context.request.exe.clone(), vec![SHIPPED.1.to_owned()]));
    }
    let missing = |why: &str| VerifierError::CandidateUnusable(format!("the engine `{}` {why}", spec.engine));
    let found = if spec.engine.contains('/') {
        context.request.beside_plan(&spec.engine)
    } else {
        spec.path.split(':').map(|folder| Path::new(folder).join(&spec.engine)).find(|path| path.is_file())
    };
    let found = found.ok_or_else(|| missing("was not found"))?;
    let found = found.canonicalize().map_err(|error| missing(&format!("was not found: {error}")))?;
    if context.request.overlaps_candidate(&found) {
        return Err(missing("lies inside the candidate"));
    }
    Ok((found, Vec::new()))
}

fn describe(
    context: &Context<'_>,
    spec: &EngineCheck,
    binary: &Path,
    leading: &[String],
) -> Result<Descriptor, VerifierError> {
    let unusable = |why: String| {
        VerifierError::CandidateUnusable(format!("the engine `{}` does not describe itself: {why}", spec.engine))
    };
    let flag = "--describe".to_owned();
    let mut bytes = Vec::new();
    if leading.is_empty() {
        let program = binary.to_str().ok_or_else(|| unusable("its path is not UTF-8".into()))?;
        let mut wanted = Spec::new(vec![program.to_owned(), flag], "/".into());
        wanted.env = environment(&spec.env, &spec.path);
        wanted.read_only.push(binary.to_owned());
        wanted.hidden.clone_from(&context.request.hidden);
        wanted.stdout_limit = limits::LOG_BYTES;
        wanted.isolation = context.request.isolation;
        let report = quorum_sandbox::run(&wanted).map_err(|error| unusable(error.to_string()))?;
        if report.end != End::Exited(0) || report.stdout.truncated {
            return Err(unusable(format!("{:?}", report.end)));
        }
        bytes = report.stdout.bytes;
    } else {
        json_rules::main(&[flag], &mut bytes, &mut std::io::sink());
    }
    Descriptor::parse(&bytes).map_err(|error| unusable(error.to_string()))
}

fn fill(args: &BTreeMap<String, Value>, places: &Places<'_>) -> Result<BTreeMap<String, Value>, VerifierError> {
    let value = |value: &Value| match value {
        Value::String(text) => places.fill(text).map(Value::String),
        other => Ok(other.clone()),
    };
    args.iter().map(|(key, arg)| Ok((key.clone(), value(arg)?))).collect()
}
