//! Typed refusals: one variant per reason, with a stable code and the place.

use thiserror::Error;

use crate::{ErrorEntry, error_codes};

/// Why bytes are not an admissible JSON document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{code} at byte {offset}{place}: {reason}", code = .reason.code(), place = display_pointer(.pointer))]
pub struct ParseError {
    /// What is wrong.
    pub reason: ParseReason,
    /// Byte offset of the offending token in the document.
    pub offset: usize,
    /// JSON Pointer (RFC 6901) of the value in which it stands; empty for the root.
    pub pointer: String,
}

fn display_pointer(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" ({pointer})") }
}

/// The reasons of [`ParseError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseReason {
    /// More bytes than the stated size.
    #[error("the document has {found} bytes, the limit is {limit}")]
    TooLarge {
        /// Bytes received.
        found: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Starts with U+FEFF.
    #[error("the document starts with a byte order mark; remove it")]
    ByteOrderMark,
    /// Not UTF-8 (UTF-16 is named when it looks like it).
    #[error("the document is not UTF-8{}", if *.utf16 { " (it looks like UTF-16)" } else { "" })]
    NotUtf8 {
        /// Whether a byte order mark or a zero byte at the start says so.
        utf16: bool,
    },
    /// The JSON grammar is violated.
    #[error("{0}")]
    Syntax(String),
    /// `NaN`, `Infinity` or `-Infinity`.
    #[error("{0} is not JSON")]
    NonFinite(String),
    /// A float token beyond binary64.
    #[error("the number {0} is out of range")]
    NumberOverflow(String),
    /// More digits than any reader accepts.
    #[error("an integer of {found} digits, the limit is {limit}")]
    IntegerTooLong {
        /// Digits found.
        found: usize,
        /// Digits allowed.
        limit: usize,
    },
    /// The same key twice in one object.
    #[error("the key `{0}` appears twice in one object")]
    DuplicateKey(String),
    /// An escaped surrogate without its pair.
    #[error("a lone surrogate escape")]
    LoneSurrogate,
    /// Nested deeper than the limit.
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
    /// Something after the document.
    #[error("bytes after the end of the document")]
    TrailingBytes,
}

error_codes! {
    impl ParseReason in "schemas" {
        Self::TooLarge { .. } => "json_too_large", "The document has more bytes than a document may have.",
            "Make it smaller; quorum_schemas::limits states the size.";
        Self::ByteOrderMark => "json_bom", "The document starts with a byte order mark.",
            "Save it as UTF-8 without a byte order mark.";
        Self::NotUtf8 { .. } => "json_not_utf8", "The document is not UTF-8.", "Save it as UTF-8.";
        Self::Syntax(_) => "json_syntax", "The document is not JSON.", "Correct it at the byte that the message names.";
        Self::NonFinite(_) => "json_non_finite", "The document holds NaN or Infinity, which is not JSON.",
            "Write a number, or leave the member out.";
        Self::NumberOverflow(_) => "json_number_overflow", "A number is beyond what a 64-bit float can hold.",
            "Write a smaller number, or a string.";
        Self::IntegerTooLong { .. } => "json_integer_too_long", "An integer has more digits than any reader accepts.",
            "Write a shorter integer, or a string.";
        Self::DuplicateKey(_) => "json_duplicate_key", "One object has the same key twice, so it has no single meaning.",
            "Remove one of the two.";
        Self::LoneSurrogate => "json_lone_surrogate", "A string holds half of a surrogate pair, which is no character.",
            "Write the whole pair, or the character itself.";
        Self::TooDeep(_) => "json_too_deep", "The document is nested deeper than a document may be.", "Make it flatter.";
        Self::TrailingBytes => "json_trailing_bytes", "Something stands after the end of the document.",
            "Keep one document a file.";
    }
}

/// Every other error of this crate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SchemasError {
    /// Not `sha256:` and 64 lower-case hex digits.
    #[error("digest_malformed: `{0}` is not `sha256:` followed by 64 lower-case hex digits")]
    DigestMalformed(String),
    /// Not an RFC 3339 date-time with an offset.
    #[error("timestamp_malformed: `{0}` is not an RFC 3339 date and time with an offset")]
    TimestampMalformed(String),
    /// No schema of that name is embedded.
    #[error("schema_unknown: no schema is called `{0}`; run `quorum schema list`")]
    SchemaUnknown(String),
    /// RFC 8785 is defined on I-JSON only.
    #[error("jcs_not_i_json: the integer {0} is beyond 2^53 - 1 and has no RFC 8785 form; write it as a string")]
    NotIJson(String),
}

error_codes! {
    impl SchemasError in "schemas" {
        Self::DigestMalformed(_) => "digest_malformed", "A digest is not `sha256:` and 64 lower-case hex digits.",
            "Copy it whole; `quorum digest` and `sha256sum` print digests.";
        Self::TimestampMalformed(_) => "timestamp_malformed", "A time is not an RFC 3339 date and time with an offset.",
            "Write it as 2026-01-31T12:00:00Z.";
        Self::SchemaUnknown(_) => "schema_unknown", "No schema has this name.", "`quorum schema list` prints the names.",
            exit 2;
        Self::NotIJson(_) => "jcs_not_i_json", "RFC 8785 has no form for an integer beyond 2^53 - 1.",
            "Write it as a string, or use the form c1.";
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    [ParseReason::ENTRIES, SchemasError::ENTRIES].concat()
}
