//! Mutations: on a throwaway layer, which is told afterwards, over trees that stay as they are.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use quorum_sandbox::{ChangeKind, Effect, End, Isolation, RunReport, Spec, read_roots, run};

use crate::support::{again_as_ordinary_user, alive, lack, open_folder, shell, text, token};

fn tree() -> tempfile::TempDir {
    let folder = open_folder();
    fs::create_dir_all(folder.path().join("folder/deep")).unwrap();
    for name in ["file", "other", "same", "folder/inner", "folder/deep/leaf"] {
        fs::write(folder.path().join(name), name).unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    symlink("file", folder.path().join("link")).unwrap();
    folder
}

fn mutate(line: &str, tree: &Path) -> Spec {
    let mut spec = shell(line, Isolation::ProcessSandbox);
    spec.cwd = tree.to_owned();
    spec.effect = Effect::Mutation { trees: vec![tree.to_owned()] };
    spec
}

fn told(report: &RunReport) -> Vec<String> {
    let changes = report.changes.as_ref().unwrap();
    assert!(!changes.truncated);
    let sign = |kind| match kind {
        ChangeKind::Added => '+',
        ChangeKind::Changed => '~',
        ChangeKind::Mode => 'm',
        ChangeKind::Removed => '-',
    };
    changes.list.iter().map(|change| format!("{}{}", sign(change.kind), change.path)).collect()
}

/// Lines and what they are told to have changed.
const LINES: [(&str, &str); 16] = [
    ("true", ""),
    ("echo x > new", "+new"),
    ("echo x >> file", "~file"),
    ("rm file", "-file"),
    ("chmod 600 file", "mfile"),
    ("touch file", ""),
    ("echo x >> file; printf file > file", ""),
    ("mkdir -p a/b; echo x > a/b/c", "+a +a/b +a/b/c"),
    ("mv file moved", "-file +moved"),
    ("rm -r folder", "-folder"),
    ("rm -r folder; mkdir folder; echo x > folder/new", "-folder/deep -folder/inner +folder/new"),
    ("rm link; ln -s other link", "~link"),
    ("rm link; echo file > link", "~link"),
    ("mv folder/deep up", "-folder/deep +up +up/leaf"),
    ("chmod 700 .", "m."),
    ("rm -r folder; echo x > folder", "~folder"),
];

fn assert_lines(root: &Path, mechanism: &str) {
    let before = read_roots(&[root.to_owned()]).unwrap();
    for (line, expected) in LINES {
        let report = run(&mutate(line, root)).unwrap();
        let errors = String::from_utf8_lossy(&report.stderr.bytes).into_owned();
        assert_eq!((report.end, errors.as_str()), (End::Exited(0), ""), "{line}");
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_by_key(|word| &word[1..]);
        assert_eq!(told(&report), expected, "{line}");
        assert_eq!(report.changes.unwrap().mechanism, mechanism, "{line}");
        let differences = before.differences(&read_roots(&[root.to_owned()]).unwrap());
        assert!(differences.is_empty(), "{line}: {differences:?}");
    }
}

#[test]
fn issue_4_a_mutation_runs_on_an_overlay_and_is_told() {
    let root = tree();
    assert_lines(root.path(), "overlay");
}

#[test]
fn issue_4_a_mutation_is_told_as_ordinary_user() {
    again_as_ordinary_user("mutations::issue_4_a_mutation_runs_on_an_overlay_and_is_told");
}

/// An overlay cannot show owners through a mapping, so that a tree in one is copied.
#[test]
fn issue_4_where_no_overlay_can_be_a_copy_is_taken() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let (stage, root) = (open_folder(), tree());
    let [above, work, merged] = ["above", "work", "merged"].map(|name| stage.path().join(name));
    let tmpfs =
        nix::mount::mount(Some("tmpfs"), stage.path(), Some("tmpfs"), nix::mount::MsFlags::empty(), None::<&str>);
    tmpfs.unwrap();
    for folder in [&above, &work, &merged] {
        fs::create_dir(folder).unwrap();
    }
    fs::set_permissions(&above, fs::Permissions::from_mode(0o777)).unwrap();
    let options = format!("lowerdir={},upperdir={},workdir={}", root.path().display(), above.display(), work.display());
    let flags = nix::mount::MsFlags::empty();
    nix::mount::mount(Some("overlay"), &merged, Some("overlay"), flags, Some(options.as_str())).unwrap();
    let result = std::panic::catch_unwind(|| assert_lines(&merged, "copy"));
    nix::mount::umount(&merged).unwrap();
    nix::mount::umount(stage.path()).unwrap();
    result.unwrap();
}

