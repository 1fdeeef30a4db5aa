//! `independent-acceptance` of EvaluatorPlan 0.1: a JSON file equals a value as Python's `==` compares.

use quorum_schemas::{Digest, Value};

use super::super::observed::Observed;
use super::super::{Context, files, required_json};
use crate::report::CheckStatus;

pub(super) fn run(context: &Context<'_>, required: &Value, max_bytes: u64) -> Observed {
    let (name, bytes) = match files::read(context, None, max_bytes) {
        Ok(read) => read,
        Err(observed) => return *observed,
    };
    let value = match required_json::parse(&bytes) {
        Ok(value) => value,
        Err(why) => {
            return Observed::new(CheckStatus::Failed, format!("`{name}` is not JSON with one meaning: {why}"))
                .fact("file", name.as_str())
                .finding("correctness", format!("`{name}` is not JSON"), Some(&name));
        }
    };
    let equal = python_equal(required, &value);
    let summary = if equal {
        format!("`{name}` equals the required JSON as Python compares")
    } else {
        format!("`{name}` differs from the required JSON")
    };
    let status = if equal { CheckStatus::Passed } else { CheckStatus::Failed };
    let observed = Observed::new(status, summary.as_str())
        .fact("file", name.as_str())
        .fact("required", Digest::c1(required))
        .fact("observed", Digest::c1(&value))
        .fact("equality", "python");
    if equal { observed } else { observed.finding("correctness", summary, Some(&name)) }
}

/// `==` of Python on parsed JSON: `true` is 1, `false` is 0, an integer equals the float of exactly its value.
fn python_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| python_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| left.0 == right.0 && python_equal(left.1, right.1))
        }
        (Value::Null, Value::Null) => true,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        _ => matches!((integral(left), integral(right)), (Some(left), Some(right)) if left == right),
    }
}

/// The decimal digits of a number without a fraction; `None` for everything else.
fn integral(value: &Value) -> Option<String> {
    match value {
        Value::Bool(flag) => Some(u8::from(*flag).to_string()),
        Value::Int(number) => Some(number.as_str().to_owned()),
        // The digits of a float without a fraction are exact, however many there are. -0.0 equals 0.
        Value::Float(number) if *number == 0.0 => Some("0".to_owned()),
        Value::Float(number) if number.fract() == 0.0 => Some(format!("{number:.0}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use quorum_schemas::parse;

    use super::python_equal;

    #[test]
    fn equality_is_pythons() {
        for (left, right, expected) in [
            ("1", "1.0", true),
            ("1", "true", true),
            ("1.0", "true", true),
            ("0", "false", true),
            ("0", "-0.0", true),
            ("0.0", "-0.0", true),
            ("-0", "0", true),
            ("2", "true", false),
            ("null", "false", false),
            ("null", "0", false),
            ("\"1\"", "1", false),
            ("[1, true]", "[1.0, 1]", true),
            ("[1]", "[1, 1]", false),
            ("{\"a\": 1, \"b\": [false]}", "{\"b\": [0.0], \"a\": true}", true),
            ("{\"a\": 1}", "{\"b\": 1}", false),
            ("{\"a\": 1}", "{\"a\": 1, \"b\": 1}", false),
            ("9007199254740993", "9007199254740993.0", false),
            ("9007199254740992", "9007199254740993.0", true),
            ("100000000000000000000", "1e20", true),
            ("10000000000000000000000000000000000000000", "1e40", false),
            ("1e40", "10000000000000000303786028427003666890752", true),
            ("0.1", "0.1", true),
            ("0.1", "0.10000000000000001", true),
            ("1.5", "1", false),
            ("\"\\u00e4\"", "\"a\\u0308\"", false),
            ("[]", "{}", false),
            ("-1.0", "-1", true),
        ] {
            let value = |text: &str| parse(text.as_bytes()).unwrap();
            assert_eq!(python_equal(&value(left), &value(right)), expected, "{left} == {right}");
            assert_eq!(python_equal(&value(right), &value(left)), expected, "{right} == {left}");
        }
    }
}
