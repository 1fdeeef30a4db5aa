//! The digest of directory trees, `vroots-1`: what an observation compares before and after.
//!
//! For each root, in the order given: the root itself and everything below it, depth first, names in byte order, links
//! never followed, mounts crossed. Of each entry, each field with its length before it: path relative to the root, type,
//! mode, owner, group, size, number of links, device number, extended attributes in byte order of their names, target of
//! a link, SHA-256 of a file's bytes. Inode, access, modification and change time are no part of the digest, so that a
//! faithful copy has the same one; inode, modification and change time are compared beside it, on this machine alone.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use quorum_schemas::{Digest, Sha256};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, lgetxattr, llistxattr, openat, readlinkat, statat,
};

use crate::{SandboxError, limits};

/// Name of the recipe.
pub const ROOTS_DIGEST_ALGORITHM: &str = "vroots-1";

/// The state of some trees at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootsState {
    /// See the recipe in the module's description.
    pub digest: Digest,
    /// Files, folders and others, the roots included.
    pub entries: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Named pipes, which are masked.
    pub(crate) pipes: Vec<PathBuf>,
    /// Per root number and relative path: the digest of the entry, and of what is compared on this machine alone.
    seen: BTreeMap<(usize, Vec<u8>), [Digest; 2]>,
}

/// Why the state of a tree cannot be said.
#[derive(Debug)]
pub(crate) struct RootsError {
    pub(crate) path: PathBuf,
    pub(crate) why: String,
}

impl RootsState {
    /// Paths that differ, relative to their root (`1/a/b` is `a/b` in the second root), in byte order; at most
    /// [`limits::CHANGED_NAMES`]. An entry whose bytes are equal again and whose change time is not has been written and
    /// written back: it differs.
    #[must_use]
    pub fn differences(&self, after: &Self) -> Vec<String> {
        let gone = self.seen.keys().filter(|key| !after.seen.contains_key(*key));
        let other = after.seen.iter().filter(|(key, value)| self.seen.get(*key) != Some(value)).map(|(key, _)| key);
        let mut all: Vec<_> = gone.chain(other).collect();
        all.sort();
        let name = |(root, path): &(usize, Vec<u8>)| format!("{root}/{}", path.escape_ascii());
        all.into_iter().take(limits::CHANGED_NAMES).map(name).collect()
    }

    /// Nothing differs in content or metadata, though something may have been written and written back.
    #[must_use]
    pub fn same_content(&self, after: &Self) -> bool {
        self.digest == after.digest
    }
}

/// The state of the trees below 1 to 8 directories, none below another.
///
/// # Errors
/// [`SandboxError::Unobservable`] when a root is no directory, two overlap, a bound of [`limits`] is exceeded, something
/// cannot be read, or something changes while it is read.
pub fn read_roots(roots: &[PathBuf]) -> Result<RootsState, SandboxError> {
    canonical(roots)
        .and_then(|roots| read(&roots))
        .map_err(|error| SandboxError::Unobservable { path: error.path, why: error.why })
}

/// Reads the state of the trees below `roots`, which must be canonical directories.
pub(crate) fn read(roots: &[PathBuf]) -> Result<RootsState, RootsError> {
    let mut walk = Walk::default();
    walk.whole.update(ROOTS_DIGEST_ALGORITHM.as_bytes());
    for (number, root) in roots.iter().enumerate() {
        walk.root = number;
        walk.whole.update(b"\0root");
        let failed = |error: io::Error| RootsError { path: root.clone(), why: error.to_string() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::open(root, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        let stat = fstat(&folder).map_err(|error| failed(error.into()))?;
        walk.enter(&stat, &[], |_| root.clone())
            .and_then(|()| walk.note(&stat, &[], &proc_path(&folder, None), &[]))
            .and_then(|()| walk.folder(folder, &stat, &mut Vec::new(), 1))
            .map_err(|error| RootsError { path: root.join(error.path), why: error.why })?;
    }
    let Walk { whole, entries, bytes, pipes, seen, .. } = walk;
    let pipes = pipes.into_iter().map(|(root, path)| roots[root].join(path)).collect();
    Ok(RootsState { digest: whole.finish(), entries, bytes, pipes, seen })
}

#[derive(Default)]
struct Walk {
    whole: Sha256,
    pipes: Vec<(usize, PathBuf)>,
    entries: usize,
    bytes: u64,
    seen: BTreeMap<(usize, Vec<u8>), [Digest; 2]>,
    root: usize,
}

fn relative(path: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path))
}

