//! Ways out, each tried as the caller (root, where the tests run as root) and as an ordinary user, each refused.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};

use quorum_sandbox::{End, run};

use crate::support::{
    again_as_ordinary_user, assert_escapes_outside, assert_refused, attacker, open_folder, ready, text,
};

macro_rules! escape {
    ($name:ident, $body:block) => {
        mod $name {
            use super::*;

            #[test]
            fn as_caller() $body

            #[test]
            fn as_ordinary_user() {
                again_as_ordinary_user(concat!("escapes::", stringify!($name), "::as_caller"));
            }
        }
    };
}

escape!(network, {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let spec = attacker("network", &port);
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["connect 127.0.0.1", "udp"]);
});

escape!(write_outside, {
    let bait = open_folder();
    let file = bait.path().join("file");
    fs::write(&file, "before").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let before = (file.metadata().unwrap().ctime_nsec(), file.metadata().unwrap().ctime());
    let mut spec = attacker("write-outside", bait.path().to_str().unwrap());
    spec.read_only.push(bait.path().to_owned());
    assert_refused(&spec);
    assert_eq!(fs::read(&file).unwrap(), b"before");
    let after = file.metadata().unwrap();
    assert_eq!((after.ctime_nsec(), after.ctime()), before, "not even the inode's change time moved");
    assert_eq!(fs::read_dir(bait.path()).unwrap().count(), 1);
    assert_escapes_outside(&spec, &["create", "overwrite", "append", "truncate", "chmod", "remove"]);
});

escape!(links, {
    let (bait, parent) = (open_folder(), open_folder());
    let file = bait.path().join("file");
    fs::write(&file, "before").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let scratch = parent.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    symlink(&file, scratch.join("planted")).unwrap();
    let argument = format!("{}|{}", bait.path().display(), scratch.display());
    let mut spec = attacker("links", &argument);
    spec.read_only.push(bait.path().to_owned());
    spec.read_only.push(parent.path().to_owned());
    spec.writable.push(scratch.clone());
    let report = assert_refused(&spec);
    assert_eq!(fs::read(&file).unwrap(), b"before");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    // Not every file system can show owners through a mapping; the report says which it was.
    let named = |layer: &str| report.enforced.iter().any(|found| found == layer);
    let outside = if named("owners-mapped") || named("uid:own") { nix::unistd::geteuid().as_raw() } else { 65_534 };
    assert_eq!(scratch.join("allowed").metadata().unwrap().uid(), outside, "it belongs to the caller outside");
    for name in ["own", "folder", "a"] {
        let _ = fs::remove_file(scratch.join(name));
    }
    let ways = [
        "through a planted link",
        "through an own link",
        "through a linked folder",
        "hard link",
        "upwards",
        "move out",
    ];
    assert_escapes_outside(&spec, &ways);
});

escape!(proc_of_the_host, {
    let spec = attacker("proc", "");
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["other processes"]);
});

escape!(signals_to_the_caller, {
    let spec = attacker("signals", &std::process::id().to_string());
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["caller"]);
});

escape!(inherited_descriptors, {
    let file = fs::File::open("/etc/passwd").unwrap();
    // SAFETY: 77 is no descriptor of this process; it stays open, not close-on-exec, for the life of the test.
    assert_eq!(unsafe { nix::libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&file), 77) }, 77);
    let spec = attacker("descriptors", "");
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["descriptors"]);
});

escape!(environment_secrets, {
    assert!(std::env::var_os("HOME").is_some(), "there is something to inherit");
    let spec = attacker("environment", "");
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["variables"]);
});

escape!(fork_bomb, {
    let mut spec = attacker("fork-bomb", "40");
    spec.process_limit = 40;
    let said = text(&assert_refused(&spec));
    assert!(said.contains("EAGAIN"), "{said}");
    // Without namespaces there is no count of its own; what is left is killed with it.
    spec.isolation = quorum_sandbox::Isolation::None;
    assert!(text(&run(&spec).unwrap()).contains("try fork without end: ESCAPED"));
});