/// Nor can it remember that a folder was replaced where the memory file system keeps no attributes, as for an ordinary user
/// before Linux 6.6.
#[test]
fn issue_4_without_attributes_a_copy_is_taken() {
    let root = tree();
    quorum_sandbox::probe().unwrap();
    let result = std::thread::scope(|scope| {
        let without = scope.spawn(|| {
            lack(nix::libc::SYS_setxattr);
            assert_lines(root.path(), "copy");
        });
        without.join()
    });
    result.unwrap();
}

#[test]
fn issue_4_without_attributes_a_copy_is_taken_as_ordinary_user() {
    again_as_ordinary_user("mutations::issue_4_without_attributes_a_copy_is_taken");
}

#[test]
fn issue_4_what_a_change_says() {
    let root = tree();
    let report = run(&mutate("printf hello > new; chmod 755 new; ln -s new soft; rm other", root.path())).unwrap();
    let list = report.changes.unwrap().list;
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert_eq!((list[0].path.as_str(), list[0].size, list[0].sha256.as_deref()), ("new", Some(5), Some(hello)));
    assert_eq!(list[0].mode, Some(0o100_755));
    assert_eq!((list[1].path.as_str(), list[1].mode, list[1].size), ("other", None, None));
    assert_eq!((list[2].path.as_str(), list[2].size), ("soft", None));
}

/// The upper part is bounded memory, and a list that is not whole says so.
#[test]
fn issue_4_bounds_of_a_mutation() {
    let root = tree();
    let mut spec = mutate("head -c 64M /dev/zero > large 2>/dev/null; echo $?", root.path());
    spec.scratch_limit = 4 << 20;
    let report = run(&spec).unwrap();
    assert_eq!(text(&report), "1\n");
    assert!(report.changes.unwrap().list[0].size.unwrap() <= 4 << 20);
    let many = run(&mutate("for n in $(seq 5000); do : > n$n; done", root.path())).unwrap();
    let changes = many.changes.unwrap();
    assert_eq!((changes.list.len(), changes.truncated), (quorum_sandbox::limits::CHANGES, true));
}

/// What the command leaves running is ended before anything is told, or the list would be old already.
#[test]
fn issue_4_a_detached_writer_is_ended_first() {
    let root = tree();
    let token = token();
    // Names that come and go while somebody reads would be missed between the list and the look.
    let make = "for n in $(seq 400); do : > n$n; done";
    let line = format!("{make}; (while :; do rm n*; {make}; done) 2>/dev/null & setsid sleep {token} & : > done");
    let report = run(&mutate(&line, root.path())).unwrap();
    assert_eq!(report.end, End::Exited(0));
    assert_eq!(alive(&token), 0);
    assert!(told(&report).contains(&"+done".to_owned()));
}

/// After a kill of ours nobody can say what was done.
#[test]
fn issue_4_a_timed_out_mutation_tells_no_changes() {
    let root = tree();
    let mut spec = mutate("echo x > new; sleep 100", root.path());
    spec.timeout = Duration::from_millis(300);
    let report = run(&spec).unwrap();
    assert_eq!((report.end, report.changes), (End::TimedOut, None));
    assert!(!root.path().join("new").exists());
}

#[test]
fn issue_4_two_trees_are_told_apart_and_none_is_refused_elsewhere() {
    let (one, two) = (tree(), tree());
    let mut spec = mutate("echo x > new", one.path());
    spec.effect = Effect::Mutation { trees: vec![two.path().to_owned(), one.path().to_owned()] };
    let report = run(&spec).unwrap();
    assert_eq!(report.changes.unwrap().list[0].tree, 1);
    spec.isolation = Isolation::None;
    assert_eq!(run(&spec).unwrap_err().code(), "effect-mode-unenforceable");
}
