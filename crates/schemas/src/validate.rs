//! Validation against the embedded schemas.

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{Draft, JsonType, PatternCache, PatternOptions, Retrieve, Uri, ValidationError};

use crate::instance::Ours;
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
    let validator = validator(name);
    if validator.is_valid(value) {
        return Ok(());
    }
    let mut violations = Vec::new();
    for error in validator.iter_errors(value) {
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
        Kind::Type { kind } => format!("must be of type {}", types(kind)),
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

/// The types that are admitted; what may also be missing is said last.
fn types(kind: &TypeKind) -> String {
    let mut types: Vec<JsonType> = match kind {
        TypeKind::Single(one) => vec![*one],
        TypeKind::Multiple(several) => several.iter().collect(),
    };
    types.sort_by_key(|one| *one == JsonType::Null);
    types.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

fn shown_text(text: &str) -> String {
    Value::from(text).shown()
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

type Validator = jsonschema::Validator<Ours>;

fn validator(name: SchemaName) -> &'static Validator {
    static CELLS: [OnceLock<Validator>; SchemaName::ALL.len()] = [const { OnceLock::new() }; SchemaName::ALL.len()];
    /// The schemas use few patterns and use them often.
    static PATTERNS: LazyLock<PatternCache> = LazyLock::new(PatternCache::new);
    CELLS[name as usize].get_or_init(|| {
        // The library holds every root against its dialect's meta-schema, which costs more than the schema itself. Ours
        // are held against theirs by a test; the root here is one reference, of the dialect with the smallest one. What
        // it refers to has its own `$schema` and is read as that says.
        let root = serde_json::json!({"$ref": format!("{URN}{}", name.as_str())});
        jsonschema::options_for::<Ours>()
            .with_draft(Draft::Draft4)
            .should_validate_formats(true)
            .with_format("date-time", |text: &str| text.parse::<Timestamp>().is_ok())
            .with_pattern_options(PatternOptions::regex())
            .with_pattern_cache(PATTERNS.clone())
            .with_retriever(Embedded)
            .build(&root)
            .expect("an embedded schema compiles; tested")
    })
}
