//! System calls that no check needs and that have been ways out before. A second wall: the namespaces are the first.

use std::io;

use nix::libc;
use quorum_schemas::{Digest, Sha256};
use seccompiler::{BpfProgram, apply_filter, sock_filter};

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const JUMP_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const JUMP_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const JUMP_ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const JUMP_ABOVE: u16 = (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;
/// The x32 calls share the architecture word with x86-64 and would slip past numbers.
const X32: u32 = 0x4000_0000;

/// Calls that libc does not name yet; they have one number on every architecture.
const SYS_LSM_SET_SELF_ATTR: libc::c_long = 460;
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;

/// Calls that are passed over together. The kernel tries each number once when the filter is installed.
const GROUP: usize = 8;

/// One row of the table: calls that are refused for one reason.
#[derive(Debug, Clone, Copy)]
pub struct Refused {
    /// Why.
    pub why: &'static str,
    /// Names and numbers.
    pub calls: &'static [(&'static str, libc::c_long)],
}

macro_rules! row {
    ($why:literal, $($name:ident = $number:expr),+ $(,)?) => {
        Refused { why: $why, calls: &[$((stringify!($name), $number)),+] }
    };
}

/// The table of the filter. Besides: another architecture's calls kill; x32 and `clone3` do not exist; `clone` makes no
/// namespaces; `socketpair` only makes connected local pairs; nothing is typed into a terminal.
pub const REFUSED: &[Refused] = &[
    row!(
        "does work outside of the calls that a filter sees, in kernel code that has had many faults",
        io_uring_setup = libc::SYS_io_uring_setup,
        io_uring_enter = libc::SYS_io_uring_enter,
        io_uring_register = libc::SYS_io_uring_register,
    ),
    row!(
        "reads or drives another process; a harness and its tests must not be read by what they test",
        ptrace = libc::SYS_ptrace,
        process_vm_readv = libc::SYS_process_vm_readv,
        process_vm_writev = libc::SYS_process_vm_writev,
        process_madvise = libc::SYS_process_madvise,
        pidfd_getfd = libc::SYS_pidfd_getfd,
        kcmp = libc::SYS_kcmp,
        move_pages = libc::SYS_move_pages,
        migrate_pages = libc::SYS_migrate_pages,
    ),
    row!(
        "runs programs in the kernel, or counts and samples what others do",
        bpf = libc::SYS_bpf,
        perf_event_open = libc::SYS_perf_event_open,
        fanotify_init = libc::SYS_fanotify_init,
        fanotify_mark = libc::SYS_fanotify_mark,
        lookup_dcookie = libc::SYS_lookup_dcookie,
    ),
    row!(
        "stops the kernel in the middle of a copy, which turns its races into exploits",
        userfaultfd = libc::SYS_userfaultfd,
    ),
    row!(
        "the keyrings are no namespace: keys of the same user on the host would be in reach",
        add_key = libc::SYS_add_key,
        keyctl = libc::SYS_keyctl,
        request_key = libc::SYS_request_key,
    ),
    row!(
        "changes what is mounted, hence what is read-only and what is masked",
        mount = libc::SYS_mount,
        umount2 = libc::SYS_umount2,
        mount_setattr = libc::SYS_mount_setattr,
        move_mount = libc::SYS_move_mount,
        open_tree = libc::SYS_open_tree,
        open_tree_attr = SYS_OPEN_TREE_ATTR,
        fsopen = libc::SYS_fsopen,
        fsconfig = libc::SYS_fsconfig,
        fsmount = libc::SYS_fsmount,
        fspick = libc::SYS_fspick,
        pivot_root = libc::SYS_pivot_root,
        chroot = libc::SYS_chroot,
        swapon = libc::SYS_swapon,
        swapoff = libc::SYS_swapoff,
        quotactl = libc::SYS_quotactl,
        quotactl_fd = libc::SYS_quotactl_fd,
    ),
    row!(
        "a new user namespace has every privilege inside, and with it the kernel code that only root reaches",
        unshare = libc::SYS_unshare,
        setns = libc::SYS_setns,
    ),
    row!(
        "opens a file by its number, past folders that are masked",
        open_by_handle_at = libc::SYS_open_by_handle_at,
        name_to_handle_at = libc::SYS_name_to_handle_at,
    ),
    row!(
        "loads code into the kernel or replaces it",
        init_module = libc::SYS_init_module,
        finit_module = libc::SYS_finit_module,
        delete_module = libc::SYS_delete_module,
        kexec_load = libc::SYS_kexec_load,
        kexec_file_load = libc::SYS_kexec_file_load,
        reboot = libc::SYS_reboot,
    ),
    row!(
        "belongs to whoever runs the machine: clocks, names, accounting, the kernel's log, terminals, security labels",
        acct = libc::SYS_acct,
        adjtimex = libc::SYS_adjtimex,
        clock_adjtime = libc::SYS_clock_adjtime,
        clock_settime = libc::SYS_clock_settime,
        settimeofday = libc::SYS_settimeofday,
        sethostname = libc::SYS_sethostname,
        setdomainname = libc::SYS_setdomainname,
        syslog = libc::SYS_syslog,
        vhangup = libc::SYS_vhangup,
        lsm_set_self_attr = SYS_LSM_SET_SELF_ATTR,
    ),
    #[cfg(target_arch = "x86_64")]
    row!("talks to devices directly", iopl = libc::SYS_iopl, ioperm = libc::SYS_ioperm),
];

