//! `sensorium-workbench-process-run-result.v1`: a type for each outcome, so that a wrong combination does not exist.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quorum_schemas::{Digest, Object, SchemaName, Value, jcs, parse, validate};

use crate::limits::OUTPUT_BYTES;
use crate::profile::text;
use crate::{Address, Code, ContentDigest, EffectMode, Enforcement, Ref, RefusalCode, RelativePath, WorkbenchError};

/// One result. It says what happened to one command, never what that shows.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Its own name; equal in every replay (W-060).
    pub reference: Ref,
    /// Where it ran.
    pub address: Address,
    /// The profile's name.
    pub profile: Ref,
    /// The profile's content address.
    pub profile_digest: ContentDigest,
    /// The generation that it ran under (W-080).
    pub generation: Ref,
    /// What happened.
    pub outcome: Outcome,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It ran to an end; what it changed is unspecified.
    CompletedMutation(Completed),
    /// It ran to an end, and that it changed nothing was enforced and checked.
    CompletedObservation(Completed, Enforcement),
    /// Nothing ran.
    NotRun {
        /// Of the profile.
        mode: EffectMode,
        /// Why.
        code: Code,
        /// Who says so.
        seen: NotRun,
    },
    /// An observation ran, and the roots differ after it.
    EffectDetected,
    /// An observation ran out of time; nothing of it is left (W-050), and the roots have this digest, as before.
    TimeoutQuiesced(Digest),
    /// It may have run. Proves nothing.
    Unknown {
        /// Of the profile.
        mode: EffectMode,
        /// Why.
        code: Code,
    },
}

/// Who says that nothing ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRun {
    /// The sandbox, at admission or preparation (`guest-admission`).
    Sandbox,
    /// The workbench itself (`none`, or absent in a foreign result).
    Workbench,
}

/// A command that ran to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// Its exit status; `None` when a signal ended it. Not an outcome: 1 is a finished command.
    pub exit: Option<i32>,
    /// Standard output, as far as it was kept.
    pub stdout: Vec<u8>,
    /// Standard error, as far as it was kept.
    pub stderr: Vec<u8>,
    /// There was more.
    pub truncated: bool,
}

impl Completed {
    /// Standard output as something to read a check's result from; `None` when it was cut (W-070).
    #[must_use]
    pub fn whole_stdout(&self) -> Option<&[u8]> {
        (!self.truncated).then_some(&self.stdout)
    }
}

impl Outcome {
    /// The effect mode of the profile.
    #[must_use]
    pub fn mode(&self) -> EffectMode {
        match self {
            Self::CompletedMutation(_) => EffectMode::Mutation,
            Self::CompletedObservation(..) | Self::EffectDetected | Self::TimeoutQuiesced(_) => EffectMode::Observation,
            Self::NotRun { mode, .. } | Self::Unknown { mode, .. } => *mode,
        }
    }

    /// Whether the generation may have been changed by something that was to change nothing.
    #[must_use]
    pub fn taints(&self) -> bool {
        matches!(self, Self::EffectDetected | Self::Unknown { mode: EffectMode::Observation, .. })
    }
}

impl RunResult {
    /// Reads a result, ours or foreign.
    ///
    /// # Errors
    /// What is no strict JSON, breaks our schema (which is narrower than upstream's, docs/contracts.md), or
    /// [`WorkbenchError::Inconsistent`].
    pub fn read(bytes: &[u8]) -> Result<Self, WorkbenchError> {
        Self::from_value(&parse(bytes)?)
    }

    /// Reads a parsed result.
    ///
    /// # Errors
    /// As [`RunResult::read`].
    pub fn from_value(document: &Value) -> Result<Self, WorkbenchError> {
        validate(SchemaName::ProcessRunResult, document)
            .map_err(|violations| WorkbenchError::Schema { document: "process run result", violations })?;
        let address = document.get("address").unwrap_or(&Value::Null);
        Ok(Self {
            reference: Ref::new(text(document, "result/ref"))?,
            address: Address::read(address)?,
            profile: Ref::new(text(document, "command.profile/ref"))?,
            profile_digest: text(document, "command-profile/digest").parse()?,
            generation: Ref::new(text(document, "source/generation-ref"))?,
            outcome: outcome(document)?,
        })
    }

