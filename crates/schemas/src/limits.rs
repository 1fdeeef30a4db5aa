//! All limits of this crate, each with its reason.

/// Bounds that one parse is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest document, in bytes.
    pub bytes: usize,
    /// Deepest nesting of arrays and objects; the outermost container is depth 1.
    pub depth: usize,
}

/// Documents of the mesh. 1 MiB is twenty times the largest real manifest seen and fits one broker message;
/// depth 64 is far beyond every schema and keeps the recursion of readers small.
pub const DOCUMENT: Limits = Limits { bytes: 1 << 20, depth: 64 };

/// A DSSE envelope holds one document in base64 (4/3) and a signature block for up to 16 signers.
pub const ENVELOPE: Limits = Limits { bytes: (1 << 20) * 4 / 3 + 16 * 1024, depth: 64 };

/// Digits of one integer token. CPython refuses to convert longer ones by default (PEP 686 family, `int` limit 4300).
pub const INTEGER_DIGITS: usize = 4300;

/// Violations of one validation that are reported. A hostile document breaks a schema a hundred thousand times.
pub const VIOLATIONS: usize = 64;

/// Characters of a value that a message shows. Longer ones are cut: foreign text must not drown the reason.
pub const SHOWN_CHARACTERS: usize = 96;
