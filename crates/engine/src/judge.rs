//! The verdict table V1 to V15, as a pure function.

use quorum_schemas::{Value, code_words, parse_with};
use serde_json::value::RawValue;

use crate::descriptor::{Assertion, Maturity, Predicate};
use crate::{Descriptor, limits};

/// Did the process run? Never about the design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProcessStatus {
    /// It ran to its end and said something that can be read.
    Ok,
    /// It did not.
    Error,
}

impl ProcessStatus {
    /// The word of the envelope.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }
}

/// What the engine's own result shows. Only [`Engineering::Pass`] is proof (loom_e9); there is deliberately no `is_ok`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Engineering {
    /// The declared assertion held over a complete result.
    Pass,
    /// The declared assertion was false.
    Fail,
    /// Nothing was shown.
    Unknown,
    /// The operation makes no claim.
    NotApplicable,
}

impl Engineering {
    /// The word of the envelope.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unknown => "unknown",
            Self::NotApplicable => "not_applicable",
        }
    }
}

/// The row of the table that applied.
///
/// V1 not started, V2 ended by us, V3 ended by a signal, V4 exit status not 0, V5 output not one JSON value,
/// V6 not applicable, V7 no assertion, V8 malformed assertion, V9 maturity `discovered`, V10 field missing, V11 field
/// null, V12 field of the wrong type, V13 predicate false, V14 true over an incomplete result, V15 true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[allow(missing_docs, reason = "the names are the rule numbers, described at the type")]
pub enum Row { V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11, V12, V13, V14, V15 }

/// How the engine's process ended, as far as the table cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEnd {
    /// Could not be started; the message names what was looked for.
    NotStarted(String),
    /// The request was refused before anything was started.
    Refused {
        /// Stable code, `invalid_request` or the sandbox's.
        code: String,
        /// The reason.
        message: String,
    },
    /// Killed by us at the deadline of so many milliseconds.
    TimedOut(u64),
    /// More output than the bound of so many bytes; nothing that was cut is parsed.
    OutputTooLarge(usize),
    /// Ended by this signal.
    Signaled(i32),
    /// Exit status.
    Exited(i32),
}

code_words! {
    /// Why a run has no result: the `error.code` of an envelope whose status is error. The check that asked for it is
    /// error too, never failed.
    pub enum RunCode in "engine" {
        /// The engine's program cannot be started.
        NotFound = "engine_not_found", "Install the engine where the plan's PATH finds it.";
        /// The engine did not end in time and was killed.
        Timeout = "engine_timeout", "Raise the timeout of the descriptor or the plan, or find out what hangs.";
        /// The engine wrote more than it may.
        OutputTooLarge = "output_too_large", "Let the engine write less to stdout and stderr.";
        /// A signal ended the engine.
        Signal = "engine_signal", "Look at the logs in the bundle; memory is the usual cause.";
        /// The engine ended with an exit code that means an error.
        Nonzero = "engine_nonzero", "Look at the logs in the bundle.";
        /// Stdout is not exactly one JSON document.
        UnparsableOutput = "unparsable_output", "Let the engine write one JSON document to stdout and all else to stderr.";
    }
}

/// `error` of the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRecord {
    /// Stable code.
    pub code: String,
    /// For people.
    pub message: String,
    /// Exit status where there was one.
    pub exit_code: Option<i32>,
}

/// The two axes of one run.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Did it run.
    pub status: ProcessStatus,
    /// What it shows.
    pub engineering: Engineering,
    /// Id of the assertion that was judged; `None` when none was declared, it was dropped, or the run is an error.
    pub assertion: Option<String>,
    /// One sentence.
    pub summary: String,
    /// The row that applied.
    pub row: Row,
    /// Set exactly with [`ProcessStatus::Error`] (loom_e4).
    pub error: Option<ErrorRecord>,
    /// The engine's JSON exactly as it printed it (loom_e5); kept on errors too when it can be read (loom_e6).
    pub result: Option<Box<RawValue>>,
}

/// Judges one run; the first row that fits decides.
#[must_use]
pub fn judge(descriptor: &Descriptor, end: &ProcessEnd, stdout: &[u8]) -> Verdict {
    if let Some((row, error)) = not_run(descriptor, end) {
        let result = payload(stdout).ok().map(|(raw, _)| raw);
        return failed_run(row, error, result);
    }
    let (result, value) = if descriptor.emits_json() {
        match payload(stdout) {
            Ok((raw, value)) => (Some(raw), value),
            Err(message) => {
                let error =
                    ErrorRecord { code: RunCode::UnparsableOutput.code().to_owned(), message, exit_code: Some(0) };
                return failed_run(Row::V5, error, None);
            }
        }
    } else {
        (None, Value::Null)
    };
    let Judged { row, engineering, assertion, summary } = by_assertion(descriptor, &value);
    Verdict { status: ProcessStatus::Ok, engineering, assertion, summary, row, error: None, result }
}

fn failed_run(row: Row, error: ErrorRecord, result: Option<Box<RawValue>>) -> Verdict {
    Verdict {
        status: ProcessStatus::Error,
        engineering: Engineering::Unknown,
        assertion: None,
        summary: "execution did not complete; no engineering conclusion reached".to_owned(),
        row,
        error: Some(error),
        result,
    }
}

