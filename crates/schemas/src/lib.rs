//! Strict JSON, canonical digests and the embedded JSON Schemas.
//!
//! Everything here is pure: bytes in, values or typed refusals out. A document is parsed once with [`parse`], which
//! refuses what has no single meaning, and is digested in the canonical form C1 ([`c1`]) that the whole mesh agrees on.

mod canonical;
mod catalogue;
mod digest;
mod document;
mod error;
mod instance;
pub mod limits;
mod names;
mod parse;
mod place;
mod scan;
mod text;
mod time;
#[doc(hidden)]
pub mod upstream;
mod validate;
mod value;

pub use canonical::{c1, jcs};
pub use catalogue::ErrorEntry;
pub use digest::{Bytes, C1, C1Digest, Digest, Jcs, JcsDigest, Sha256};
pub use document::c1_of_document;
pub use error::{ParseError, ParseReason, SchemasError, errors};
pub use names::SchemaName;
pub use parse::{parse, parse_c1, parse_with};
pub use text::{counted, one_line, with_nearest_key};
pub use time::Timestamp;
pub use validate::{SchemaViolation, prepare, validate};
pub use value::{Integer, Object, Value};
