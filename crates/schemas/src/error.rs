//! Typed refusals: one variant per reason, with a stable code and the place.

use thiserror::Error;

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

impl ParseReason {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "json_too_large",
            Self::ByteOrderMark => "json_bom",
            Self::NotUtf8 { .. } => "json_not_utf8",
            Self::Syntax(_) => "json_syntax",
            Self::NonFinite(_) => "json_non_finite",
            Self::NumberOverflow(_) => "json_number_overflow",
            Self::IntegerTooLong { .. } => "json_integer_too_long",
            Self::DuplicateKey(_) => "json_duplicate_key",
            Self::LoneSurrogate => "json_lone_surrogate",
            Self::TooDeep(_) => "json_too_deep",
            Self::TrailingBytes => "json_trailing_bytes",
        }
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

impl SchemasError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::DigestMalformed(_) => "digest_malformed",
            Self::TimestampMalformed(_) => "timestamp_malformed",
            Self::SchemaUnknown(_) => "schema_unknown",
            Self::NotIJson(_) => "jcs_not_i_json",
        }
    }
}
