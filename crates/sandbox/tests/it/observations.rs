//! Observations: nothing but private scratch can be written, and what was there before is there after.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use quorum_sandbox::{Effect, End, Isolation, OBSERVATION_LAYERS, Quiescence, SandboxError, Spec, read_roots, run};

use crate::support::{again_as_ordinary_user, alive, eventually, lack, open_folder, shell, text, token};

fn observe(line: &str, roots: &[&Path]) -> Spec {
    let mut spec = shell(line, Isolation::ProcessSandbox);
    spec.effect = Effect::Observation { roots: roots.iter().map(|root| (*root).to_owned()).collect() };
    spec.read_only = roots.iter().map(|root| (*root).to_owned()).collect();
    spec
}

fn tree() -> tempfile::TempDir {
    let folder = open_folder();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for name in ["file", "folder/inner"] {
        fs::write(folder.path().join(name), "before").unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o666)).unwrap();
    }
    symlink("file", folder.path().join("link")).unwrap();
    folder
}

#[test]
fn sensorium_7_the_record_of_an_observation() {
    let root = tree();
    let mut spec = observe("cat file folder/inner && exit 3", &[root.path()]);
    spec.cwd = root.path().to_owned();
    let report = run(&spec).unwrap();
    assert_eq!((report.end, text(&report).as_str()), (End::Exited(3), "beforebefore"));
    let found = report.observation.as_ref().unwrap();
    assert_eq!((found.mechanism, found.uid), ("linux-unprivileged-readonly-namespace.v1", 65_534));
    assert_eq!(found.roots, [root.path().canonicalize().unwrap()]);
    assert_eq!((found.before.entries, found.before.bytes), (5, 12));
    assert_eq!(found.before.digest, found.after.digest);
    assert_eq!(found.before.digest, read_roots(&[root.path().to_owned()]).unwrap().digest);
    assert!(found.differences.is_empty());
    assert_eq!(report.quiescence, Quiescence::NamespaceReaped);
    for layer in OBSERVATION_LAYERS {
        assert!(report.enforced.iter().any(|named| named == layer), "{layer}: {:?}", report.enforced);
    }
    let filter = report.enforced.iter().find_map(|layer| layer.strip_prefix("seccomp-filter:")).unwrap();
    assert_eq!(filter.len(), 64);
    assert!(report.enforced.iter().any(|layer| layer.starts_with("landlock-abi:")));
    assert!(!report.kernel.is_empty());
}

#[test]
fn sensorium_7_the_record_of_an_observation_as_ordinary_user() {
    again_as_ordinary_user("observations::sensorium_7_the_record_of_an_observation");
}

/// Each line changes the tree when nothing is in the way, and does not inside.
#[test]
fn sensorium_12_no_way_to_write_a_root() {
    let lines = [
        "echo x > new",
        "echo x >> file",
        ": > file",
        "chmod 600 file",
        "touch -d 2001-01-01 file",
        "rm file",
        "mv file other",
        "mkdir made",
        "ln file hard",
        "ln -s file soft",
        "mkfifo pipe",
        "rmdir folder || rm -r folder",
        "cp -p file copied",
    ];
    for line in lines {
        let root = tree();
        let before = read_roots(&[root.path().to_owned()]).unwrap();
        let mut spec =
            observe(&format!("cd {} && ({line}) 2>/dev/null && echo WROTE", root.path().display()), &[root.path()]);
        let report = run(&spec).unwrap();
        assert!(!text(&report).contains("WROTE"), "{line}");
        let found = report.observation.unwrap();
        assert!(found.differences.is_empty(), "{line}: {:?}", found.differences);
        assert!(before.differences(&found.after).is_empty());
        spec.effect = Effect::Unclaimed;
        spec.isolation = Isolation::None;
        let free = run(&spec).unwrap();
        assert!(text(&free).contains("WROTE"), "without a sandbox: {line}");
        assert!(!before.differences(&read_roots(&[root.path().to_owned()]).unwrap()).is_empty(), "{line} is seen");
    }
}

#[test]
fn sensorium_12_no_way_to_write_a_root_as_ordinary_user() {
    again_as_ordinary_user("observations::sensorium_12_no_way_to_write_a_root");
}

