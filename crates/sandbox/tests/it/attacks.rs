//! What runs inside: each function tries something and says what came of it.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::time::Duration;

use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{ForkResult, Pid, fork};

/// Outside of a sandbox: only what does no harm.
fn harmless() -> bool {
    std::env::var_os("QUORUM_HARMLESS").is_some()
}

fn report<T, E: std::fmt::Display>(name: &str, result: Result<T, E>) {
    match result {
        Ok(_) => println!("try {name}: ESCAPED"),
        Err(error) => println!("try {name}: refused ({error})"),
    }
}

fn escaped(name: &str, escaped: bool) {
    report(name, if escaped { Ok(()) } else { Err("no") });
}

/// Not a test of its own: started by the tests with `QUORUM_ATTACK` set.
#[test]
fn entry() {
    let Ok(name) = std::env::var("QUORUM_ATTACK") else { return };
    let argument = std::env::var("QUORUM_ATTACK_ARGUMENT").unwrap();
    // The harness has printed the test's name without an end of line.
    println!();
    match name.as_str() {
        "network" => network(&argument),
        "write-outside" => write_outside(Path::new(&argument)),
        "links" => links(&argument),
        "proc" => proc(),
        "signals" => signals(&argument),
        "descriptors" => descriptors(),
        "environment" => environment(),
        "fork-bomb" => fork_bomb(&argument),
        "privileges" => privileges(Path::new(&argument)),
        "system-calls" => system_calls(),
        "sockets" => sockets(&argument),
        "hidden" => hidden(&argument),
        "devices" => devices(),
        "pipes" => pipes(Path::new(&argument)),
        "socket-files" => socket_files(Path::new(&argument)),
        "families" => families(),
        "ptrace" => ptrace(),
        "io-uring" => io_uring(),
        "namespaces" => namespaces(),
        "old-calls" => old_calls(),
        "memory" => memory(&argument),
        "disk" => disk(Path::new(&argument)),
        other => panic!("no attack {other}"),
    }
    io::stdout().flush().unwrap();
    std::process::exit(0);
}

fn network(port: &str) {
    let soon = Duration::from_millis(500);
    for host in ["127.0.0.1", "[::1]", "192.0.2.1"] {
        let address = format!("{host}:{port}").parse().unwrap();
        report(&format!("connect {host}"), TcpStream::connect_timeout(&address, soon));
    }
    let socket = UdpSocket::bind("0.0.0.0:0");
    report("udp", socket.and_then(|socket| socket.send_to(b"x", format!("127.0.0.1:{port}"))));
    let interfaces = fs::read_to_string("/proc/net/dev").unwrap();
    escaped("interfaces", interfaces.lines().skip(2).any(|line| !line.trim_start().starts_with("lo:")));
}

fn write_outside(bait: &Path) {
    let file = bait.join("file");
    report("create", fs::write(bait.join("new"), "x"));
    report("overwrite", fs::write(&file, "x"));
    report("append", fs::OpenOptions::new().append(true).open(&file));
    report("truncate", fs::OpenOptions::new().write(true).truncate(true).open(&file));
    report("chmod", fs::set_permissions(&file, fs::Permissions::from_mode(0o600)));
    if harmless() {
        report("remove", fs::remove_file(&file));
        return;
    }
    report("remove", fs::remove_file(&file));
    report("rename", fs::rename(&file, bait.join("other")));
    report("mkdir", fs::create_dir(bait.join("folder")));
    let touched = fs::File::open(&file).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH);
    report("utime", touched);
    for place in
        ["/", "/etc", "/usr", "/usr/bin", "/var", "/var/lib", "/opt", "/proc", "/sys", "/dev", "/run", "/root", "/home"]
    {
        report(place, fs::write(Path::new(place).join("quorum-escape"), "x"));
    }
    fs::write("/tmp/private", "x").expect("the private folder may be written");
}

fn links(argument: &str) {
    let (bait, scratch) = argument.split_once('|').unwrap();
    let (bait, scratch) = (Path::new(bait), Path::new(scratch));
    report("through a planted link", fs::write(scratch.join("planted"), "x"));
    symlink(bait.join("file"), scratch.join("own")).unwrap();
    report("through an own link", fs::write(scratch.join("own"), "x"));
    symlink(bait, scratch.join("folder")).unwrap();
    report("through a linked folder", fs::write(scratch.join("folder/new"), "x"));
    report("hard link", fs::hard_link(bait.join("file"), scratch.join("hard")));
    report("upwards", fs::write(scratch.join("../escape"), "x"));
    report("move out", fs::write(scratch.join("a"), "x").and_then(|()| fs::rename(scratch.join("a"), bait.join("a"))));
    fs::write(scratch.join("allowed"), "x").expect("the writable folder may be written");
}

