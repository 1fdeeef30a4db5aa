//! Ways out, each tried as the caller (root, where the tests run as root) and as an ordinary user, each refused.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};

use quorum_sandbox::{End, run};

use crate::support::{again_as_ordinary_user, assert_refused, attacker, open_folder, ready, text};

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
    assert_refused(&attacker("network", &port));
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
});

escape!(proc_of_the_host, {
    assert_refused(&attacker("proc", ""));
});

escape!(signals_to_the_caller, {
    assert_refused(&attacker("signals", &std::process::id().to_string()));
});

escape!(inherited_descriptors, {
    let file = fs::File::open("/etc/passwd").unwrap();
    // SAFETY: 77 is no descriptor of this process; it stays open, not close-on-exec, for the life of the test.
    assert_eq!(unsafe { nix::libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&file), 77) }, 77);
    assert_refused(&attacker("descriptors", ""));
});

escape!(environment_secrets, {
    assert!(std::env::var_os("HOME").is_some(), "there is something to inherit");
    assert_refused(&attacker("environment", ""));
});

escape!(fork_bomb, {
    let mut spec = attacker("fork-bomb", "40");
    spec.process_limit = 40;
    let said = text(&assert_refused(&spec));
    assert!(said.contains("EAGAIN"), "{said}");
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
});

escape!(system_calls, {
    assert_refused(&attacker("system-calls", ""));
});

escape!(sockets, {
    let folder = open_folder();
    let name = format!("quorum-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let path = folder.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    assert_refused(&attacker("sockets", &format!("{name}|{}", path.display())));
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
});

escape!(devices, {
    assert_refused(&attacker("devices", ""));
});

escape!(disk_fill, {
    let scratch = open_folder();
    let mut spec = attacker("disk", scratch.path().to_str().unwrap());
    spec.writable.push(scratch.path().to_owned());
    spec.file_size_limit = 8 << 20;
    assert_refused(&spec);
    assert_eq!(scratch.path().join("large").metadata().unwrap().len(), 8 << 20);
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
