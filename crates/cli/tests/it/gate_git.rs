//! `--git`: the candidate is a commit, and what decides over it comes from the base branch.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::world::World;

/// A world with a repository `repo` on branch `main` that has `.quorum` with the shipped example.
pub(crate) struct Repository(pub(crate) World);

impl Repository {
    pub(crate) fn new() -> Self {
        Self::of_format("sha1")
    }

    /// The same with another hash of its objects.
    pub(crate) fn of_format(format: &str) -> Self {
        let world = World::with_example();
        let repository = Self(world);
        std::fs::create_dir(repository.0.path("repo")).unwrap();
        repository.git(&format!("init -q -b main --object-format={format}"));
        for name in ["work-unit.json", "plan.toml", "policy.toml"] {
            let bytes = repository.0.read(&format!("example/{name}"));
            repository.0.write(&format!("repo/.quorum/{name}"), bytes);
        }
        let plan = String::from_utf8(repository.0.read("repo/.quorum/plan.toml")).unwrap();
        // The candidate is the whole tree: what may change is the work unit's word.
        repository.0.write("repo/.quorum/plan.toml", plan.replace("allowed_files = [\"answer.json\"]\n", ""));
        repository.0.write("repo/README.md", "a project\n");
        repository.commit("base");
        repository
    }

