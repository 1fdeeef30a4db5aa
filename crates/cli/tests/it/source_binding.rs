//! B1 to B13 at the gate: with `--git` the merge base is the revision that work unit and manifest must speak of.

use std::process::Command;

use crate::world::World;

/// A repository with one commit on `main` and one on top of it, and the example's work unit and plan outside.
struct Repository {
    world: World,
    base: String,
    head: String,
}

impl Repository {
    fn new() -> Self {
        let world = World::with_example();
        std::fs::create_dir(world.path("repo")).unwrap();
        let mut repository = Self { world, base: String::new(), head: String::new() };
        repository.git("init -q -b main");
        repository.base = repository.commit("README.md", "a project\n");
        repository.git("checkout -q -b candidate");
        let answer = "{\"schema_version\": \"0.1\", \"answer\": 42, \"status\": \"ready\"}\n";
        repository.head = repository.commit("answer.json", answer);
        let plan = String::from_utf8(repository.world.read("example/plan.toml")).unwrap();
        repository.world.write("plan.toml", plan.replace("allowed_files = [\"answer.json\"]\n", ""));
        repository
    }

    fn git(&self, line: &str) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
            .args(line.split(' '))
            .current_dir(self.world.path("repo"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, file: &str, content: &str) -> String {
        self.world.write(&format!("repo/{file}"), content);
        self.git("add -A");
        self.git("commit -q -m change");
        self.git("rev-parse HEAD")
    }

    /// The example's work unit, declaring this revision.
    fn declares(&self, revision: &str) {
        let unit = String::from_utf8(self.world.read("example/work-unit.json")).unwrap();
        let declared = format!("\"source\": \"examples/json-answer\", \"source_revision\": \"{revision}\"");
        let edited = unit.replace("\"source\": \"examples/json-answer\"", &declared);
        assert_ne!(unit, edited);
        self.world.write("unit.json", edited);
    }

    fn line(&self, command: &str) -> String {
        format!("{command} --git repo --base main --head {} --work-unit unit.json", self.head)
    }
}

#[test]
fn a_work_unit_that_declares_the_merge_base_is_bound_to_it() {
    let repository = Repository::new();
    repository.declares(&repository.base);
    let world = &repository.world;
    world.run(&format!("{} --plan plan.toml --out out", repository.line("gate"))).exits(0);
    let manifest = String::from_utf8(world.read("out/result-manifest.json")).unwrap();
    assert!(manifest.contains(&format!("\"source_revision\":\"{}\"", repository.base)), "{manifest}");
    world.run(&format!("{} --worker w -o manifest.json", repository.line("manifest"))).exits(0);
    world.run(&format!("{} --plan plan.toml --result manifest.json", repository.line("gate"))).exits(0);
}

/// The work unit is the operator's: what is wrong with it is exit 2, in whichever command.
#[test]
fn a_work_unit_of_another_revision_is_refused() {
    let repository = Repository::new();
    for (declared, code) in [
        (repository.head.clone(), "idk_b07"),
        ("a".repeat(64), "idk_b07"),
        ("v1.0".to_owned(), "idk_b06"),
        (repository.base.to_uppercase(), "idk_h14"),
    ] {
        repository.declares(&declared);
        let world = &repository.world;
        world.run(&format!("{} --plan plan.toml", repository.line("gate"))).refuses(2, code);
        world.run(&format!("{} --worker w", repository.line("manifest"))).refuses(2, code);
    }
}

/// Without --base the work unit's word stands in for it: what is wrong with it is said of the work unit.
#[test]
fn a_manifest_without_a_base_never_speaks_of_a_base_that_nobody_gave() {
    let repository = Repository::new();
    let world = &repository.world;
    let line = repository.line("manifest --worker w").replace(" --base main", "");
    let absent = "a".repeat(40);
    for (declared, code) in [(absent.as_str(), "git_unknown_revision"), ("main", "idk_b06"), ("v1.0", "idk_b06")] {
        repository.declares(declared);
        let said = world.run(&line).refuses(2, code).stderr;
        assert!(said.contains(&format!("work unit /provenance/source_revision: `{declared}`")), "{said}");
        assert!(!said.contains("--base"), "{said}");
    }
    repository.declares(&repository.base);
    world.run(&line).exits(0);
    // It says nothing: then a base must be given.
    world.copy(&world.path("example/work-unit.json"), "unit.json");
    let said = world.run(&line).refuses(2, "base_missing").stderr;
    assert!(said.contains("/provenance/source_revision") && said.contains("give --base"), "{said}");
}

/// The manifest is the worker's: one that says it started elsewhere is exit 6.
#[test]
fn a_manifest_of_another_revision_is_refused() {
    let repository = Repository::new();
    let world = &repository.world;
    world.copy(&world.path("example/work-unit.json"), "unit.json");
    world.run(&format!("{} --worker w -o honest.json", repository.line("manifest"))).exits(0);
    let honest = String::from_utf8(world.read("honest.json")).unwrap();
    let started = format!("\"source_revision\":\"{}\"", repository.base);
    assert!(honest.contains(&started), "{honest}");
    world.run(&format!("{} --plan plan.toml --result honest.json", repository.line("gate"))).exits(0);
    for (revision, code) in [(repository.head.as_str(), "idk_b12"), ("unversioned", "idk_b04")] {
        world.write("manifest.json", honest.replace(&started, &format!("\"source_revision\":\"{revision}\"")));
        world.run(&format!("{} --plan plan.toml --result manifest.json", repository.line("gate"))).refuses(6, code);
        let verify =
            format!("{} --plan plan.toml --result manifest.json --unsigned --out e", repository.line("verify"));
        world.run(&verify).refuses(6, code);
    }
    // Upper case names the same commit.
    world.write(
        "manifest.json",
        honest.replace(&started, &started.to_uppercase().replace("SOURCE_REVISION", "source_revision")),
    );
    world.run(&format!("{} --plan plan.toml --result manifest.json", repository.line("gate"))).exits(0);
}
