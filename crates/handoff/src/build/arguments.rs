//! The arguments of the builder, checked and normalised, in the order of the rules R3 to R17.

use quorum_schemas::{Digest, Object, Timestamp, Value};

use super::{caused, refused};
use crate::BuildRule::{self, *};
use crate::error::{shown, shown_text};
use crate::read::{countable, is_blank, nonblank, not_array, not_count, not_digest, not_object, not_text, positive};
use crate::{CandidateReference, Document, HandoffError};

const KNOWN: [&str; 15] = [
    "attempt",
    "candidate",
    "environment",
    "finished_at",
    "logs",
    "manifest_id",
    "metrics",
    "resources",
    "self_report",
    "self_report_source",
    "started_at",
    "status",
    "verification_notes",
    "worker",
    "worker_config_digest",
];
const WORKER_TYPES: [&str; 4] = ["agent", "human", "hybrid", "system"];
const STATUSES: [&str; 5] = ["cancelled", "error", "failed", "succeeded", "timeout"];
const LOG_TYPES: [&str; 5] = ["other", "stderr", "stdout", "tool_calls", "trace"];
const MEANINGS: [&str; 3] = ["probability_of_success", "subjective", "uncalibrated"];
const SOURCES: [&str; 3] = ["normalizer", "provider", "worker"];

/// Arguments that break no rule, in the form in which they stand in the manifest.
pub(super) struct Arguments<'a> {
    pub(super) id: &'a str,
    pub(super) attempt: u64,
    pub(super) worker: Value,
    pub(super) status: &'a str,
    pub(super) resources: Value,
    pub(super) started_at: String,
    pub(super) finished_at: String,
    pub(super) reference: CandidateReference,
    pub(super) self_report_source: &'a str,
    /// `None` where the worker says nothing.
    pub(super) self_report: Option<Value>,
    pub(super) logs: Value,
    pub(super) worker_config_digest: Option<Digest>,
    pub(super) validators: Vec<&'a str>,
    pub(super) metrics: Value,
    pub(super) environment: Value,
    pub(super) verification_notes: Option<&'a str>,
}

impl<'a> Arguments<'a> {
    /// Reads the document of arguments; `validators` answers R14 when its turn comes.
    pub(super) fn read(
        value: &'a Value,
        validators: impl FnOnce() -> Result<Vec<&'a str>, HandoffError>,
    ) -> Result<Self, HandoffError> {
        let members = value
            .as_object()
            .ok_or_else(|| HandoffError::Argument { argument: "arguments", message: not_object(Some(value)) })?;
        if let Some(unknown) = members.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            let message = format!("there is no argument {}", shown_text(unknown));
            return Err(HandoffError::Argument { argument: "arguments", message });
        }
        let at = |name: &str| value.get(name);
        let id = manifest_id(at("manifest_id"))?;
        countable(Document::BuildArguments, value, &[&["attempt"]])?;
        let attempt = positive(at("attempt")).ok_or_else(|| wrong(R4, "/attempt", not_count(at("attempt"), 1)))?;
        let worker = worker(at("worker"))?;
        let status = word(R6, "/status", at("status"), &STATUSES)?;
        let resources = resources(at("resources"))?;
        let (started_at, finished_at) = times(at("started_at"), at("finished_at"))?;
        let reference = candidate(at("candidate"))?;
        let self_report_source = source(at("self_report_source"), at("self_report").is_some())?;
        Ok(Self {
            id,
            attempt,
            worker,
            status,
            resources,
            started_at,
            finished_at,
            reference,
            self_report_source,
            self_report: at("self_report").map(self_report).transpose()?,
            logs: logs(at("logs"))?,
            worker_config_digest: at("worker_config_digest")
                .map(|found| digest(R13, "/worker_config_digest", found))
                .transpose()?,
            validators: validators()?,
            metrics: metrics(at("metrics"))?,
            environment: environment(at("environment"))?,
            verification_notes: at("verification_notes").map(notes).transpose()?,
        })
    }
}

/// R3.
fn manifest_id(found: Option<&Value>) -> Result<&str, HandoffError> {
    let fits = |id: &&str| {
        (3..=128).contains(&id.len())
            && id
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'/' | b'-'))
            && id.as_bytes()[0].is_ascii_alphanumeric()
    };
    found.and_then(Value::as_str).filter(fits).ok_or_else(|| {
        let needed = "3 to 128 characters of a-z0-9._/- that start with a letter or digit are needed";
        wrong(R3, "/manifest_id", format!("{needed}, found {}", shown(found)))
    })
}

/// R5.
fn worker(found: Option<&Value>) -> Result<Value, HandoffError> {
    let members = members(R5, "/worker", found, &["id", "type", "adapter", "adapter_version", "model"])?;
    for name in ["id", "adapter"] {
        text(R5, "/worker", name, members.get(name))?;
    }
    word(R5, "/worker/type", members.get("type"), &WORKER_TYPES)?;
    optional_texts(R5, "/worker", members, &["adapter_version"])?;
    if let Some(model) = members.get("model") {
        let model = self::members(R5, "/worker/model", Some(model), &["name", "provider", "version"])?;
        text(R5, "/worker/model", "name", model.get("name"))?;
        optional_texts(R5, "/worker/model", model, &["provider", "version"])?;
    }
    Ok(Value::Object(members.clone()))
}

