//! Canonical forms. C1 is the mesh's; RFC 8785 (JCS) is used only where a contract names it.

use crate::scan::plain_run;
use crate::{SchemasError, Value};

/// The bytes of `value` in C1: keys sorted by code point, no spaces, UTF-8 as is, numbers as CPython's `repr` prints
/// them. These are the bytes of `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)`.
#[must_use]
pub fn c1(value: &Value) -> Vec<u8> {
    // Most documents need one or two growths from here.
    let mut out = String::with_capacity(2048);
    write(value, &mut out, usize::MAX);
    out.into_bytes()
}

/// The start of the C1 text: at least `bytes` of it (or all), and not much more, whatever the size of the value.
pub(crate) fn c1_start(value: &Value, bytes: usize) -> String {
    let mut out = String::new();
    write(value, &mut out, bytes);
    out
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

fn write(value: &Value, out: &mut String, enough: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Int(integer) => out.push_str(integer.as_str()),
        Value::Float(number) => write_float(*number, out),
        Value::String(text) => write_string(text, out, enough),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if out.len() >= enough {
                    return;
                }
                if index > 0 {
                    out.push(',');
                }
                write(item, out, enough);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                if out.len() >= enough {
                    return;
                }
                if index > 0 {
                    out.push(',');
                }
                write_string(key, out, enough);
                out.push(':');
                write(member, out, enough);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String, enough: usize) {
    out.push('"');
    // Nobody cuts a whole document, and few texts have anything to escape.
    if enough == usize::MAX && plain_run(text.as_bytes()) == text.len() {
        out.push_str(text);
        out.push('"');
        return;
    }
    for character in text.chars() {
        if out.len() >= enough {
            return;
        }
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
pub(crate) fn write_float(number: f64, out: &mut String) {
    if write_short(number, out) {
        return;
    }
    let scientific = shortest(number);
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` of a finite float has an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes a decimal exponent");
    if (-4..16).contains(&exponent) {
        write_fixed(mantissa, exponent, out);
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs()));
    }
}

/// Writes a number of at most 15 digits, six of them behind the point, and tells whether it was one. The division is
/// rounded correctly, so the decimal reads back as the number, and no other of at most 15 digits does.
fn write_short(number: f64, out: &mut String) -> bool {
    let size = number.abs();
    if !(1e-4..1e9).contains(&size) {
        return false;
    }
    for (places, power) in [(1, 10_u64), (2, 100), (3, 1_000), (6, 1_000_000)] {
        let scaled = size * power as f64;
        if scaled.fract() == 0.0 && scaled / power as f64 == size {
            let digits = scaled as u64;
            let part = format!("{:0places$}", digits % power);
            let part = part.trim_end_matches('0');
            let sign = if number < 0.0 { "-" } else { "" };
            out.push_str(&format!("{sign}{}.{}", digits / power, if part.is_empty() { "0" } else { part }));
            return true;
        }
    }
    false
}

/// The shortest digits in scientific notation. Of two equally short and equally near ones CPython takes the even, the
/// standard library the larger (746807203247962.25 is `...962.2` there); rounding to that many digits is exact and
/// half to even, and may leave the number only beside a power of two, where the standard library's choice stands.
fn shortest(number: f64) -> String {
    let shortest = format!("{number:e}");
    let digits = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    // Two decimals of so few digits are never the same binary64, so there is no tie.
    if digits <= 15 {
        return shortest;
    }
    let even = format!("{number:.*e}", digits.saturating_sub(1));
    if even.parse() == Ok(number) { even } else { shortest }
}

/// Moves the point of `d.ddd` by `exponent` places; at least one digit stands on either side of it.
fn write_fixed(mantissa: &str, exponent: i32, out: &mut String) {
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let mut digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let point = usize::try_from(exponent + 1).unwrap_or_default();
    let zeros = usize::try_from(-1 - exponent).unwrap_or_default();
    digits.insert_str(0, &"0".repeat(if exponent < 0 { zeros + 1 } else { 0 }));
    let point = if exponent < 0 { 1 } else { point };
    while digits.len() <= point {
        digits.push('0');
    }
    out.push_str(sign);
    out.push_str(&digits[..point]);
    out.push('.');
    out.push_str(&digits[point..]);
}
