//! Reading the files that arguments name.

use std::io::{self, Read};
use std::path::Path;

use quorum_gate::open_file;
use quorum_schemas::limits;

use crate::error::CliError;

/// The bytes of a JSON document; `-` is stdin. What is larger than any document is cut one byte later, so that the
/// parser refuses it by its own rule.
pub(crate) fn document(path: &Path) -> Result<Vec<u8>, CliError> {
    read(path, limits::DOCUMENT.bytes as u64 + 1)
}

/// At most `limit` bytes of a file; `-` is stdin.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, CliError> {
    let wrong = |source| CliError::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(wrong)?;
    } else {
        open_file(path).map_err(wrong)?.take(limit).read_to_end(&mut bytes).map_err(wrong)?;
    }
    Ok(bytes)
}

/// A file whose content is refused.
pub(crate) fn refused(path: &Path, code: impl Into<&'static str>, why: &dyn std::fmt::Display) -> CliError {
    CliError::control(code, format!("{}: {}", path.display(), why))
}
