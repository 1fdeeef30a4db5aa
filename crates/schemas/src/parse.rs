//! The strict parser: a recursion over `serde_json`'s raw values, so that the grammar is the library's and only the
//! refusals are ours. Raw tokens keep what `serde_json::Value` would lose: duplicate keys, big integers, `1` or `1.0`.
//!
//! A document of one plain meaning is read in one pass before (see `scan`); every refusal is the recursion's.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::limits::{DOCUMENT, INTEGER_DIGITS, Limits};
use crate::place::{escape, pointer_at};
use crate::scan::{Number, Scan};
use crate::value::{Integer, Object};
use crate::{ParseError, ParseReason, Value};

/// Parses one document of the mesh under [`DOCUMENT`] limits.
///
/// # Errors
/// A [`ParseError`] with the code and the place of the first refusal.
pub fn parse(bytes: &[u8]) -> Result<Value, ParseError> {
    parse_with(bytes, DOCUMENT)
}

/// Parses one document under the given limits.
///
/// # Errors
/// A [`ParseError`] with the code and the place of the first refusal.
pub fn parse_with(bytes: &[u8], limits: Limits) -> Result<Value, ParseError> {
    match plain(bytes, limits) {
        Some((value, _)) => {
            debug_assert!(
                judged(bytes, limits).is_ok_and(|other| same(&other, &value)),
                "two readings of one document"
            );
            Ok(value)
        }
        None => judged(bytes, limits),
    }
}

/// Parses a document that must be the C1 form of its value: `None` where it has another form.
///
/// # Errors
/// As [`parse_with`].
pub fn parse_c1(bytes: &[u8], limits: Limits) -> Result<Option<Value>, ParseError> {
    if let Some((value, true)) = plain(bytes, limits) {
        debug_assert!(crate::c1(&value) == bytes, "a document that is not C1 was read as one");
        return Ok(Some(value));
    }
    let value = parse_with(bytes, limits)?;
    Ok((crate::c1(&value) == bytes).then_some(value))
}

/// The value of a document that has one plain meaning, and whether the document is seen to be its C1 form; `None` leaves
/// it to [`judged`].
fn plain(bytes: &[u8], limits: Limits) -> Option<(Value, bool)> {
    let scan = Scan::new(bytes, limits)?;
    let mut builder = Builder { scan, c1: true };
    let (value, at) = builder.value(0, limits.depth)?;
    scan.end(at)?;
    Some((value, builder.c1 && at == bytes.len()))
}

struct Builder<'a> {
    scan: Scan<'a>,
    /// Whether everything so far is as C1 writes it.
    c1: bool,
}

