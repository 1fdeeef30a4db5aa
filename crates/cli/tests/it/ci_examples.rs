//! The CI examples and the composite action: their shell is run as a runner runs it, and others' linters read them.

mod runner;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use quorum_attest::Role;
use quorum_schemas::upstream;
use serde_json::Value as Json;

use self::runner::{Run, bash, git};
use crate::world::{Said, World};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn yaml(file: &str) -> Json {
    serde_saphyr::from_str(&fs::read_to_string(root().join(file)).unwrap()).unwrap()
}

const GOOD: &str = "{\"schema_version\": \"0.1\", \"answer\": 42, \"status\": \"ready\"}";
const WRONG: &str = "{\"schema_version\": \"0.1\", \"answer\": 41, \"status\": \"ready\"}";

/// A repository that `quorum init` was run in, with one pull request.
struct Forge {
    world: World,
    run: Run,
    base: String,
    head: String,
}

impl Forge {
    /// The pull request writes these files.
    fn new(mut world: World, prepare: impl FnOnce(&mut World), change: &[(&str, &str)]) -> Self {
        let repository = world.path("repository");
        fs::create_dir(&repository).unwrap();
        let init = world.command().current_dir(&repository).arg("init").output().unwrap();
        assert!(init.status.success());
        prepare(&mut world);
        world.write("repository/answer.json", "{}");
        git(&repository, &["init", "-q"]);
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-q", "-m", "base"]);
        let base = git(&repository, &["rev-parse", "HEAD"]);
        git(&repository, &["checkout", "-q", "-b", "work"]);
        for (file, text) in change {
            world.write(&format!("repository/{file}"), text);
        }
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-q", "-m", "work"]);
        let head = git(&repository, &["rev-parse", "HEAD"]);
        let context = [
            ("github.event.pull_request.base.sha", base.as_str()),
            ("github.event.pull_request.head.sha", head.as_str()),
            ("github.event.pull_request.user.login", "some-author"),
            ("github.event.pull_request.number", "7"),
            ("github.repository", "acme/app"),
            ("github.sha", head.as_str()),
        ];
        let context = context.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let artifacts = world.path("artifacts");
        fs::create_dir(&artifacts).unwrap();
        Self { run: Run { repository, artifacts, context }, world, base, head }
    }

    fn job(&self, workflow: &Json, name: &str, more: &[(&str, &str)]) -> runner::Ended {
        let machine = more.iter().find(|(key, _)| *key == "matrix.verifier").map_or("", |(_, value)| value);
        let root = self.world.path(&format!("machines/{name}-{machine}"));
        self.run.job(&workflow["jobs"][name]["steps"], &root, more)
    }

    fn artifact(&self, path: &str) -> String {
        fs::read_to_string(self.run.artifacts.join(path)).unwrap()
    }
}

fn plain(change: &[(&str, &str)]) -> Forge {
    Forge::new(World::new(), |_| {}, change)
}

#[test]
fn github_gate() {
    let workflow = yaml("examples/ci/github-gate.yml");
    let good = plain(&[("answer.json", GOOD)]);
    let ended = good.job(&workflow, "gate", &[]).succeeds();
    assert!(ended.summary.starts_with("## \u{2705} Quorum: accept_candidate"), "{}", ended.summary);
    assert!(good.artifact("quorum-reports/junit.xml").contains("errors=\"0\""));
    good.job(&workflow, "code-scanning", &[]).succeeds();
    good.world.run("audit artifacts/quorum-record").exits(0);

    // A reject fails the job, and the reports are kept all the same; its own plan changes nothing for it.
    let plan = fs::read_to_string(root().join("crates/gate/src/init/files/plan.toml")).unwrap();
    let lenient = plan.replace("answer = 42", "answer = 41");
    for change in [vec![("answer.json", WRONG)], vec![("answer.json", WRONG), (".quorum/plan.toml", lenient.as_str())]]
    {
        let wrong = plain(&change);
        let ended = wrong.job(&workflow, "gate", &[]).fails(1);
        assert!(ended.summary.contains("Quorum: reject_candidate"), "{}", ended.summary);
        assert!(ended.log.contains("::error file="), "annotated: {}", ended.log);
        assert!(wrong.artifact("quorum-reports/junit.xml").contains("<failure "));
        wrong.job(&workflow, "code-scanning", &[]).succeeds();
    }

    // So does a file that the work unit does not allow, and a repository without control files.
    plain(&[("answer.json", GOOD), ("other.txt", "x")]).job(&workflow, "gate", &[]).fails(1);
    let bare = Forge::new(
        World::new(),
        |world| fs::remove_file(world.path("repository/.quorum/plan.toml")).unwrap(),
        &[("answer.json", GOOD)],
    );
    let ended = bare.job(&workflow, "gate", &[]).fails(2);
    assert!(ended.summary.contains("no_decision"), "{}", ended.summary);
    assert!(bare.artifact("quorum-reports/junit.xml").contains("<error "));
}

