//! Every way in which a commit can differ from its merge base is a write; and git is read without a network.

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::Value as Json;

use crate::gate_git::Repository;

/// What a branch does to a file that the work unit does not let it write, and the paths that the scope check then names.
type Write = (&'static str, fn(&Repository), &'static [&'static str]);

const WRITES: &[Write] = &[
    ("a changed file", |r| drop(r.0.write("repo/README.md", "another project\n")), &["README.md"]),
    ("a deleted file", |r| drop(r.git("rm -q README.md")), &["README.md"]),
    ("a renamed file", |r| drop(r.git("mv README.md READ.md")), &["README.md", "READ.md"]),
    (
        "a file renamed onto another's name",
        |r| drop(r.git("mv -f README.md vendored.txt")),
        &["README.md", "vendored.txt"],
    ),
    ("a changed mode", |r| set_mode(r, "repo/README.md", 0o755), &["README.md"]),
    ("a file that became a link", |r| link(r, "vendored.txt", "repo/README.md"), &["README.md"]),
    ("a link that became a file", |r| file_for_link(r), &["link"]),
    ("a link with another target", |r| link(r, "answer.json", "repo/link"), &["link"]),
    ("a directory in a file's place", |r| directory_for_file(r), &["README.md", "README.md/x"]),
    ("a new submodule", |r| submodule(r, "new", OTHER), &["new"]),
    ("a submodule at another commit", |r| submodule(r, "module", OTHER), &["module"]),
    ("a removed submodule", |r| drop(r.git("rm -q --cached module")), &["module"]),
    ("a file with the text of the submodule", |r| text_of_submodule(r), &["module"]),
];

const COMMIT: &str = "1111111111111111111111111111111111111111";
const OTHER: &str = "2222222222222222222222222222222222222222";

/// A repository whose base has a file, a link and a submodule, and a branch with the right answer.
fn repository() -> (Repository, String) {
    let repository = Repository::new();
    repository.0.write("repo/vendored.txt", "theirs\n");
    symlink("README.md", repository.0.path("repo/link")).unwrap();
    repository.git("add -A");
    submodule(&repository, "module", COMMIT);
    repository.git("commit -q -m base");
    let head = repository.candidate_committing(42);
    (repository, head)
}

fn set_mode(repository: &Repository, path: &str, mode: u32) {
    std::fs::set_permissions(repository.0.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    repository.git("add -A -- README.md");
}

fn link(repository: &Repository, target: &str, path: &str) {
    std::fs::remove_file(repository.0.path(path)).unwrap();
    symlink(target, repository.0.path(path)).unwrap();
}

fn file_for_link(repository: &Repository) {
    std::fs::remove_file(repository.0.path("repo/link")).unwrap();
    repository.0.write("repo/link", "README.md");
}

fn directory_for_file(repository: &Repository) {
    std::fs::remove_file(repository.0.path("repo/README.md")).unwrap();
    repository.0.write("repo/README.md/x", "x");
}

fn submodule(repository: &Repository, path: &str, commit: &str) {
    repository.git(&format!("update-index --add --cacheinfo 160000,{commit},{path}"));
}

/// The bytes on disk are those of the submodule's stand-in, and the mode is a plain file's.
fn text_of_submodule(repository: &Repository) {
    repository.git("rm -q --cached module");
    let _ = std::fs::remove_dir(repository.0.path("repo/module"));
    repository.0.write("repo/module", format!("Subproject commit {COMMIT}\n"));
    repository.git("add module");
}

/// The paths that the scope check of this machine names.
fn out_of_scope(repository: &Repository, head: &str) -> (i32, Vec<String>) {
    let said = repository.0.run(&format!("{} --pr acme/project#7 --out out", repository.gate(head)));
    repository.0.run("audit out").exits(0);
    let files = repository.0.files("out");
    let evidence = files.iter().find(|name| name.contains("evidence/")).unwrap();
    let envelope = quorum_attest::Envelope::parse(&repository.0.read(&format!("out/{evidence}"))).unwrap();
    let statement: Json = serde_json::from_slice(envelope.payload()).unwrap();
    let result = &statement["predicate"]["result"];
    std::fs::remove_dir_all(repository.0.path("out")).unwrap();
    let findings = result["findings"].as_array().cloned().unwrap_or_default();
    let paths = findings.iter().filter(|finding| finding["category"] == "scope");
    let mut paths: Vec<String> = paths.map(|finding| finding["path"].as_str().unwrap().to_owned()).collect();
    paths.sort();
    (said.code, paths)
}

#[test]
fn a_pull_request_in_a_repository_with_links_and_submodules_passes() {
    let (repository, head) = repository();
    assert_eq!(out_of_scope(&repository, &head), (0, vec![]));
    // Without `--pr` the same tree is a bundle.
    repository.0.run(&repository.gate(&head)).exits(0);
}

#[test]
fn every_kind_of_change_is_a_write() {
    let (repository, head) = repository();
    for (name, change, expected) in WRITES {
        repository.git(&format!("checkout -q -f --detach {head}"));
        repository.git("clean -q -f -d");
        change(&repository);
        if !name.contains("submodule") {
            repository.git("add -A -- :!module");
        }
        repository.git("commit -q -m change");
        let changed = repository.git("rev-parse HEAD");
        let mut expected: Vec<String> = expected.iter().map(|path| (*path).to_owned()).collect();
        expected.sort();
        assert_eq!(out_of_scope(&repository, &changed), (1, expected), "{name}");
    }
}

#[test]
fn a_repository_of_sha256_objects_is_read_alike() {
    let repository = Repository::of_format("sha256");
    let head = repository.candidate(42);
    assert_eq!(head.len(), 64);
    assert_eq!(out_of_scope(&repository, &head), (0, vec![]));
    let wrong = repository.candidate(41);
    repository.0.run(&format!("{} --pr acme/project#7", repository.gate(&wrong))).exits(1);
}

/// A partial clone promises to fetch what is missing. Nothing is fetched: with the objects there the answer needs no
/// network, and without them it is an error that names the object.
#[test]
fn no_network_is_touched() {
    let (repository, head) = repository();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/repo.git", listener.local_addr().unwrap());
    for (key, value) in [
        ("remote.origin.url", url.as_str()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
    ] {
        repository.git(&format!("config {key} {value}"));
    }
    assert_eq!(out_of_scope(&repository, &head), (0, vec![]));
    let blob = repository.git(&format!("rev-parse {head}:answer.json"));
    let object = repository.0.path(&format!("repo/.git/objects/{}/{}", &blob[..2], &blob[2..]));
    std::fs::remove_file(object).unwrap();
    let said = repository.0.run(&repository.gate(&head)).refuses(2, "git_object_missing");
    assert!(said.stderr.contains(&blob), "{}", said.stderr);
    let refused = listener.accept().unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock, "something connected to the promised remote");
}

/// `manifest --git --head --pr` needs no base where the work unit says what the work starts from.
#[test]
fn a_manifest_of_a_pull_request_takes_its_start_from_the_work_unit() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    let base = repository.git("rev-parse main");
    let line = format!("manifest --git repo --head {head} --pr acme/project#7 --worker w --work-unit");
    repository.0.run(&format!("{line} example/work-unit.json")).refuses(2, "base_missing");

    let with_revision = |name: &str, revision: &str| {
        let mut unit: Json = serde_json::from_slice(&repository.0.read("example/work-unit.json")).unwrap();
        unit["provenance"]["source_revision"] = revision.into();
        repository.0.write(name, unit.to_string());
    };
    with_revision("bound.json", &base);
    let said = repository.0.run(&format!("{line} bound.json")).exits(0);
    let manifest: Json = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(manifest["provenance"]["source_revision"], base.as_str());
    let reference = &manifest["extensions"]["org.idkmesh.candidate_reference"]["reference"];
    assert_eq!(
        *reference,
        serde_json::json!({"schema_version": "0.1", "type": "github_pull_request", "repository": "acme/project",
            "number": 7, "head_sha": head})
    );
    assert_eq!(
        manifest["produced_artifacts"][0]["locator"],
        format!("https://github.com/acme/project/pull/7#idkmesh-head={head}")
    );

    // The head does not descend from what the work unit names: it is not an answer to it.
    repository.git("checkout -q main");
    repository.0.write("repo/later.txt", "later\n");
    let later = repository.commit("later");
    with_revision("later.json", &later);
    repository.0.run(&format!("{line} later.json")).refuses(2, "idk_b07");
    with_revision("nowhere.json", &"0".repeat(40));
    repository.0.run(&format!("{line} nowhere.json")).refuses(2, "git_unknown_revision");
}

/// The gate compares with a baseline, so it does need the base; and a manifest that was handed in names the pull request's
/// head exactly.
#[test]
fn a_manifest_of_another_head_is_not_this_candidates() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    let gate = repository.gate(&head);
    repository.0.run(&gate.replace(" --base main", "")).refuses(2, "base_missing");

    repository
        .0
        .run(&format!(
            "manifest --git repo --base main --head {head} --pr acme/project#7 --worker w \
             --work-unit example/work-unit.json -o manifest.json"
        ))
        .exits(0);
    repository.0.run(&format!("{gate} --result manifest.json")).exits(0);
    // The branch moved on after the manifest was written.
    repository.0.write("repo/answer.json", "{\"schema_version\": \"0.1\", \"answer\": 42, \"status\": \"ready\"}\n\n");
    let moved = repository.commit("moved");
    let said = repository.0.run(&format!("{} --result manifest.json", repository.gate(&moved)));
    assert_ne!(said.code, 0, "{}", said.stdout);
    assert!(said.stdout.contains("artifact-digest"), "{}{}", said.stdout, said.stderr);
}