impl Builder<'_> {
    /// The value at `at`, in which `room` more containers may be open, and the place after it.
    fn value(&mut self, at: usize, room: usize) -> Option<(Value, usize)> {
        let (byte, at) = self.next(at)?;
        let word = |word, value| self.scan.word(at, word).map(|after| (value, after));
        match byte {
            b'"' => self.string(at),
            b'{' => self.object(at, room.checked_sub(1)?),
            b'[' => self.array(at, room.checked_sub(1)?),
            b't' => word("true", Value::Bool(true)),
            b'f' => word("false", Value::Bool(false)),
            b'n' => word("null", Value::Null),
            _ => {
                let (number, after) = self.scan.number(at)?;
                let value = match number {
                    Number::Integer(token) => {
                        self.c1 &= token != "-0";
                        Value::Int(Integer::from_token(token))
                    }
                    Number::Repr(token) => Value::Float(token.parse().ok()?),
                    Number::Float(number) => {
                        // It may be as C1 writes it; who wants to know writes it.
                        self.c1 = false;
                        Value::Float(number)
                    }
                };
                Some((value, after))
            }
        }
    }

    fn string(&mut self, at: usize) -> Option<(Value, usize)> {
        let text = self.scan.string(at)?;
        let after = text.end + 1;
        self.c1 &= text.shortest;
        let value = if text.escaped {
            serde_json::from_str(self.scan.text(text.start - 1..after)).ok().map(Value::String)?
        } else {
            Value::from(self.scan.text(text.start..text.end))
        };
        Some((value, after))
    }

    fn array(&mut self, mut at: usize, room: usize) -> Option<(Value, usize)> {
        let mut items = Vec::new();
        let mut closed = self.closes(at, b']');
        while closed.is_none() {
            let (item, after) = self.value(at, room)?;
            items.push(item);
            let (byte, after) = self.next(after)?;
            match byte {
                b',' => {}
                b']' => closed = Some(after),
                _ => return None,
            }
            at = after;
        }
        closed.map(|after| (Value::Array(items), after))
    }

    fn object(&mut self, mut at: usize, room: usize) -> Option<(Value, usize)> {
        let mut members = Vec::new();
        let mut ascending = true;
        let mut last = "";
        let mut closed = self.closes(at, b'}');
        while closed.is_none() {
            let (key, after) = self.scan.key(at)?;
            self.c1 &= key.start == at + 1 && after == key.end + 2;
            let key = self.scan.text(key);
            ascending &= members.is_empty() || last < key;
            last = key;
            let (value, after) = self.value(after, room)?;
            members.push((key.to_owned(), value));
            let (byte, after) = self.next(after)?;
            match byte {
                b',' => {}
                b'}' => closed = Some(after),
                _ => return None,
            }
            at = after;
        }
        self.c1 &= ascending;
        let count = members.len();
        // Sorted members become a tree without a search.
        let members: Object = members.into_iter().collect();
        (members.len() == count).then_some(())?;
        closed.map(|after| (Value::Object(members), after))
    }

    /// [`Scan::next`], which C1 allows no white space before.
    fn next(&mut self, at: usize) -> Option<(u8, usize)> {
        let (byte, after) = self.scan.next(at)?;
        self.c1 &= after == at + 1;
        Some((byte, after))
    }

    /// [`Scan::closes`], which C1 allows no white space before. Where it does not close, what comes next is asked.
    fn closes(&mut self, at: usize, closing: u8) -> Option<usize> {
        let after = self.scan.closes(at, closing)?;
        self.c1 &= after == at + 1;
        Some(after)
    }
}

/// Equal, and floats to the bit: `-0.0` is not `0.0` in C1.
fn same(a: &Value, b: &Value) -> bool {
    a == b && crate::c1(a) == crate::c1(b)
}

/// What the library reads, or why it refuses.
fn judged(bytes: &[u8], limits: Limits) -> Result<Value, ParseError> {
    let root = |reason, offset| ParseError { reason, offset, pointer: String::new() };
    if bytes.len() > limits.bytes {
        return Err(root(ParseReason::TooLarge { found: bytes.len(), limit: limits.bytes }, limits.bytes));
    }
    // JSON starts with an ASCII character, so a zero beside it is the other half of a UTF-16 unit.
    let utf16 = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..]);
    if utf16 {
        return Err(root(ParseReason::NotUtf8 { utf16 }, 0));
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| root(ParseReason::NotUtf8 { utf16: false }, error.valid_up_to()))?;
    if text.starts_with('\u{feff}') {
        return Err(root(ParseReason::ByteOrderMark, 0));
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| syntax_error(text, &error, limits))?;
    Reader { document: text, limits, pointer: Vec::new() }.value(raw.get())
}

struct Reader<'a> {
    document: &'a str,
    limits: Limits,
    pointer: Vec<String>,
}

impl<'a> Reader<'a> {
    fn value(&mut self, token: &'a str) -> Result<Value, ParseError> {
        match token.as_bytes().first() {
            Some(b'n') => Ok(Value::Null),
            Some(b't') => Ok(Value::Bool(true)),
            Some(b'f') => Ok(Value::Bool(false)),
            Some(b'"') => self.string(token).map(Value::String),
            Some(b'[') => self.array(token),
            Some(b'{') => self.object(token),
            _ => self.number(token),
        }
    }

    fn string(&self, token: &'a str) -> Result<String, ParseError> {
        serde_json::from_str(token).map_err(|error| self.library_error(token, &error))
    }