fn proc() {
    let own = std::process::id();
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    escaped("other processes", pids.into_iter().any(|pid| pid != 1 && pid != own));
    if harmless() {
        return;
    }
    report("root of process 1", fs::read_dir("/proc/1/root/"));
    report("environment of process 1", fs::File::open("/proc/1/environ").and_then(|mut f| f.read(&mut [0; 1])));
    report("descriptors of process 1", fs::read_dir("/proc/1/fd"));
    report("memory of process 1", fs::OpenOptions::new().read(true).write(true).open("/proc/1/mem"));
    report("program of process 1", fs::read_link("/proc/1/exe"));
    report("kernel setting", fs::write("/proc/sys/kernel/core_pattern", "x"));
    report("own setting", fs::write("/proc/self/oom_score_adj", "-1000"));
    report("sysrq", fs::write("/proc/sysrq-trigger", "h"));
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let writable = mounts.lines().filter(|line| {
        let mut words = line.split(' ').skip(4);
        let (place, options) = (words.next().unwrap(), words.next().unwrap());
        options.split(',').any(|option| option == "rw")
            && !["/tmp", "/var/tmp", "/dev/shm"].contains(&place)
            && !place.starts_with("/dev/")
    });
    let writable: Vec<&str> = writable.collect();
    escaped(&format!("writable mounts {writable:?}"), !writable.is_empty());
    let environment = String::from_utf8(fs::read("/proc/self/environ").unwrap()).unwrap();
    escaped("the caller's environment", environment.contains("HOME=") || environment.contains("CARGO_"));
}

fn signals(caller: &str) {
    let caller = Pid::from_raw(caller.parse().unwrap());
    report("caller", kill(caller, None));
    if harmless() {
        return;
    }
    report("caller kill", kill(caller, Signal::SIGKILL));
    // Process 1 of the namespace takes no signal from inside, though for an ordinary caller it is the same user.
    let _ = kill(Pid::from_raw(1), Signal::SIGKILL);
    let _ = kill(Pid::from_raw(1), Signal::SIGSTOP);
    let parent = nix::unistd::getppid();
    escaped("process 1 survives", fs::metadata(format!("/proc/{parent}")).is_err());
    report("group of process 1", nix::sys::signal::killpg(Pid::from_raw(1), Signal::SIGKILL));
}

fn descriptors() {
    let mut open: Vec<i32> =
        (0..1024).filter(|number| fs::read_link(format!("/proc/self/fd/{number}")).is_ok()).collect();
    open.retain(|number| *number > 2);
    // Whatever is open beyond the standard three is this process's own doing: libtest opens none.
    escaped(&format!("descriptors {open:?}"), !open.is_empty());
}

fn environment() {
    let known = ["QUORUM_ATTACK", "QUORUM_ATTACK_ARGUMENT", "QUORUM_HARMLESS"];
    let more: Vec<String> =
        std::env::vars().map(|(name, _)| name).filter(|name| !known.contains(&name.as_str())).collect();
    escaped(&format!("variables {more:?}"), !more.is_empty());
}

fn fork_bomb(limit: &str) {
    let limit: usize = limit.parse().unwrap();
    for count in 0..limit * 4 {
        // SAFETY: the child only sleeps, which is async-signal-safe.
        match unsafe { fork() } {
            Ok(ForkResult::Child) => loop {
                nix::unistd::pause();
            },
            Ok(ForkResult::Parent { .. }) => {}
            Err(error) => {
                println!("try fork {count} times: refused ({error})");
                return;
            }
        }
    }
    escaped("fork without end", true);
}

fn privileges(setuid: &Path) {
    report("setuid", nix::unistd::setuid(nix::unistd::Uid::from_raw(0)));
    report("setgid", nix::unistd::setgid(nix::unistd::Gid::from_raw(0)));
    report("setgroups", nix::unistd::setgroups(&[nix::unistd::Gid::from_raw(0)]));
    report("chown", std::os::unix::fs::chown("/tmp", Some(0), None));
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().to_owned();
    for key in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        escaped(key, !value(key).trim_matches('0').is_empty());
    }
    escaped("NoNewPrivs", value("NoNewPrivs:") != "1");
    escaped("Seccomp", value("Seccomp:") != "2");
    println!("uid {}", nix::unistd::getuid());
    if setuid.is_file() {
        let before = nix::unistd::geteuid();
        let output = std::process::Command::new(setuid).args(["-u"]).output().unwrap();
        let after = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        escaped(&format!("set-user-id program became {after}"), after != before.to_string());
    }
}

