//! A tree of files as documents name it: sorted paths, a mode and the digest of the bytes.
//!
//! Directories are not entries, as in Git: an empty directory is no content. Symlinks are entries and are never followed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use nix::fcntl::OFlag;
use quorum_schemas::{C1Digest, Digest, Sha256, Value};

use crate::{VerifierError, limits};

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// A regular file.
    File,
    /// A regular file that its owner may execute.
    Executable,
    /// A symlink; its bytes are its target.
    Symlink,
    /// A commit of another repository. On disk it is a file that names the commit; only the request says that it is not
    /// a file of that text.
    Submodule,
}

impl Mode {
    /// Git's notation: `100644`, `100755`, `120000`, `160000`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Symlink => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// One file or symlink of a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Relative path with `/` between segments; UTF-8.
    pub path: String,
    /// What it is.
    pub mode: Mode,
    /// SHA-256 of the bytes; of the target for a symlink.
    pub sha256: Digest,
    /// Length of these bytes.
    pub bytes: u64,
}

/// The `candidate_tree` and `baseline_tree` of the evidence: the C1 digest of `[[path, mode, sha256], ...]` sorted by path.
///
/// # Errors
/// As [`list`].
pub fn candidate_tree(root: &Path) -> Result<C1Digest, VerifierError> {
    Ok(digest(&list(root)?))
}

/// A tree that was listed once. Every later read is held against that listing, so that all checks and the evidence
/// speak of the same bytes, whatever happens on the disk between them.
#[derive(Debug)]
pub(crate) struct Listing {
    root: PathBuf,
    entries: Vec<Entry>,
}

impl Listing {
    /// Lists the tree at `root`; at `submodules` stand submodules.
    pub(crate) fn take(root: &Path, submodules: &[String]) -> Result<Self, VerifierError> {
        let mut entries = list(root)?;
        mark_submodules(&mut entries, submodules);
        Ok(Self { root: root.to_owned(), entries })
    }

    /// The bytes that were listed; [`VerifierError::TreeChanged`] when they are others now.
    pub(crate) fn read(&self, entry: &Entry) -> Result<Vec<u8>, VerifierError> {
        // A file that grew is no longer the one that was listed, so not a byte more than was listed is held.
        let bytes = match entry.mode {
            Mode::Symlink => Some(read_entry(&self.root, &entry.path, entry.mode, entry.bytes)?),
            _ => read_file(&resolve(&self.root, &entry.path)?, entry.bytes)?,
        };
        bytes
            .filter(|bytes| Digest::of(bytes) == entry.sha256)
            .ok_or_else(|| VerifierError::TreeChanged { path: entry.path.clone() })
    }

    /// The bytes of a listed file; `None` when it has more than `limit`.
    pub(crate) fn read_file(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, VerifierError> {
        let entry = self.entry(path)?;
        if entry.bytes > limit { Ok(None) } else { self.read(entry).map(Some) }
    }

    /// What was listed at this path.
    pub(crate) fn entry(&self, path: &str) -> Result<&Entry, VerifierError> {
        let found = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path));
        let missing = |_| VerifierError::CandidateUnusable(format!("`{path}` is not in the candidate"));
        found.map(|index| &self.entries[index]).map_err(missing)
    }
}

impl std::ops::Deref for Listing {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.entries
    }
}

/// The digest of entries that [`list`] gave.
#[must_use]
pub fn digest(entries: &[Entry]) -> C1Digest {
    let rows = entries
        .iter()
        .map(|entry| vec![Value::from(entry.path.as_str()), Value::from(entry.mode.as_str()), entry.sha256.into()])
        .map(Value::Array)
        .collect();
    Digest::c1(&Value::Array(rows))
}