    pub(crate) fn git(&self, line: &str) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
            .args(line.split(' '))
            .current_dir(self.0.path("repo"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        self.git("add -A");
        self.git(&format!("commit -q -m {message}"));
        self.git("rev-parse HEAD")
    }

    /// A branch from main with an answer.
    pub(crate) fn candidate(&self, answer: u32) -> String {
        self.git(&format!("checkout -q -b pr-{answer}"));
        let text = format!("{{\"schema_version\": \"0.1\", \"answer\": {answer}, \"status\": \"ready\"}}\n");
        self.0.write("repo/answer.json", text);
        self.commit("answer")
    }

    /// The same, staging the answer alone: what is in the index and not on disk stays.
    pub(crate) fn candidate_committing(&self, answer: u32) -> String {
        self.git(&format!("checkout -q -b pr-{answer}"));
        let text = format!("{{\"schema_version\": \"0.1\", \"answer\": {answer}, \"status\": \"ready\"}}\n");
        self.0.write("repo/answer.json", text);
        self.git("add answer.json");
        self.git("commit -q -m answer");
        self.git("rev-parse HEAD")
    }

    pub(crate) fn gate(&self, head: &str) -> String {
        format!(
            "gate --git repo --base main --head {head} --work-unit repo/.quorum/work-unit.json \
             --plan repo/.quorum/plan.toml --policy repo/.quorum/policy.toml"
        )
    }
}

#[test]
fn a_commit_is_judged_by_the_base_branch() {
    let repository = Repository::new();
    let good = repository.candidate(42);
    repository.0.run(&repository.gate(&good)).exits(0);
    repository.git("checkout -q main");
    let wrong = repository.candidate(41);
    repository.0.run(&repository.gate(&wrong)).exits(1);
    let record = format!("{} --pr acme/project#7 --out out", repository.gate(&good));
    repository.0.run(&record).exits(0);
    repository.0.run("audit out").exits(0);
    let manifest = String::from_utf8(repository.0.read("out/result-manifest.json")).unwrap();
    assert!(manifest.contains(&format!("https://github.com/acme/project/pull/7#idkmesh-head={good}")), "{manifest}");
    assert!(manifest.contains(&repository.git("rev-parse main")), "source_revision is the merge base: {manifest}");
}

/// Must be shown 5: a pull request that edits policy, plan and trust root in its own tree changes nothing.
#[test]
fn a_pull_request_cannot_edit_what_judges_it() {
    let repository = Repository::new();
    let honest = repository.candidate(41);
    let judged = repository.0.run(&repository.gate(&honest)).exits(1).stdout;
    repository.git("checkout -q main");
    repository.git("checkout -q -b cheat");
    repository.0.write("repo/answer.json", "{\"schema_version\": \"0.1\", \"answer\": 41, \"status\": \"ready\"}\n");
    let plan = String::from_utf8(repository.0.read("repo/.quorum/plan.toml")).unwrap();
    repository.0.write("repo/.quorum/plan.toml", plan.replace("answer = 42", "answer = 41"));
    repository.0.write(
        "repo/.quorum/policy.toml",
        "schema_version = \"0.1\"\nid = \"mine\"\nreject_quorum = 9\nmin_isolation = \"none\"\nindependent_on = []\n",
    );
    let unit = String::from_utf8(repository.0.read("repo/.quorum/work-unit.json")).unwrap();
    repository.0.write(
        "repo/.quorum/work-unit.json",
        unit.replace("\"allowed_paths\": [\"answer.json\"]", "\"allowed_paths\": [\"**\"]"),
    );
    repository.0.write("repo/.quorum/trust.json", "{}");
    let cheat = repository.commit("cheat");
    // The working tree is the cheat's while the gate runs, as in a CI job that checked it out.
    let said = repository.0.run(&repository.gate(&cheat)).exits(1);
    assert!(said.stdout.contains("candidate-scope") && said.stdout.contains(".quorum/plan.toml"), "{}", said.stdout);
    assert!(judged.contains("reject_candidate") && said.stdout.contains("reject_candidate"));
    // A trust root that only the pull request has is not there.
    repository
        .0
        .run(&format!(
            "{} --trust repo/.quorum/trust.json",
            repository.gate(&cheat).replace(" --plan repo/.quorum/plan.toml", "")
        ))
        .refuses(2, "control_file_not_in_ref");
    // Whoever names the pull request as the control ref gets what was asked for: it is the operator's word.
    let explicit = format!("{} --control-ref {cheat}", repository.gate(&cheat));
    let own = repository.0.run(&explicit);
    assert_ne!(own.stdout, said.stdout);
}

#[test]
fn links_of_the_working_tree_are_not_followed() {
    let repository = Repository::new();
    let head = repository.candidate(41);
    let easy =
        String::from_utf8(repository.0.read("repo/.quorum/plan.toml")).unwrap().replace("answer = 42", "answer = 41");
    repository.0.write("elsewhere/plan.toml", easy);
    std::fs::remove_file(repository.0.path("repo/.quorum/plan.toml")).unwrap();
    symlink(repository.0.path("elsewhere/plan.toml"), repository.0.path("repo/.quorum/plan.toml")).unwrap();
    repository.0.run(&repository.gate(&head)).exits(1);
    // A link outside that leads into the repository is still read from the control ref.
    symlink(repository.0.path("repo/.quorum/plan.toml"), repository.0.path("plan-link.toml")).unwrap();
    let line = repository.gate(&head).replace("--plan repo/.quorum/plan.toml", "--plan plan-link.toml");
    repository.0.run(&line).exits(1);
    // From outside the repository a file is read from disk: that is the operator's.
    let line = repository.gate(&head).replace("--plan repo/.quorum/plan.toml", "--plan elsewhere/plan.toml");
    let said = repository.0.run(&line);
    assert!(said.stdout.contains("passed        independent-acceptance"), "{}", said.stdout);
}

#[test]
fn hooks_filters_and_configuration_of_the_repository_do_not_run() {
    let repository = Repository::new();
    let mark = repository.0.path("ran");
    let script = format!("#!/bin/sh\ntouch {}\ncat\n", mark.display());
    let tool = repository.0.write("tool.sh", script);
    let mut permissions = std::fs::metadata(&tool).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&tool, permissions).unwrap();
    let head = repository.candidate(42);
    for hook in ["post-checkout", "pre-commit", "reference-transaction"] {
        repository.0.copy(&tool, &format!("repo/.git/hooks/{hook}"));
        std::fs::set_permissions(
            repository.0.path(&format!("repo/.git/hooks/{hook}")),
            std::fs::metadata(&tool).unwrap().permissions(),
        )
        .unwrap();
    }
    for key in ["filter.x.smudge", "filter.x.clean", "core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"]
    {
        repository.git(&format!("config {key} {}", tool.display()));
    }
    repository.0.write("repo/.git/info/attributes", "* filter=x\n");
    let _ = std::fs::remove_file(&mark);
    repository.0.run(&repository.gate(&head)).exits(0);
    assert!(!mark.exists(), "something of the repository's ran");
}

