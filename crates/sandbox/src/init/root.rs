//! The command's view of the file system: the host's, read-only, with masks and exceptions.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::throwaway::{self, Layer};
use super::{StepError, class_step, step};
use crate::wire::{Description, View, ViewKind};
use crate::{limits, sys};

/// Where the new root is attached before it becomes the root. Everything that is needed from the old one has been
/// opened by then.
const BASE: &str = "/tmp";
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const QUIET: u64 = sys::ATTR_NO_SETUID | sys::ATTR_NO_DEVICES;

/// What outlives the building.
#[derive(Debug)]
pub(crate) struct Built {
    /// As root: `/proc` is still writable, because the command's own user namespace is described through it. See
    /// [`seal_proc`].
    pub(crate) proc_is_open: bool,
    /// The layers of a mutation.
    pub(crate) throwaway: Vec<Layer>,
}

/// Builds the view and enters it.
pub(crate) fn build(
    description: &Description,
    mapping: Option<&OwnedFd>,
    layers: &mut Vec<String>,
) -> Result<Built, StepError> {
    let nothing: Option<&str> = None;
    class_step("mount-private", mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing))?;
    let whole = class_step("open-tree", sys::open_tree(Path::new("/")))?;
    let mut changes: Vec<(&View, Option<OwnedFd>)> = Vec::new();
    let mut throwaway_views = Vec::new();
    let mut lowers = Vec::new();
    let mut owners_mapped = true;
    for view in &description.view {
        let tree = match view.kind {
            ViewKind::ReadOnly | ViewKind::Writable => {
                let (tree, mapped) = exception(view, mapping, description.uid)?;
                owners_mapped &= mapped;
                Some(tree)
            }
            ViewKind::Throwaway(number) => {
                let (tree, mapped) = exception(view, mapping, description.uid)?;
                lowers.push((number, tree, mapped || !nix::unistd::geteuid().is_root()));
                throwaway_views.push(view);
                continue;
            }
            ViewKind::Masked | ViewKind::Private => None,
        };
        changes.push((view, tree));
    }
    let devices: Vec<(&str, OwnedFd)> = DEVICES
        .into_iter()
        .filter_map(|name| Some((name, sys::open_tree(&Path::new("/dev").join(name)).ok()?)))
        .collect();
    let throwaway = throwaway_layers(description, lowers, &throwaway_views, &mut changes, layers)?;
    class_step("mount-read-only", sys::restrict_tree(&whole, sys::ATTR_READ_ONLY | QUIET))?;
    class_step("mount-root", sys::move_mount(&whole, Path::new(BASE)))?;
    let proc_is_open = nix::unistd::geteuid().is_root();
    class_step("mount-proc", mount_proc(proc_is_open))?;
    class_step("mount-dev", mount_dev(devices, description.scratch))?;
    class_step("mount-sys", mask_for_good(&under_base(Path::new("/sys"))))?;
    // A mask hides what is below it, and an exception below a mask is seen again: the deeper path is applied later.
    changes.sort_by_key(|(view, _)| view.path.components().count());
    for (view, tree) in &changes {
        let name = format!("view {}", view.path.display());
        let bare = !description.view.iter().any(|other| other.path != view.path && other.path.starts_with(&view.path));
        if view.kind == ViewKind::Masked && bare && under_base(&view.path).is_dir() {
            class_step(&name, mask_like_sys(&view.path))?;
        } else {
            class_step(&name, apply(view, tree.as_ref(), description.scratch))?;
        }
    }
    for (view, _) in changes.iter().filter(|(view, _)| view.kind == ViewKind::Masked) {
        let _ = sys::restrict_path(&under_base(&view.path), sys::ATTR_READ_ONLY);
    }
    class_step("pivot-root", enter())?;
    layers.extend(["mount-ro-recursive", "private-tmp", "private-dev", "fresh-proc"].map(str::to_owned));
    if mapping.is_some() && owners_mapped {
        layers.push("owners-mapped".to_owned());
    }
    Ok(Built { proc_is_open, throwaway })
}

/// Puts the layers of a mutation among the changes of the view.
fn throwaway_layers<'a>(
    description: &Description,
    lowers: Vec<(usize, OwnedFd, bool)>,
    views: &[&'a View],
    changes: &mut Vec<(&'a View, Option<OwnedFd>)>,
    layers: &mut Vec<String>,
) -> Result<Vec<Layer>, StepError> {
    if lowers.is_empty() {
        return Ok(Vec::new());
    }
    let (trees, made) = class_step("throwaway", throwaway::make(lowers, description.uid, description.scratch))?;
    for (view, tree) in views.iter().zip(trees) {
        class_step("throwaway", sys::restrict_tree(&tree, QUIET))?;
        changes.push((view, Some(tree)));
    }
    let copied = made.iter().any(|layer| layer.copied);
    layers.push(if copied { "throwaway-copy" } else { "throwaway-overlay" }.to_owned());
    Ok(made)
}

fn under_base(path: &Path) -> PathBuf {
    Path::new(BASE).join(path.strip_prefix("/").unwrap_or(path))
}

/// A detached copy of the host's tree at the path, and whether its owners are shown through the mapping.
fn exception(view: &View, mapping: Option<&OwnedFd>, uid: u32) -> Result<(OwnedFd, bool), StepError> {
    let name = format!("view {}", view.path.display());
    let tree = step(&name, sys::open_tree(&view.path))?;
    let mapped = mapping.is_some_and(|userns| sys::map_owners(&tree, userns).is_ok());
    let writable = view.kind == ViewKind::Writable;
    if writable && !mapped && nix::unistd::geteuid().is_root() {
        // The file system cannot show owners through a mapping: the throwaway folder becomes the command's own.
        step(&name, give_away(&view.path, uid, 0))?;
    }
    let attributes = if writable { QUIET } else { QUIET | sys::ATTR_READ_ONLY };
    class_step(&name, sys::restrict_tree(&tree, attributes))?;
    Ok((tree, mapped))
}

fn give_away(path: &Path, uid: u32, depth: u32) -> io::Result<()> {
    std::os::unix::fs::lchown(path, Some(uid), Some(uid))?;
    if depth < 256 && path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            give_away(&entry?.path(), uid, depth + 1)?;
        }
    }
    Ok(())
}