/// V1 to V4.
fn not_run(descriptor: &Descriptor, end: &ProcessEnd) -> Option<(Row, ErrorRecord)> {
    let record =
        |code: &str, message: String, exit_code: Option<i32>| ErrorRecord { code: code.to_owned(), message, exit_code };
    let name = descriptor.name();
    Some(match end {
        ProcessEnd::NotStarted(message) => (Row::V1, record(RunCode::NotFound.code(), message.clone(), None)),
        ProcessEnd::Refused { code, message } => (Row::V1, record(code, message.clone(), None)),
        ProcessEnd::TimedOut(milliseconds) => {
            let message = format!("{name} was killed at its deadline of {milliseconds} ms");
            (Row::V2, record(RunCode::Timeout.code(), message, None))
        }
        ProcessEnd::OutputTooLarge(bound) => {
            (Row::V2, record(RunCode::OutputTooLarge.code(), format!("{name} wrote more than {bound} bytes"), None))
        }
        ProcessEnd::Signaled(signal) => {
            (Row::V3, record(RunCode::Signal.code(), format!("{name} was ended by signal {signal}"), None))
        }
        ProcessEnd::Exited(0) => return None,
        ProcessEnd::Exited(code) => {
            (Row::V4, record(RunCode::Nonzero.code(), format!("{name} exited with code {code}"), Some(*code)))
        }
    })
}

/// Exactly one JSON value, strictly: no duplicate keys (loom_v_h), no bare `inf`, nothing after it. Its text is kept.
fn payload(stdout: &[u8]) -> Result<(Box<RawValue>, Value), String> {
    let text =
        std::str::from_utf8(stdout).map_err(|error| format!("stdout is not UTF-8 at byte {}", error.valid_up_to()))?;
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.is_empty() {
        return Err("stdout is empty; one JSON value was declared".to_owned());
    }
    let value = parse_with(text.as_bytes(), limits::PAYLOAD).map_err(|error| format!("stdout: {error}"))?;
    let raw = RawValue::from_string(text.to_owned()).map_err(|error| format!("stdout: {error}"))?;
    Ok((raw, value))
}

struct Judged {
    row: Row,
    engineering: Engineering,
    assertion: Option<String>,
    summary: String,
}

/// V6 to V15.
fn by_assertion(descriptor: &Descriptor, result: &Value) -> Judged {
    let unknown = |row, assertion: Option<&String>, summary: String| Judged {
        row,
        engineering: Engineering::Unknown,
        assertion: assertion.cloned(),
        summary,
    };
    match descriptor.assertion() {
        Assertion::NotApplicable { id } => Judged {
            row: Row::V6,
            engineering: Engineering::NotApplicable,
            assertion: id.clone(),
            summary: "the operation makes no engineering claim".to_owned(),
        },
        Assertion::Silent => unknown(Row::V7, None, "no assertion is declared; silence is never a pass".to_owned()),
        Assertion::Malformed { why } => unknown(Row::V8, None, format!("the declared assertion is not usable: {why}")),
        Assertion::Holds { id, .. } if descriptor.maturity() == Maturity::Discovered => {
            let summary = format!("verdict on '{id}' suppressed: the engine's maturity is `discovered`");
            unknown(Row::V9, Some(id), summary)
        }
        Assertion::Holds { id, field, pass_when, summary_field } => {
            let (row, engineering, sentence) = by_field(id, field, pass_when, result);
            let own = summary_field.as_deref().and_then(|key| result.get(key)).and_then(Value::as_str);
            let summary = match own {
                Some(own) if matches!(row, Row::V13 | Row::V14 | Row::V15) => own.to_owned(),
                _ => sentence,
            };
            Judged { row, engineering, assertion: Some(id.clone()), summary }
        }
    }
}

/// V10 to V15. No other field ever stands in (loom_v_j).
fn by_field(id: &str, field: &str, pass_when: &Predicate, result: &Value) -> (Row, Engineering, String) {
    use Engineering::{Fail, Pass, Unknown};
    let found = if field.starts_with('/') { result.pointer(field) } else { result.get(field) };
    let Some(found) = found else {
        return (Row::V10, Unknown, format!("verdict field '{field}' is missing from the result"));
    };
    if *found == Value::Null {
        return (Row::V11, Unknown, format!("verdict field '{field}' is null"));
    }
    let Some(held) = holds(pass_when, found) else {
        return (Row::V12, Unknown, format!("verdict field '{field}' is of the wrong type ({})", found.kind()));
    };
    if !held {
        return (Row::V13, Fail, format!("assertion '{id}' did not hold: '{field}' is {}", found.shown()));
    }
    if !covers_everything(result) {
        let summary = format!("assertion '{id}' held on '{field}', but the result's coverage is not complete");
        return (Row::V14, Unknown, summary);
    }
    (Row::V15, Pass, format!("assertion '{id}' held on '{field}'"))
}

/// `None`: not of the predicate's type.
fn holds(predicate: &Predicate, found: &Value) -> Option<bool> {
    match (predicate, found) {
        (Predicate::IsTrue, Value::Bool(flag)) => Some(*flag),
        (Predicate::IsTrue, _) => None,
        (Predicate::Eq(Value::Bool(wanted)), Value::Bool(found)) => Some(wanted == found),
        (Predicate::Eq(Value::String(wanted)), Value::String(found)) => Some(wanted == found),
        (Predicate::Eq(wanted), found) => same_number(wanted, found),
    }
}

/// Numbers by value and exactly: 0 is 0.0, and 2^53 + 1 is not the float beside it.
fn same_number(one: &Value, other: &Value) -> Option<bool> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => Some(one == other),
        (Value::Float(one), Value::Float(other)) => Some(one == other),
        (Value::Int(integer), Value::Float(float)) | (Value::Float(float), Value::Int(integer)) => {
            let whole = float.fract() == 0.0 && format!("{:.0}", float + 0.0) == integer.as_str();
            Some(whole)
        }
        _ => None,
    }
}

/// Absent: complete, since most engines never state it. Stated: only `complete: true` is (loom_v_c, fail-closed).
fn covers_everything(result: &Value) -> bool {
    result.get("coverage").is_none_or(|coverage| coverage.get("complete").and_then(Value::as_bool) == Some(true))
}
