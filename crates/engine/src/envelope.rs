//! The bytes of a `loom-result/1.1` envelope.

use std::path::Path;

use quorum_schemas::Value;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::descriptor::Source;
use crate::hash::file_hash;
use crate::judge::{ProcessStatus, Verdict};
use crate::{EngineSpec, limits};

/// Everything that an envelope says.
pub(crate) struct Facts<'a> {
    pub(crate) spec: &'a EngineSpec,
    pub(crate) verdict: &'a Verdict,
    pub(crate) input_hash: String,
    pub(crate) cmd: Vec<String>,
    pub(crate) version: Option<&'a str>,
    pub(crate) report: Option<&'a quorum_sandbox::RunReport>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    schema: &'static str,
    tool: &'a str,
    tool_version: Option<&'a str>,
    status: &'static str,
    engineering: EngineeringPart<'a>,
    input_hash: &'a str,
    result: Option<&'a RawValue>,
    artifacts: Vec<Artifact>,
    error: Option<ErrorPart<'a>>,
    logs: Option<Logs>,
    provenance: Provenance<'a>,
    /// Ours, optional: a key that other readers ignore (loom_e7).
    x_quorum: Ours<'a>,
}

#[derive(Serialize)]
struct EngineeringPart<'a> {
    status: &'static str,
    assertion: Option<&'a str>,
    summary: &'a str,
}

#[derive(Serialize)]
struct Artifact {
    role: String,
    path: String,
    hash: String,
}

#[derive(Serialize)]
struct ErrorPart<'a> {
    code: &'a str,
    message: &'a str,
    exit_code: Option<i32>,
    stderr_tail: Option<String>,
}

#[derive(Serialize)]
struct Logs {
    count: usize,
    events: Vec<Box<RawValue>>,
    summary: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct Provenance<'a> {
    cmd: &'a [String],
    duration_ms: u64,
    env: &'a std::collections::BTreeMap<String, String>,
    maturity: &'static str,
    limitations: &'a [String],
}

#[derive(Serialize)]
struct Ours<'a> {
    row: String,
    isolation: Option<&'static str>,
    enforced: &'a [String],
    artifacts_omitted: usize,
    events_omitted: usize,
}

/// Writes the envelope.
pub(crate) fn write(facts: &Facts<'_>) -> Vec<u8> {
    let Facts { spec, verdict, report, .. } = facts;
    let stderr = report.map(|report| String::from_utf8_lossy(&report.stderr.bytes).into_owned()).unwrap_or_default();
    let Stderr { events, omitted: events_omitted, plain } = read_stderr(&stderr);
    // What an error run left behind is not a result.
    let (artifacts, artifacts_omitted) =
        if verdict.status == ProcessStatus::Ok { artifacts(facts) } else { (Vec::new(), 0) };
    let envelope = Envelope {
        schema: "loom-result/1.1",
        tool: spec.descriptor.name(),
        tool_version: facts.version,
        status: verdict.status.as_str(),
        engineering: EngineeringPart {
            status: verdict.engineering.as_str(),
            assertion: verdict.assertion.as_deref(),
            summary: &verdict.summary,
        },
        input_hash: &facts.input_hash,
        result: verdict.result.as_deref(),
        artifacts,
        error: verdict.error.as_ref().map(|error| ErrorPart {
            code: &error.code,
            message: &error.message,
            exit_code: error.exit_code,
            stderr_tail: report.map(|_| tail(&plain)),
        }),
        logs: logs(events),
        provenance: Provenance {
            cmd: &facts.cmd,
            duration_ms: report.map_or(0, |report| u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX)),
            env: &spec.env,
            maturity: spec.descriptor.maturity().as_str(),
            limitations: &spec.descriptor.limitations,
        },
        x_quorum: Ours {
            row: format!("{:?}", verdict.row),
            isolation: report.map(|report| report.isolation.as_str()),
            enforced: report.map_or(&[], |report| &report.enforced),
            artifacts_omitted,
            events_omitted,
        },
    };
    serde_json::to_vec(&envelope).expect("an envelope has only string keys and finite numbers")
}

struct Stderr {
    events: Vec<Event>,
    omitted: usize,
    plain: String,
}

struct Event {
    raw: Box<RawValue>,
    severity: String,
    code: Option<String>,
}

/// Splits events from plain lines (loom_l1); a line that only claims to be an event is plain text (loom_l5).
fn read_stderr(text: &str) -> Stderr {
    let mut split = Stderr { events: Vec::new(), omitted: 0, plain: String::new() };
    for line in text.split_inclusive('\n') {
        match event(line.trim()) {
            Some(_) if split.events.len() >= limits::EVENTS => split.omitted += 1,
            Some(event) => split.events.push(event),
            None => split.plain.push_str(line),
        }
    }
    split
}

