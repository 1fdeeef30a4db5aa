//! `quorum init`: the files of a first gate, which then passes.

use std::fs;
use std::path::Path;

use quorum_policies::Policy;

use crate::{GateCode, GateError, write_atomically};

/// The folder that `init` makes.
const FOLDER: &str = ".quorum";

/// The command that exits 0 after `init`.
pub const COMMAND: &str = "quorum gate --work-unit .quorum/work-unit.json --candidate .quorum/example/candidate \
                           --baseline .quorum/example/baseline --plan .quorum/plan.toml --policy .quorum/policy.toml";

/// The CI jobs, which are the shipped examples: one text, tried by the tests.
const GITHUB: &str = include_str!("../../../examples/ci/github-gate.yml");
const GITLAB: &str = include_str!("../../../examples/ci/gitlab-ci.yml");

/// Writes the files below `root` and gives their paths, relative to it.
///
/// # Errors
/// `init_exists` when one of them is there already, or a link in place of one of their folders (nothing is written then), `cannot_write`.
pub fn init(root: &Path) -> Result<Vec<String>, GateError> {
    let policy = Policy::shipped("local").unwrap_or_default();
    let files = [
        ("work-unit.json", include_str!("init/files/work-unit.json")),
        ("plan.toml", include_str!("init/files/plan.toml")),
        ("policy.toml", policy),
        ("example/baseline/answer.json", include_str!("init/files/draft.json")),
        ("example/candidate/answer.json", include_str!("init/files/answer.json")),
        ("example/github-gate.yml", GITHUB),
        ("example/gitlab-ci.yml", GITLAB),
    ];
    let paths: Vec<String> = files.iter().map(|(name, _)| format!("{FOLDER}/{name}")).collect();
    if let Some(taken) = paths.iter().find(|path| root.join(path).symlink_metadata().is_ok()) {
        return Err(GateError::control(
            GateCode::InitExists,
            format!("{taken} is there already; remove {FOLDER} or go on with what is in it"),
        ));
    }
    // What lies behind a link is not this repository's to write.
    for below in ["", "/example", "/example/baseline", "/example/candidate"] {
        let folder = format!("{FOLDER}{below}");
        if root.join(&folder).symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            let message = format!("{folder} is a symbolic link; remove it, or start in another place");
            return Err(GateError::control(GateCode::InitExists, message));
        }
    }
    let write = |(path, (_, text)): (&String, (&str, &str))| {
        let full = root.join(path);
        let folder = full.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(|source| GateError::Write { path: folder.to_owned(), source })?;
        write_atomically(&full, text.as_bytes())
    };
    if let Err(error) = paths.iter().zip(files).try_for_each(write) {
        take_back(root, &paths);
        return Err(error);
    }
    Ok(paths)
}

/// Half a start is none. Nothing of this was there before, except perhaps the folder; one that is not empty stays.
fn take_back(root: &Path, paths: &[String]) {
    for path in paths {
        let _ = fs::remove_file(root.join(path));
    }
    for folder in ["example/baseline", "example/candidate", "example", ""] {
        let _ = fs::remove_dir(root.join(FOLDER).join(folder));
    }
}