/// Two verifiers with keys, a gate key, a trust root and a policy of the base branch.
fn prepare(world: &mut World) {
    world.identity(Role::Verifier, "verifier-a", 2, &[("operator", "acme"), ("host", "one")]);
    world.identity(Role::Verifier, "verifier-b", 3, &[("operator", "globex"), ("host", "two")]);
    world.identity(Role::Gate, "gate", 6, &[]);
    let policy = "schema_version = \"0.1\"\nid = \"two\"\nquorum = 2\npanel = 2\nindependent_on = []\n";
    world.write("repository/.quorum/policy.toml", policy);
    world.admit("repository/.quorum/policy.toml");
    fs::copy(world.trust(), world.path("repository/.quorum/trust.json")).unwrap();
    let plan = String::from_utf8(world.read("repository/.quorum/plan.toml")).unwrap();
    for verifier in ["verifier-a", "verifier-b"] {
        let text = plan.replace("id = \"local-verifier\"", &format!("id = \"{verifier}\""));
        world.write(&format!("repository/.quorum/plan-{verifier}.toml"), text);
    }
}

#[test]
fn github_split() {
    let workflow = yaml("examples/ci/github-split.yml");
    // No job that has the candidate has a secret.
    for job in ["manifest", "verify"] {
        let text = workflow["jobs"][job].to_string();
        assert!(!text.contains("secrets.") && !text.contains("environment"), "{text}");
    }
    for (answer, outcome) in [(GOOD, 0), (WRONG, 1)] {
        let forge = Forge::new(World::new(), prepare, &[("answer.json", answer)]);
        let secret = |id: &str| String::from_utf8(forge.world.read(&format!("{id}.pem"))).unwrap();
        forge.job(&workflow, "manifest", &[]).succeeds();
        for verifier in ["verifier-a", "verifier-b"] {
            forge.job(&workflow, "verify", &[("matrix.verifier", verifier)]).succeeds();
        }
        let sign = |verifier: &str| {
            let key = secret(verifier);
            let more = [("matrix.verifier", verifier), ("secrets.QUORUM_VERIFIER_KEY", key.as_str())];
            let ended = forge.job(&workflow, "sign", &more).succeeds();
            assert!(!ended.machine.temp.join("key.pem").exists(), "the key does not stay");
        };
        let gate = secret("gate");
        let decide = |name: &str| {
            let root = forge.world.path(&format!("machines/{name}"));
            forge.run.job(&workflow["jobs"]["decide"]["steps"], &root, &[("secrets.QUORUM_GATE_KEY", gate.as_str())])
        };
        sign("verifier-a");
        if outcome == 0 {
            // One of two is not enough, and the reports say what is missing.
            let ended = decide("decide-early").fails(3);
            assert!(ended.summary.contains("insufficient_evidence"), "{}", ended.summary);
            assert!(ended.log.contains("seat_silent"), "{}", ended.log);
            fs::remove_dir_all(forge.run.artifacts.join("quorum-record")).unwrap();
            fs::remove_dir_all(forge.run.artifacts.join("quorum-reports")).unwrap();
        }
        sign("verifier-b");
        let ended = decide("decide");
        let ended = if outcome == 0 { ended.succeeds() } else { ended.fails(outcome) };
        assert!(!ended.machine.temp.join("key.pem").exists(), "the key does not stay");
        forge.world.run("audit artifacts/quorum-record --trust trust.json").exits(0);
        for file in forge.world.files("artifacts") {
            let bytes = forge.world.read(&format!("artifacts/{file}"));
            assert!(!String::from_utf8_lossy(&bytes).contains("PRIVATE KEY"), "{file} holds a key");
        }
    }
}

