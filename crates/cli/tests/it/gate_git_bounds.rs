//! `--git` on a repository made to be too large: each bound is named, exit 2, and what is within it is judged.

use std::io::Write as _;
use std::process::{Command, Stdio};

use quorum_gate::limits::{COMMIT_OBJECT, SUBMODULE_PATH_BYTES};

use crate::gate_git::Repository;

const MODULE: &str = "1111111111111111111111111111111111111111";

/// `git` with `input` on its stdin; what it prints.
fn fed(repository: &Repository, line: &str, input: &[u8]) -> String {
    let mut child = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
        .args(line.split(' '))
        .current_dir(repository.0.path("repo"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {line}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The tree of `commit` with one more entry.
fn with_entry(repository: &Repository, commit: &str, mode: &str, id: &str, name: &str) -> String {
    let mut rows = fed(repository, &format!("ls-tree -z {commit}"), b"").into_bytes();
    rows.extend(format!("{mode} {} {id}\t{name}\0", if mode == "040000" { "tree" } else { "blob" }).bytes());
    fed(repository, "mktree -z", &rows)
}

/// A tree with as many submodules as have `bytes` bytes of paths below `modules/`, or one too many.
fn submodules(repository: &Repository, bytes: usize, too_many: bool) -> String {
    // What JSON has to escape, so that a path takes six times its bytes on the way to the checks.
    let names = (0..).map(|number| format!("{number:08}{}", "\u{1}".repeat(192)));
    let most = bytes / ("modules/".len() + 200);
    let rows: String =
        names.take(most + usize::from(too_many)).map(|name| format!("160000 commit {MODULE}\t{name}\0")).collect();
    fed(repository, "mktree -z", rows.as_bytes())
}

fn commit(repository: &Repository, tree: &str, parent: &str, message: &[u8]) -> String {
    fed(repository, &format!("commit-tree {tree} -p {parent} -F -"), message)
}

/// As many submodules as may be, in candidate and baseline, and the longest message: all of it fits the request to the
/// checks. One submodule or some bytes more are refused by name, before anything runs.
#[test]
fn submodules_and_messages_up_to_their_bounds_are_judged_and_beyond_are_refused() {
    let repository = Repository::new();
    let main = repository.git("rev-parse main");
    let modules = submodules(&repository, SUBMODULE_PATH_BYTES, false);
    let base = with_entry(&repository, &main, "040000", &modules, "modules");
    let base = commit(&repository, &base, &main, b"modules\n");
    repository.git(&format!("update-ref refs/heads/main {base}"));
    let answer = b"{\"schema_version\": \"0.1\", \"answer\": 42, \"status\": \"ready\"}\n";
    let answer = fed(&repository, "hash-object -w --stdin", answer);
    let tree = with_entry(&repository, &base, "100644", &answer, "answer.json");
    let message = |bytes: u64| {
        let around = fed(&repository, &format!("cat-file commit {}", commit(&repository, &tree, &base, b"x\n")), b"");
        vec![b'x'; bytes as usize - around.len() - 1]
    };
    let long = commit(&repository, &tree, &base, &message(COMMIT_OBJECT));
    let judge = |head: &str| repository.0.run(&format!("{} --pr acme/project#7", repository.gate(head)));
    judge(&long).exits(0);
    let longer = commit(&repository, &tree, &base, &message(COMMIT_OBJECT + 100));
    let said = judge(&longer).refuses(2, "git_object_too_large").stderr;
    assert!(said.contains(&COMMIT_OBJECT.to_string()), "{said}");
    let modules = submodules(&repository, SUBMODULE_PATH_BYTES, true);
    let tree = with_entry(&repository, &main, "040000", &modules, "modules");
    let said = judge(&commit(&repository, &tree, &main, b"more\n")).refuses(2, "git_tree_too_large").stderr;
    assert!(said.contains(&SUBMODULE_PATH_BYTES.to_string()), "{said}");
}

/// Git bounds no name; a disk does, and that is no fault of this machine.
#[test]
fn names_and_paths_that_no_disk_holds_are_refused_by_their_bound() {
    let repository = Repository::new();
    let main = repository.git("rev-parse main");
    let file = repository.git("rev-parse main:README.md");
    let judge = |tree: &str| repository.0.run(&repository.gate(&commit(&repository, tree, &main, b"names\n")));
    let most = "n".repeat(255);
    judge(&with_entry(&repository, &main, "100644", &file, &most)).exits(1);
    judge(&with_entry(&repository, &main, "100644", &file, &format!("{most}n"))).refuses(2, "git_tree_too_large");
    let mut deep = file;
    for level in 0..600 {
        let row = if level == 0 { format!("100644 blob {deep}\tf\0") } else { format!("040000 tree {deep}\td\0") };
        deep = fed(&repository, "mktree -z", row.as_bytes());
    }
    judge(&with_entry(&repository, &main, "040000", &deep, "d")).refuses(2, "git_tree_too_large");
}

/// Git holds any bytes as a link's target, a disk does not; that is the candidate's fault, and no reason to try again.
#[test]
fn links_that_no_disk_holds_are_the_candidates_fault() {
    let repository = Repository::new();
    let main = repository.git("rev-parse main");
    let judge = |target: &[u8]| {
        let blob = fed(&repository, "hash-object -w --stdin", target);
        let tree = with_entry(&repository, &main, "120000", &blob, "link");
        let head = commit(&repository, &tree, &main, b"link\n");
        repository.0.run(&format!("{} --pr acme/project#7", repository.gate(&head)))
    };
    judge(b"README.md").exits(1);
    judge(&b"a/".repeat(2048)[..4095]).exits(1);
    for target in [&b""[..], b"a\0b", &b"a/".repeat(2048), &b"a/".repeat(3000)] {
        judge(target).refuses(6, "candidate_unusable");
    }
}