escape!(privileges, {
    ready();
    let folder = open_folder();
    let setuid = folder.path().join("id");
    if nix::unistd::geteuid().is_root() {
        fs::copy("/usr/bin/id", &setuid).unwrap();
        fs::set_permissions(&setuid, fs::Permissions::from_mode(0o6755)).unwrap();
    }
    let mut spec = attacker("privileges", setuid.to_str().unwrap());
    spec.read_only.push(folder.path().to_owned());
    let said = text(&assert_refused(&spec));
    assert!(said.contains("uid 65534"), "{said}");
    let root: &[&str] =
        if nix::unistd::geteuid().is_root() { &["setuid", "setgroups", "chown", "CapEff:", "CapBnd:"] } else { &[] };
    assert_escapes_outside(&spec, &[root, &["NoNewPrivs", "Seccomp"]].concat());
});

escape!(system_calls, {
    let spec = attacker("system-calls", "");
    assert_refused(&spec);
    // Some are refused to an ordinary user by the kernel itself.
    let root: &[&str] =
        if nix::unistd::geteuid().is_root() { &["bpf", "userfaultfd", "mount", "chroot", "setns"] } else { &[] };
    let all = ["io_uring_setup", "process_vm_readv", "keyctl", "add_key", "perf_event_open", "unshare"];
    assert_escapes_outside(&spec, &[root, &all].concat());
});

escape!(sockets, {
    let folder = open_folder();
    let name = format!("quorum-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    let spec = attacker("sockets", &format!("{name}|{}", path.display()));
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["abstract socket", "socket in a masked folder"]);
});

escape!(hidden_keys, {
    let folder = open_folder();
    let keys = folder.path().join("keys");
    fs::create_dir(&keys).unwrap();
    fs::write(keys.join("key"), "secret").unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "secret").unwrap();
    let mut spec = attacker("hidden", &format!("{}|{}", keys.display(), file.display()));
    spec.read_only.push(folder.path().to_owned());
    spec.hidden = vec![keys, file];
    assert_refused(&spec);
    assert_escapes_outside(
        &spec,
        &["file in a hidden folder", "names in a hidden folder", "contents of a hidden file"],
    );
});

escape!(devices, {
    let spec = attacker("devices", "");
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["devices"]);
});

escape!(disk_fill, {
    let scratch = open_folder();
    let mut spec = attacker("disk", scratch.path().to_str().unwrap());
    spec.writable.push(scratch.path().to_owned());
    spec.file_size_limit = 8 << 20;
    assert_refused(&spec);
    assert_eq!(scratch.path().join("large").metadata().unwrap().len(), 8 << 20);
    fs::remove_file(scratch.path().join("large")).unwrap();
    assert_escapes_outside(&spec, &["large file"]);
});

escape!(output_flood, {
    for line in ["cat /dev/zero", "cat /dev/zero >&2", "yes"] {
        for isolation in crate::support::BOTH {
            let mut spec = crate::support::shell(line, isolation);
            spec.stdout_limit = 1000;
            spec.stderr_limit = 1000;
            let report = run(&spec).unwrap();
            assert_eq!(report.end, End::OutputLimit, "{line}");
            assert_eq!(report.stdout.bytes.len() + report.stderr.bytes.len(), 1000);
            assert!(report.stdout.truncated || report.stderr.truncated);
        }
    }
    let mut chatty = crate::support::shell("head -c 5000 /dev/zero; exit 3", quorum_sandbox::Isolation::None);
    chatty.stdout_limit = 1000;
    let report = run(&chatty).unwrap();
    assert_eq!((report.end, report.stdout.truncated, text(&report).len()), (End::Exited(3), true, 1000));
});

// A named pipe is no file: a read-only mount lets through what is written into it. In what is observed it is masked.
escape!(named_pipes, {
    let bait = open_folder();
    let pipe = bait.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o666)).unwrap();
    fs::set_permissions(&pipe, fs::Permissions::from_mode(0o666)).unwrap();
    // Somebody reads it, so that writing would not have to wait.
    let reader = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let mut spec = attacker("pipes", bait.path().to_str().unwrap());
    spec.read_only.push(bait.path().to_owned());
    let root = open_folder();
    for observed in [bait.path(), root.path()] {
        // Also where the pipe is beside the roots, in a folder that is shown below a private one.
        spec.effect = quorum_sandbox::Effect::Observation { roots: vec![observed.to_owned()] };
        assert_eq!(run(&spec).unwrap().end, End::Exited(0));
        assert_eq!(waiting(&reader), 0, "nothing came through");
    }
    assert_escapes_outside(&spec, &["write a pipe", "write and read a pipe"]);
    assert_eq!(waiting(&reader), 2);
});

