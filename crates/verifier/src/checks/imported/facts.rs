//! What the checks of an imported plan may know of the worker's own words.

use quorum_handoff::Manifest;
use quorum_schemas::{Object, Value};

/// Status and logs of a manifest, as the parent read them.
///
/// EvaluatorPlan 0.2 to 0.4 judge them by definition (design section 4, Blinding). Only a plan that was imported can carry
/// this, only the checks of this folder can look into it, and such a plan starts no command and no engine, so that nothing
/// of it reaches one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFacts {
    status: String,
    logs: Vec<LogFact>,
}

/// One log that a manifest declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogFact {
    pub(super) kind: String,
    pub(super) locator: String,
    pub(super) digest: Option<String>,
}

impl ManifestFacts {
    /// The facts of a manifest that was taken in.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        Self::read(manifest.value())
    }

    /// For the pipe to the check child.
    pub(crate) fn to_value(&self) -> Value {
        let logs = self.logs.iter().map(|log| {
            let mut row = Object::from([
                ("type".to_owned(), log.kind.as_str().into()),
                ("locator".to_owned(), log.locator.as_str().into()),
            ]);
            row.extend(log.digest.as_deref().map(|digest| ("digest".to_owned(), digest.into())));
            Value::Object(row)
        });
        Value::Object(Object::from([
            ("status".to_owned(), self.status.as_str().into()),
            ("logs".to_owned(), Value::Array(logs.collect())),
        ]))
    }

    /// From a manifest, or from the pipe.
    pub(crate) fn read(value: &Value) -> Self {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let logs = value.get("logs").and_then(Value::as_array).unwrap_or_default();
        Self {
            status: text(value, "status"),
            logs: logs
                .iter()
                .map(|log| LogFact {
                    kind: text(log, "type"),
                    locator: text(log, "locator"),
                    digest: log.get("digest").and_then(Value::as_str).map(str::to_owned),
                })
                .collect(),
        }
    }

    pub(super) fn status(&self) -> &str {
        &self.status
    }

    pub(super) fn logs(&self) -> &[LogFact] {
        &self.logs
    }
}
