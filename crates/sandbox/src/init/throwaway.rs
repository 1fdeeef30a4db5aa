//! The throwaway layer of a mutation: an overlay whose upper part is private memory, else a copy in it.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::root::tmpfs_of;
use crate::sys;

/// Where the layers are put together; nothing of it stays attached.
const STAGE: &str = "/tmp";

/// A tree and where its changes gather.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) tree: usize,
    /// What was there, through the mapping of owners.
    pub(crate) lower: OwnedFd,
    /// What the command left.
    pub(crate) upper: OwnedFd,
    /// The upper part is complete by itself: a copy.
    pub(crate) copied: bool,
}

/// Makes the layers for some lower trees and returns what is to be attached in their places. The file system at
/// [`STAGE`] is another one afterwards only for as long as this takes.
pub(crate) fn make(
    lowers: Vec<(usize, OwnedFd, bool)>,
    uid: u32,
    bytes: u64,
) -> io::Result<(Vec<OwnedFd>, Vec<Layer>)> {
    tmpfs_of(Path::new(STAGE), 0o755, MsFlags::MS_NOSUID | MsFlags::MS_NODEV, bytes)?;
    let mut trees = Vec::new();
    let mut layers = Vec::new();
    for (tree, lower, writable_by_command) in lowers {
        let (attach, layer) = one(tree, lower, writable_by_command, uid)?;
        trees.push(attach);
        layers.push(layer);
    }
    umount2(STAGE, MntFlags::MNT_DETACH)?;
    Ok((trees, layers))
}

fn one(tree: usize, lower: OwnedFd, writable_by_command: bool, uid: u32) -> io::Result<(OwnedFd, Layer)> {
    let folder = Path::new(STAGE).join(tree.to_string());
    let [below, above, work, merged] = ["lower", "upper", "work", "merged"].map(|name| folder.join(name));
    for folder in [&below, &above, &work, &merged] {
        fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    }
    sys::move_mount(lower, &below)?;
    let overlaid = writable_by_command && overlay(&below, &above, &work, &merged).is_ok();
    if !overlaid {
        // What a failed attempt left must not be taken for a part of the copy.
        fs::remove_dir_all(&above)?;
        copy(&below, &above, uid)?;
    }
    let attach = sys::open_tree(if overlaid { &merged } else { &above })?;
    let open = |path: &Path| sys::duplicate_high(fs::File::open(path)?.as_fd());
    Ok((attach, Layer { tree, lower: open(&below)?, upper: open(&above)?, copied: !overlaid }))
}

fn overlay(below: &Path, above: &Path, work: &Path, merged: &Path) -> io::Result<()> {
    // The merged root has the owner and mode of the upper one.
    let root = fs::metadata(below)?;
    chown(above, Some(root.uid()), Some(root.gid()))?;
    fs::set_permissions(above, root.permissions())?;
    let places = format!("lowerdir={},upperdir={},workdir={}", below.display(), above.display(), work.display());
    // Each file's whole content and each folder's whole name is in the upper part: no redirects, no metadata alone.
    let trusted = format!("{places},redirect_dir=off,metacopy=off,index=off");
    let user = format!("{places},userxattr,index=off");
    let privileged =
        rustix::fs::setxattr(above, "trusted.overlay.probe", b"x", rustix::fs::XattrFlags::empty()).is_ok();
    if privileged {
        rustix::fs::removexattr(above, "trusted.overlay.probe")?;
    } else {
        // Without attributes an overlay mounts and cannot remember that a folder was replaced.
        rustix::fs::setxattr(above, "user.overlay.probe", b"x", rustix::fs::XattrFlags::empty())?;
        rustix::fs::removexattr(above, "user.overlay.probe")?;
    }
    let options = if privileged { trusted } else { user };
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    Ok(mount(Some("overlay"), merged, Some("overlay"), flags, Some(options.as_str()))?)
}

/// Files, folders and links; the rest has no content to copy.
fn copy(from: &Path, to: &Path, uid: u32) -> io::Result<()> {
    let found = from.symlink_metadata()?;
    let kind = found.file_type();
    if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name), uid)?;
        }
    } else if kind.is_file() {
        fs::copy(from, to)?;
    } else {
        return Ok(());
    }
    if nix::unistd::geteuid().is_root() {
        lchown(to, Some(uid), Some(uid))?;
    }
    if !kind.is_symlink() {
        // After the owner: a change of owner may take bits away.
        fs::set_permissions(to, fs::Permissions::from_mode(found.mode() & 0o7777))?;
    }
    Ok(())
}
