//! The value of a strictly parsed JSON document.

use std::collections::BTreeMap;

use crate::limits::SHOWN_CHARACTERS;

/// Members of an object, ordered by Unicode code point (which is the order of the UTF-8 bytes), as C1 wants it.
pub type Object = BTreeMap<String, Value>;

/// A JSON value whose meaning is unambiguous: no duplicate keys, no non-finite numbers, no lone surrogates.
///
/// Integers and floats stay apart: `1` and `1.0` are different documents in C1.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number token without `.`, `e` or `E`, of any size.
    Int(Integer),
    /// Any other number token, correctly rounded to a finite binary64.
    Float(f64),
    /// A string, not normalised.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

/// An integer of any size, kept as its canonical decimal text (`-0` is `0`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Integer(String);

impl Integer {
    /// Builds from a token that the JSON grammar already admitted.
    pub(crate) fn from_token(token: &str) -> Self {
        if token == "-0" { Self("0".into()) } else { Self(token.into()) }
    }

    /// The decimal text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value if it fits `i64`.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The value if it fits `u64`.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

impl Value {
    /// The member `key` of an object; `None` for a missing key and for every other kind of value.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// Walks nested members: `value.at(&["provenance", "source_revision"])`.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The value at a JSON Pointer (RFC 6901); the empty pointer is the value itself.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, step| match value {
            Self::Object(members) => members.get(&step.replace("~1", "/").replace("~0", "~")),
            Self::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The value as a message shows it: C1 on one line, cut, without characters that a terminal would obey.
    #[must_use]
    pub fn shown(&self) -> String {
        // Four bytes a character, so that a value that is shown whole is written whole.
        let text = crate::canonical::c1_start(self, 4 * (SHOWN_CHARACTERS + 2));
        let mut out = String::new();
        for (index, character) in text.chars().enumerate() {
            if index == SHOWN_CHARACTERS {
                out.push_str("...");
                break;
            }
            match character {
                '"' | '\'' | '\\' => out.push(character),
                other => out.extend(other.escape_debug()),
            }
        }
        out
    }

    /// The members, if this is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// The elements, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The text, if this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The flag, if this is a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    /// The number, if this is an integer token that fits `u64`; `1.0` is not an integer here.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Int(integer) = self { integer.as_u64() } else { None }
    }

    /// The number, if this is an integer token that fits `i64`.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Int(integer) = self { integer.as_i64() } else { None }
    }

    /// The JSON kind of this value, for messages: `null`, `boolean`, `integer`, `number`, `string`, `array`, `object`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "integer",
            Self::Float(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// The same value for libraries that speak `serde_json`. Integers beyond 64 bits become floats there, so the
    /// result is good for validation and display, never for digests.
    #[must_use]
    pub fn to_serde(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(flag) => (*flag).into(),
            Self::Int(integer) => integer
                .as_i64()
                .map(serde_json::Value::from)
                .or_else(|| integer.as_u64().map(serde_json::Value::from))
                .unwrap_or_else(|| integer.as_str().parse::<f64>().unwrap_or(f64::MAX).into()),
            Self::Float(number) => (*number).into(),
            Self::String(text) => text.as_str().into(),
            Self::Array(items) => items.iter().map(Value::to_serde).collect(),
            Self::Object(members) => {
                serde_json::Value::Object(members.iter().map(|(k, v)| (k.clone(), v.to_serde())).collect())
            }
        }
    }

    /// Builds a document of ours from `serde_json::json!`. Floats must be finite, which `json!` guarantees.
    #[must_use]
    pub fn from_serde(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(flag) => Self::Bool(flag),
            serde_json::Value::Number(number) => match (number.is_f64(), number.as_f64()) {
                (true, Some(float)) => Self::Float(float),
                _ => Self::Int(Integer::from_token(&number.to_string())),
            },
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => Self::Array(items.into_iter().map(Self::from_serde).collect()),
            serde_json::Value::Object(members) => {
                Self::Object(members.into_iter().map(|(k, v)| (k, Self::from_serde(v))).collect())
            }
        }
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        Self::from_serde(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Int(Integer(number.to_string()))
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}