fn tmpfs(target: &Path, mode: u32, flags: MsFlags) -> io::Result<()> {
    tmpfs_of(target, mode, flags, limits::TMPFS_BYTES)
}

pub(crate) fn tmpfs_of(target: &Path, mode: u32, flags: MsFlags, bytes: u64) -> io::Result<()> {
    let options = format!("mode={mode:o},size={bytes},nr_inodes={}", limits::TMPFS_ENTRIES);
    Ok(mount(Some("tmpfs"), target, Some("tmpfs"), flags, Some(options.as_str()))?)
}

fn mask(target: &Path) -> io::Result<()> {
    tmpfs(target, 0o755, MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC)
}

/// Nothing is shown below it, so that one empty read-only file system is enough for all such places.
fn mask_like_sys(path: &Path) -> io::Result<()> {
    sys::move_mount(sys::open_tree(&under_base(Path::new("/sys")))?, &under_base(path))
}

fn mask_for_good(target: &Path) -> io::Result<()> {
    mask(target)?;
    sys::restrict_path(target, sys::ATTR_READ_ONLY)
}

/// Makes `/proc` read-only as seen from inside; before the command starts.
pub(crate) fn seal_proc() -> io::Result<()> {
    sys::restrict_path(Path::new("/proc"), sys::ATTR_READ_ONLY)
}

fn mount_proc(leave_open: bool) -> io::Result<()> {
    let target = under_base(Path::new("/proc"));
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let nothing: Option<&str> = None;
    mount(Some("proc"), &target, Some("proc"), flags, nothing)?;
    if leave_open { Ok(()) } else { sys::restrict_path(&target, sys::ATTR_READ_ONLY) }
}

fn mount_dev(devices: Vec<(&str, OwnedFd)>, scratch: u64) -> io::Result<()> {
    let dev = under_base(Path::new("/dev"));
    tmpfs(&dev, 0o755, MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC)?;
    for (name, node) in devices {
        let target = dev.join(name);
        fs::write(&target, b"")?;
        sys::restrict_tree(&node, sys::ATTR_NO_SETUID | sys::ATTR_NO_EXEC)?;
        sys::move_mount(node, &target)?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, dev.join(name))?;
    }
    let shared = dev.join("shm");
    fs::create_dir(&shared)?;
    sys::restrict_path(&dev, sys::ATTR_READ_ONLY)?;
    tmpfs_of(&shared, 0o1777, MsFlags::MS_NOSUID | MsFlags::MS_NODEV, scratch)
}

fn apply(view: &View, tree: Option<&OwnedFd>, scratch: u64) -> io::Result<()> {
    let target = under_base(&view.path);
    match (view.kind, tree) {
        // A mask above it has hidden it already.
        (ViewKind::Masked, _) if target.symlink_metadata().is_err() => Ok(()),
        (ViewKind::Masked, _) if target.is_dir() => mask(&target),
        (ViewKind::Masked, _) => {
            let nothing = sys::open_tree(&under_base(Path::new("/dev/null")))?;
            sys::restrict_tree(&nothing, sys::ATTR_READ_ONLY)?;
            sys::move_mount(nothing, &target)
        }
        (ViewKind::Private, _) => tmpfs_of(&target, 0o1777, MsFlags::MS_NOSUID | MsFlags::MS_NODEV, scratch),
        (ViewKind::ReadOnly | ViewKind::Writable | ViewKind::Throwaway(_), Some(tree)) => {
            place_for(&target, tree)?;
            sys::move_mount(tree, &target)
        }
        (ViewKind::ReadOnly | ViewKind::Writable | ViewKind::Throwaway(_), None) => {
            Err(io::Error::from_raw_os_error(nix::libc::EINVAL))
        }
    }
}

/// Below a mask the place does not exist yet. The host's own path cannot be asked any more: the new root covers it.
fn place_for(target: &Path, tree: &OwnedFd) -> io::Result<()> {
    if target.symlink_metadata().is_ok() {
        return Ok(());
    }
    let folders = |path: &Path| fs::DirBuilder::new().recursive(true).mode(0o755).create(path);
    if nix::sys::stat::fstat(tree)?.st_mode & nix::libc::S_IFMT == nix::libc::S_IFDIR {
        return folders(target);
    }
    target.parent().map_or(Ok(()), folders)?;
    fs::write(target, b"")
}

fn enter() -> io::Result<()> {
    nix::unistd::chdir(BASE)?;
    nix::unistd::pivot_root(".", ".")?;
    umount2(".", MntFlags::MNT_DETACH)?;
    nix::unistd::chdir("/")?;
    Ok(())
}