/// Every file and symlink below `root`, sorted by the bytes of the path.
///
/// # Errors
/// [`VerifierError::TreeSpecialFile`], [`VerifierError::PathUnsafe`] for a name that is not UTF-8,
/// [`VerifierError::TreeTooLarge`], [`VerifierError::Io`].
pub fn list(root: &Path) -> Result<Vec<Entry>, VerifierError> {
    let mut entries = Vec::new();
    let mut total = 0_u64;
    for (path, mode) in walk(root)? {
        let (sha256, bytes) = digest_entry(root, &path, mode, limits::TREE_BYTES - total)?;
        total += bytes;
        entries.push(Entry { sha256, bytes, path, mode });
    }
    Ok(entries)
}

/// What stands on disk in the place of a submodule at `commit`.
#[must_use]
pub fn submodule_text(commit: &str) -> String {
    format!("Subproject commit {commit}\n")
}

/// Gives the entries at `paths`, which [`list`] took for files, their mode: a submodule that became a file of the same
/// text was written all the same.
pub(crate) fn mark_submodules(entries: &mut [Entry], paths: &[String]) {
    // A hostile tree may hold as many submodules as files.
    let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    for entry in entries.iter_mut().filter(|entry| paths.contains(entry.path.as_str())) {
        entry.mode = Mode::Submodule;
    }
}

/// Paths and modes below `root`, sorted by the bytes of the path.
pub(crate) fn walk(root: &Path) -> Result<Vec<(String, Mode)>, VerifierError> {
    let mut found = Vec::new();
    descend(root, "", 0, &mut found)?;
    found.sort();
    Ok(found)
}

fn descend(root: &Path, below: &str, depth: usize, found: &mut Vec<(String, Mode)>) -> Result<(), VerifierError> {
    let folder = root.join(below);
    if depth > limits::TREE_DEPTH {
        return Err(too_large(&folder, "levels of directories", limits::TREE_DEPTH as u64));
    }
    let listing = fs::read_dir(&folder).map_err(|error| VerifierError::io("listing", &folder, &error))?;
    for item in listing {
        let item = item.map_err(|error| VerifierError::io("listing", &folder, &error))?;
        let name = item.file_name();
        let Some(name) = name.to_str() else {
            let path = format!("{below}{}", String::from_utf8_lossy(name.as_bytes()));
            return Err(VerifierError::PathUnsafe { path, why: "is not UTF-8" });
        };
        let path = format!("{below}{name}");
        if path.len() > limits::PATH_BYTES {
            return Err(VerifierError::PathUnsafe { path, why: "is longer than 1024 bytes" });
        }
        let meta =
            fs::symlink_metadata(item.path()).map_err(|error| VerifierError::io("reading", &item.path(), &error))?;
        let kind = meta.file_type();
        if kind.is_dir() {
            descend(root, &format!("{path}/"), depth + 1, found)?;
            continue;
        }
        let mode = match () {
            () if kind.is_symlink() => Mode::Symlink,
            () if kind.is_file() && meta.permissions().mode() & 0o100 != 0 => Mode::Executable,
            () if kind.is_file() => Mode::File,
            () => return Err(VerifierError::TreeSpecialFile(path)),
        };
        if found.len() >= limits::TREE_FILES {
            return Err(too_large(root, "files", limits::TREE_FILES as u64));
        }
        found.push((path, mode));
    }
    Ok(())
}

/// The bytes of one entry: of the file, or of a symlink's target. At most `limit` bytes.
pub(crate) fn read_entry(root: &Path, path: &str, mode: Mode, limit: u64) -> Result<Vec<u8>, VerifierError> {
    let full = root.join(path);
    if mode == Mode::Symlink {
        let target = fs::read_link(&full).map_err(|error| VerifierError::io("reading", &full, &error))?;
        return Ok(target.as_os_str().as_bytes().to_vec());
    }
    read_file(&full, limit)?.ok_or_else(|| too_large(root, "bytes", limits::TREE_BYTES))
}

