//! Every kind that is our own code: passed, failed, error.

use std::fs;
use std::os::unix::fs::symlink;

use quorum_sandbox::Isolation;
use quorum_verifier::{Channel, CheckStatus, IsolationClass};

use crate::world::{World, write};

const INTEGRITY: &str = "[[check]]\nid = \"v\"\nkind = \"artifact_integrity\"\n";
const SCOPE: &str = "[[check]]\nid = \"v\"\nkind = \"scope\"\n";

fn world() -> World {
    World::new(&[("v", "test")])
}

#[test]
fn artifact_integrity_reads_the_exact_bytes() {
    type Damage = fn(&World);
    let nothing: Damage = |_| {};
    let table: [(&str, World, Damage, CheckStatus); 9] = [
        ("file", world().with(&[("a.json", "1")]).artifact("a.json"), nothing, CheckStatus::Passed),
        (
            "file changed",
            world().with(&[("a.json", "1")]).artifact("a.json"),
            |w| write(&w.candidate(), "a.json", "2"),
            CheckStatus::Failed,
        ),
        ("file missing", world().artifact("a.json"), nothing, CheckStatus::Error),
        (
            "file is a symlink",
            world().with(&[("a.json", "1"), ("b", "1")]).artifact("a.json"),
            |w| {
                fs::remove_file(w.candidate().join("a.json")).unwrap();
                symlink("b", w.candidate().join("a.json")).unwrap();
            },
            CheckStatus::Error,
        ),
        ("directory", world().with(&[("a", "1"), ("b/c", "2")]), nothing, CheckStatus::Passed),
        (
            "directory with a new file",
            world().with(&[("a", "1")]),
            |w| write(&w.candidate(), "b", "2"),
            CheckStatus::Failed,
        ),
        (
            "directory with another mode",
            world().with(&[("a", "1"), ("b", "")]),
            |w| {
                let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
                fs::set_permissions(w.candidate().join("a"), mode).unwrap();
            },
            CheckStatus::Failed,
        ),
        (
            "directory with a link inside",
            world().with(&[("a", "1")]),
            |w| symlink("a", w.candidate().join("l")).unwrap(),
            CheckStatus::Failed,
        ),
        (
            "directory with a link outside",
            world().with(&[("a", "1"), ("b", "1")]),
            |w| symlink("/etc", w.candidate().join("l")).unwrap(),
            CheckStatus::Error,
        ),
    ];
    for (name, world, damage, expected) in table {
        let intake = world.intake();
        damage(&world);
        let outcome = world.report_of(&intake, INTEGRITY).checks.remove(0);
        assert_eq!(outcome.status, expected, "{name}: {}", outcome.summary);
        assert_eq!(outcome.channel, Channel::Data);
        assert_eq!(outcome.isolation, IsolationClass::NotApplicable);
        assert_eq!(outcome.files[0].evidence_type, "artifact_hash");
    }
}

#[test]
fn artifact_integrity_of_a_locator_that_climbs_is_no_verdict() {
    let world = world().artifact("../plan/secret");
    write(&world.plan_dir(), "secret", "x");
    let outcome = world.outcome(INTEGRITY);
    assert_eq!(outcome.status, CheckStatus::Error);
    assert!(outcome.summary.contains("path_unsafe"), "{}", outcome.summary);
}

#[test]
fn artifact_integrity_of_a_pull_request_hashes_every_object_again() {
    let mut world = world().with(&[("a", "1"), ("b/c", "2")]);
    let git = |args: &[&str]| {
        let env = [
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@b"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@b"),
            ("GIT_DIR", "../git"),
            ("GIT_WORK_TREE", "."),
        ];
        let command =
            std::process::Command::new("git").args(args).current_dir(world.candidate()).env_clear().envs(env).output();
        let out = command.expect("git runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        out.stdout
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "x"]);
    let head = String::from_utf8(git(&["rev-parse", "HEAD"])).unwrap().trim().to_owned();
    let commit = git(&["cat-file", "commit", "HEAD"]);
    world.pull_request = Some(head);
    assert_eq!(world.outcome(INTEGRITY).status, CheckStatus::Error, "no commit object, no verdict");
    world.head_commit = Some(commit);
    let outcome = world.outcome(INTEGRITY);
    assert_eq!(outcome.status, CheckStatus::Passed, "{}", outcome.summary);
    let intake = world.intake();
    write(&world.candidate(), "a", "other");
    assert_eq!(world.report_of(&intake, INTEGRITY).checks[0].status, CheckStatus::Failed);
}

