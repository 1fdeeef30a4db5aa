//! System calls that no crate wraps. All `unsafe` of the workspace is in this file, each block with its argument.
#![allow(unsafe_code, reason = "the kernel's mount, capability and descriptor calls have no safe wrapper")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::libc;
use nix::sys::signal::{SigHandler, Signal};
use nix::unistd::{ForkResult, Pid};

const OPEN_TREE_CLONE: libc::c_uint = 1;
const AT_RECURSIVE: libc::c_uint = 0x8000;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 0x4;
/// `MOUNT_ATTR_*` of linux/mount.h.
pub(crate) const ATTR_READ_ONLY: u64 = 0x1;
pub(crate) const ATTR_NO_SETUID: u64 = 0x2;
pub(crate) const ATTR_NO_DEVICES: u64 = 0x4;
pub(crate) const ATTR_NO_EXEC: u64 = 0x8;
const ATTR_IDMAP: u64 = 0x0010_0000;
const LAST_CAPABILITY: libc::c_ulong = 63;

#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

/// Takes ownership of a descriptor that the kernel has just made for us.
pub(crate) fn own(raw: RawFd) -> OwnedFd {
    // SAFETY: callers pass a descriptor that a system call returned to them in this instant and that nobody else knows,
    // so this value is its only owner.
    unsafe { OwnedFd::from_raw_fd(raw) }
}

/// Descriptor 0, which the caller of the helper made the control socket.
pub(crate) fn take_stdin() -> io::Result<OwnedFd> {
    // SAFETY: descriptor 0 is open for the life of the process (the caller set it), and it is only borrowed here.
    let stdin = unsafe { BorrowedFd::borrow_raw(0) };
    duplicate_high(stdin)
}

/// A close-on-exec duplicate numbered 10 or more, out of the way of the command's own numbers.
pub(crate) fn duplicate_high(fd: impl AsFd) -> io::Result<OwnedFd> {
    // SAFETY: fcntl with F_DUPFD_CLOEXEC takes no pointers; the borrowed descriptor is open.
    let raw = check(unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_DUPFD_CLOEXEC, 10) }.into())?;
    Ok(own(RawFd::try_from(raw).map_err(|_| io::Error::from_raw_os_error(libc::EMFILE))?))
}

/// Makes `number` refer to `fd`, not close-on-exec. Only for numbers that no Rust value owns: 0 to 9 in the helper.
pub(crate) fn install(fd: impl AsFd, number: RawFd) -> io::Result<()> {
    // SAFETY: dup2 takes no pointers. In the helper every owned descriptor is 10 or more (`duplicate_high`), so no
    // owner's descriptor is replaced behind its back; 0 to 2 are only used through std's handles, which stay valid.
    check(unsafe { libc::dup2(fd.as_fd().as_raw_fd(), number) }.into()).map(drop)
}

/// Closes every descriptor from `first` on. Only before anything in this process owns one.
pub(crate) fn close_from(first: libc::c_uint) -> io::Result<()> {
    // SAFETY: no pointers; called as the first act of the helper, when no Rust value owns a descriptor above 2.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) }).map(drop)
}

/// Marks every descriptor from `first` on close-on-exec.
pub(crate) fn close_on_exec_from(first: libc::c_uint) -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: no pointers; nothing is closed now, so no owner is affected.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) }).map(drop)
}

/// Forks. Only in the helper, which has one thread.
pub(crate) fn fork() -> nix::Result<ForkResult> {
    // SAFETY: the helper is single-threaded (`init_main` is the first statement of `main` and starts no thread), so the
    // child is a full copy whose locks nobody holds.
    unsafe { nix::unistd::fork() }
}

/// A descriptor that becomes readable when the process ends.
pub(crate) fn pidfd(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: no pointers; the result is a new descriptor (close-on-exec by default).
    let raw = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) })?;
    Ok(own(RawFd::try_from(raw).map_err(|_| io::Error::from_raw_os_error(libc::EMFILE))?))
}

/// A detached recursive copy of the mounts below `path`.
pub(crate) fn open_tree(path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    let flags =
        OPEN_TREE_CLONE | AT_RECURSIVE | libc::O_CLOEXEC.cast_unsigned() | libc::AT_SYMLINK_NOFOLLOW.cast_unsigned();
    // SAFETY: `path` is a NUL-terminated string that outlives the call; the kernel only reads it.
    let raw = check(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })?;
    Ok(own(RawFd::try_from(raw).map_err(|_| io::Error::from_raw_os_error(libc::EMFILE))?))
}

