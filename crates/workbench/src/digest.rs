//! The two spellings of a SHA-256 digest that this contract knows, each accepted only where it belongs (W-010).

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quorum_schemas::{Digest, JcsDigest, Value};

use crate::WorkbenchError;

const PREFIX: &str = "sha256:";

/// The content address of a whole document: SHA-256 over its RFC 8785 form, written `sha256:` and 43 characters of
/// base64url without padding. The last character is one of sixteen, since two of its bits are spare and zero.
///
/// It cannot be held against a digest of another form or spelling; [`same_digest`] decodes both sides first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentDigest(JcsDigest);

impl ContentDigest {
    /// The address of a document. The document is to be validated before; a document never holds its own address
    /// (W-014), since no schema here has a member for it.
    ///
    /// # Errors
    /// For integers that RFC 8785 cannot write.
    pub fn of(document: &Value) -> Result<Self, WorkbenchError> {
        Ok(Self(JcsDigest::jcs(document)?))
    }

    /// The raw 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// The 43 characters without the prefix.
    #[must_use]
    pub fn encoded(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.as_bytes())
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.encoded())
    }
}

impl FromStr for ContentDigest {
    type Err = WorkbenchError;

    fn from_str(text: &str) -> Result<Self, WorkbenchError> {
        text.strip_prefix(PREFIX)
            // The decoder refuses padding and a last character with spare bits set.
            .and_then(|encoded| URL_SAFE_NO_PAD.decode(encoded).ok())
            .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
            .map(|bytes| Self(JcsDigest::from_bytes(bytes)))
            .ok_or_else(|| WorkbenchError::DigestForm { found: Value::from(text).shown() })
    }
}

/// Whether two digests are the same 32 bytes, whichever of the two spellings each has (W-011).
///
/// # Errors
/// [`WorkbenchError::DigestForm`] for a text in neither spelling.
pub fn same_digest(one: &str, other: &str) -> Result<bool, WorkbenchError> {
    Ok(decode(one)? == decode(other)?)
}

fn decode(text: &str) -> Result<[u8; 32], WorkbenchError> {
    match text.parse::<Digest>() {
        Ok(digest) => Ok(*digest.as_bytes()),
        Err(_) => text.parse::<ContentDigest>().map(|digest| *digest.as_bytes()),
    }
}
