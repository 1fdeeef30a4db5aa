//! Canonical forms. C1 is the mesh's; RFC 8785 (JCS) is used only where a contract names it.

use crate::{SchemasError, Value};

/// The bytes of `value` in C1: keys sorted by code point, no spaces, UTF-8 as is, numbers as CPython's `repr` prints
/// them. These are the bytes of `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`.
#[must_use]
pub fn c1(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write(value, &mut out);
    out.into_bytes()
}

/// The bytes of `value` in RFC 8785.
///
/// # Errors
/// [`SchemasError::NotIJson`] for an integer that binary64 cannot hold exactly.
pub fn jcs(value: &Value) -> Result<Vec<u8>, SchemasError> {
    check_i_json(value)?;
    serde_json_canonicalizer::to_vec(&value.to_serde()).map_err(|error| SchemasError::NotIJson(error.to_string()))
}

fn check_i_json(value: &Value) -> Result<(), SchemasError> {
    const LARGEST: u64 = (1 << 53) - 1;
    match value {
        Value::Int(integer) => match integer.as_i64() {
            Some(number) if number.unsigned_abs() <= LARGEST => Ok(()),
            _ => Err(SchemasError::NotIJson(integer.as_str().to_owned())),
        },
        Value::Array(items) => items.iter().try_for_each(check_i_json),
        Value::Object(members) => members.values().try_for_each(check_i_json),
        _ => Ok(()),
    }
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(integer) => out.push_str(integer.as_str()),
        Value::Float(number) => write_float(*number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Python's `float.__repr__`: the shortest digits that round-trip, fixed notation for 1e-4 <= |x| < 1e16, otherwise
/// an exponent with a sign and at least two digits.
fn write_float(number: f64, out: &mut String) {
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` of a finite float has an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes a decimal exponent");
    if (-4..16).contains(&exponent) || number == 0.0 {
        let fixed = format!("{number}");
        out.push_str(&fixed);
        if !fixed.contains('.') {
            out.push_str(".0");
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs()));
    }
}