#[test]
fn scope_with_allowed_files_is_the_exact_list() {
    let plan = format!("{SCOPE}allowed_files = [\"a\", \"b/c\"]\n");
    for (name, files, expected) in [
        ("exact", vec![("a", "1"), ("b/c", "2")], CheckStatus::Passed),
        ("extra", vec![("a", "1"), ("b/c", "2"), ("d", "3")], CheckStatus::Failed),
        ("missing", vec![("a", "1")], CheckStatus::Failed),
    ] {
        let outcome = world().with(&files).outcome(&plan);
        assert_eq!(outcome.status, expected, "{name}: {}", outcome.summary);
    }
    let linked = world().with(&[("a", "1"), ("x", "")]);
    fs::remove_file(linked.candidate().join("x")).unwrap();
    fs::create_dir(linked.candidate().join("b")).unwrap();
    symlink("../a", linked.candidate().join("b/c")).unwrap();
    let outcome = linked.outcome(&plan);
    assert_eq!(outcome.status, CheckStatus::Failed);
    assert_eq!(outcome.findings[0].category, "scope");
    assert_eq!(outcome.findings[0].path.as_deref(), Some("b/c"));
}

#[test]
fn scope_against_a_baseline_is_the_work_units_paths() {
    let base = [("src/a", "1"), ("docs/x", "1"), ("src/secret/k", "1")];
    for (name, files, expected) in [
        ("unchanged", vec![("src/a", "1"), ("docs/x", "1"), ("src/secret/k", "1")], CheckStatus::Passed),
        ("allowed change", vec![("src/a", "2"), ("docs/x", "1"), ("src/secret/k", "1")], CheckStatus::Passed),
        ("allowed rename", vec![("src/b", "1"), ("docs/x", "1"), ("src/secret/k", "1")], CheckStatus::Passed),
        ("foreign change", vec![("src/a", "1"), ("docs/x", "2"), ("src/secret/k", "1")], CheckStatus::Failed),
        ("foreign delete", vec![("src/a", "1"), ("src/secret/k", "1")], CheckStatus::Failed),
        ("forbidden change", vec![("src/a", "1"), ("docs/x", "1"), ("src/secret/k", "2")], CheckStatus::Failed),
        ("rename out of scope", vec![("a", "1"), ("docs/x", "1"), ("src/secret/k", "1")], CheckStatus::Failed),
    ] {
        let outcome = world().with(&files).with_baseline(&base).outcome(SCOPE);
        assert_eq!(outcome.status, expected, "{name}: {}", outcome.summary);
    }
    assert_eq!(world().with(&[("src/a", "1")]).outcome(SCOPE).status, CheckStatus::Error, "no baseline is no verdict");
}

#[test]
fn scope_of_a_plain_manifest_fails_on_files_beside_the_artifact() {
    let plan = format!("{SCOPE}allowed_files = [\"answer.json\", \"extra\"]\n");
    let alone = world().with(&[("answer.json", "1")]).artifact("answer.json");
    assert_eq!(alone.outcome(&format!("{SCOPE}allowed_files = [\"answer.json\"]\n")).status, CheckStatus::Passed);
    let beside = world().with(&[("answer.json", "1"), ("extra", "2")]).artifact("answer.json");
    let outcome = beside.outcome(&plan);
    assert_eq!(outcome.status, CheckStatus::Failed);
    assert!(outcome.summary.contains("`extra` lies beside the artifact"), "{}", outcome.summary);
}

