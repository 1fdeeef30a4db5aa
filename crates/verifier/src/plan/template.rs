//! Plan templates: TOML without a binding.

use quorum_handoff::{Handoff, WorkUnit};
use quorum_schemas::{Digest, Object, SchemaName, Value, validate};

use super::ADAPTER;
use super::bound::{BoundPlan, check_ids};
use super::check::Check;
use super::fields::Fields;
use crate::{VerifierError, limits};

/// One verifier's template, as its operator wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanTemplate {
    id: String,
    hidden: bool,
    verifier_id: String,
    checks: Vec<Check>,
    digest: Digest,
}

impl PlanTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// The `plan_*` errors: not TOML, unknown keys with a suggestion, missing keys, values out of range, unknown or not
    /// yet supported kinds.
    pub fn parse(bytes: &[u8]) -> Result<Self, VerifierError> {
        if bytes.len() > limits::PLAN_BYTES {
            let found = format!("{} bytes, the limit is {}", bytes.len(), limits::PLAN_BYTES);
            return Err(VerifierError::PlanSyntax(found));
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            return Err(VerifierError::PlanSyntax("it starts with a byte order mark; remove it".to_owned()));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| VerifierError::PlanSyntax(error.to_string()))?;
        let table: toml::Table = toml::from_str(text).map_err(|error| VerifierError::PlanSyntax(error.to_string()))?;
        let value = from_toml("the plan", toml::Value::Table(table))?;
        let plan = Fields::of("the plan", &value, &["schema_version", "id", "visibility", "verifier", "check"])?;
        let version = plan.need_text("schema_version")?;
        if version != "0.1" {
            return Err(plan.bad("schema_version", format!("`{version}`"), "\"0.1\""));
        }
        let id = plan.need_text("id")?;
        let verifier = Fields::of("[verifier]", plan.need("verifier")?, &["id"])?;
        let template = Self {
            id: id.to_owned(),
            hidden: plan.word("visibility", &[("public", false), ("hidden", true)])?.unwrap_or(false),
            verifier_id: verifier.need_text("id")?.to_owned(),
            checks: checks(plan.need("check")?)?,
            digest: Digest::of(bytes),
        };
        // The typed reading above gives the better messages; the schema has the last word on what it missed.
        validate(SchemaName::PlanTemplate, &value)
            .map_err(|violations| VerifierError::PlanInvalid(violations[0].to_string()))?;
        Ok(template)
    }

    /// The plan of one handoff, its checks in the order of the required validators.
    ///
    /// # Errors
    /// [`VerifierError::PlanValidatorsDiffer`] unless the checks are exactly the required validators (upstream E7),
    /// [`VerifierError::SelfVerification`] when the verifier is the worker (upstream E10).
    pub fn bind(
        &self,
        handoff: &Handoff,
        _work_unit: &WorkUnit,
        adapter_version: &str,
    ) -> Result<BoundPlan, VerifierError> {
        let required = handoff.required_validator_ids();
        check_ids(&self.checks, required)?;
        if self.verifier_id == handoff.worker_id() {
            return Err(VerifierError::SelfVerification(self.verifier_id.clone()));
        }
        let checks = required.iter().filter_map(|id| self.checks.iter().find(|check| check.id() == id));
        let verifier = [
            ("id", self.verifier_id.as_str()),
            ("type", "system"),
            ("adapter", ADAPTER),
            ("adapter_version", adapter_version),
        ];
        let verifier: Object = verifier.into_iter().map(|(key, text)| (key.to_owned(), text.into())).collect();
        let members: [(&str, Value); 10] = [
            ("schema_version", "0.1".into()),
            ("kind", "quorum-plan".into()),
            ("id", self.id.as_str().into()),
            ("template_digest", self.digest.into()),
            ("binding", handoff.evaluator_binding()),
            ("visibility", if self.hidden { "hidden" } else { "public" }.into()),
            ("verifier", Value::Object(verifier)),
            ("required_validator_ids", required.to_vec().into()),
            ("candidate_artifact_id", handoff.candidate_artifact_id().into()),
            ("checks", Value::Array(checks.map(|check| check.value().clone()).collect())),
        ];
        let value = Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        BoundPlan::from_value(value)
    }

    /// The plan's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The verifier that the template belongs to.
    #[must_use]
    pub fn verifier_id(&self) -> &str {
        &self.verifier_id
    }

    /// Whether workers may not see the plan.
    #[must_use]
    pub fn hidden(&self) -> bool {
        self.hidden
    }

    /// The checks in the order written.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// SHA-256 of the file.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Reads the list of checks of a template or a bound plan.
pub(super) fn checks(value: &Value) -> Result<Vec<Check>, VerifierError> {
    let wrong = |found: String| VerifierError::PlanBadValue {
        place: "the list of checks".to_owned(),
        found,
        wanted: format!("1 to {} checks", limits::PLAN_CHECKS),
    };
    let items = value.as_array().ok_or_else(|| wrong(value.kind().to_owned()))?;
    if items.is_empty() || items.len() > limits::PLAN_CHECKS {
        return Err(wrong(format!("{} checks", items.len())));
    }
    let checks: Vec<Check> =
        items.iter().enumerate().map(|(index, item)| Check::parse(item, index)).collect::<Result<_, _>>()?;
    for (index, check) in checks.iter().enumerate() {
        if checks[..index].iter().any(|earlier| earlier.id() == check.id()) {
            return Err(VerifierError::PlanDuplicateCheck(check.id().to_owned()));
        }
    }
    Ok(checks)
}

fn from_toml(place: &str, value: toml::Value) -> Result<Value, VerifierError> {
    let refuse = |found: String| VerifierError::PlanBadValue {
        place: place.to_owned(),
        found,
        wanted: "something that JSON can say: write it as a text".to_owned(),
    };
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => Value::from_serde(number.into()),
        toml::Value::Float(number) if number.is_finite() => Value::Float(number),
        toml::Value::Float(number) => return Err(refuse(number.to_string())),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(time) => return Err(refuse(format!("the date {time}"))),
        toml::Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| from_toml(place, item)).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(table) => {
            let member = |(key, value): (String, toml::Value)| {
                let value = from_toml(&format!("`{key}` of {place}"), value)?;
                Ok((key, value))
            };
            Value::Object(table.into_iter().map(member).collect::<Result<Object, VerifierError>>()?)
        }
    })
}