#[test]
fn links_and_submodules_are_data() {
    let repository = Repository::new();
    repository.candidate(42);
    let commit = repository.git("rev-parse HEAD");
    symlink("/etc/passwd", repository.0.path("repo/absolute")).unwrap();
    let head = repository.commit("link");
    // A link that leaves the tree cannot be bundled; as a pull request the tree itself is hashed.
    repository.0.run(&repository.gate(&head)).refuses(6, "candidate_unusable");
    let said = repository.0.run(&format!("{} --pr a/b#1", repository.gate(&head))).exits(1);
    assert!(said.stdout.contains("`absolute`"), "{}", said.stdout);
    repository.git("rm -q absolute");
    repository.git(&format!("update-index --add --cacheinfo 160000,{commit},sub"));
    repository.git("commit -q -m submodule");
    let head = repository.git("rev-parse HEAD");
    let said = repository.0.run(&repository.gate(&head)).exits(1);
    assert!(said.stdout.contains("`sub`"), "a new submodule is a write: {}", said.stdout);
}

#[test]
fn a_baseline_is_one_merge_base() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    // None: an unrelated history.
    repository.git("checkout -q --orphan other");
    let unrelated = repository.commit("unrelated");
    let line = repository.gate(&unrelated);
    repository.0.run(&line).refuses(2, "git_no_merge_base");
    // Several: a criss-cross merge.
    repository.git("checkout -q main");
    repository.0.write("repo/main.txt", "1");
    let left = repository.commit("left");
    repository.git(&format!("merge -q -m cross {head}"));
    repository.git(&format!("checkout -q -b cross {head}"));
    repository.git(&format!("merge -q -m cross {left}"));
    let cross = repository.git("rev-parse HEAD");
    repository.0.run(&repository.gate(&cross)).refuses(2, "git_several_merge_bases");
}

/// Git takes a tag before a branch, so who may push tags could say what the base branch is, and with it what judges.
#[test]
fn a_name_that_stands_for_several_refs_is_no_base() {
    let repository = Repository::new();
    let first = repository.git("rev-parse HEAD");
    let head = repository.candidate(42);
    let gate = repository.gate(&head);
    repository.0.run(&gate).exits(0);
    let short = &first[..8];
    for (name, tag) in
        [("main", "main"), ("origin/main", "origin/main"), ("HEAD", "HEAD"), ("main~0", "main"), (short, short)]
    {
        repository.git(&format!("update-ref refs/remotes/origin/main {first}"));
        let with = |base: &str| gate.replace("--base main", &format!("--base {base}"));
        repository.0.run(&with(name)).exits(0);
        repository.git(&format!("update-ref refs/tags/{tag} {head}"));
        repository.0.run(&with(name)).refuses(2, "git_ambiguous_revision");
        repository.0.run(&format!("{gate} --control-ref {name}")).refuses(2, "git_ambiguous_revision");
        repository.0.run(&with("refs/heads/main")).exits(0);
        repository.git(&format!("update-ref -d refs/tags/{tag}"));
    }
}

/// Git looks for `refs/heads/x` below `refs/tags/` too, so a tag could stand in for a whole ref that this clone lacks.
#[test]
fn a_whole_ref_is_that_ref_and_no_tag_below_another() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    let gate = repository.gate(&head);
    for name in ["refs/heads/trunk", "refs/remotes/origin/main"] {
        let with = |base: &str| gate.replace("--base main", &format!("--base {base}"));
        repository.git(&format!("update-ref refs/tags/{name} main"));
        repository.0.run(&with(name)).refuses(2, "git_unknown_revision");
        repository.0.run(&with(&format!("{name}~0"))).refuses(2, "git_unknown_revision");
        repository.0.run(&format!("{gate} --control-ref {name}")).refuses(2, "git_unknown_revision");
        repository.0.run(&with(&format!("refs/tags/{name}"))).exits(0);
        repository.git(&format!("update-ref {name} main"));
        repository.0.run(&with(name)).exits(0);
    }
}

