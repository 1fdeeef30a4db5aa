//! A commit's tree as files on disk, written by us and not by `git checkout`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions, Permissions};
use std::io::BufWriter;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use quorum_verifier::limits::{NAME_BYTES, PATH_BYTES};
use quorum_verifier::tree::submodule_text;

use super::objects::{Kind, ObjectId, Objects, tree_of};
use crate::{GateCode, GateError, limits};

/// One entry of a tree object.
struct Entry {
    mode: Mode,
    name: Vec<u8>,
    id: ObjectId,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    File,
    Executable,
    Link,
    Directory,
    Submodule,
}

/// Writes the tree of `commit` below `target`, which must be an empty directory.
///
/// Links are written as links, after every file, and never followed; a submodule is a file that names its commit, so
/// that a changed submodule is a changed file. The answer is the paths of the submodules, sorted: the one thing that the
/// directory cannot say of itself.
///
/// # Errors
/// `git_*` for objects that are not what they should be, `cannot_write`.
pub(crate) fn materialise(objects: &mut Objects, commit: &ObjectId, target: &Path) -> Result<Vec<PathBuf>, GateError> {
    within(limits::TREE_ENTRIES, objects, commit, target)
}

/// [`materialise`] of a tree of at most `most` files and directories.
fn within(most: usize, objects: &mut Objects, commit: &ObjectId, target: &Path) -> Result<Vec<PathBuf>, GateError> {
    let root = tree_of(objects, commit)?;
    let (links, submodules) = (Vec::new(), Vec::new());
    let mut writer = Writer { objects, target, entries: 0, most, bytes: 0, links, submodules, submodule_bytes: 0 };
    writer.directory(&root, target)?;
    for (path, destination) in std::mem::take(&mut writer.links) {
        symlink(OsStr::from_bytes(&destination), &path).map_err(|source| GateError::Write { path, source })?;
    }
    writer.submodules.sort();
    Ok(writer.submodules)
}

/// The content of the regular file at `path` (with `/` between the names) in the tree of `commit`.
///
/// # Errors
/// `control_file_not_in_ref` when there is none, or a link or a directory in its place.
pub(crate) fn file_at(objects: &mut Objects, commit: &ObjectId, path: &Path, limit: u64) -> Result<Vec<u8>, GateError> {
    let absent = |what: &str| {
        GateError::control(
            GateCode::ControlFileNotInRef,
            format!("{} in the control ref {commit}: {what}", path.display()),
        )
    };
    let mut tree = tree_of(objects, commit)?;
    let mut names = path.iter().peekable();
    while let Some(name) = names.next() {
        let entries = entries(objects, &tree)?;
        let entry = entries.into_iter().find(|entry| entry.name == name.as_bytes());
        let entry = entry.ok_or_else(|| absent("there is no such file; commit it to the base branch first"))?;
        match (entry.mode, names.peek().is_some()) {
            (Mode::Directory, true) => tree = entry.id,
            (Mode::File | Mode::Executable, false) => return objects.read(&entry.id, Kind::Blob, limit),
            (Mode::Link, _) => return Err(absent("it goes through a symbolic link, which is not followed")),
            _ => return Err(absent("it is not a file")),
        }
    }
    Err(absent("it is the repository itself"))
}

struct Writer<'a> {
    objects: &'a mut Objects,
    /// Where the tree goes.
    target: &'a Path,
    /// Files, links, submodules and directories so far.
    entries: usize,
    most: usize,
    bytes: u64,
    links: Vec<(PathBuf, Vec<u8>)>,
    /// Paths below `target`.
    submodules: Vec<PathBuf>,
    submodule_bytes: usize,
}