/// Calls that name an address. A local socket reaches whoever listens on a path, also on a read-only file system, and
/// families such as AF_VSOCK, AF_ALG, AF_NETLINK and AF_PACKET reach kernel code that a check has no use for.
pub const NO_SOCKETS: Refused = row!(
    "a socket with an address reaches somebody else; connected local pairs are what programs use among themselves",
    socket = libc::SYS_socket,
    connect = libc::SYS_connect,
    bind = libc::SYS_bind,
);

const NEW_NAMESPACES: libc::c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

const fn statement(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

const fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

const fn refuse_with(errno: i32) -> sock_filter {
    statement(RETURN, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned())
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

/// The refused calls in the order of their numbers, with the answer to each.
fn refused_calls() -> Vec<(u32, i32)> {
    let refused = REFUSED.iter().map(|row| (row, libc::EPERM));
    // What a kernel without the family says, which is what programs are prepared for.
    let rows = refused.chain([(&NO_SOCKETS, libc::EAFNOSUPPORT)]);
    let mut calls: Vec<(u32, i32)> =
        rows.flat_map(|(row, errno)| row.calls.iter().map(move |(_, call)| (number(*call), errno))).collect();
    calls.sort_unstable();
    calls
}

/// The program: another architecture kills, a refused call gives an error, everything else passes.
fn program() -> BpfProgram {
    let mut program = vec![
        statement(LOAD, ARCHITECTURE),
        jump(JUMP_EQUAL, NATIVE, 1, 0),
        statement(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        statement(LOAD, NUMBER),
        jump(JUMP_AT_LEAST, X32, 0, 1),
        refuse_with(libc::ENOSYS),
        // Its flags are behind a pointer that a filter cannot read; libraries fall back to clone on ENOSYS.
        jump(JUMP_EQUAL, number(libc::SYS_clone3), 0, 1),
        refuse_with(libc::ENOSYS),
    ];
    for group in refused_calls().chunks(GROUP) {
        let last = group.last().map_or(0, |(call, _)| *call);
        program.push(jump(JUMP_ABOVE, last, group.len() as u8 * 2, 0));
        for (call, errno) in group {
            program.push(jump(JUMP_EQUAL, *call, 0, 1));
            program.push(refuse_with(*errno));
        }
    }
    program.extend([
        jump(JUMP_EQUAL, number(libc::SYS_clone), 0, 4),
        statement(LOAD, FIRST_ARGUMENT),
        jump(JUMP_ANY_BIT, NEW_NAMESPACES.cast_unsigned(), 0, 1),
        refuse_with(libc::EPERM),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
        // A pair of datagram sockets can still send to any path; a connected stream cannot.
        jump(JUMP_EQUAL, number(libc::SYS_socketpair), 0, 8),
        statement(LOAD, FIRST_ARGUMENT),
        jump(JUMP_EQUAL, libc::AF_UNIX.cast_unsigned(), 0, 5),
        statement(LOAD, SECOND_ARGUMENT),
        statement(AND, 0xf),
        jump(JUMP_EQUAL, libc::SOCK_STREAM.cast_unsigned(), 1, 0),
        jump(JUMP_EQUAL, libc::SOCK_SEQPACKET.cast_unsigned(), 0, 1),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
        refuse_with(libc::EAFNOSUPPORT),
        // Typing into a terminal that somebody else reads.
        jump(JUMP_EQUAL, number(libc::SYS_ioctl), 0, 4),
        statement(LOAD, SECOND_ARGUMENT),
        jump(JUMP_EQUAL, 0x5412, 1, 0),
        jump(JUMP_EQUAL, 0x541c, 0, 1),
        refuse_with(libc::EPERM),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
    ]);
    program
}

/// SHA-256 of the program as the kernel takes it, little-endian.
fn digest(program: &BpfProgram) -> Digest {
    let mut digest = Sha256::default();
    for instruction in program {
        digest.update(&instruction.code.to_le_bytes());
        digest.update(&[instruction.jt, instruction.jf]);
        digest.update(&instruction.k.to_le_bytes());
    }
    digest.finish()
}

/// Name of the layer with the digest of the filter: `seccomp-filter:` and 64 hexadecimal digits.
pub(crate) fn layer() -> String {
    format!("seccomp-filter:{}", digest(&program()).hex())
}

/// Installs the filter on this thread, the only one.
pub(crate) fn install() -> io::Result<()> {
    apply_filter(&program()).map_err(|error| match error {
        seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => error,
        _ => io::Error::from_raw_os_error(libc::EINVAL),
    })
}