/// What the refusal tells people to write must be a ref that is there, and none that others may push as a tag.
#[test]
fn the_advice_of_an_ambiguous_name_is_a_ref_that_is_there() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    repository.git("update-ref refs/remotes/origin/main main");
    repository.git("update-ref refs/tags/origin/main main");
    let gate = repository.gate(&head).replace("--base main", "--base origin/main");
    let said = repository.0.run(&gate).refuses(2, "git_ambiguous_revision").stderr;
    assert!(said.contains("write the whole ref, as refs/remotes/origin/main"), "{said}");
    let advised = gate.replace("--base origin/main", "--base refs/remotes/origin/main");
    repository.0.run(&advised).exits(0);
}

/// In a repository of longer ids, forty hex digits may be a branch's name.
#[test]
fn an_id_of_another_length_is_no_branch() {
    let repository = Repository::of_format("sha256");
    let head = repository.candidate(42);
    let gate = repository.gate(&head);
    for name in ["1234567890".repeat(4), "abcdefABCD".repeat(4)] {
        repository.git(&format!("update-ref refs/heads/{name} main"));
        repository.0.run(&gate.replace("--base main", &format!("--base {name}"))).refuses(2, "git_unknown_revision");
        repository.git(&format!("update-ref refs/heads/{name} {head}"));
        let code = if name.starts_with('1') { "git_unknown_revision" } else { "git_object_id" };
        repository.0.run(&gate.replace(&head, &name)).refuses(2, code);
    }
}

#[test]
fn git_arguments_that_name_nothing_exit_2() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    let gate = repository.gate(&head);
    let absent = "0".repeat(40);
    for (line, code) in [
        (gate.replace("--base main", "--base nowhere"), "git_unknown_revision"),
        (gate.replace("--base main", "--base --all"), "git_unknown_revision"),
        (gate.replace(&head, &absent), "git_unknown_revision"),
        (gate.replace(&head, "HEAD"), "git_object_id"),
        (gate.replace(&head, &head[..12]), "git_object_id"),
        (gate.replace("--git repo", "--git example"), "git_not_a_repository"),
        (gate.replace("--git repo", "--git absent"), "cannot_read"),
        (format!("{gate} --control-ref gone"), "git_unknown_revision"),
        (format!("{gate} --pr acme/project"), "pull_request_malformed"),
        (gate.replace("repo/.quorum/plan.toml", "repo/.quorum/absent.toml"), "control_file_not_in_ref"),
        (gate.replace("repo/.quorum/plan.toml", "repo/.quorum"), "control_file_not_in_ref"),
    ] {
        if line.contains("--base --all") {
            // The parser itself takes this for a missing value.
            repository.0.run(&line).exits(2);
            continue;
        }
        repository.0.run(&line).refuses(2, code);
    }
}

#[test]
fn a_shallow_clone_has_no_trustworthy_merge_base() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    let url = format!("file://{}", repository.0.path("repo").display());
    let clone = repository.0.path("shallow");
    repository.git(&format!("clone -q --depth 1 --no-single-branch {url} {}", clone.display()));
    let line =
        repository.gate(&head).replace("--git repo", "--git shallow").replace("--base main", "--base origin/main");
    repository.0.run(&line).refuses(2, "git_shallow");
}

#[test]
fn an_object_with_other_content_is_refused() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    let blob = repository.git(&format!("rev-parse {head}:answer.json"));
    let other = repository.git(&format!("rev-parse {head}:README.md"));
    let object = |id: &str| repository.0.path(&format!("repo/.git/objects/{}/{}", &id[..2], &id[2..]));
    std::fs::remove_file(object(&blob)).unwrap();
    std::fs::copy(object(&other), object(&blob)).unwrap();
    let said = repository.0.run(&repository.gate(&head));
    assert_eq!(said.code, 2, "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("git_object"), "{}", said.stderr);
}

