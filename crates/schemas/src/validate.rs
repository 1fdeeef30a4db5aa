//! Validation against the embedded schemas.

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{Keyword, PatternCache, PatternOptions, Retrieve, Uri, ValidationError};

use crate::limits::VIOLATIONS;
use crate::place::escape;
use crate::{SchemaName, Timestamp, Value};

/// One place where a document does not follow its schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaViolation {
    /// JSON Pointer of the offending value; empty for the root.
    pub pointer: String,
    /// What is wrong, naming the value.
    pub message: String,
}

impl fmt::Display for SchemaViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "/" } else { &self.pointer };
        write!(f, "{place}: {}", self.message)
    }
}

/// Checks `value` against the schema `name`. Integers must be integer tokens (`1.0` is not a version), `date-time` is
/// asserted (as [`Timestamp`] reads it), and `$` in a pattern is the very end of the text.
///
/// # Errors
/// The violations, ordered by place; never empty, at most [`VIOLATIONS`]. An unexpected or a missing member is reported
/// at its own pointer.
pub fn validate(name: SchemaName, value: &Value) -> Result<(), Vec<SchemaViolation>> {
    let instance = to_instance(value);
    let validator = validator(name);
    if validator.is_valid(&instance) {
        return Ok(());
    }
    let mut violations = Vec::new();
    for error in validator.iter_errors(&instance) {
        report(&error, value, &mut violations);
        if violations.len() >= VIOLATIONS {
            break;
        }
    }
    violations.truncate(VIOLATIONS);
    violations.sort();
    violations.dedup();
    Err(violations)
}

/// Integers beyond 64 bits are cut to the ends of the range, so that only a float token arrives as a float.
fn to_instance(value: &Value) -> serde_json::Value {
    match value {
        Value::Int(integer) if integer.as_i64().is_none() && integer.as_u64().is_none() => {
            if integer.as_str().starts_with('-') { i64::MIN.into() } else { u64::MAX.into() }
        }
        Value::Array(items) => items.iter().map(to_instance).collect(),
        Value::Object(members) => {
            serde_json::Value::Object(members.iter().map(|(key, member)| (key.clone(), to_instance(member))).collect())
        }
        other => other.to_serde(),
    }
}

fn report(error: &ValidationError<'_>, root: &Value, out: &mut Vec<SchemaViolation>) {
    let pointer = error.instance_path().to_string();
    let found = root.pointer(&pointer).map_or_else(|| "missing".to_owned(), Value::shown);
    let mut add = |pointer: String, message: String| out.push(SchemaViolation { pointer, message });
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for key in unexpected.iter().take(VIOLATIONS) {
                let place = format!("{pointer}/{}", escape(key));
                let found = root.pointer(&place).map_or_else(|| "missing".to_owned(), Value::shown);
                add(place, format!("a member called {} is not allowed here, found {found}", shown_text(key)));
            }
        }
        Kind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            add(format!("{pointer}/{}", escape(key)), format!("the member {} is missing", shown_text(key)));
        }
        Kind::OneOfNotValid { context } | Kind::AnyOf { context } => {
            // The branch that the document comes closest to says most about what is wrong with it.
            for inner in context.iter().min_by_key(|errors| errors.len()).into_iter().flatten() {
                report(inner, root, out);
            }
        }
        Kind::PropertyNames { error } => {
            let name = Value::from_serde(error.instance().as_ref().clone()).shown();
            add(pointer, format!("a member's name {}, found {name}", expectation(error.kind())));
        }
        kind => add(pointer, format!("{}, found {found}", expectation(kind))),
    }
}