/// A path to an entry that goes through its folder's descriptor, so that no component can be exchanged.
fn proc_path(folder: &OwnedFd, name: Option<&CStr>) -> Vec<u8> {
    let mut path = format!("/proc/self/fd/{}/", folder.as_raw_fd()).into_bytes();
    path.extend_from_slice(name.map_or(b".", CStr::to_bytes));
    path
}

impl Walk {
    /// Counts an entry against the bounds, before anything is allocated for it.
    fn enter(&mut self, stat: &Stat, path: &[u8], full: impl Fn(&[u8]) -> PathBuf) -> Result<(), RootsError> {
        let over = |why: String| Err(RootsError { path: full(path), why });
        self.entries += 1;
        if self.entries > limits::ROOTS_ENTRIES {
            return over(format!("the trees have more than {} entries", limits::ROOTS_ENTRIES));
        }
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            self.bytes = self.bytes.saturating_add(u64::try_from(stat.st_size).unwrap_or(u64::MAX));
            if self.bytes > limits::ROOTS_BYTES {
                return over(format!("the trees have more than {} bytes", limits::ROOTS_BYTES));
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: OwnedFd, stat: &Stat, path: &mut Vec<u8>, depth: usize) -> Result<(), RootsError> {
        let failed = |path: &[u8], why: String| RootsError { path: relative(path), why };
        if depth > limits::ROOTS_DEPTH {
            return Err(failed(path, format!("is more than {} levels deep", limits::ROOTS_DEPTH)));
        }
        let names = self.names(&folder, path)?;
        for name in names {
            let length = path.len();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            self.entry(&folder, &name, path, depth)?;
            path.truncate(length);
        }
        let after = fstat(&folder).map_err(|error| failed(path, error.to_string()))?;
        if (after.st_ctime, after.st_ctime_nsec) != (stat.st_ctime, stat.st_ctime_nsec) {
            return Err(failed(path, "changed while it was read".to_owned()));
        }
        Ok(())
    }

    /// The names in a folder, sorted; no more than the bound still allows.
    fn names(&self, folder: &OwnedFd, path: &[u8]) -> Result<Vec<CString>, RootsError> {
        let failed = |why: String| RootsError { path: relative(path), why };
        let mut names = Vec::new();
        for entry in Dir::read_from(folder).map_err(|error| failed(error.to_string()))? {
            let entry = entry.map_err(|error| failed(error.to_string()))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if self.entries + names.len() >= limits::ROOTS_ENTRIES {
                return Err(failed(format!("the trees have more than {} entries", limits::ROOTS_ENTRIES)));
            }
            names.push(name.to_owned());
        }
        names.sort();
        Ok(names)
    }

    fn entry(&mut self, folder: &OwnedFd, name: &CStr, path: &mut Vec<u8>, depth: usize) -> Result<(), RootsError> {
        let at = path.clone();
        let failed = |error: io::Error| RootsError { path: relative(&at), why: error.to_string() };
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed(error.into()))?;
        self.enter(&stat, path, relative)?;
        let attributes = proc_path(folder, Some(name));
        let open = |flags: OFlags| -> io::Result<OwnedFd> {
            let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let opened = openat(folder, name, flags, Mode::empty())?;
            let found = fstat(&opened)?;
            if (found.st_dev, found.st_ino) != (stat.st_dev, stat.st_ino) {
                return Err(io::Error::other("changed while it was read"));
            }
            Ok(opened)
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                self.note(&stat, path, &attributes, &[])?;
                let inner = open(OFlags::DIRECTORY).map_err(failed)?;
                self.folder(inner, &stat, path, depth + 1)
            }
            FileType::RegularFile => {
                let digest = open(OFlags::empty())
                    .and_then(|file| digest_of(File::from(file), u64::try_from(stat.st_size).unwrap_or(0)))
                    .map_err(failed)?;
                self.note(&stat, path, &attributes, digest.as_bytes())
            }
            FileType::Symlink => {
                let target = readlinkat(folder, name, Vec::new()).map_err(|error| failed(error.into()))?;
                self.note(&stat, path, &attributes, target.to_bytes())
            }
            kind => {
                if kind == FileType::Fifo {
                    self.pipes.push((self.root, relative(path)));
                }
                self.note(&stat, path, &attributes, &[])
            }
        }
    }

    /// Takes an entry into the digest.
    fn note(&mut self, stat: &Stat, path: &[u8], attributes: &[u8], content: &[u8]) -> Result<(), RootsError> {
        let attributes = attributes_of(attributes)
            .map_err(|error| RootsError { path: relative(path), why: format!("extended attributes: {error}") })?;
        let mut entry = Sha256::default();
        let mut field = |bytes: &[u8]| {
            entry.update(&(bytes.len() as u64).to_le_bytes());
            entry.update(bytes);
        };
        field(path);
        field(&stat.st_mode.to_le_bytes());
        field(&stat.st_uid.to_le_bytes());
        field(&stat.st_gid.to_le_bytes());
        field(&stat.st_size.to_le_bytes());
        field(&stat.st_nlink.to_le_bytes());
        field(&stat.st_rdev.to_le_bytes());
        field(&(attributes.len() as u64).to_le_bytes());
        for (name, value) in &attributes {
            field(name);
            field(value);
        }
        field(content);
        let entry = entry.finish();
        let mut here = Sha256::default();
        here.update(&stat.st_dev.to_le_bytes());
        here.update(&stat.st_ino.to_le_bytes());
        for (seconds, nanoseconds) in [(stat.st_mtime, stat.st_mtime_nsec), (stat.st_ctime, stat.st_ctime_nsec)] {
            here.update(&seconds.to_le_bytes());
            here.update(&nanoseconds.to_le_bytes());
        }
        self.whole.update(entry.as_bytes());
        self.seen.insert((self.root, path.to_vec()), [entry, here.finish()]);
        Ok(())
    }
}