fn raw(number: libc::c_long, arguments: [libc::c_long; 4]) -> io::Result<()> {
    let [a, b, c, d] = arguments;
    // SAFETY: every call below passes zeros or small numbers; a null pointer is refused by the kernel, not followed.
    if unsafe { libc::syscall(number, a, b, c, d) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// EPERM or ENOSYS from the filter; any other error means that the kernel looked at the call.
fn system_calls() {
    for (name, number, arguments) in [
        ("io_uring_setup", libc::SYS_io_uring_setup, [1, 0, 0, 0]),
        ("ptrace", libc::SYS_ptrace, [libc::PTRACE_TRACEME.into(), 0, 0, 0]),
        ("process_vm_readv", libc::SYS_process_vm_readv, [1, 0, 0, 0]),
        ("mount", libc::SYS_mount, [0; 4]),
        ("umount2", libc::SYS_umount2, [0; 4]),
        ("open_tree", libc::SYS_open_tree, [0; 4]),
        ("fsopen", libc::SYS_fsopen, [0; 4]),
        ("pivot_root", libc::SYS_pivot_root, [0; 4]),
        ("chroot", libc::SYS_chroot, [0; 4]),
        ("unshare", libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0]),
        ("setns", libc::SYS_setns, [0; 4]),
        ("clone", libc::SYS_clone, [libc::c_long::from(libc::CLONE_NEWUSER | libc::SIGCHLD), 0, 0, 0]),
        ("clone3", libc::SYS_clone3, [0; 4]),
        ("keyctl", libc::SYS_keyctl, [0; 4]),
        ("add_key", libc::SYS_add_key, [0; 4]),
        ("bpf", libc::SYS_bpf, [0; 4]),
        ("perf_event_open", libc::SYS_perf_event_open, [0; 4]),
        ("userfaultfd", libc::SYS_userfaultfd, [0; 4]),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, [0; 4]),
        ("kexec_load", libc::SYS_kexec_load, [0; 4]),
        ("init_module", libc::SYS_init_module, [0; 4]),
        ("reboot", libc::SYS_reboot, [0; 4]),
        ("ioctl TIOCSTI", libc::SYS_ioctl, [0, 0x5412, 0, 0]),
        ("x32 getpid", libc::SYS_getpid | 0x4000_0000, [0; 4]),
    ] {
        // These would do what they say to whoever may, or leave a copy of this process.
        if harmless() && ["clone", "reboot", "kexec_load", "init_module", "ptrace"].contains(&name) {
            continue;
        }
        let result = raw(number, arguments);
        match &result {
            Err(error) if ![Some(libc::EPERM), Some(libc::ENOSYS)].contains(&error.raw_os_error()) => {
                println!("try {name}: ESCAPED the filter ({error})");
            }
            _ => report(name, result),
        }
    }
}

fn sockets(argument: &str) {
    let (abstract_name, path) = argument.split_once('|').unwrap();
    let address = SocketAddr::from_abstract_name(abstract_name).unwrap();
    report("abstract socket", UnixStream::connect_addr(&address));
    report("socket in a masked folder", UnixStream::connect(path));
    for path in ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"] {
        report(path, UnixStream::connect(path));
    }
}

fn hidden(argument: &str) {
    let (folder, file) = argument.split_once('|').unwrap();
    report("file in a hidden folder", fs::read(Path::new(folder).join("key")));
    escaped("names in a hidden folder", fs::read_dir(folder).is_ok_and(|entries| entries.count() > 0));
    escaped("contents of a hidden file", fs::read(file).is_ok_and(|bytes| !bytes.is_empty()));
    escaped("names in a home", fs::read_dir("/root").is_ok_and(|entries| entries.count() > 0));
    escaped("runtime sockets", fs::read_dir("/run").is_ok_and(|entries| entries.count() > 0));
}