fn expectation(kind: &Kind) -> String {
    let shown = |value: &serde_json::Value| Value::from_serde(value.clone()).shown();
    match kind {
        Kind::Custom { message, .. } => message.clone(),
        Kind::Constant { expected_value } => format!("must be {}", shown(expected_value)),
        Kind::Enum { options } => {
            let words = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("must be one of {}", words.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        Kind::Format { format } => format!("must be a {format} with an offset, such as 2026-01-31T12:00:00Z"),
        Kind::Pattern { pattern } => format!("must match {pattern}"),
        Kind::Minimum { limit } => format!("must be at least {}", shown(limit)),
        Kind::Maximum { limit } => format!("must be at most {}", shown(limit)),
        Kind::MinItems { limit } => format!("must have at least {limit} item(s)"),
        Kind::MaxItems { limit } => format!("must have at most {limit} item(s)"),
        Kind::MinLength { limit } => format!("must have at least {limit} character(s)"),
        Kind::MaxLength { limit } => format!("must have at most {limit} character(s)"),
        Kind::MinProperties { limit } => format!("must have at least {limit} member(s)"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} member(s)"),
        Kind::FalseSchema => "must not be here".to_owned(),
        Kind::UniqueItems => "must not have the same item twice".to_owned(),
        Kind::OneOfMultipleValid { .. } => "must be of exactly one of the forms, and is of several".to_owned(),
        other => format!("does not follow `{}`", other.keyword()),
    }
}

fn shown_text(text: &str) -> String {
    Value::from(text).shown()
}

/// `type`, with `integer` meaning an integer token. The dialect's own reading admits `1.0`, whose C1 bytes differ.
struct StrictType(Vec<String>);

impl StrictType {
    fn admits(&self, instance: &serde_json::Value) -> bool {
        self.0.iter().any(|kind| match (kind.as_str(), instance) {
            ("null", serde_json::Value::Null)
            | ("boolean", serde_json::Value::Bool(_))
            | ("number", serde_json::Value::Number(_))
            | ("string", serde_json::Value::String(_))
            | ("array", serde_json::Value::Array(_))
            | ("object", serde_json::Value::Object(_)) => true,
            ("integer", serde_json::Value::Number(number)) => !number.is_f64(),
            _ => false,
        })
    }
}

impl<'i> Keyword<'i> for StrictType {
    fn validate(&self, instance: &'i serde_json::Value) -> Result<(), ValidationError<'i>> {
        if self.admits(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("must be of type {}", self.0.join(" or "))))
    }

    fn is_valid(&self, instance: &'i serde_json::Value) -> bool {
        self.admits(instance)
    }
}

fn strict_type(value: &serde_json::Value) -> StrictType {
    let words = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    StrictType(words.iter().filter_map(serde_json::Value::as_str).map(str::to_owned).collect())
}

/// Resolves references between embedded schemas, and nothing else.
struct Embedded;

impl Retrieve for Embedded {
    fn retrieve(&self, uri: &Uri<String>) -> Result<serde_json::Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.as_str().strip_prefix(URN).unwrap_or_default();
        Ok(serde_json::from_str(name.parse::<SchemaName>()?.text())?)
    }
}

/// Every embedded schema is identified by this and its name.
const URN: &str = "urn:idkmesh-quorum:schema:";

/// Makes the schema `name` ready, so that the first [`validate`] with it need not. Changes no answer.
pub fn prepare(name: SchemaName) {
    validator(name);
}

fn validator(name: SchemaName) -> &'static jsonschema::Validator {
    static CELLS: [OnceLock<jsonschema::Validator>; SchemaName::ALL.len()] =
        [const { OnceLock::new() }; SchemaName::ALL.len()];
    /// The schemas use few patterns and use them often.
    static PATTERNS: LazyLock<PatternCache> = LazyLock::new(PatternCache::new);
    CELLS[name as usize].get_or_init(|| {
        // The library holds every root against its dialect's meta-schema, which costs more than the schema itself. Ours
        // are held against theirs by a test; the root here is one reference, of the dialect with the smallest one. What
        // it refers to has its own `$schema` and is read as that says.
        let root = serde_json::json!({"$ref": format!("{URN}{}", name.as_str())});
        jsonschema::draft4::options()
            .should_validate_formats(true)
            .with_format("date-time", |text: &str| text.parse::<Timestamp>().is_ok())
            .with_keyword("type", |_, value: &serde_json::Value, _| Ok(Box::new(strict_type(value))))
            .with_pattern_options(PatternOptions::regex())
            .with_pattern_cache(PATTERNS.clone())
            .with_retriever(Embedded)
            .build(&root)
            .expect("an embedded schema compiles; tested")
    })
}