#[test]
fn required_json_compares_canonical_bytes() {
    let plan = |extra: &str| {
        format!(
            "[[check]]\nid = \"v\"\nkind = \"required_json\"\nrequired = {{ answer = 42, status = \"ready\" }}\n{extra}"
        )
    };
    for (name, text, expected) in [
        ("equal", r#"{"status": "ready", "answer": 42}"#, CheckStatus::Passed),
        ("wrong", r#"{"status": "ready", "answer": 41}"#, CheckStatus::Failed),
        ("42.0 is not 42", r#"{"status": "ready", "answer": 42.0}"#, CheckStatus::Failed),
        ("more", r#"{"status": "ready", "answer": 42, "x": 1}"#, CheckStatus::Failed),
        ("twice", r#"{"status": "ready", "answer": 41, "answer": 42}"#, CheckStatus::Failed),
        ("not JSON", "answer = 42", CheckStatus::Failed),
        ("empty", "", CheckStatus::Failed),
    ] {
        let outcome = world().with(&[("answer.json", text)]).artifact("answer.json").outcome(&plan(""));
        assert_eq!(outcome.status, expected, "{name}: {}", outcome.summary);
    }
    let good = [("answer.json", r#"{"status": "ready", "answer": 42}"#), ("b", "")];
    assert_eq!(world().with(&good).outcome(&plan("file = \"answer.json\"\n")).status, CheckStatus::Passed);
    let absent = world().with(&good).outcome(&plan("file = \"absent.json\"\n"));
    assert_eq!(absent.status, CheckStatus::Failed);
    // No path of this machine, and the same words in each run.
    assert_eq!(absent.summary, "the candidate has no usable file: `absent.json` is missing");
    assert_eq!(world().with(&good).outcome(&plan("")).status, CheckStatus::Error, "two files and none named");
    assert_eq!(world().with(&good[..1]).outcome(&plan("")).status, CheckStatus::Passed, "the only file");
    let small = world().with(&good).outcome(&plan("file = \"answer.json\"\nmax_bytes = 10\n"));
    assert_eq!(small.status, CheckStatus::Failed);
}

#[test]
fn the_difference_that_is_named_does_not_tell_the_answer() {
    let plan = "[[check]]\nid = \"v\"\nkind = \"required_json\"\nrequired = { answer = 31337 }\n";
    let outcome = world().with(&[("answer.json", r#"{"answer": 1}"#)]).outcome(plan);
    assert!(outcome.summary.contains("/answer"), "{}", outcome.summary);
    assert!(!format!("{outcome:?}").contains("31337"));
}

#[test]
fn binding_holds_the_documents_together() {
    let outcome = world().with(&[("a", "1")]).outcome("[[check]]\nid = \"v\"\nkind = \"binding\"\n");
    assert_eq!(outcome.status, CheckStatus::Passed);
}

#[test]
fn schema_reads_the_candidate_or_repeats_the_intake() {
    let of = |rest: &str| format!("[[check]]\nid = \"v\"\nkind = \"schema\"\n{rest}\n");
    let candidate = of("of = \"candidate\"\nschema = \"candidate-reference-v0.1\"");
    let good = r#"{"schema_version": "0.1", "type": "github_pull_request", "repository": "a/b", "number": 1, "head_sha": "0000000000000000000000000000000000000000"}"#;
    for (name, text, expected) in [
        ("good", good, CheckStatus::Passed),
        ("bad", "{}", CheckStatus::Failed),
        ("not JSON", "{", CheckStatus::Failed),
    ] {
        let outcome = world().with(&[("a.json", text)]).artifact("a.json").outcome(&candidate);
        assert_eq!(outcome.status, expected, "{name}: {}", outcome.summary);
    }
    let outcome = world().with(&[("a", "1")]).outcome(&of("of = \"manifest\""));
    assert_eq!(outcome.status, CheckStatus::Passed);
    assert!(outcome.read_manifest);
}

/// A writer that waits until the artifact's digest was taken must not have other bytes judged: every check answers for the
/// bytes of the listing, which the evidence names, or for none.
#[test]
fn bytes_that_change_after_the_listing_are_judged_by_no_check() {
    let mut world = World::new(&[("writer", "test"), ("json", "schema"), ("whole", "other"), ("again", "test")])
        .with(&[("answer.json", r#"{"answer":7}"#)]);
    world.isolation = Isolation::None;
    let target = world.candidate().join("answer.json").display().to_string();
    let plan = format!(
        r#"
[[check]]
id = "writer"
kind = "command"
argv = ["/bin/sh", "-c", "printf '{{\"answer\":42}}' > {target}"]
[[check]]
id = "json"
kind = "required_json"
file = "answer.json"
required = {{ answer = 42 }}
[[check]]
id = "whole"
kind = "artifact_integrity"
[[check]]
id = "again"
kind = "command"
argv = ["/bin/grep", "-q", "42", "{{candidate}}/answer.json"]
"#
    );
    let report = world.report(&plan);
    let seen = |id| {
        let check = report.check(id).unwrap();
        (check.status, check.summary.split(':').next().unwrap().to_owned())
    };
    assert_eq!(seen("writer").0, CheckStatus::Passed);
    assert_eq!(seen("json"), (CheckStatus::Error, "tree_changed".to_owned()));
    assert_eq!(seen("again"), (CheckStatus::Error, "tree_changed".to_owned()));
    // The one file of the candidate was hashed when it was listed, and those are the bytes that the evidence names.
    assert_ne!(seen("whole").0, CheckStatus::Passed, "{}", seen("whole").1);
}

#[test]
fn a_link_above_what_is_forbidden_or_out_of_the_tree_is_no_allowed_write() {
    for (name, forbidden, link, target, expected) in [
        ("above a forbidden folder", ".github/workflows/", ".github", "ci", CheckStatus::Failed),
        ("above a forbidden file", "conf/secret.json", "conf", "data", CheckStatus::Failed),
        ("above any depth", "**/secret.json", "conf", "data", CheckStatus::Failed),
        ("beside what is forbidden", "conf/secret.json", "docs", "data", CheckStatus::Passed),
        ("out of the tree", "conf/secret.json", "docs", "../data", CheckStatus::Failed),
        ("to an absolute path", "conf/secret.json", "docs", "/etc/passwd", CheckStatus::Failed),
    ] {
        let files = [("ci/workflows/evil.yml", "evil"), ("data/secret.json", "{}")];
        let mut world = world().with_baseline(&files).with(&files);
        world.pull_request = Some("0".repeat(40));
        world.unit["constraints"]["allowed_paths"] = serde_json::json!(["**"]);
        world.unit["constraints"]["forbidden_paths"] = serde_json::json!([forbidden]);
        assert_eq!(world.outcome(SCOPE).status, CheckStatus::Passed, "{name}: nothing was written");
        symlink(target, world.candidate().join(link)).unwrap();
        let outcome = world.outcome(SCOPE);
        assert_eq!(outcome.status, expected, "{name}: {}", outcome.summary);
        let paths: Vec<_> = outcome.findings.iter().map(|finding| finding.path.clone()).collect();
        let wrong = if expected == CheckStatus::Failed { vec![Some(link.to_owned())] } else { vec![] };
        assert_eq!(paths, wrong, "{name}");
    }
}
