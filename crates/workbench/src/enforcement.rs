//! `effect/enforcement`: what an observation's owner says that it enforced (W-030).

use quorum_schemas::{Digest, Object, Value};

use crate::profile::{text, texts};
use crate::{RelativePath, WorkbenchError};

/// A complete record: the five members of upstream, and members of ours under `x/`.
#[derive(Debug, Clone, PartialEq)]
pub struct Enforcement {
    /// By what, such as `linux-unprivileged-readonly-namespace.v1`.
    pub mechanism: String,
    /// The user that the command was; never root, who could mount writable again.
    pub uid: u32,
    /// What was compared before and after; the whole workspace (W-022).
    pub roots: Vec<RelativePath>,
    /// The digest that the roots had before and after.
    pub roots_digest: Digest,
    /// Members of ours, each beginning with `x/`.
    pub extra: Object,
}

impl Enforcement {
    /// From a record that the schema admitted.
    pub(crate) fn read(record: &Value) -> Result<Self, WorkbenchError> {
        let uid = record.get("identity/uid").and_then(Value::as_u64).and_then(|uid| u32::try_from(uid).ok());
        let roots = texts(record.get("observation/roots"));
        let extra = record.as_object().into_iter().flatten().filter(|(name, _)| name.starts_with("x/"));
        Ok(Self {
            mechanism: text(record, "mechanism").to_owned(),
            uid: uid.ok_or_else(|| WorkbenchError::Inconsistent {
                rule: "W-030",
                why: "identity/uid is no user number".to_owned(),
            })?,
            roots: roots.iter().map(|root| RelativePath::new(root)).collect::<Result<_, _>>()?,
            roots_digest: text(record, "roots/digest").parse()?,
            extra: extra.map(|(name, value)| (name.clone(), value.clone())).collect(),
        })
    }

    pub(crate) fn write(&self) -> Value {
        let mut record = self.extra.clone();
        record.insert("effect/mode".to_owned(), Value::from("observation"));
        record.insert("mechanism".to_owned(), Value::from(self.mechanism.as_str()));
        record.insert("identity/uid".to_owned(), serde_json::Value::from(self.uid).into());
        record.insert("observation/roots".to_owned(), Value::Array(self.roots.iter().map(Value::from).collect()));
        record.insert("roots/digest".to_owned(), self.roots_digest.into());
        Value::Object(record)
    }
}
