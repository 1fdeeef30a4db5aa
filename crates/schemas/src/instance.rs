//! Our values as the JSON Schema library reads them: where they are, without a copy.

use std::borrow::Cow;
use std::collections::btree_map;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use serde_json::Number;

use crate::Value;

/// Instances are [`Value`]s; schemas are the library's own.
pub(crate) struct Ours;

impl Json for Ours {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = Option<Value>;

    // As the library has it for its own maps, which are sorted trees too.
    const KEYS_PER_LOOKUP: usize = 2;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Option<Value>, string: &str, f: impl FnOnce(&Value) -> T) -> T {
        f(buffer.insert(Value::from(string)))
    }
}

/// A number token; the library compares its bounds with it.
pub(crate) struct Token(Number);

impl Token {
    /// Integers beyond 64 bits are cut to the ends of the range, so that only a float token arrives as a float.
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Int(integer) => {
                let number = integer.as_i64().map(Number::from).or_else(|| integer.as_u64().map(Number::from));
                let end = || if integer.as_str().starts_with('-') { i64::MIN.into() } else { u64::MAX.into() };
                Some(Self(number.unwrap_or_else(end)))
            }
            Value::Float(number) => Number::from_f64(*number).map(Self),
            _ => None,
        }
    }
}

impl JsonNumber for Token {
    fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.as_f64()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.to_string())
    }

    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Borrowed(&self.0)
    }

    /// An integer is an integer token. The dialect's own reading admits `1.0`, whose C1 bytes differ.
    fn is_integer(&self) -> bool {
        !self.0.is_f64()
    }

    fn is_written_as_integer(&self) -> bool {
        self.is_integer()
    }
}

impl<'a> Node<'a, Ours> for &'a Value {
    type Object = &'a crate::Object;
    type Array = &'a [Value];
    type Number = Token;

    fn as_object(&self) -> Option<&'a crate::Object> {
        Value::as_object(self)
    }

    fn as_array(&self) -> Option<&'a [Value]> {
        Value::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        Value::as_str(self).map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<Token> {
        Token::of(self)
    }

    fn as_boolean(&self) -> Option<bool> {
        Value::as_bool(self)
    }

    fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    fn is_number(&self) -> bool {
        matches!(self, Value::Int(_) | Value::Float(_))
    }

    fn json_type(&self) -> JsonType {
        match self {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Int(_) | Value::Float(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn string_length_within(&self, min: u64, max: u64) -> Option<bool> {
        let text = Value::as_str(self)?;
        // A character takes one to four bytes.
        let (fewest, most) = (text.len().div_ceil(4) as u64, text.len() as u64);
        let certain = min <= fewest && most <= max;
        Some(certain || (min..=max).contains(&(text.chars().count() as u64)))
    }

    fn equals_value(&self, expected: &serde_json::Value) -> bool {
        match (self, expected) {
            (Value::String(text), expected) => expected.as_str() == Some(text),
            (_, serde_json::Value::String(_)) => false,
            _ => jsonschema::json::cmp::equal(&self.to_value(), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        Cow::Owned(copy(self))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref::<Value>(self) as usize))
    }
}

fn copy(value: &Value) -> serde_json::Value {
    match value {
        Value::Int(_) => Token::of(value).map_or(serde_json::Value::Null, |token| token.0.into()),
        Value::Array(items) => items.iter().map(copy).collect(),
        Value::Object(members) => members.iter().map(|(key, member)| (key.clone(), copy(member))).collect(),
        other => other.to_serde(),
    }
}

impl<'a> Object<'a, Ours> for &'a crate::Object {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        crate::Object::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        crate::Object::get(self, key)
    }

    fn members(&self) -> Members<'a> {
        Members(self.iter())
    }
}

/// The members of an object, in order.
pub(crate) struct Members<'a>(btree_map::Iter<'a, String, Value>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_str(), value))
    }
}

impl<'a> Array<'a, Ours> for &'a [Value] {
    type Node = &'a Value;
    type ElementsIter = std::slice::Iter<'a, Value>;

    fn len(&self) -> usize {
        <[Value]>::len(self)
    }

    fn elements(&self) -> std::slice::Iter<'a, Value> {
        self.iter()
    }
}