#[test]
fn composite_action() {
    let action = yaml("action.yml");
    let steps = &action["runs"]["steps"];
    let inputs = |forge: &Forge, more: &[(&str, &str)]| {
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        for (name, input) in action["inputs"].as_object().unwrap() {
            values.insert(name.clone(), input["default"].as_str().unwrap().to_owned());
        }
        values.extend([
            ("base".to_owned(), forge.base.clone()),
            ("head".to_owned(), forge.head.clone()),
            ("pull-request".to_owned(), "acme/app#7".to_owned()),
        ]);
        values.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        values
    };
    let act = |forge: &Forge, name: &str, more: &[(&str, &str)]| {
        let root = forge.world.path(&format!("machines/{name}"));
        let mut values = inputs(forge, more);
        values.insert("out".to_owned(), root.join("temp/quorum").to_str().unwrap().to_owned());
        fs::create_dir_all(root.join("workspace")).unwrap();
        git(&forge.run.repository, &["clone", "-q", ".", root.join("workspace").to_str().unwrap()]);
        let context: Vec<(String, String)> =
            values.into_iter().map(|(name, value)| (format!("inputs.{name}"), value)).collect();
        let mut all: Vec<(&str, &str)> = context.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        all.push(("github.action_path", "/nowhere"));
        forge.run.job(steps, &root, &all)
    };
    let output = |ended: &runner::Ended, name: &str| ended.value(&format!("steps.gate.outputs.{name}")).to_owned();

    let good = plain(&[("answer.json", GOOD)]);
    let ended = act(&good, "good", &[]).succeeds();
    assert_eq!(
        (output(&ended, "recommendation"), output(&ended, "exit-code")),
        ("accept_candidate".into(), "0".into())
    );
    good.world.quorum(["audit", &output(&ended, "record")]).exits(0);
    for name in ["junit", "sarif", "report"] {
        assert!(Path::new(&output(&ended, name)).is_file(), "{name}");
    }
    let binary = env!("CARGO_BIN_EXE_quorum");
    act(&good, "binary", &[("binary", binary)]).succeeds();
    act(&good, "broken", &[("binary", "/bin/false")]).fails(5);

    let wrong = plain(&[("answer.json", WRONG)]);
    let ended = act(&wrong, "wrong", &[]).fails(1);
    assert_eq!(
        (output(&ended, "recommendation"), output(&ended, "exit-code")),
        ("reject_candidate".into(), "1".into())
    );
    assert!(ended.summary.contains("reject_candidate"));
    let ended = act(&wrong, "no-plan", &[("plan", ".quorum/absent.toml")]).fails(2);
    assert_eq!((output(&ended, "recommendation"), output(&ended, "record")), (String::new(), String::new()));
    assert!(fs::read_to_string(output(&ended, "junit")).unwrap().contains("<error "));
}

/// Without a binary the action builds one. The build itself is what every other test rests on, so cargo is played here by a
/// script that holds its arguments and its directory against what they must be and puts the built binary where cargo would.
#[test]
fn composite_action_builds_where_there_is_no_binary() {
    let action = yaml("action.yml");
    let step = &action["runs"]["steps"][0];
    assert_eq!(step["id"], "binary");
    let manifest = fs::read_to_string(root().join("crates/cli/Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"quorum-cli\"") && manifest.contains("name = \"quorum\""), "{manifest}");
    let world = World::new();
    let source = world.path("action");
    fs::create_dir_all(&source).unwrap();
    let cargo = format!(
        "#!/bin/sh\n[ \"$*\" = 'build --locked --release --package quorum-cli' ] || exit 101\n\
         [ \"$PWD\" = '{}' ] || exit 102\n\
         mkdir -p \"${{CARGO_TARGET_DIR:-target}}/release\"\n\
         ln -s '{}' \"${{CARGO_TARGET_DIR:-target}}/release/quorum\"\n",
        source.canonicalize().unwrap().display(),
        env!("CARGO_BIN_EXE_quorum")
    );
    let cargo = world.write("bin/cargo", cargo);
    let executable = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(&cargo, executable).unwrap();
    let elsewhere = world.path("elsewhere").display().to_string();
    let places = [
        (None, source.join("target")),
        (Some("build"), source.join("build")),
        (Some(elsewhere.as_str()), world.path("elsewhere")),
    ];
    let run = |target: Option<&str>| {
        let output = world.write("output", "");
        let mut command = Command::new("bash");
        command.args(["-eo", "pipefail", "-c", step["run"].as_str().unwrap()]).current_dir(world.path("")).env_clear();
        command.env("PATH", format!("{}:/usr/bin:/bin", world.path("bin").display()));
        command.env("BINARY", "").env("ACTION_PATH", source.canonicalize().unwrap()).env("GITHUB_OUTPUT", &output);
        command.envs(target.map(|target| ("CARGO_TARGET_DIR", target)));
        Said::of(command.output().unwrap())
    };
    for (target, place) in places {
        run(target).exits(0);
        let told = String::from_utf8(world.read("output")).unwrap();
        let path = told.trim().strip_prefix("path=").unwrap();
        assert_eq!(Path::new(path), place.join("release/quorum").as_path());
    }
    // A build that fails ends the step.
    world.write("bin/cargo", "#!/bin/sh\nexit 101\n");
    run(None).exits(101);
    assert_eq!(world.read("output"), b"", "and tells no path");
}