fn devices() {
    let path = c"/tmp/device";
    if !harmless() {
        // SAFETY: the path is NUL-terminated and only read.
        escaped("mknod", unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR | 0o666, libc::makedev(1, 1)) } == 0);
    }
    let known = ["null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "shm"];
    let names = fs::read_dir("/dev").unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let more: Vec<String> = names.filter(|name| !known.contains(&name.as_str())).collect();
    escaped(&format!("devices {more:?}"), !more.is_empty());
    fs::write("/dev/null", "x").expect("the null device works");
    assert_eq!(fs::metadata("/dev/null").unwrap().rdev(), libc::makedev(1, 3));
}

/// What others read from.
fn pipes(bait: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    for (name, read) in [("write a pipe", false), ("write and read a pipe", true)] {
        let opened =
            fs::OpenOptions::new().read(read).write(true).custom_flags(libc::O_NONBLOCK).open(bait.join("pipe"));
        report(name, opened.and_then(|mut pipe| pipe.write_all(b"x")));
    }
}

/// Somebody listens in a folder that is visible, read-only, and everybody may connect.
fn socket_files(bait: &Path) {
    report("stream", UnixStream::connect(bait.join("stream")));
    let datagram = std::os::unix::net::UnixDatagram::unbound();
    report("datagram", datagram.and_then(|socket| socket.send_to(b"x", bait.join("datagram"))));
    // A connected pair needs no socket of its own, and can name another address afterwards.
    let pair = std::os::unix::net::UnixDatagram::pair();
    report("datagram of a pair", pair.and_then(|(socket, _other)| socket.send_to(b"x", bait.join("datagram"))));
    let pair = std::os::unix::net::UnixDatagram::pair();
    report("reconnected pair", pair.and_then(|(socket, _other)| socket.connect(bait.join("datagram"))));
    let (mut one, mut other) = UnixStream::pair().expect("connected pairs are for everybody");
    one.write_all(b"x").unwrap();
    other.read_exact(&mut [0]).unwrap();
    println!("a pair works");
}

fn families() {
    for (name, family, kind) in [
        ("AF_UNIX", libc::AF_UNIX, libc::SOCK_STREAM),
        ("AF_INET", libc::AF_INET, libc::SOCK_STREAM),
        ("AF_INET datagram", libc::AF_INET, libc::SOCK_DGRAM),
        ("AF_INET6", libc::AF_INET6, libc::SOCK_STREAM),
        ("AF_NETLINK", libc::AF_NETLINK, libc::SOCK_RAW),
        ("AF_PACKET", libc::AF_PACKET, libc::SOCK_RAW),
        ("AF_VSOCK", libc::AF_VSOCK, libc::SOCK_STREAM),
        ("AF_ALG", libc::AF_ALG, libc::SOCK_SEQPACKET),
        ("AF_BLUETOOTH", libc::AF_BLUETOOTH, libc::SOCK_RAW),
        ("AF_XDP", libc::AF_XDP, libc::SOCK_RAW),
    ] {
        report(name, raw(libc::SYS_socket, [family.into(), kind.into(), 0, 0]));
    }
    for (name, family, kind) in
        [("pair of AF_TIPC", libc::AF_TIPC, libc::SOCK_STREAM), ("pair of datagrams", libc::AF_UNIX, libc::SOCK_DGRAM)]
    {
        let mut pair = [0; 2];
        // SAFETY: the kernel writes two descriptors into an array of two.
        let result = unsafe { libc::socketpair(family, kind, 0, pair.as_mut_ptr()) };
        report(name, if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) });
    }
}

/// A child that waits to be killed.
fn sleeper() -> Pid {
    // SAFETY: the child only sleeps, which is async-signal-safe.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => loop {
            nix::unistd::pause();
        },
        ForkResult::Parent { child } => child,
    }
}

fn ptrace() {
    let child = sleeper();
    report("attach", nix::sys::ptrace::attach(child));
    let byte = 7_u8;
    let mut copy = [0_u8; 1];
    let local = libc::iovec { iov_base: copy.as_mut_ptr().cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: std::ptr::from_ref(&byte).cast_mut().cast(), iov_len: 1 };
    // SAFETY: one byte is written into `copy`, read at the same address of a copy of this process.
    let got = unsafe { libc::process_vm_readv(child.as_raw(), &raw const local, 1, &raw const remote, 1, 0) };
    report("read memory", if got == 1 { Ok(()) } else { Err(io::Error::last_os_error()) });
    let _ = kill(child, Signal::SIGKILL);
    let _ = nix::sys::wait::waitpid(child, None);
}

fn io_uring() {
    let mut parameters = [0_u8; 120];
    // SAFETY: the kernel reads and writes `struct io_uring_params`, which has 120 bytes.
    let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) };
    report("ring", if ring < 0 { Err(io::Error::last_os_error()) } else { Ok(()) });
}