fn event(line: &str) -> Option<Event> {
    if !line.starts_with('{') {
        return None;
    }
    let value = quorum_schemas::parse(line.as_bytes()).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let severity = text("severity").filter(|word| ["trace", "debug", "info", "warn", "error"].contains(word))?;
    let complete = text("schema") == Some("vyges-events/1.0")
        && text("tool").is_some()
        && text("raw_msg").is_some()
        && value.get("ts_ms").and_then(Value::as_i64).is_some()
        && value.get("code").is_none_or(|code| code.as_str().is_some());
    complete.then_some(())?;
    Some(Event {
        raw: RawValue::from_string(line.to_owned()).ok()?,
        severity: severity.to_owned(),
        code: text("code").map(str::to_owned),
    })
}

/// Null without events (loom_l2); zero counts omitted, codes in the order first seen (loom_l3).
fn logs(events: Vec<Event>) -> Option<Logs> {
    if events.is_empty() {
        return None;
    }
    let mut summary = serde_json::Map::new();
    for severity in ["trace", "debug", "info", "warn", "error"] {
        let count = events.iter().filter(|event| event.severity == severity).count();
        if count > 0 {
            summary.insert(format!("{severity}_count"), count.into());
        }
    }
    let mut codes: Vec<&str> = Vec::new();
    for code in events.iter().filter_map(|event| event.code.as_deref()) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    summary.insert("codes".to_owned(), codes.into());
    Some(Logs { count: events.len(), events: events.into_iter().map(|event| event.raw).collect(), summary })
}

/// The last bytes, cut at a character.
fn tail(text: &str) -> String {
    let start = text.len().saturating_sub(limits::STDERR_TAIL);
    let start = (start..=text.len()).find(|index| text.is_char_boundary(*index)).unwrap_or(text.len());
    text[start..].to_owned()
}

/// Declared files that exist, hashed by us, and how many could not be (loom_a1 to loom_a7, loom_a12).
fn artifacts(facts: &Facts<'_>) -> (Vec<Artifact>, usize) {
    let Facts { spec, verdict, .. } = facts;
    let result = verdict
        .result
        .as_deref()
        .and_then(|raw| quorum_schemas::parse_with(raw.get().as_bytes(), limits::PAYLOAD).ok());
    let mut found = Vec::new();
    let mut omitted = 0;
    for (role, source) in &spec.descriptor.artifacts {
        let named = match source {
            Source::Field(field) => result.as_ref().and_then(|result| result.get(field)),
            Source::Argument(name) => spec.args.get(name),
        };
        for path in paths(named) {
            match artifact(spec, role, path) {
                Some(artifact) if found.len() < limits::ARTIFACTS => found.push(artifact),
                _ => omitted += 1,
            }
        }
    }
    (found, omitted)
}

fn paths(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(path)) => vec![path],
        Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Only below folders that the engine was given: a payload must not make us read and name other files of this machine.
fn artifact(spec: &EngineSpec, role: &str, named: &str) -> Option<Artifact> {
    let cwd = spec.cwd.canonicalize().ok()?;
    let real = cwd.join(named).canonicalize().ok()?;
    let allowed = |folder: &Path| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    let path = match real.strip_prefix(&cwd) {
        Ok(relative) => relative.to_str()?.to_owned(),
        Err(_) if spec.read_only.iter().chain(&spec.writable).any(|folder| allowed(folder)) => named.to_owned(),
        Err(_) => return None,
    };
    if path.is_empty() || spec.hidden.iter().any(|folder| allowed(folder)) {
        return None;
    }
    Some(Artifact { role: role.to_owned(), path, hash: file_hash(&real).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(relative: &str) -> Option<serde_json::Value> {
        let bytes = quorum_schemas::upstream::read(&format!("vyges/{relative}"))?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    /// loom_l1 to loom_l4 over the standard error of every recorded run.
    #[test]
    fn logs_of_every_recorded_run() {
        let Some(cases) = read("expected-verdicts.json") else { return };
        let mut with_events = 0;
        for case in cases.as_array().unwrap() {
            let name = case["case"].as_str().unwrap();
            let run = read(&format!("runs/{name}.json")).unwrap();
            let plain = run["stderr_plain"].as_array().unwrap();
            let events = run["stderr_events"].as_array().unwrap();
            let mut text: String = events.iter().map(|event| format!("{event}\n")).collect();
            text.extend(plain.iter().map(|line| format!("{}\n", line.as_str().unwrap())));
            let found = logs(read_stderr(&text).events);
            let expected = &case["expected_logs"];
            let Some(found) = found else {
                assert!(expected.is_null(), "{name}");
                continue;
            };
            with_events += 1;
            assert_eq!(found.count, expected["count"], "{name}");
            assert_eq!(found.summary["codes"], expected["distinct_codes"], "{name}");
            for (severity, count) in expected["by_severity"].as_object().unwrap() {
                assert_eq!(found.summary[&format!("{severity}_count")], *count, "{name}");
            }
        }
        assert!(with_events > 20, "{with_events}");
    }

    #[test]
    fn a_tail_is_cut_at_a_character() {
        let text = format!("a{}", "é".repeat(limits::STDERR_TAIL));
        assert_eq!(tail(&text), "é".repeat(limits::STDERR_TAIL / 2));
        assert_eq!(tail("short"), "short");
    }
}
