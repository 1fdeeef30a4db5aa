//! Deterministic ZIPs: evidence bundles and candidates that are directories.
//!
//! One writer, one form: paths sorted by bytes, stored, 1980-01-01, modes 644 and 755, symlinks as links, no extra fields.
//! The reader admits exactly what the writer writes, so that one set of files has one ZIP and one digest.

mod candidate;
mod check;
mod read;
mod write;

pub(crate) use candidate::{check_link, zip_listing_digest};
pub use candidate::{unzip_candidate, zip_dir, zip_dir_digest};
pub use check::check;
pub use read::read;
pub use write::zip;

/// The bytes of a bundle and their digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The ZIP.
    pub bytes: Vec<u8>,
    /// SHA-256 of the bytes.
    pub digest: quorum_schemas::Digest,
}

impl Bundle {
    /// Packs files.
    ///
    /// # Errors
    /// As [`zip`].
    pub fn pack(files: &std::collections::BTreeMap<String, Vec<u8>>) -> Result<Self, crate::VerifierError> {
        let bytes = zip(files)?;
        Ok(Self { digest: quorum_schemas::Digest::of(&bytes), bytes })
    }

    /// The name of its file beside an evidence: `bundle-<64 hex>.zip`.
    #[must_use]
    pub fn file_name(&self) -> String {
        file_name(&self.digest)
    }
}

/// The name of the file of the bundle with this digest: `bundle-<64 hex>.zip`.
#[must_use]
pub fn file_name(digest: &quorum_schemas::Digest) -> String {
    format!("bundle-{}.zip", digest.hex())
}