impl Writer<'_> {
    fn directory(&mut self, tree: &ObjectId, folder: &Path) -> Result<(), GateError> {
        for entry in entries(self.objects, tree)? {
            let path = folder.join(OsStr::from_bytes(&entry.name));
            self.can_be_named(&entry.name, &path)?;
            if entry.mode == Mode::Directory {
                // One tree object may stand under many names, so few objects can mean any number of directories.
                self.count()?;
                fs::create_dir(&path)
                    .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o755)))
                    .map_err(|source| GateError::Write { path: path.clone(), source })?;
                self.directory(&entry.id, &path)?;
            } else {
                self.leaf(&entry, path)?;
            }
        }
        Ok(())
    }

    /// Git has no bound of its own on names, and a name that no disk holds is no fault of this machine. The bound on paths
    /// also ends the recursion.
    fn can_be_named(&self, name: &[u8], path: &Path) -> Result<(), GateError> {
        let below = path.strip_prefix(self.target).unwrap_or(path).as_os_str().len();
        let start = String::from_utf8_lossy(&name[..name.len().min(40)]).into_owned();
        if name.len() > NAME_BYTES {
            return Err(too_large(format!(
                "the name `{start}...` has {} bytes, the limit is {NAME_BYTES}",
                name.len()
            )));
        }
        if below > PATH_BYTES {
            return Err(too_large(format!(
                "the path that ends in `{start}` has {below} bytes, the limit is {PATH_BYTES}"
            )));
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), GateError> {
        self.entries += 1;
        if self.entries > self.most {
            return Err(too_large(format!("it has more than {} files and directories", self.most)));
        }
        Ok(())
    }

    fn leaf(&mut self, entry: &Entry, path: PathBuf) -> Result<(), GateError> {
        self.count()?;
        let left = limits::TREE_BYTES - self.bytes;
        match entry.mode {
            Mode::Link => {
                let target = self.objects.read(&entry.id, Kind::Blob, limits::TREE_OBJECT)?;
                if target.is_empty() || target.contains(&0) || target.len() > limits::LINK_BYTES {
                    return Err(no_link(path.strip_prefix(self.target).unwrap_or(&path)));
                }
                self.links.push((path, target));
            }
            Mode::Submodule => {
                let below = path.strip_prefix(self.target).unwrap_or(&path).to_owned();
                self.submodule_bytes += below.as_os_str().len();
                if self.submodule_bytes > limits::SUBMODULE_PATH_BYTES {
                    let limit = limits::SUBMODULE_PATH_BYTES;
                    return Err(too_large(format!("the paths of its submodules have more than {limit} bytes")));
                }
                self.submodules.push(below);
                let text = submodule_text(entry.id.as_str());
                fs::write(&path, text).map_err(|source| GateError::Write { path, source })?;
            }
            mode => {
                let bits = if mode == Mode::Executable { 0o755 } else { 0o644 };
                let file = OpenOptions::new().write(true).create_new(true).mode(bits).open(&path);
                let file = file.map_err(|source| GateError::Write { path: path.clone(), source })?;
                // The umask of the caller must not change what the verifier sees.
                file.set_permissions(Permissions::from_mode(bits))
                    .map_err(|source| GateError::Write { path: path.clone(), source })?;
                let mut sink = BufWriter::with_capacity(1 << 16, file);
                self.bytes += self.objects.copy(&entry.id, Kind::Blob, left, &mut sink)?;
                sink.into_inner().map_err(|error| GateError::Write { path, source: error.into_error() })?;
            }
        }
        Ok(())
    }
}

/// Git holds any bytes as a target; the disk's refusal of them would look like a fault of this machine.
fn no_link(path: &Path) -> GateError {
    let message = format!(
        "`{}` is a symlink to nothing that a path can be: its target must have 1 to {} bytes and no NUL",
        path.display(),
        limits::LINK_BYTES
    );
    GateError::worker(GateCode::CandidateUnusable, message)
}

fn too_large(why: String) -> GateError {
    GateError::control(GateCode::GitTreeTooLarge, format!("the tree cannot be verified here: {why}"))
}

/// The entries of one tree object, each name checked: it must not reach another directory or another repository.
fn entries(objects: &mut Objects, tree: &ObjectId) -> Result<Vec<Entry>, GateError> {
    let content = objects.read(tree, Kind::Tree, limits::TREE_OBJECT)?;
    let corrupt = |what: String| GateError::control(GateCode::GitObjectCorrupt, format!("the tree {tree}: {what}"));
    let mut entries = Vec::new();
    let mut names = HashSet::new();
    let mut rest = &content[..];
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ');
        let zero = rest.iter().position(|byte| *byte == 0);
        let (Some(space), Some(zero)) = (space, zero) else { return Err(corrupt("an entry without an end".into())) };
        let end = zero + 1 + tree.raw_len();
        if space > zero || end > rest.len() {
            return Err(corrupt("an entry without an id".into()));
        }
        let name = rest[space + 1..zero].to_vec();
        let shown = String::from_utf8_lossy(&name).into_owned();
        let mode = mode(&rest[..space]).ok_or_else(|| corrupt(format!("`{shown}` has no known mode")))?;
        if unsafe_name(&name) {
            return Err(corrupt(format!("`{shown}` is not a name that a file may have")));
        }
        if !names.insert(name.clone()) {
            return Err(corrupt(format!("`{shown}` is there twice")));
        }
        entries.push(Entry { mode, name, id: ObjectId::from_raw(&rest[zero + 1..end]) });
        rest = &rest[end..];
    }
    Ok(entries)
}

fn mode(text: &[u8]) -> Option<Mode> {
    match text {
        b"100644" | b"100664" => Some(Mode::File),
        b"100755" => Some(Mode::Executable),
        b"120000" => Some(Mode::Link),
        b"40000" | b"040000" => Some(Mode::Directory),
        b"160000" => Some(Mode::Submodule),
        _ => None,
    }
}

fn unsafe_name(name: &[u8]) -> bool {
    name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') || name.eq_ignore_ascii_case(b".git")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Repository;
    use crate::git::testing::git;

    /// Three tree objects of eight entries each mean 584 directories, and one more object eight times as many.
    #[test]
    fn directories_count_as_files_do() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q"], "");
        let mut tree = git(dir.path(), &["mktree"], "");
        for _ in 0..3 {
            let rows: String = (0..8).map(|name| format!("040000 tree {tree}\t{name}\n")).collect();
            tree = git(dir.path(), &["mktree"], &rows);
        }
        let commit: ObjectId = git(dir.path(), &["commit-tree", "-m", "x", &tree], "").parse().unwrap();
        let repository = Repository::open(dir.path()).unwrap();
        let write = |most: usize, name: &str| {
            let target = dir.path().join(name);
            fs::create_dir(&target).unwrap();
            within(most, &mut repository.objects().unwrap(), &commit, &target).map_err(|error| error.code())
        };
        assert_eq!(write(583, "too-many"), Err("git_tree_too_large"));
        assert_eq!(write(584, "just-enough"), Ok(vec![]));
    }
}
