//! SHA-256 digests as the mesh writes them. The type says of which form of a document one is the digest.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use sha2::Digest as _;

use crate::{SchemasError, Value, c1, jcs};

/// Incremental SHA-256, for bytes that do not fit in memory at once.
#[derive(Debug, Clone, Default)]
pub struct Sha256(sha2::Sha256);

impl Sha256 {
    /// Feeds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything fed.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest::from_bytes(self.0.finalize().into())
    }
}

/// Marks a digest of bytes as they lie in a file or came over a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bytes {}

/// Marks a digest of a document's canonical form C1 (see [`c1`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum C1 {}

/// Marks a digest of a document's canonical form of RFC 8785 (see [`jcs`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Jcs {}

/// The digest of a document in its canonical form C1.
pub type C1Digest = Digest<C1>;

/// The digest of a document in its canonical form of RFC 8785.
pub type JcsDigest = Digest<Jcs>;

/// A SHA-256 digest; written `sha256:` and 64 lower-case hex digits.
///
/// `F` is the form that was hashed: [`Bytes`] as they are, [`C1`] or [`Jcs`]. The three are written alike, so only the
/// type keeps a digest of one form from being held against a digest of another:
///
/// ```compile_fail,E0308
/// use quorum_schemas::{C1Digest, JcsDigest, Value};
/// fn same(a: C1Digest, b: JcsDigest) -> bool {
///     a == b
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest<F = Bytes>([u8; 32], PhantomData<F>);

/// Each byte as two lower-case hex digits.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < pairs.len() {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

/// What every text of a digest begins with.
const PREFIX: &str = "sha256:";

impl Digest<Bytes> {
    /// The digest of raw bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_bytes(sha2::Sha256::digest(bytes).into())
    }
}

impl Digest<C1> {
    /// The digest of the C1 form of a value.
    #[must_use]
    pub fn c1(value: &Value) -> Self {
        Self::from_bytes(sha2::Sha256::digest(c1(value)).into())
    }
}

impl Digest<Jcs> {
    /// The digest of the RFC 8785 form of a value.
    ///
    /// # Errors
    /// As [`jcs`], for what RFC 8785 cannot write.
    pub fn jcs(value: &Value) -> Result<Self, SchemasError> {
        Ok(Self::from_bytes(sha2::Sha256::digest(jcs(value)?).into()))
    }
}

impl<F> Digest<F> {
    /// The same digest as one of bytes: what hashing the canonical bytes gives. There is no way back but to read the
    /// text of a field whose contract names the form.
    #[must_use]
    pub fn of_bytes(self) -> Digest {
        Digest::from_bytes(self.0)
    }

    /// The raw 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From raw bytes, as another SHA-256 computed them.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes, PhantomData)
    }

    /// 64 lower-case hex digits without the prefix.
    #[must_use]
    pub fn hex(&self) -> String {
        self.with_text(|text| text[PREFIX.len()..].to_owned())
    }

    /// Hands the text to `f`; it is written in place, since a decision has hundreds of them.
    fn with_text<T>(&self, f: impl FnOnce(&str) -> T) -> T {
        let mut text = [0; PREFIX.len() + 64];
        let (prefix, hex) = text.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX.as_bytes());
        for (pair, byte) in hex.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = HEX[usize::from(byte)];
        }
        f(std::str::from_utf8(&text).expect("hex digits are ASCII"))
    }

    /// Reads 64 lower-case hex digits without the prefix.
    ///
    /// # Errors
    /// [`SchemasError::DigestMalformed`] for anything else.
    pub fn from_hex(hex: &str) -> Result<Self, SchemasError> {
        let malformed = || SchemasError::DigestMalformed(hex.to_owned());
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(malformed()),
        };
        let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return Err(malformed()) };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return Err(malformed());
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self::from_bytes(bytes))
    }
}

impl<F> fmt::Display for Digest<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.write_str(text))
    }
}

impl<F> fmt::Debug for Digest<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<F> FromStr for Digest<F> {
    type Err = SchemasError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix(PREFIX)
            .and_then(|hex| Self::from_hex(hex).ok())
            .ok_or_else(|| SchemasError::DigestMalformed(text.to_owned()))
    }
}

impl<F> From<Digest<F>> for Value {
    fn from(digest: Digest<F>) -> Self {
        digest.with_text(|text| text.into())
    }
}

impl<F> serde::Serialize for Digest<F> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl<'de, F> serde::Deserialize<'de> for Digest<F> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
