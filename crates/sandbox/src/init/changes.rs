//! What a mutation left otherwise than it found it: the upper part of its layer held against the lower.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use quorum_schemas::{Digest, Sha256};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fgetxattr, fstat, openat, readlinkat, statat};

use super::throwaway::Layer;
use crate::limits;
use crate::report::{Change, ChangeKind};

/// The changes in a layer's tree, given one after the other; false when there are more than were given.
pub(crate) fn collect(layer: &Layer, left: &mut usize, give: &mut dyn FnMut(Change)) -> bool {
    let mut walk = Walk { tree: layer.tree, left, give };
    walk.root(layer).is_ok()
}

struct Walk<'a> {
    tree: usize,
    left: &'a mut usize,
    give: &'a mut dyn FnMut(Change),
}

type Opened<'a> = Option<&'a OwnedFd>;

impl Walk<'_> {
    fn root(&mut self, layer: &Layer) -> io::Result<()> {
        let (upper, lower) = (fstat(&layer.upper)?, fstat(&layer.lower)?);
        if upper.st_mode != lower.st_mode {
            self.tell(b".", ChangeKind::Mode, Some(&upper), None)?;
        }
        self.folder(&layer.upper, Some(&layer.lower), layer.copied, &mut Vec::new(), 1)
    }

    /// `whole`: nothing of the lower folder shines through.
    fn folder(
        &mut self,
        upper: &OwnedFd,
        lower: Opened<'_>,
        whole: bool,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> io::Result<()> {
        if depth > limits::ROOTS_DEPTH {
            return Err(io::Error::other("too deep"));
        }
        let mut names = names(upper)?;
        let here = names.clone();
        if let Some(lower) = lower.filter(|_| whole) {
            names.extend(self::names(lower)?);
        }
        for name in names {
            let length = path.len();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            if here.contains(&name) {
                self.entry(upper, lower, whole, &name, path, depth)?;
            } else {
                self.tell(path, ChangeKind::Removed, None, None)?;
            }
            path.truncate(length);
        }
        Ok(())
    }

    fn entry(
        &mut self,
        upper: &OwnedFd,
        lower: Opened<'_>,
        whole: bool,
        name: &CStr,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> io::Result<()> {
        let now = statat(upper, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let before = lower.and_then(|lower| statat(lower, name, AtFlags::SYMLINK_NOFOLLOW).ok());
        let kind = FileType::from_raw_mode(now.st_mode);
        let was = before.map(|stat| FileType::from_raw_mode(stat.st_mode));
        if kind == FileType::CharacterDevice && now.st_rdev == 0 {
            // A whiteout.
            return if before.is_some() { self.tell(path, ChangeKind::Removed, None, None) } else { Ok(()) };
        }
        let content = content(upper, name, &now)?;
        let same_type = was == Some(kind);
        let same = same_type && content == lower.map(|lower| self::content(lower, name, &now)).transpose()?.flatten();
        let same_mode = before.is_some_and(|before| before.st_mode == now.st_mode);
        let change = match (was, same, same_mode) {
            (None, ..) => Some(ChangeKind::Added),
            (Some(_), false, _) => Some(ChangeKind::Changed),
            (Some(_), true, false) => Some(ChangeKind::Mode),
            (Some(_), true, true) => None,
        };
        if let Some(change) = change {
            self.tell(path, change, Some(&now), content)?;
        }
        if kind == FileType::Directory {
            let inner = open(upper, name, OFlags::DIRECTORY)?;
            let below = lower.filter(|_| same_type).map(|lower| open(lower, name, OFlags::DIRECTORY)).transpose()?;
            let whole = whole || is_opaque(&inner);
            self.folder(&inner, below.as_ref(), whole, path, depth + 1)?;
        }
        Ok(())
    }

    fn tell(&mut self, path: &[u8], kind: ChangeKind, now: Option<&Stat>, content: Option<Digest>) -> io::Result<()> {
        if *self.left == 0 {
            return Err(io::Error::other("too many"));
        }
        *self.left -= 1;
        let is_file = |stat: &&Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        (self.give)(Change {
            tree: self.tree,
            path: path.escape_ascii().to_string(),
            kind,
            mode: now.map(|stat| stat.st_mode),
            size: now.filter(is_file).and_then(|stat| u64::try_from(stat.st_size).ok()),
            sha256: content.map(|digest| digest.hex()),
        });
        Ok(())
    }
}

fn names(folder: &OwnedFd) -> io::Result<BTreeSet<CString>> {
    let mut names = BTreeSet::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.insert(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

fn open(folder: &OwnedFd, name: &CStr, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

/// What a file or link holds. `like` has the type that is wanted.
fn content(folder: &OwnedFd, name: &CStr, like: &Stat) -> io::Result<Option<Digest>> {
    match FileType::from_raw_mode(like.st_mode) {
        FileType::RegularFile => {
            let mut file = File::from(open(folder, name, OFlags::empty())?);
            let mut digest = Sha256::default();
            let mut buffer = [0; 64 * 1024];
            loop {
                match file.read(&mut buffer)? {
                    0 => return Ok(Some(digest.finish())),
                    got => digest.update(&buffer[..got]),
                }
            }
        }
        FileType::Symlink => Ok(Some(Digest::of(readlinkat(folder, name, Vec::new())?.to_bytes()))),
        _ => Ok(None),
    }
}

/// The folder replaced one below, which an overlay notes in an attribute.
fn is_opaque(folder: &OwnedFd) -> bool {
    ["trusted.overlay.opaque", "user.overlay.opaque"].into_iter().any(|name| {
        let mut value = [0_u8; 1];
        fgetxattr(folder, name, &mut value[..]).is_ok_and(|length| value[..length] == *b"y")
    })
}
