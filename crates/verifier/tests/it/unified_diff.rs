//! `unified_diff` in plans of our own.

use quorum_schemas::{SchemaName, validate};
use quorum_verifier::CheckStatus::{self, *};

use crate::world::{World, template};

const PATCH: &str = "diff --git a/src/a.rs b/src/a.rs\nindex 1111111..2222222 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n-let x = 1;\n+let x = 2;\n";

fn check(rest: &str) -> String {
    format!("[[check]]\nid = \"patch\"\nkind = \"unified_diff\"\n{rest}")
}

fn outcome(patch: &str, rest: &str) -> (CheckStatus, Vec<String>, String) {
    let world = World::new(&[("patch", "review")]).with(&[("changes.patch", patch)]);
    let outcome = world.outcome(&check(rest));
    let categories = outcome.findings.iter().map(|finding| finding.category.clone()).collect();
    (outcome.status, categories, outcome.summary)
}

#[test]
fn lines_are_whole_and_substrings_are_parts() {
    for (rest, status) in [
        ("", Passed),
        ("added_lines = [\"let x = 2;\"]", Passed),
        ("added_lines = [\"let x = 2\"]", Failed),
        ("added_lines = [\"one\"]", Failed),
        ("added_substrings = [\"x = 2\"]", Passed),
        ("added_substrings = [\"X = 2\"]", Failed),
        ("added_substrings = [\"x = 2\", \"x = 3\"]", Failed),
        ("removed_lines = [\"let x = 1;\"]", Passed),
        ("removed_lines = [\"x = 1\"]", Failed),
        ("removed_substrings = [\"x = 1\"]", Passed),
        ("removed_substrings = [\"x = 2\"]", Failed),
        ("added_substrings = [\"x = 2\"]\nremoved_substrings = [\"x = 1\"]", Passed),
        ("added_substrings = [\"x = 2\"]\nremoved_substrings = [\"y = 1\"]", Failed),
    ] {
        let (found, categories, summary) = outcome(PATCH, rest);
        assert_eq!(found, status, "{rest}: {summary}");
        let expected: &[&str] = if status == Failed { &["correctness"] } else { &[] };
        assert_eq!(categories, expected, "{rest}");
    }
}

#[test]
fn every_path_is_held_against_the_work_unit() {
    for (patch, category) in [
        (PATCH.replace("src/a.rs", "src/secret/a.rs"), "scope"),
        (PATCH.replace("src/a.rs", "README.md"), "scope"),
        (PATCH.replace("src/a.rs", "src/../a.rs"), "scope"),
        (format!("{PATCH}diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"), "scope"),
        (
            format!(
                "{PATCH}diff --git a/src/l b/src/l\nnew file mode 120000\nindex 0000000..1111111\n--- /dev/null\n+++ b/src/l\n@@ -0,0 +1 @@\n+t\n\\ No newline at end of file\n"
            ),
            "scope",
        ),
        (PATCH.replace("@@ -1,2 +1,2 @@", "@@ -1,2 +1,3 @@"), "correctness"),
        (format!("From: me\n{PATCH}"), "correctness"),
        (String::new(), "correctness"),
    ] {
        let (status, categories, summary) = outcome(&patch, "");
        assert_eq!((status, categories.as_slice()), (Failed, &[category.to_owned()][..]), "{summary}\n{patch}");
    }
}

#[test]
fn the_file_and_its_size_are_the_plan_s() {
    let world = World::new(&[("patch", "review")]).with(&[("deep/x.patch", PATCH), ("other", "1")]);
    assert_eq!(world.outcome(&check("file = \"deep/x.patch\"")).status, Passed);
    assert_eq!(world.outcome(&check("file = \"absent.patch\"")).status, Failed);
    assert_eq!(world.outcome(&check("file = \"other\"")).status, Failed);
    assert_eq!(world.outcome(&check("")).status, Error, "two files, and the plan names none");
    let exact = format!("file = \"deep/x.patch\"\nmax_bytes = {}", PATCH.len());
    assert_eq!(world.outcome(&check(&exact)).status, Passed);
    let less = format!("file = \"deep/x.patch\"\nmax_bytes = {}", PATCH.len() - 1);
    assert_eq!(world.outcome(&check(&less)).status, Failed);
}

/// Blinding: a plan of ours reads neither status nor logs, and says so.
#[test]
fn a_plan_of_ours_reads_no_worker_status() {
    let world = World::new(&[("patch", "review")]).with(&[("changes.patch", PATCH)]);
    let answer = world.answer(&check(""));
    assert_eq!(answer.predicate.get("read_worker_status"), Some(&false.into()));
    assert_eq!(answer.verdict(), "supports");
    assert_eq!(answer.predicate.at(&["result", "extensions"]), None);
}

#[test]
fn a_bound_plan_with_the_kind_follows_its_schema() {
    let world = World::new(&[("patch", "review")]).with(&[("changes.patch", PATCH)]);
    let intake = world.intake();
    let all = check(
        "file = \"changes.patch\"\nmax_bytes = 9\nadded_lines = [\"a\"]\nadded_substrings = [\"b\"]\nremoved_lines = [\"c\"]\nremoved_substrings = [\"d\"]",
    );
    let plan = template(&all).unwrap().bind(&intake.handoff, &intake.work_unit, "0.1.0").unwrap();
    validate(SchemaName::QuorumPlan, plan.value()).unwrap();
    let mut wrong = plan.value().to_serde();
    wrong["checks"][0]["added_lines"] = serde_json::json!(["a\nb"]);
    assert!(validate(SchemaName::QuorumPlan, &wrong.into()).is_err(), "the schema knows lines, too");
}