    /// The document in its RFC 8785 form.
    ///
    /// # Errors
    /// As [`RunResult::read`]: what a reader would refuse is not written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WorkbenchError> {
        let document = self.to_value();
        let again = Self::from_value(&document)?;
        debug_assert_eq!(&again, self, "a result that reads otherwise than it was written");
        Ok(jcs(&document)?)
    }

    fn to_value(&self) -> Value {
        let mut out = Object::new();
        let mut put = |name: &str, value: Value| drop(out.insert(name.to_owned(), value));
        put("schema", Value::from("sensorium-workbench-process-run-result.v1"));
        put("schema/v", serde_json::Value::from(1).into());
        put("result/ref", Value::from(&self.reference));
        put("address", self.address.write());
        put("command.profile/ref", Value::from(&self.profile));
        put("command-profile/digest", Value::from(self.profile_digest.to_string().as_str()));
        put("source/generation-ref", Value::from(&self.generation));
        put("effect/mode", Value::from(self.outcome.mode().as_str()));
        let (word, class, code) = match &self.outcome {
            Outcome::CompletedMutation(_) | Outcome::CompletedObservation(..) => ("completed", "guest-execution", None),
            Outcome::NotRun { code, seen: NotRun::Sandbox, .. } => ("refused", "guest-admission", Some(code.clone())),
            Outcome::NotRun { code, seen: NotRun::Workbench, .. } => ("refused", "none", Some(code.clone())),
            Outcome::EffectDetected => {
                ("refused", "guest-execution", Some(RefusalCode::ObservationEffectDetected.into()))
            }
            Outcome::TimeoutQuiesced(_) => {
                ("refused", "guest-execution", Some(RefusalCode::ObservationTimeoutQuiesced.into()))
            }
            Outcome::Unknown { code, .. } => ("unknown", "none", Some(code.clone())),
        };
        put("outcome", Value::from(word));
        put("evidence/class", Value::from(class));
        if let Some(code) = &code {
            put("error/code", Value::from(code));
        }
        match &self.outcome {
            Outcome::CompletedMutation(completed) => completed.write(&mut put),
            Outcome::CompletedObservation(completed, enforcement) => {
                completed.write(&mut put);
                put("effect/enforcement", enforcement.write());
            }
            Outcome::TimeoutQuiesced(roots) => {
                put("observation/timeout", quiesced(*roots));
            }
            Outcome::NotRun { .. } | Outcome::EffectDetected | Outcome::Unknown { .. } => {}
        }
        Value::Object(out)
    }
}

fn quiesced(roots: Digest) -> Value {
    let members = [("process/tree-quiesced", Value::Bool(true)), ("roots/digest", roots.into())];
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Completed {
    fn write(&self, put: &mut impl FnMut(&str, Value)) {
        put("exit/code", serde_json::Value::from(self.exit).into());
        put("stdout/base64", Value::from(STANDARD.encode(&self.stdout).as_str()));
        put("stderr/base64", Value::from(STANDARD.encode(&self.stderr).as_str()));
        put("output/truncated", Value::Bool(self.truncated));
    }

    fn read(document: &Value) -> Result<Self, WorkbenchError> {
        let stream = |name: &str| {
            STANDARD.decode(text(document, name)).map_err(|_| WorkbenchError::Inconsistent {
                rule: "W-034",
                why: format!("{name} is not canonical base64"),
            })
        };
        let (stdout, stderr) = (stream("stdout/base64")?, stream("stderr/base64")?);
        if stdout.len() + stderr.len() > OUTPUT_BYTES {
            let why = format!(
                "the streams have {} and {} bytes, both together have at most {OUTPUT_BYTES}",
                stdout.len(),
                stderr.len()
            );
            return Err(WorkbenchError::Inconsistent { rule: "W-035", why });
        }
        Ok(Self {
            // The schema holds it to 32 bits.
            exit: document.get("exit/code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok()),
            stdout,
            stderr,
            truncated: document.get("output/truncated").and_then(Value::as_bool).unwrap_or(true),
        })
    }
}

/// Every branch that the schema leaves is one outcome; the schema holds class, code and mode together (W-031 to W-033).
fn outcome(document: &Value) -> Result<Outcome, WorkbenchError> {
    let mode = match text(document, "effect/mode") {
        "observation" => EffectMode::Observation,
        _ => EffectMode::Mutation,
    };
    let class = document.get("evidence/class").and_then(Value::as_str);
    match text(document, "outcome") {
        "completed" => {
            let completed = Completed::read(document)?;
            Ok(match document.get("effect/enforcement") {
                Some(record) => Outcome::CompletedObservation(completed, Enforcement::read(record)?),
                None => Outcome::CompletedMutation(completed),
            })
        }
        "refused" => Ok(match text(document, "error/code") {
            "observation-effect-detected" => Outcome::EffectDetected,
            "observation-timeout-quiesced" => {
                let timeout = document.get("observation/timeout").unwrap_or(&Value::Null);
                Outcome::TimeoutQuiesced(text(timeout, "roots/digest").parse()?)
            }
            code => {
                let seen = if class == Some("guest-admission") { NotRun::Sandbox } else { NotRun::Workbench };
                Outcome::NotRun { mode, code: Code::new(code)?, seen }
            }
        }),
        _ => Ok(Outcome::Unknown { mode, code: Code::new(text(document, "error/code"))? }),
    }
}

impl Address {
    pub(crate) fn read(document: &Value) -> Result<Self, WorkbenchError> {
        Ok(Self {
            workspace: Ref::new(text(document, "workspace/ref"))?,
            root: Ref::new(text(document, "root/ref"))?,
            path: RelativePath::new(text(document, "relative/path"))?,
        })
    }

    fn write(&self) -> Value {
        let members = [
            ("workspace/ref", Value::from(&self.workspace)),
            ("root/ref", Value::from(&self.root)),
            ("relative/path", Value::from(&self.path)),
        ];
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}
