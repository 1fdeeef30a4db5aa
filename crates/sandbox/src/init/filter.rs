//! System calls that no check needs and that have been ways out before. A second wall: the namespaces are the first.

use std::io;

use nix::libc;
use seccompiler::{BpfProgram, apply_filter, sock_filter};

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const JUMP_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const JUMP_ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
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

const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

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

/// The program: another architecture kills, a refused call gives EPERM, everything else passes.
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
    for call in REFUSED {
        program.push(jump(JUMP_EQUAL, number(*call), 0, 1));
        program.push(refuse_with(libc::EPERM));
    }
    program.extend([
        jump(JUMP_EQUAL, number(libc::SYS_clone), 0, 4),
        statement(LOAD, FIRST_ARGUMENT),
        jump(JUMP_ANY_BIT, NEW_NAMESPACES.cast_unsigned(), 0, 1),
        refuse_with(libc::EPERM),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
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

/// Installs the filter on this thread, the only one.
pub(crate) fn install() -> io::Result<()> {
    apply_filter(&program()).map_err(|error| match error {
        seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => error,
        _ => io::Error::from_raw_os_error(libc::EINVAL),
    })
}