#[test]
fn gitlab() {
    let job = &yaml("examples/ci/gitlab-ci.yml")["quorum"];
    for (answer, code) in [(GOOD, 0), (WRONG, 1)] {
        let forge = plain(&[("answer.json", answer)]);
        let script: Vec<&str> = job["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let mut command = bash(&forge.run.repository, &forge.world.path(""));
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script.join("\n")]);
        command.env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &forge.base).env("CI_COMMIT_SHA", &forge.head);
        for (name, value) in job["variables"].as_object().unwrap() {
            command.env(name, value.as_str().unwrap());
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        for path in job["artifacts"]["paths"].as_array().unwrap() {
            assert!(forge.run.repository.join(path.as_str().unwrap()).is_dir(), "{path}");
        }
        let junit = forge.run.repository.join(job["artifacts"]["reports"]["junit"].as_str().unwrap());
        assert_eq!(fs::read_to_string(junit).unwrap().contains("<failure "), code != 0);
    }
}

/// `quorum init` writes these very files.
#[test]
fn init_writes_the_examples() {
    let forge = plain(&[("answer.json", GOOD)]);
    for (written, shipped) in [("github-gate.yml", "github-gate.yml"), ("gitlab-ci.yml", "gitlab-ci.yml")] {
        let written = forge.world.read(&format!("repository/.quorum/example/{written}"));
        assert_eq!(written, fs::read(root().join("examples/ci").join(shipped)).unwrap());
    }
}

/// The hosts' own schemas, shellcheck and a linter for the security of workflows find nothing.
#[test]
fn linters_of_others_find_nothing() {
    let blocks = shell_blocks();
    assert!(blocks.len() >= 7, "{}", blocks.len());
    let folder = tempfile::tempdir().unwrap();
    for (at, block) in blocks.iter().enumerate() {
        let file = folder.path().join(format!("{at}.sh"));
        fs::write(&file, format!("#!/bin/bash\nset -eo pipefail\n{block}\n")).unwrap();
        assert!(Command::new("bash").arg("-n").arg(&file).status().unwrap().success(), "{block}");
    }
    let Some(python) = upstream::foreign_python() else { return };
    let tool = |name: &str, arguments: &[&str]| {
        let output = Command::new(python.with_file_name(name)).args(arguments).current_dir(root()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {arguments:?}: {said}");
    };
    for at in 0..blocks.len() {
        tool("shellcheck", &[folder.path().join(format!("{at}.sh")).to_str().unwrap()]);
    }
    let github = ["examples/ci/github-gate.yml", "examples/ci/github-split.yml"];
    tool("check-jsonschema", &["--builtin-schema", "vendor.github-workflows", github[0], github[1]]);
    tool("check-jsonschema", &["--builtin-schema", "vendor.github-actions", "action.yml"]);
    let gitlab = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", "examples/ci/gitlab-ci.yml"];
    tool("check-jsonschema", &gitlab);
    tool("zizmor", &["--offline", "--no-progress", github[0], github[1], "action.yml"]);
}

fn shell_blocks() -> Vec<String> {
    let mut blocks = Vec::new();
    for file in ["examples/ci/github-gate.yml", "examples/ci/github-split.yml"] {
        for (_, job) in yaml(file)["jobs"].as_object().unwrap() {
            blocks
                .extend(job["steps"].as_array().unwrap().iter().filter_map(|it| it["run"].as_str().map(str::to_owned)));
        }
    }
    let action = yaml("action.yml");
    let steps = action["runs"]["steps"].as_array().unwrap();
    blocks.extend(steps.iter().filter_map(|it| it["run"].as_str().map(str::to_owned)));
    let gitlab = yaml("examples/ci/gitlab-ci.yml");
    blocks.extend(gitlab["quorum"]["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()));
    blocks
}
