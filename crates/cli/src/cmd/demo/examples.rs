//! The shipped examples inside the binary, so that the demo runs anywhere.

use std::path::{Path, PathBuf};

use crate::error::CliError;

macro_rules! embedded {
    ($($path:literal,)*) => {
        &[$(($path, include_bytes!(concat!("../../../../../examples/json-answer/", $path)).as_slice()),)*]
    };
}

const FILES: &[(&str, &[u8])] = embedded![
    "work-unit.json",
    "mesh-policy.toml",
    "plan.toml",
    "plan-b.toml",
    "plan-c.toml",
    "rules/answer.json",
    "good/answer.json",
    "wrong/answer.json",
    "forbidden/answer.json",
    "forbidden/verification/plan.toml",
];

/// Writes them below a new directory and returns it.
pub(super) fn write(directory: &Path) -> Result<PathBuf, CliError> {
    for (name, bytes) in FILES {
        let path = directory.join(name);
        let folder = path.parent().unwrap_or(directory);
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes));
        written.map_err(|source| CliError::Write { path, source })?;
    }
    Ok(directory.to_owned())
}
