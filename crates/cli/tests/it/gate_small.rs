//! `init`, `digest`, `schema`, `policy`, reports, help.

use quorum_policies::Policy;
use quorum_schemas::{SchemaName, Value};

use crate::world::{World, normal};

const GATE: &str = "gate --work-unit example/work-unit.json --candidate example/good --plan example/plan.toml";

#[test]
fn init_prints_a_command_that_exits_0() {
    let world = World::new();
    let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(world.path("")).status().unwrap();
    assert!(git.success());
    let said = world.run("init").exits(0);
    assert_eq!(
        world.files(".quorum"),
        [
            "example/baseline/answer.json",
            "example/candidate/answer.json",
            "example/github-gate.yml",
            "example/gitlab-ci.yml",
            "plan.toml",
            "policy.toml",
            "work-unit.json"
        ]
    );
    let command = said.stdout.trim_end();
    assert_eq!(
        command,
        "quorum gate --work-unit .quorum/work-unit.json --candidate .quorum/example/candidate \
         --baseline .quorum/example/baseline --plan .quorum/plan.toml --policy .quorum/policy.toml"
    );
    world.run(command.strip_prefix("quorum ").unwrap()).exits(0);
    assert_eq!(world.read(".quorum/policy.toml"), Policy::shipped("local").unwrap().as_bytes());
    let unit = quorum_schemas::parse(&world.read(".quorum/work-unit.json")).unwrap();
    assert_eq!(unit.at(&["provenance", "source_revision"]), None);
    assert_eq!(unit.at(&["security", "minimum_worker_trust"]).and_then(Value::as_str), Some("untrusted"));
    // The work of a person is not overwritten.
    world.write(".quorum/plan.toml", "mine");
    world.run("init").refuses(2, "init_exists");
    assert_eq!(world.read(".quorum/plan.toml"), b"mine");
}

#[test]
fn reports_for_people_and_programs() {
    let world = World::with_example();
    for (candidate, code) in [("good", 0), ("wrong", 1), ("forbidden", 1)] {
        let line = GATE.replace("example/good", &format!("example/{candidate}"));
        let said =
            world.run(&format!("{line} --report markdown=r.md --report json=r.json --report text=r.txt")).exits(code);
        let markdown = String::from_utf8(world.read("r.md")).unwrap();
        insta::assert_snapshot!(format!("text_{candidate}"), normal(&said.stdout));
        insta::assert_snapshot!(format!("markdown_{candidate}"), normal(&markdown));
        assert_eq!(world.read("r.txt"), said.stdout.as_bytes());
        let json = quorum_schemas::parse(world.read("r.json").trim_ascii_end()).unwrap();
        assert_eq!(json.get("exit_code").and_then(Value::as_u64), Some(u64::try_from(code).unwrap()));
        assert_eq!(markdown.contains('\u{2705}'), code == 0, "only accept looks green");
        let direct = world.run(&format!("{line} --json")).exits(code).json();
        assert_eq!(direct.get("recommendation"), json.get("recommendation"));
        assert!(direct.at(&["decision", "facts"]).is_some());
    }
}

#[test]
fn nothing_short_of_accept_looks_green() {
    let world = World::with_example();
    world.write("two.toml", "schema_version = \"0.1\"\nid = \"two\"\nquorum = 2\nindependent_on = []\n");
    let said = world.run(&format!("{GATE} --policy two.toml --report markdown=r.md")).exits(3);
    insta::assert_snapshot!("text_insufficient", normal(&said.stdout));
    assert!(!String::from_utf8(world.read("r.md")).unwrap().contains('\u{2705}'));
}

#[test]
fn hostile_names_stay_text() {
    let world = World::with_example();
    world.write("example/good/\u{1b}[2J`|<img src=x>\nx.json", "{}");
    let said = world.run(&format!("{GATE} --report markdown=r.md")).exits(1);
    assert!(!said.stdout.contains('\u{1b}'), "{:?}", said.stdout);
    let markdown = String::from_utf8(world.read("r.md")).unwrap();
    assert!(!markdown.contains('\u{1b}') && !markdown.contains("| <img"), "{markdown}");
    let table = markdown.lines().find(|line| line.starts_with("| `candidate-scope`")).unwrap();
    assert!(!table.contains("<img"), "{table}");
}

#[test]
fn digest_and_schema() {
    let world = World::new();
    world.write("a.json", "{\"b\": 1.0, \"a\": [1, 2]}");
    let c1 = quorum_schemas::Digest::of(b"{\"a\":[1,2],\"b\":1.0}");
    let jcs = quorum_schemas::Digest::of(b"{\"a\":[1,2],\"b\":1}");
    assert_eq!(world.run("digest a.json").exits(0).stdout, format!("{c1}\n"));
    assert_eq!(world.run("digest --form jcs a.json").exits(0).stdout, format!("{jcs}\n"));
    assert_eq!(world.run("digest --canonical a.json").exits(0).stdout, "{\"a\":[1,2],\"b\":1.0}");
    world.write("twice.json", "{\"a\": 1, \"a\": 1}");
    world.run("digest twice.json").refuses(2, "json_duplicate_key");
    world.run("digest absent.json").refuses(2, "cannot_read");
    let names = world.run("schema list").exits(0).stdout;
    assert_eq!(names.lines().count(), SchemaName::ALL.len());
    for name in names.lines() {
        world.run(&format!("schema show {name}")).exits(0);
    }
    world.run("schema show nothing").refuses(2, "schema_unknown");
    world.copy(&crate::world::example(), "example");
    world.run("schema check work-unit-v0.2 example/work-unit.json").exits(0);
    world.run("schema check plan-template-v0.1 example/plan.toml").exits(0);
    let said = world.run("schema check work-unit-v0.2 a.json").exits(1);
    assert!(said.stdout.contains("a.json: "), "{}", said.stdout);
}

#[test]
fn policies_are_shown_and_checked() {
    let world = World::new();
    for name in world.run("policy list").exits(0).stdout.lines() {
        let text = world.run(&format!("policy show {name}")).exits(0).stdout;
        world.write("copy.toml", text);
        world.run("policy check copy.toml").exits(0);
    }
    world.run("policy show loca").refuses(2, "policy_unknown_name");
    world.write("bad.toml", "schema_version = \"0.1\"\nid = \"x\"\nquorum = 0\n");
    world.run("policy check bad.toml").exits(1);
}

#[test]
fn help_and_version_are_data() {
    let world = World::new();
    let help = world.run("--help").exits(0);
    assert!(help.stderr.is_empty());
    assert!(!help.stdout.contains("__checks"), "hidden commands are hidden");
    assert!(help.stdout.starts_with("Independent verification of "), "{}", help.stdout);
    for command in ["gate", "decide", "verify"] {
        let help = world.run(&format!("{command} --help")).exits(0);
        let exits = help.stdout.split("Exit codes:").nth(1).unwrap();
        let exits = exits.trim().split("\n\n").next().unwrap();
        assert!(exits.lines().all(|line| line.len() > 12), "no line is broken twice: {exits}");
    }
    assert!(world.run("--version").exits(0).stdout.starts_with("quorum "));
    let said = world.run("").exits(2);
    assert_eq!(said.stdout, "");
}
