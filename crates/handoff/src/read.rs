//! Reading documents: the one way in, and the little readers that every document shares.

use quorum_schemas::{Object, SchemaName, Value, parse, validate};

use crate::error::shown;
use crate::{Document, HandoffError};

/// The strictly parsed bytes of a document.
pub(crate) fn parsed(document: Document, bytes: &[u8]) -> Result<Value, HandoffError> {
    parse(bytes).map_err(|error| HandoffError::Parse { document, error })
}

/// Holds a document against its schema.
pub(crate) fn conforms(document: Document, schema: SchemaName, value: &Value) -> Result<(), HandoffError> {
    validate(schema, value).map_err(|violations| HandoffError::Schema { document, violations })
}

/// Refuses integers that a schema admits and that are too large to be counted with.
pub(crate) fn countable(document: Document, value: &Value, paths: &[&[&str]]) -> Result<(), HandoffError> {
    for path in paths {
        let found = value.at(path);
        if let Some(Value::Int(integer)) = found
            && integer.as_u64().is_none()
            && !integer.as_str().starts_with('-')
        {
            let pointer = path.iter().map(|step| format!("/{step}")).collect();
            return Err(HandoffError::OutOfRange { document, pointer, found: shown(found) });
        }
    }
    Ok(())
}

/// The text at a path; empty where there is none.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    value.at(path).and_then(Value::as_str).unwrap_or_default()
}

/// The count at a path.
pub(crate) fn number(value: &Value, path: &[&str]) -> Option<u64> {
    value.at(path).and_then(Value::as_u64)
}

/// The texts of the array at a path.
pub(crate) fn texts<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a str> {
    items(value, path).iter().filter_map(Value::as_str).collect()
}

/// The items of the array at a path; none where there is none.
pub(crate) fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    value.at(path).and_then(Value::as_array).unwrap_or_default()
}

/// The member of this name, if it is an object.
pub(crate) fn object_in<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|member| member.as_object().is_some())
}

/// A count of at least 1, as an integer token.
pub(crate) fn positive(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_u64).filter(|number| *number >= 1)
}

/// A text that is not blank.
pub(crate) fn nonblank(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !is_blank(text))
}

/// Blank as Python's `str.strip` sees it: Unicode white space and the four information separators.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|character| character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character))
}

/// A git object id, lower-cased: 40 or 64 hex digits of any case.
pub(crate) fn git_revision(value: Option<&Value>) -> Option<String> {
    let text = value.and_then(Value::as_str)?;
    let fits = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| text.to_ascii_lowercase())
}

/// An object of these members.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Object>())
}

/// What is needed where a text stands, and what stands there.
pub(crate) fn not_text(value: Option<&Value>) -> String {
    format!("a non-empty string is needed, found {}", shown(value))
}

/// What is needed where a count stands, and what stands there.
pub(crate) fn not_count(value: Option<&Value>, least: u64) -> String {
    format!("an integer from {least} to {} is needed, found {}", u64::MAX, shown(value))
}

/// What is needed where an object stands, and what stands there.
pub(crate) fn not_object(value: Option<&Value>) -> String {
    format!("an object is needed, found {}", shown(value))
}

/// What is needed where an array stands, and what stands there.
pub(crate) fn not_array(value: Option<&Value>) -> String {
    format!("an array is needed, found {}", shown(value))
}

/// What is needed where a digest stands, and what stands there.
pub(crate) fn not_digest(value: Option<&Value>) -> String {
    format!("`sha256:` and 64 lower-case hex digits are needed, found {}", shown(value))
}

/// What is needed where a git revision stands, and what stands there.
pub(crate) fn not_revision(value: Option<&Value>) -> String {
    format!("a git object id of 40 or 64 hex digits is needed, found {}", shown(value))
}