/// Attaches a detached mount at `target`.
pub(crate) fn move_mount(tree: impl AsFd, target: &Path) -> io::Result<()> {
    let target = c_path(target)?;
    let empty: &CStr = c"";
    // SAFETY: both strings are NUL-terminated and outlive the call; the kernel only reads them.
    check(unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_fd().as_raw_fd(),
            empty.as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    })
    .map(drop)
}

fn mount_setattr(fd: RawFd, path: &CStr, flags: libc::c_uint, attr: &MountAttr) -> io::Result<()> {
    // SAFETY: `path` is NUL-terminated, `attr` is a repr(C) value of exactly the size passed; the kernel only reads both
    // during the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(attr),
            size_of::<MountAttr>(),
        )
    })
    .map(drop)
}

/// Sets attributes on a detached tree and everything below it.
pub(crate) fn restrict_tree(tree: impl AsFd, set: u64) -> io::Result<()> {
    let attr = MountAttr { set, clear: 0, propagation: 0, userns: 0 };
    let flags = libc::AT_EMPTY_PATH.cast_unsigned() | AT_RECURSIVE;
    mount_setattr(tree.as_fd().as_raw_fd(), c"", flags, &attr)
}

/// Sets attributes on the mount at `path` alone.
pub(crate) fn restrict_path(path: &Path, set: u64) -> io::Result<()> {
    let attr = MountAttr { set, clear: 0, propagation: 0, userns: 0 };
    mount_setattr(libc::AT_FDCWD, &c_path(path)?, 0, &attr)
}

/// Shows the owners in a detached tree through the mapping of a user namespace.
pub(crate) fn map_owners(tree: impl AsFd, userns: impl AsFd) -> io::Result<()> {
    let userns = u64::try_from(userns.as_fd().as_raw_fd()).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    let attr = MountAttr { set: ATTR_IDMAP, clear: 0, propagation: 0, userns };
    let flags = libc::AT_EMPTY_PATH.cast_unsigned() | AT_RECURSIVE;
    mount_setattr(tree.as_fd().as_raw_fd(), c"", flags, &attr)
}

/// Gives up every capability, now and for every later program.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    for capability in 0..=LAST_CAPABILITY {
        // SAFETY: prctl with these operations takes no pointers. Numbers that the kernel does not know give EINVAL, and
        // a process that may not drop (it has none) gives EPERM: both leave nothing to drop.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    // SAFETY: as above.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    let header = Header { version: VERSION_3, pid: 0 };
    let none = [0_u32; 6];
    // SAFETY: version 3 of capset reads one header and two blocks of three 32-bit words; both are alive and that large.
    check(unsafe { libc::syscall(libc::SYS_capset, std::ptr::from_ref(&header), none.as_ptr()) }).map(drop)
}

/// Sets a signal's disposition to the default.
pub(crate) fn default_signal(signal: Signal) -> nix::Result<()> {
    // SAFETY: SIG_DFL installs no handler, so no code of ours can run in a signal context.
    unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) }.map(drop)
}

/// Whether descriptor 1 was open when the program started.
static STDOUT_OPEN: AtomicBool = AtomicBool::new(true);

/// Rust's runtime opens `/dev/null` in the place of a standard descriptor that is closed, before `main`. Only who runs
/// before the runtime can still see it.
extern "C" fn look_at_stdout() {
    // SAFETY: the call reads the flags of a descriptor number and touches no memory; nothing here needs the runtime.
    let flags = unsafe { libc::fcntl(1, libc::F_GETFD) };
    STDOUT_OPEN.store(flags >= 0, Ordering::Relaxed);
}

// SAFETY: the loader calls what stands in this section once, before `main`, with the C calling convention; the function
// takes no arguments, and ignores those that the loader passes.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_AT_STDOUT: extern "C" fn() = look_at_stdout;

/// Whether stdout was open when this program started. What is written to one that was closed goes nowhere, without an
/// error.
pub fn stdout_was_open() -> bool {
    STDOUT_OPEN.load(Ordering::Relaxed)
}