/// Elsewhere Landlock refuses it, which grants no writing but in the private folders and the writable ones.
#[test]
fn named_pipes_are_not_written_past_landlock() {
    // A folder that is neither private in the sandbox nor masked; only root surely has one.
    let Ok(bait) = tempfile::Builder::new().prefix("quorum-sandbox-").tempdir_in("/opt") else { return };
    fs::set_permissions(bait.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let pipe = bait.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::from_bits_truncate(0o666)).unwrap();
    fs::set_permissions(&pipe, fs::Permissions::from_mode(0o666)).unwrap();
    let reader = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let spec = attacker("pipes", bait.path().to_str().unwrap());
    assert_refused(&spec);
    assert_eq!(waiting(&reader), 0);
    assert_escapes_outside(&spec, &["write a pipe", "write and read a pipe"]);
}

fn waiting(pipe: &fs::File) -> i32 {
    let mut count = 0;
    // SAFETY: FIONREAD writes one int.
    assert_eq!(
        unsafe { nix::libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(pipe), nix::libc::FIONREAD, &raw mut count) },
        0
    );
    count
}

// Nor does it stop a connection to a socket file; the filter leaves no socket that has an address.
escape!(visible_socket_files, {
    let bait = open_folder();
    let stream = UnixListener::bind(bait.path().join("stream")).unwrap();
    let datagram = std::os::unix::net::UnixDatagram::bind(bait.path().join("datagram")).unwrap();
    for name in ["stream", "datagram"] {
        fs::set_permissions(bait.path().join(name), fs::Permissions::from_mode(0o777)).unwrap();
    }
    stream.set_nonblocking(true).unwrap();
    datagram.set_nonblocking(true).unwrap();
    let mut spec = attacker("socket-files", bait.path().to_str().unwrap());
    spec.read_only.push(bait.path().to_owned());
    let said = text(&assert_refused(&spec));
    assert!(said.contains("a pair works"), "{said}");
    assert!(stream.accept().is_err() && datagram.recv(&mut [0; 8]).is_err(), "nothing came through");
    assert_escapes_outside(&spec, &["stream", "datagram", "datagram of a pair", "reconnected pair"]);
    stream.accept().unwrap();
    assert_eq!(datagram.recv(&mut [0; 8]).unwrap(), 1);
});

escape!(socket_families, {
    let spec = attacker("families", "");
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["AF_UNIX", "AF_INET", "AF_INET datagram", "AF_NETLINK", "pair of datagrams"]);
});

escape!(ptrace, {
    let spec = attacker("ptrace", "");
    assert_refused(&spec);
    assert_escapes_outside(&spec, &["attach", "read memory"]);
});

escape!(io_uring, {
    let spec = attacker("io-uring", "");
    assert_refused(&spec);
    // A host may have it switched off for everybody.
    let off = fs::read_to_string("/proc/sys/kernel/io_uring_disabled").is_ok_and(|text| text.trim() != "0");
    assert_escapes_outside(&spec, if off { &[] } else { &["ring"] });
});

escape!(nested_user_namespaces, {
    let spec = attacker("namespaces", "");
    assert_refused(&spec);
    let ways = ["unshare user", "unshare user and mount", "unshare user and network", "clone user", "clone3 user"];
    assert_escapes_outside(&spec, &ways);
});

escape!(calls_of_another_architecture, {
    let spec = attacker("old-calls", "");
    let said = text(&assert_refused(&spec));
    if cfg!(target_arch = "x86_64") {
        assert!(said.contains("32-bit getpid: refused (Signaled(Pid("), "it does not come back: {said}");
    }
});

/// W-104 chmod under Landlock only: why the read-only mounts are the wall and Landlock stands behind them.
#[test]
fn w_104_landlock_alone_lets_a_mode_change_through() {
    use landlock::{ABI, AccessFs, Ruleset, RulesetAttr};
    let bait = open_folder();
    let file = bait.path().join("file");
    fs::write(&file, "before").unwrap();
    let (write, chmod) = std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            let rules = Ruleset::default().handle_access(AccessFs::from_write(ABI::V3)).unwrap().create().unwrap();
            rules.restrict_self().unwrap();
            (fs::write(&file, "x").is_ok(), fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).is_ok())
        });
        confined.join().unwrap()
    });
    assert_eq!((write, chmod), (false, true));
}