fn digest_of(mut file: File, size: u64) -> io::Result<Digest> {
    let mut digest = Sha256::default();
    let mut buffer = [0; 64 * 1024];
    let mut seen = 0;
    loop {
        let got = file.read(&mut buffer)?;
        if got == 0 {
            break;
        }
        digest.update(&buffer[..got]);
        seen += got as u64;
        if seen > size {
            break;
        }
    }
    if seen != size {
        return Err(io::Error::other("changed while it was read"));
    }
    Ok(digest.finish())
}

/// Names and values, sorted. A file system without them has none.
fn attributes_of(path: &[u8]) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut names = [0_u8; 4096];
    let length = match llistxattr(path, &mut names) {
        Ok(length) => length,
        Err(rustix::io::Errno::OPNOTSUPP) => return Ok(found),
        Err(error) => return Err(error.into()),
    };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; limits::ATTRIBUTE];
        let length = lgetxattr(path, name, &mut value[..])?;
        value.truncate(length);
        found.insert(name.to_vec(), value);
    }
    Ok(found)
}

/// The named pipes below a path that is not a root.
pub(crate) fn pipes_below(path: &Path, left: &mut usize, found: &mut Vec<PathBuf>) -> Result<(), RootsError> {
    use std::os::unix::fs::FileTypeExt;
    let failed = |error: io::Error| RootsError { path: path.to_owned(), why: error.to_string() };
    if *left == 0 {
        let why = format!("what is to be visible has more than {} entries", limits::ROOTS_ENTRIES);
        return Err(RootsError { path: path.to_owned(), why });
    }
    *left -= 1;
    let kind = path.symlink_metadata().map_err(failed)?.file_type();
    if kind.is_fifo() {
        found.push(path.to_owned());
    } else if kind.is_dir() {
        for entry in std::fs::read_dir(path).map_err(failed)? {
            pipes_below(&entry.map_err(failed)?.path(), left, found)?;
        }
    }
    Ok(())
}

/// Canonical directories, none below another.
pub(crate) fn canonical(roots: &[PathBuf]) -> Result<Vec<PathBuf>, RootsError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for root in roots {
        let refuse = |why: String| Err(RootsError { path: root.clone(), why });
        let real = match root.canonicalize() {
            Ok(real) if real.is_dir() => real,
            Ok(_) => return refuse("is no directory".to_owned()),
            Err(error) => return refuse(error.to_string()),
        };
        if let Some(other) = found.iter().find(|other| overlap(other, &real)) {
            return refuse(format!("overlaps {}", other.display()));
        }
        found.push(real);
    }
    Ok(found)
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