/// Digest and length of what [`read_entry`] reads, in bounded memory.
fn digest_entry(root: &Path, path: &str, mode: Mode, limit: u64) -> Result<(Digest, u64), VerifierError> {
    if mode == Mode::Symlink {
        let target = read_entry(root, path, mode, limit)?;
        return Ok((Digest::of(&target), target.len() as u64));
    }
    let full = root.join(path);
    let io = |error: std::io::Error| VerifierError::io("reading", &full, &error);
    let mut file = open_file(&full)?.take(limit.saturating_add(1));
    let mut hasher = Sha256::default();
    let mut total = 0;
    let mut part = vec![0; limits::READ_BYTES];
    loop {
        let count = match file.read(&mut part) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(io(error)),
        };
        hasher.update(&part[..count]);
        total += count as u64;
    }
    if total > limit {
        return Err(too_large(root, "bytes", limits::TREE_BYTES));
    }
    Ok((hasher.finish(), total))
}

/// A regular file, never through a symlink in its last segment; `None` when it holds more than `limit` bytes.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, VerifierError> {
    let file = open_file(path)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| VerifierError::io("reading", path, &error))?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

fn open_file(path: &Path) -> Result<fs::File, VerifierError> {
    let io = |error: std::io::Error| VerifierError::io("reading", path, &error);
    // O_NONBLOCK: a pipe that took the place of the file must not hold us.
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(io)?;
    if !file.metadata().map_err(io)?.is_file() {
        return Err(VerifierError::TreeSpecialFile(path.display().to_string()));
    }
    Ok(file)
}

/// The regular file that a locator names below `root`. No segment may be a symlink: a locator that needs one could name
/// other bytes tomorrow.
///
/// # Errors
/// [`VerifierError::PathUnsafe`] for an absolute or climbing locator and for a symlink on the way,
/// [`VerifierError::Io`] when it is not there.
pub fn resolve(root: &Path, locator: &str) -> Result<PathBuf, VerifierError> {
    let refuse = |why| VerifierError::PathUnsafe { path: locator.to_owned(), why };
    check_path(locator)?;
    let mut full = root.to_path_buf();
    for part in Path::new(locator).components() {
        let Component::Normal(part) = part else { return Err(refuse("is not a plain relative path")) };
        full.push(part);
        let meta = match fs::symlink_metadata(&full) {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(refuse("is missing"));
            }
            Err(error) => return Err(VerifierError::io("finding", &full, &error)),
        };
        if meta.file_type().is_symlink() {
            return Err(refuse("goes through a symlink"));
        }
    }
    let meta = fs::symlink_metadata(&full).map_err(|error| VerifierError::io("finding", &full, &error))?;
    if meta.is_file() { Ok(full) } else { Err(refuse("is not a regular file")) }
}

/// Refuses a path that is not plain, relative and free of `.`, `..` and empty segments.
///
/// # Errors
/// [`VerifierError::PathUnsafe`].
pub fn check_path(path: &str) -> Result<(), VerifierError> {
    let why = match path {
        _ if path.is_empty() => "is empty",
        _ if path.len() > limits::PATH_BYTES => "is longer than 1024 bytes",
        _ if path.starts_with('/') => "is absolute",
        _ if path.contains('\0') => "holds a NUL",
        _ if path.split('/').any(|part| part == ".." || part == ".") => "holds `.` or `..`",
        _ if path.split('/').any(str::is_empty) => "holds an empty segment",
        _ if path.split('/').any(|part| part.len() > limits::NAME_BYTES) => "holds a segment longer than 255 bytes",
        _ => return Ok(()),
    };
    Err(VerifierError::PathUnsafe { path: path.to_owned(), why })
}