/// The exit status of a fresh process with one thread, in which a try is made.
fn alone(try_it: impl FnOnce() -> bool) -> Result<(), String> {
    // SAFETY: the child makes one system call and ends.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            let code = i32::from(!try_it());
            // SAFETY: ends at once, without the handlers of a process that it is a copy of.
            unsafe { libc::_exit(code) }
        }
        ForkResult::Parent { child } => match nix::sys::wait::waitpid(child, None).unwrap() {
            nix::sys::wait::WaitStatus::Exited(_, 0) => Ok(()),
            other => Err(format!("{other:?}")),
        },
    }
}

fn namespaces() {
    for (name, flag) in [
        ("user", libc::CLONE_NEWUSER),
        ("user and mount", libc::CLONE_NEWUSER | libc::CLONE_NEWNS),
        ("user and network", libc::CLONE_NEWUSER | libc::CLONE_NEWNET),
    ] {
        report(&format!("unshare {name}"), alone(|| raw(libc::SYS_unshare, [flag.into(), 0, 0, 0]).is_ok()));
    }
    let cloned = alone(|| {
        // SAFETY: a plain fork in a new namespace: no stack, no pointers; both copies end at once.
        let child = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0) };
        child >= 0
    });
    report("clone user", cloned);
    let cloned = alone(|| {
        // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls
        let arguments: [u64; 8] = [libc::CLONE_NEWUSER as u64, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
        // SAFETY: the kernel reads 64 bytes, the first version of `struct clone_args`; both copies end at once.
        let child = unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) };
        child >= 0
    });
    report("clone3 user", cloned);
}

/// Calls of another architecture have other numbers, past a filter that does not look.
fn old_calls() {
    #[cfg(target_arch = "x86_64")]
    report(
        "32-bit getpid",
        alone(|| {
            let mut answer: u64 = 20;
            // SAFETY: call 20 of the 32-bit table is getpid, which touches no memory.
            unsafe {
                std::arch::asm!("int 0x80", inout("rax") answer, out("r8") _, out("r9") _, out("r10") _, out("r11") _)
            };
            i32::try_from(answer).is_ok_and(|answer| answer > 0)
        }),
    );
    escaped("x32 getpid", raw(libc::SYS_getpid | 0x4000_0000, [0; 4]).is_ok());
}

/// So many children of so many MiB each, all alive at once; says how many ended well. With none, this process itself.
fn memory(argument: &str) {
    let (children, mebibytes) = argument.split_once('|').unwrap();
    let bytes = mebibytes.parse::<usize>().unwrap() << 20;
    let eat = || {
        let mut eaten: Vec<u8> = Vec::new();
        let fits = eaten.try_reserve_exact(bytes).is_ok();
        if fits {
            eaten.resize(bytes, 1);
            std::thread::sleep(Duration::from_millis(300));
        }
        fits && eaten.iter().step_by(4096).all(|byte| *byte == 1)
    };
    let count: usize = children.parse().unwrap();
    if count == 0 {
        println!("fits {}", eat());
        return;
    }
    let started: Vec<Pid> = (0..count)
        .map(|_| {
            // SAFETY: the child allocates, sleeps and ends; the C library keeps its allocator usable over a fork.
            match unsafe { fork() }.unwrap() {
                ForkResult::Child => std::process::exit(i32::from(!eat())),
                ForkResult::Parent { child } => child,
            }
        })
        .collect();
    let well = |pid: &Pid| matches!(nix::sys::wait::waitpid(*pid, None), Ok(nix::sys::wait::WaitStatus::Exited(_, 0)));
    println!("ended well {}", started.iter().filter(|pid| well(pid)).count());
}

fn disk(scratch: &Path) {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { nix::sys::signal::signal(Signal::SIGXFSZ, nix::sys::signal::SigHandler::SigIgn) }.unwrap();
    let fill = |path: &Path, bytes: usize| -> io::Result<()> {
        let mut file = fs::File::create(path)?;
        let block = vec![0; 1 << 20];
        (0..bytes >> 20).try_for_each(|_| file.write_all(&block))
    };
    report("large file", fill(&scratch.join("large"), 64 << 20));
    if harmless() {
        return;
    }
    report("full private folder", (0..1000).try_for_each(|n| fill(Path::new(&format!("/tmp/{n}")), 1 << 20)));
}