    fn number(&self, token: &'a str) -> Result<Value, ParseError> {
        if token.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            let digits = token.trim_start_matches('-').len();
            if digits > INTEGER_DIGITS {
                let reason = ParseReason::IntegerTooLong { found: digits, limit: INTEGER_DIGITS };
                return Err(self.refuse(token, reason));
            }
            return Ok(Value::Int(Integer::from_token(token)));
        }
        match token.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => Err(self.refuse(token, ParseReason::NumberOverflow(shorten(token)))),
        }
    }

    fn array(&mut self, token: &'a str) -> Result<Value, ParseError> {
        self.descend(token)?;
        let items: RawItems<'a> = serde_json::Deserializer::from_str(token)
            .deserialize_seq(ItemsVisitor)
            .map_err(|error| self.library_error(token, &error))?;
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            self.pointer.push(index.to_string());
            values.push(self.value(item.get())?);
            self.pointer.pop();
        }
        Ok(Value::Array(values))
    }

    fn object(&mut self, token: &'a str) -> Result<Value, ParseError> {
        self.descend(token)?;
        let members: RawMembers<'a> = serde_json::Deserializer::from_str(token)
            .deserialize_map(MembersVisitor)
            .map_err(|error| self.library_error(token, &error))?;
        let mut object = Object::new();
        for (raw_key, member) in members {
            let key = self.string(raw_key.get())?;
            self.pointer.push(escape(&key));
            if object.contains_key(&key) {
                return Err(self.refuse(raw_key.get(), ParseReason::DuplicateKey(shorten(&key))));
            }
            let value = self.value(member.get())?;
            self.pointer.pop();
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }

    fn descend(&self, token: &str) -> Result<(), ParseError> {
        if self.pointer.len() >= self.limits.depth {
            return Err(self.refuse(token, ParseReason::TooDeep(self.limits.depth)));
        }
        Ok(())
    }

    fn refuse(&self, token: &str, reason: ParseReason) -> ParseError {
        let offset = token.as_ptr() as usize - self.document.as_ptr() as usize;
        let pointer = self.pointer.iter().map(|step| format!("/{step}")).collect();
        ParseError { reason, offset, pointer }
    }

    /// The grammar has been checked, so that only lone surrogates are left, and those of the whole token are meant.
    fn library_error(&self, token: &str, error: &serde_json::Error) -> ParseError {
        self.refuse(token, reason(&message(error)))
    }
}

type RawItems<'a> = Vec<&'a RawValue>;
type RawMembers<'a> = Vec<(&'a RawValue, &'a RawValue)>;

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = RawItems<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(items)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = RawMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

fn syntax_error(text: &str, error: &serde_json::Error, limits: Limits) -> ParseError {
    let message = message(error);
    let mut offset = if error.is_eof() { text.len() } else { offset_of(text, error.line(), error.column()) };
    if message.starts_with("control character") {
        // The one error that the library reports before it has consumed the offending byte.
        offset += 1;
    }
    let mut reason = reason(&message);
    for token in ["NaN", "Infinity"] {
        if text.get(offset..).is_some_and(|rest| rest.starts_with(token)) {
            let negative = text[..offset].ends_with('-');
            offset -= usize::from(negative);
            reason = ParseReason::NonFinite(format!("{}{token}", if negative { "-" } else { "" }));
        }
    }
    ParseError { reason, offset, pointer: pointer_at(text, offset, limits.depth) }
}

/// The library names lines and columns (bytes, from 1); we name byte offsets.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

/// What the library says, without the line and column that it appends.
fn message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

fn reason(message: &str) -> ParseReason {
    match message {
        "trailing characters" => ParseReason::TrailingBytes,
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => ParseReason::LoneSurrogate,
        other => ParseReason::Syntax(other.to_owned()),
    }
}

/// Long tokens are cut in messages.
fn shorten(token: &str) -> String {
    const SHOWN: usize = 64;
    match token.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &token[..end]),
        None => token.to_owned(),
    }
}