/// A writable mount below the root: made read-only with it.
#[test]
fn w_104_submounts_are_read_only_too() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let root = tree();
    let below = root.path().join("folder");
    let nothing: Option<&str> = None;
    nix::mount::mount(Some("tmpfs"), &below, Some("tmpfs"), nix::mount::MsFlags::empty(), Some("mode=777")).unwrap();
    fs::write(below.join("free"), "x").expect("it can be written outside");
    let line = format!("echo x > {}/caught && echo WROTE", below.display());
    let report = run(&observe(&line, &[root.path()]));
    let unmounted = nix::mount::umount(&below);
    let report = report.unwrap();
    unmounted.unwrap();
    assert_eq!((text(&report).as_str(), nothing), ("", None));
    assert_eq!(report.observation.unwrap().before.entries, 5, "the mount was read, not what it hides");
}

/// W-104 write-and-revert: what is written and written back is found by its change time, though every byte is equal. A
/// writer outside stands for one that the walls did not hold.
#[test]
fn w_104_write_and_revert_is_detected() {
    let root = tree();
    let file = root.path().join("file");
    let token = token();
    let mut spec = observe(&format!("exec sleep {token}"), &[root.path()]);
    spec.timeout = Duration::from_millis(1500);
    quorum_sandbox::probe().unwrap();
    let report = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&spec));
        eventually("the command starts", || alive(&token) == 1);
        let modified = file.metadata().unwrap().modified().unwrap();
        fs::write(&file, "meanwhile").unwrap();
        fs::write(&file, "before").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        running.join().unwrap().unwrap()
    });
    assert_eq!(report.end, End::TimedOut);
    let found = report.observation.unwrap();
    assert!(found.before.same_content(&found.after), "a digest alone does not see it");
    assert_eq!(found.differences, ["0/file"]);
}

/// W-050: what a quiesced timeout rests on.
#[test]
fn w_050_a_timeout_is_quiesced_and_the_roots_are_compared() {
    let root = tree();
    let token = token();
    let mut spec = observe(&format!("setsid sleep {token} & trap '' TERM; sleep {token}"), &[root.path()]);
    spec.timeout = Duration::from_millis(400);
    let report = run(&spec).unwrap();
    assert_eq!((report.end, report.quiescence), (End::TimedOut, Quiescence::NamespaceReaped));
    assert_eq!(alive(&token), 0);
    assert!(report.observation.unwrap().differences.is_empty());
    let plain = run(&shell("true", Isolation::None)).unwrap();
    assert_eq!(plain.quiescence, Quiescence::DescendantsReaped, "which is no proof");
}

#[test]
fn w_050_a_timeout_is_quiesced_as_ordinary_user() {
    again_as_ordinary_user("observations::w_050_a_timeout_is_quiesced_and_the_roots_are_compared");
}

/// W-051: the status comes over a private channel, and 124 is a status like any other.
#[test]
fn w_051_exit_124_is_no_timeout() {
    let root = tree();
    let report = run(&observe("exit 124", &[root.path()])).unwrap();
    assert_eq!(report.end, End::Exited(124));
}

#[test]
fn w_053_bounds_are_refused_before_anything_runs() {
    let many = open_folder();
    for number in 0..quorum_sandbox::limits::ROOTS_ENTRIES {
        fs::write(many.path().join(number.to_string()), "").unwrap();
    }
    let deep = open_folder();
    let path = deep.path().join(vec!["d"; quorum_sandbox::limits::ROOTS_DEPTH].join("/"));
    fs::create_dir_all(&path).unwrap();
    let large = open_folder();
    let file = fs::File::create(large.path().join("large")).unwrap();
    file.set_len(quorum_sandbox::limits::ROOTS_BYTES + 1).unwrap();
    let refused = |root: &Path| match run(&observe("true", &[root])) {
        Err(error @ SandboxError::Unobservable { .. }) => error.code(),
        other => panic!("{other:?}"),
    };
    for root in [&many, &deep, &large] {
        assert_eq!(refused(root.path()), "observation_unprovable");
    }
    // One less of each is within.
    fs::remove_file(many.path().join("0")).unwrap();
    fs::remove_dir(&path).unwrap();
    file.set_len(quorum_sandbox::limits::ROOTS_BYTES).unwrap();
    for root in [&many, &deep, &large] {
        read_roots(&[root.path().to_owned()]).unwrap();
    }
}