/// Both sides' middle commits are made to claim a parent without parents that has the head's tree already. It is genuine
/// itself, and as the baseline it would hide all that the candidate wrote.
#[test]
fn a_merge_base_that_rests_on_forged_parents_is_refused() {
    let repository = Repository::new();
    let step = |name: &str| {
        repository.0.write(&format!("repo/{name}.txt"), format!("{name}\n"));
        repository.commit(name)
    };
    let start = repository.git("rev-parse HEAD");
    let middle = step("middle");
    step("last");
    repository.git(&format!("checkout -q -b evil {start}"));
    repository.0.write("repo/answer.json", "{\"schema_version\": \"0.1\", \"answer\": 42, \"status\": \"ready\"}\n");
    let below = repository.commit("below");
    repository.0.write("repo/README.md", "owned\n");
    let head = repository.commit("evil");
    repository.git("checkout -q main");
    repository.0.run(&repository.gate(&head)).exits(1);
    let rootless = repository.git(&format!("commit-tree -m rootless {head}^{{tree}}"));
    let object = |id: &str| repository.0.path(&format!("repo/.git/objects/{}/{}", &id[..2], &id[2..]));
    let replace = |id: &str, bytes: &[u8]| {
        std::fs::remove_file(object(id)).unwrap();
        std::fs::write(object(id), bytes).unwrap();
    };
    let genuine = [&middle, &below].map(|id| {
        let forged = repository.git(&format!("commit-tree -m forged -p {rootless} {id}^{{tree}}"));
        let genuine = std::fs::read(object(id)).unwrap();
        replace(id, &std::fs::read(object(&forged)).unwrap());
        (id, genuine)
    });
    assert_eq!(repository.git(&format!("merge-base main {head}")), rootless, "git believes its store");
    repository.0.run(&repository.gate(&head)).refuses(2, "git_object_corrupt");
    for (id, bytes) in genuine {
        replace(id, &bytes);
    }
    repository.0.run(&repository.gate(&head)).exits(1);
}

#[test]
fn a_history_with_merges_of_older_branches_has_its_merge_base() {
    let repository = Repository::new();
    let first = repository.git("rev-parse HEAD");
    repository.0.write("repo/one.txt", "1\n");
    repository.commit("one");
    // A branch from before the merge base, which the candidate merges.
    repository.git(&format!("checkout -q -b side {first}"));
    repository.git("commit -q --allow-empty -m side");
    repository.git("checkout -q main");
    let head = repository.candidate(42);
    repository.git("merge -q --no-ff -m merged side");
    let merged = repository.git("rev-parse HEAD");
    assert_ne!(merged, head);
    repository.git("checkout -q main");
    repository.0.write("repo/two.txt", "2\n");
    repository.commit("two");
    repository.0.run(&repository.gate(&merged)).exits(0);
}

/// The pull request may be checked out in another working tree of the repository, and `core.worktree` may point away.
#[test]
fn control_files_of_any_working_tree_come_from_the_control_ref() {
    let repository = Repository::new();
    repository.git("checkout -q -b evil");
    let unit = String::from_utf8(repository.0.read("repo/.quorum/work-unit.json")).unwrap();
    let plan = String::from_utf8(repository.0.read("repo/.quorum/plan.toml")).unwrap();
    assert!(unit.contains("42") || plan.contains("42"));
    repository.0.write("repo/.quorum/work-unit.json", unit.replace("42", "41"));
    repository.0.write("repo/.quorum/plan.toml", plan.replace("42", "41"));
    repository.0.write("repo/answer.json", "{\"schema_version\": \"0.1\", \"answer\": 41, \"status\": \"ready\"}\n");
    let head = repository.commit("evil");
    repository.git("checkout -q main");
    repository.git("worktree add -q ../linked evil");
    repository.0.run(&repository.gate(&head)).exits(1);
    let linked = repository.gate(&head).replace("repo/.quorum", "linked/.quorum");
    repository.0.run(&linked).exits(1);
    std::fs::create_dir(repository.0.path("away")).unwrap();
    repository.git(&format!("config core.worktree {}", repository.0.path("away").display()));
    repository.0.run(&repository.gate(&head)).refuses(2, "git_not_a_repository");
}

#[test]
fn a_manifest_of_another_pull_request_is_refused() {
    let repository = Repository::new();
    let head = repository.candidate(42);
    let make = format!(
        "manifest --work-unit repo/.quorum/work-unit.json --git repo --base main --head {head} --pr acme/other#66 \
         --worker w -o manifest.json"
    );
    repository.0.run(&make).exits(0);
    let gate = format!("{} --result manifest.json", repository.gate(&head));
    repository.0.run(&format!("{gate} --pr acme/other#66")).exits(0);
    repository.0.run(&format!("{gate} --pr acme/project#1")).refuses(6, "pull_request_differs");
    repository.0.run(&format!("{gate} --pr acme/other#67")).refuses(6, "pull_request_differs");
}