/// R7.
fn resources(found: Option<&Value>) -> Result<Value, HandoffError> {
    const MEASURES: [&str; 5] = ["wall_seconds", "cpu_seconds", "max_rss_mb", "compute_units", "human_minutes"];
    let known = ["wall_seconds", "cpu_seconds", "max_rss_mb", "compute_units", "human_minutes", "tokens"];
    let members = members(R7, "/resources", found, &known)?;
    for name in MEASURES {
        let measure = members.get(name);
        let fits = match measure {
            None => name != "wall_seconds",
            Some(found) => number(found).is_some_and(|number| number >= 0.0),
        };
        if !fits {
            let message = format!("a finite number of at least 0 is needed, found {}", measured(measure));
            return Err(wrong(R7, &format!("/resources/{name}"), message));
        }
    }
    if let Some(tokens) = members.get("tokens")
        && (!matches!(tokens, Value::Int(_)) || number(tokens).is_none_or(|number| number < 0.0))
    {
        let message = format!("an integer of at least 0 is needed, found {}", shown(Some(tokens)));
        return Err(wrong(R7, "/resources/tokens", message));
    }
    Ok(Value::Object(members.clone()))
}

/// R8.
fn times(started_at: Option<&Value>, finished_at: Option<&Value>) -> Result<(String, String), HandoffError> {
    let read = |place: &str, found: Option<&Value>| -> Result<Timestamp, HandoffError> {
        found.and_then(Value::as_str).and_then(|text| text.parse().ok()).ok_or_else(|| {
            let message =
                format!("a time with an offset, such as 2026-01-31T12:00:00Z, is needed, found {}", shown(found));
            wrong(R8, place, message)
        })
    };
    let (started, finished) = (read("/started_at", started_at)?, read("/finished_at", finished_at)?);
    if finished < started {
        let message = format!("the work ends at {finished}, before it began at {started}");
        return Err(wrong(R8, "/finished_at", message));
    }
    Ok((utc(started), utc(finished)))
}

/// As Python's `isoformat` writes it: no fraction, or six digits of it.
fn utc(time: Timestamp) -> String {
    let text = time.to_string();
    match text.strip_suffix('Z').and_then(|text| text.split_once('.')) {
        Some((seconds, fraction)) => format!("{seconds}.{fraction:0<6}Z"),
        None => text,
    }
}

/// R9.
fn candidate(found: Option<&Value>) -> Result<CandidateReference, HandoffError> {
    const PLACE: &str = "/candidate";
    let found = found.ok_or_else(|| wrong(R9, PLACE, not_object(None)))?;
    CandidateReference::parse(found).map_err(|error| caused(R9, &error.moved(Document::BuildArguments, PLACE)))
}

/// R10.
fn source(found: Option<&Value>, has_report: bool) -> Result<&str, HandoffError> {
    const PLACE: &str = "/self_report_source";
    if has_report {
        return word(R10, PLACE, found, &SOURCES);
    }
    match found {
        None => Ok("absent"),
        Some(found) => word(R10, PLACE, Some(found), &["absent"]),
    }
}

/// R10 for its form, R11 for its confidence.
fn self_report(found: &Value) -> Result<Value, HandoffError> {
    let report = members(R10, "/self_report", Some(found), &["summary", "claims", "confidence"])?;
    if report.get("summary").and_then(Value::as_str).is_none() {
        let message = format!("a string is needed, found {}", shown(report.get("summary")));
        return Err(wrong(R10, "/self_report/summary", message));
    }
    let mut report = report.clone();
    let claims = report.entry("claims".into()).or_insert_with(|| Value::Array(Vec::new()));
    let claims = claims.as_array().ok_or_else(|| wrong(R10, "/self_report/claims", not_array(found.get("claims"))))?;
    if let Some((index, claim)) = claims.iter().enumerate().find(|(_, claim)| claim.as_str().is_none()) {
        let message = format!("a string is needed, found {}", shown(Some(claim)));
        return Err(wrong(R10, &format!("/self_report/claims/{index}"), message));
    }
    if let Some(confidence) = report.get("confidence") {
        const PLACE: &str = "/self_report/confidence";
        let confidence = members(R11, PLACE, Some(confidence), &["value", "meaning"])?;
        let value = confidence.get("value");
        if !value.and_then(number).is_some_and(|value| (0.0..=1.0).contains(&value)) {
            let message = format!("a number from 0 to 1 is needed, found {}", measured(value));
            return Err(wrong(R11, &format!("{PLACE}/value"), message));
        }
        word(R11, &format!("{PLACE}/meaning"), confidence.get("meaning"), &MEANINGS)?;
    }
    Ok(Value::Object(report))
}

