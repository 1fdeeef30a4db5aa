//! Reading a record's directory: regular files only, bounded.

use std::fs;
use std::path::Path;

use super::Difference;
use crate::control::read_disk;
use crate::decision::Files;
use crate::{GateCode, GateError, limits};

/// Every file below `directory`, or the first thing that is no file of a record.
///
/// # Errors
/// `cannot_read`, `record_too_large`.
pub(super) fn read(directory: &Path) -> Result<Result<Files, Difference>, GateError> {
    let mut files = Files::new();
    let mut ahead = vec![String::new()];
    while let Some(below) = ahead.pop() {
        let folder = directory.join(&below);
        let wrong = |source| GateError::Read { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let kind = entry.file_type().map_err(wrong)?;
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            if kind.is_dir() {
                ahead.push(format!("{name}/"));
            } else if kind.is_file() {
                let bytes = read_disk(&entry.path(), limits::RECORD_FILE)?;
                files.insert(name, bytes);
            } else {
                let message = "it is not a regular file".to_owned();
                return Ok(Err(Difference { file: name, message }));
            }
            if files.len() + ahead.len() > limits::RECORD_FILES {
                return Err(GateError::control(
                    GateCode::RecordTooLarge,
                    format!("{} has more than {} files", directory.display(), limits::RECORD_FILES),
                ));
            }
        }
    }
    Ok(Ok(files))
}
