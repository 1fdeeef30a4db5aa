//! Validation against the embedded schemas.

use std::fmt;
use std::sync::OnceLock;

use crate::{SchemaName, Value};

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

/// Checks `value` against the schema `name`. Integers must be integer tokens (`1.0` is not a version) and `date-time`
/// is asserted.
///
/// # Errors
/// Every violation, in document order; never empty.
pub fn validate(name: SchemaName, value: &Value) -> Result<(), Vec<SchemaViolation>> {
    let validator = validator(name);
    let instance = value.to_serde();
    let mut violations: Vec<SchemaViolation> = validator
        .iter_errors(&instance)
        .map(|error| SchemaViolation { pointer: error.instance_path().to_string(), message: error.to_string() })
        .collect();
    if violations.is_empty() {
        return Ok(());
    }
    violations.sort();
    violations.dedup();
    Err(violations)
}

fn validator(name: SchemaName) -> &'static jsonschema::Validator {
    static CELLS: [OnceLock<jsonschema::Validator>; SchemaName::ALL.len()] =
        [const { OnceLock::new() }; SchemaName::ALL.len()];
    CELLS[name as usize].get_or_init(|| {
        let schema = serde_json::from_str(name.text()).expect("an embedded schema is JSON; tested");
        jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&schema)
            .expect("an embedded schema compiles; tested")
    })
}