/// R12.
fn logs(found: Option<&Value>) -> Result<Value, HandoffError> {
    let Some(found) = found else { return Ok(Value::Array(Vec::new())) };
    let logs = found.as_array().ok_or_else(|| wrong(R12, "/logs", not_array(Some(found))))?;
    for (index, log) in logs.iter().enumerate() {
        let place = format!("/logs/{index}");
        let log = members(R12, &place, Some(log), &["type", "locator", "digest"])?;
        word(R12, &format!("{place}/type"), log.get("type"), &LOG_TYPES)?;
        text(R12, &place, "locator", log.get("locator"))?;
        if let Some(found) = log.get("digest") {
            digest(R12, &format!("{place}/digest"), found)?;
        }
    }
    Ok(found.clone())
}

/// R15.
fn metrics(found: Option<&Value>) -> Result<Value, HandoffError> {
    let Some(found) = found else { return Ok(Value::Object(Object::new())) };
    let metrics = found.as_object().ok_or_else(|| wrong(R15, "/metrics", not_object(Some(found))))?;
    for (name, metric) in metrics {
        if is_blank(name) {
            return Err(wrong(R15, "/metrics", format!("the name {} is blank", shown_text(name))));
        }
        if *metric != Value::Null && number(metric).is_none() {
            let found = measured(Some(metric));
            let message = format!("{} is {found}; a finite number or null is needed", shown_text(name));
            return Err(wrong(R15, "/metrics", message));
        }
    }
    Ok(found.clone())
}

/// R16.
fn environment(found: Option<&Value>) -> Result<Value, HandoffError> {
    let Some(found) = found else { return Ok(Value::Object(Object::new())) };
    const DETAILS: [&str; 3] = ["platform", "python", "container_image"];
    let known = ["platform", "python", "container_image", "tool_versions"];
    let environment = members(R16, "/environment", Some(found), &known)?;
    optional_texts(R16, "/environment", environment, &DETAILS)?;
    if let Some(tools) = environment.get("tool_versions") {
        const PLACE: &str = "/environment/tool_versions";
        let tools = tools.as_object().ok_or_else(|| wrong(R16, PLACE, not_object(Some(tools))))?;
        for (tool, version) in tools {
            if is_blank(tool) || nonblank(Some(version)).is_none() {
                let message =
                    format!("{} is {}; two non-empty strings are needed", shown_text(tool), shown(Some(version)));
                return Err(wrong(R16, PLACE, message));
            }
        }
    }
    Ok(found.clone())
}

/// R17.
fn notes(found: &Value) -> Result<&str, HandoffError> {
    found
        .as_str()
        .ok_or_else(|| wrong(R17, "/verification_notes", format!("a string is needed, found {}", shown(Some(found)))))
}

fn wrong(rule: BuildRule, pointer: &str, message: String) -> HandoffError {
    refused(rule, Document::BuildArguments, pointer, message)
}

/// An object with none but these members.
fn members<'a>(
    rule: BuildRule,
    place: &str,
    found: Option<&'a Value>,
    known: &[&str],
) -> Result<&'a Object, HandoffError> {
    let members = found.and_then(Value::as_object).ok_or_else(|| wrong(rule, place, not_object(found)))?;
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(wrong(rule, place, format!("there is no member {} here", shown_text(unknown)))),
        None => Ok(members),
    }
}

fn text<'a>(rule: BuildRule, place: &str, name: &str, found: Option<&'a Value>) -> Result<&'a str, HandoffError> {
    nonblank(found).ok_or_else(|| wrong(rule, &format!("{place}/{name}"), not_text(found)))
}

fn optional_texts(rule: BuildRule, place: &str, members: &Object, names: &[&str]) -> Result<(), HandoffError> {
    for name in names {
        if let Some(found) = members.get(*name) {
            text(rule, place, name, Some(found))?;
        }
    }
    Ok(())
}

fn word<'a>(rule: BuildRule, place: &str, found: Option<&'a Value>, words: &[&str]) -> Result<&'a str, HandoffError> {
    found
        .and_then(Value::as_str)
        .filter(|word| words.contains(word))
        .ok_or_else(|| wrong(rule, place, format!("one of {} is needed, found {}", words.join(", "), shown(found))))
}

fn digest(rule: BuildRule, place: &str, found: &Value) -> Result<Digest, HandoffError> {
    let read = found.as_str().and_then(|text| text.parse().ok());
    read.ok_or_else(|| wrong(rule, place, not_digest(Some(found))))
}

/// A finite number; an integer too large for a float is refused as upstream refuses it.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Int(integer) => integer.as_str().parse().ok()?,
        Value::Float(number) => *number,
        _ => return None,
    };
    f64::is_finite(number).then_some(number)
}

/// A measure as messages show it; what is not finite has no JSON text.
fn measured(found: Option<&Value>) -> String {
    match found {
        Some(Value::Float(number)) if !number.is_finite() => number.to_string(),
        found => shown(found),
    }
}