fn too_large(path: &Path, what: &'static str, limit: u64) -> VerifierError {
    VerifierError::TreeTooLarge { path: path.display().to_string(), what, limit }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn root() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary directory")
    }

    #[test]
    fn a_segment_that_no_file_system_holds_is_refused() {
        let fits = format!("a/{}", "x".repeat(limits::NAME_BYTES));
        assert!(check_path(&fits).is_ok());
        let why = |path: &str| match check_path(path) {
            Err(VerifierError::PathUnsafe { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(&format!("{fits}x")), "holds a segment longer than 255 bytes");
        assert_eq!(why(&"x/".repeat(limits::PATH_BYTES)), "is longer than 1024 bytes");
    }

    #[test]
    fn the_tree_digest_is_the_c1_digest_of_sorted_rows() {
        let root = root();
        fs::create_dir(root.path().join("b")).unwrap();
        fs::write(root.path().join("b/x"), "x").unwrap();
        fs::write(root.path().join("b.txt"), "").unwrap();
        symlink("b/x", root.path().join("a")).unwrap();
        fs::create_dir(root.path().join("empty")).unwrap();
        let rows = format!(
            r#"[["a","120000","{}"],["b.txt","100644","{}"],["b/x","100644","{}"]]"#,
            Digest::of(b"b/x"),
            Digest::of(b""),
            Digest::of(b"x")
        );
        assert_eq!(candidate_tree(root.path()).unwrap().of_bytes(), Digest::of(rows.as_bytes()));
    }

    #[test]
    fn what_changed_after_the_listing_is_not_read() {
        let root = root();
        for name in ["same", "other", "longer", "shorter", "gone", "link"] {
            fs::write(root.path().join(name), "as listed").unwrap();
        }
        symlink("as listed", root.path().join("points")).unwrap();
        let listing = Listing::take(root.path(), &[]).unwrap();
        fs::write(root.path().join("other"), "AS LISTED").unwrap();
        fs::write(root.path().join("longer"), "as listed, and more").unwrap();
        fs::write(root.path().join("shorter"), "as").unwrap();
        for name in ["gone", "link", "points"] {
            fs::remove_file(root.path().join(name)).unwrap();
        }
        symlink("same", root.path().join("link")).unwrap();
        symlink("AS LISTED", root.path().join("points")).unwrap();
        let read = |name| listing.entry(name).and_then(|entry| listing.read(entry));
        assert_eq!(read("same").unwrap(), b"as listed");
        for (name, code) in [
            ("other", "tree_changed"),
            ("longer", "tree_changed"),
            ("shorter", "tree_changed"),
            ("points", "tree_changed"),
            ("gone", "path_unsafe"),
            ("link", "path_unsafe"),
            ("absent", "candidate_unusable"),
        ] {
            assert_eq!(read(name).unwrap_err().code(), code, "{name}");
        }
        assert_eq!(listing.read_file("same", 8).unwrap(), None, "the limit is the caller's");
    }

    #[test]
    fn a_mode_change_is_another_tree() {
        let root = root();
        let file = root.path().join("run");
        fs::write(&file, "x").unwrap();
        let before = candidate_tree(root.path()).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(candidate_tree(root.path()).unwrap(), before);
    }

    #[test]
    fn special_files_and_foreign_names_are_refused() {
        let root1 = root();
        nix::unistd::mkfifo(&root1.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(list(root1.path()).unwrap_err().code(), "tree_special_file");
        let root2 = root();
        fs::write(root2.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
        assert_eq!(list(root2.path()).unwrap_err().code(), "path_unsafe");
    }

    #[test]
    fn a_locator_stays_inside_the_root_and_off_symlinks() {
        let root = root();
        fs::create_dir(root.path().join("in")).unwrap();
        fs::write(root.path().join("in/file"), "x").unwrap();
        symlink("in", root.path().join("link")).unwrap();
        symlink("/etc/passwd", root.path().join("passwd")).unwrap();
        assert!(resolve(root.path(), "in/file").is_ok());
        for locator in
            ["", "/etc/passwd", "../x", "in/../in/file", "./in/file", "in//file", "in", "link/file", "passwd", "in/\0"]
        {
            assert_eq!(resolve(root.path(), locator).unwrap_err().code(), "path_unsafe", "{locator:?}");
        }
        assert_eq!(resolve(root.path(), "absent").unwrap_err().code(), "path_unsafe");
    }
}