#[test]
fn sensorium_7_what_cannot_be_an_observation_is_refused() {
    let (root, other) = (tree(), tree());
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut spec = observe("true", &[root.path()]);
        change(&mut spec);
        run(&spec).unwrap_err().code()
    };
    let roots = |roots: Vec<PathBuf>| Effect::Observation { roots };
    assert_eq!(with(&|spec| spec.isolation = Isolation::None), "effect-mode-unenforceable");
    assert_eq!(with(&|spec| spec.writable.push(other.path().to_owned())), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.effect = roots(Vec::new())), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.effect = roots(vec![other.path().to_owned(); 2])), "sandbox_spec_invalid");
    let inner = vec![root.path().to_owned(), root.path().join("folder")];
    assert_eq!(with(&|spec| spec.effect = roots(inner.clone())), "sandbox_spec_invalid");
    assert_eq!(with(&|spec| spec.effect = roots(vec![root.path().join("file")])), "sandbox_spec_invalid");
    let nine: Vec<_> = (0..9).map(|_| open_folder()).collect();
    let nine: Vec<PathBuf> = nine.iter().map(|folder| folder.path().to_owned()).collect();
    assert_eq!(with(&|spec| spec.effect = roots(nine.clone())), "sandbox_spec_invalid");
}

/// One change of each kind. What is part of the digest changes it; what is not is compared beside it.
#[test]
fn vroots_1_sees_every_kind_of_change() {
    type Change = fn(&Path);
    let changes: [(&str, bool, &str, Change); 11] = [
        ("content", true, "0/file", |root| fs::write(root.join("file"), "BEFORE").unwrap()),
        ("size", true, "0/file", |root| fs::write(root.join("file"), "before and after").unwrap()),
        ("mode", true, "0/file", |root| {
            fs::set_permissions(root.join("file"), fs::Permissions::from_mode(0o600)).unwrap()
        }),
        ("added", true, "0/,0/new", |root| fs::write(root.join("new"), "").unwrap()),
        ("removed", true, "0/,0/file", |root| fs::remove_file(root.join("file")).unwrap()),
        ("hard link", true, "0/,0/file,0/hard", |root| fs::hard_link(root.join("file"), root.join("hard")).unwrap()),
        ("attribute", true, "0/file", |root| {
            rustix::fs::setxattr(root.join("file"), "user.note", b"x", rustix::fs::XattrFlags::empty()).unwrap()
        }),
        ("link target", true, "0/,0/link", |root| {
            fs::remove_file(root.join("link")).unwrap();
            symlink("folder", root.join("link")).unwrap();
        }),
        ("time", false, "0/file", |root| {
            fs::File::open(root.join("file")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap()
        }),
        ("inode", false, "0/,0/file", |root| {
            fs::copy(root.join("file"), root.join("copy")).unwrap();
            fs::rename(root.join("copy"), root.join("file")).unwrap();
        }),
        ("inner", true, "0/folder/inner", |root| fs::write(root.join("folder/inner"), "x").unwrap()),
    ];
    for (name, in_digest, paths, change) in changes {
        let root = tree();
        let roots = [root.path().to_owned()];
        let before = read_roots(&roots).unwrap();
        assert!(before.differences(&read_roots(&roots).unwrap()).is_empty(), "{name}: reading changes nothing");
        change(root.path());
        let after = read_roots(&roots).unwrap();
        assert_eq!(before.digest != after.digest, in_digest, "{name}");
        assert_eq!(before.differences(&after).join(","), paths, "{name}");
    }
}

/// A kernel that lacks one thing, played by a filter on the thread that starts the run: whatever it is, nothing weaker runs
/// under the same name.
#[test]
fn sensorium_7_whatever_layer_is_missing_the_observation_is_refused() {
    use nix::libc;
    let root = tree();
    quorum_sandbox::probe().unwrap();
    let mut calls = vec![
        ("unshare", libc::SYS_unshare),
        ("open_tree", libc::SYS_open_tree),
        ("mount_setattr", libc::SYS_mount_setattr),
        ("move_mount", libc::SYS_move_mount),
        ("mount", libc::SYS_mount),
        ("pivot_root", libc::SYS_pivot_root),
        ("capset", libc::SYS_capset),
        ("landlock_create_ruleset", libc::SYS_landlock_create_ruleset),
        ("landlock_restrict_self", libc::SYS_landlock_restrict_self),
        ("seccomp", libc::SYS_seccomp),
    ];
    if nix::unistd::geteuid().is_root() {
        calls.extend([
            ("setgroups", libc::SYS_setgroups),
            ("setresgid", libc::SYS_setresgid),
            ("setresuid", libc::SYS_setresuid),
        ]);
    }
    for (name, call) in calls {
        let spec = observe("true", &[root.path()]);
        let mut plain = spec.clone();
        plain.effect = Effect::Unclaimed;
        let (observed, plain) = std::thread::scope(|scope| {
            let without = scope.spawn(|| {
                lack(call);
                (run(&spec), run(&plain))
            });
            without.join().unwrap()
        });
        assert_eq!(observed.unwrap_err().code(), "effect-mode-unenforceable", "{name}");
        if name.starts_with("landlock") {
            // The second wall; without it a run is still apart, and does not say that it had it.
            assert!(!plain.unwrap().enforced.iter().any(|layer| layer.starts_with("landlock")), "{name}");
        } else {
            assert_eq!(plain.unwrap_err().code(), "effect-mode-unenforceable", "{name}");
        }
    }
    assert!(run(&observe("true", &[root.path()])).is_ok(), "this thread lacks nothing");
}

#[test]
fn sensorium_7_whatever_layer_is_missing_as_ordinary_user() {
    again_as_ordinary_user("observations::sensorium_7_whatever_layer_is_missing_the_observation_is_refused");
}

/// The recipe as the module's description tells it, written a second time.
#[test]
fn vroots_1_is_the_recipe() {
    use quorum_schemas::{Digest, Sha256};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    fn visit(root: &Path, path: &Path, whole: &mut Sha256) {
        let found = path.symlink_metadata().unwrap();
        let mut names = [0; 4096];
        let length = rustix::fs::llistxattr(path, &mut names).unwrap();
        let mut attributes: Vec<&[u8]> =
            names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
        attributes.sort();
        let content = if found.is_symlink() {
            fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec()
        } else if found.is_file() {
            Digest::of(&fs::read(path).unwrap()).as_bytes().to_vec()
        } else {
            Vec::new()
        };
        let mut fields = vec![
            path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec(),
            found.mode().to_le_bytes().to_vec(),
            found.uid().to_le_bytes().to_vec(),
            found.gid().to_le_bytes().to_vec(),
            found.size().to_le_bytes().to_vec(),
            found.nlink().to_le_bytes().to_vec(),
            found.rdev().to_le_bytes().to_vec(),
            (attributes.len() as u64).to_le_bytes().to_vec(),
        ];
        for name in attributes {
            let mut value = [0; 4096];
            let length = rustix::fs::lgetxattr(path, name, &mut value).unwrap();
            fields.extend([name.to_vec(), value[..length].to_vec()]);
        }
        fields.push(content);
        let entry: Vec<u8> = fields
            .iter()
            .flat_map(|field| [(field.len() as u64).to_le_bytes().to_vec(), field.clone()].concat())
            .collect();
        whole.update(Digest::<quorum_schemas::Bytes>::of(&entry).as_bytes());
        if found.is_dir() {
            let mut inner: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            inner.sort_by(|one, other| one.as_os_str().as_bytes().cmp(other.as_os_str().as_bytes()));
            inner.iter().for_each(|path| visit(root, path, whole));
        }
    }
    let (one, two) = (tree(), tree());
    rustix::fs::setxattr(one.path().join("file"), "user.b", b"x", rustix::fs::XattrFlags::empty()).unwrap();
    rustix::fs::setxattr(one.path().join("file"), "user.a", b"", rustix::fs::XattrFlags::empty()).unwrap();
    let roots = [one.path().canonicalize().unwrap(), two.path().canonicalize().unwrap()];
    let mut whole = Sha256::default();
    whole.update(b"vroots-1");
    for root in &roots {
        whole.update(b"\0root");
        visit(root, root, &mut whole);
    }
    assert_eq!(read_roots(&roots).unwrap().digest, whole.finish());
}
