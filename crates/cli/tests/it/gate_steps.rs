//! The steps apart, as CI jobs on separate runners: manifest, verify --unsigned, sign, decide, audit.

use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use quorum_attest::Role;
use quorum_schemas::Value;

use crate::world::{World, normal};

const COMMON: &str = "--work-unit example/work-unit.json --result manifest.json";

fn world() -> World {
    let mut world = World::with_example();
    for (id, seed, operator) in [("verifier-a", 2, "acme"), ("verifier-b", 3, "globex"), ("verifier-c", 4, "initech")] {
        world.identity(Role::Verifier, id, seed, &[("operator", operator), ("host", operator)]);
    }
    world.identity(Role::Worker, "worker", 5, &[("operator", "umbrella"), ("host", "umbrella")]);
    world.identity(Role::Gate, "gate", 6, &[]);
    world.admit("two-of-three");
    world.trust();
    world
        .run("manifest --work-unit example/work-unit.json --candidate example/good --worker worker --key worker.pem -o manifest.json")
        .exits(0);
    world
}

fn verify(world: &World, plan: &str, id: &str) {
    let verify = format!("verify {COMMON} --candidate example/good --trust trust.json --plan example/{plan}");
    let said = world.run(&format!("{verify} --unsigned --out {id}")).exits(0);
    assert_eq!(said.stdout.lines().last(), Some("verdict supports"));
    let sign =
        format!("sign --key {id}.pem --trust trust.json {id}/evidence.statement.json -o {id}/evidence.dsse.json");
    world.run(&sign).exits(0);
}

#[test]
fn two_of_three_runners_accept() {
    let world = world();
    verify(&world, "plan.toml", "verifier-a");
    verify(&world, "plan-c.toml", "verifier-c");
    let decide =
        format!("decide {COMMON} --trust trust.json --policy two-of-three --evidence verifier-a/evidence.dsse.json");
    world.run(&decide).exits(3);
    let both = format!("{decide} --evidence verifier-c/evidence.dsse.json");
    let said = world.run(&format!("{both} --decision-key gate.pem --out out")).exits(0);
    insta::assert_snapshot!("two_of_three", normal(&said.stdout));
    world.run("audit out").exits(0);
    // The order of the evidence and its repetition change nothing but the clock.
    let turned = format!(
        "decide {COMMON} --trust trust.json --policy two-of-three --evidence verifier-c/evidence.dsse.json \
         --evidence verifier-a/evidence.dsse.json --evidence verifier-a/evidence.dsse.json"
    );
    assert_eq!(normal(&world.run(&turned).exits(0).stdout), normal(&said.stdout));
    // The gate, given the same evidence and no key, only decides.
    let gate = format!(
        "gate {COMMON} --candidate example/good --trust trust.json --policy two-of-three \
         --evidence verifier-a/evidence.dsse.json --evidence verifier-c/evidence.dsse.json"
    );
    world.run(&gate).exits(0);
}

/// What strangers send is refused by name; its words never become a line of ours.
#[test]
fn hostile_evidence_writes_no_line_of_the_report() {
    let world = world();
    let forged = "accept_candidate: 3 independent voices support";
    world.write(
        "hostile.json",
        format!("{{\"a\\n{forged}\":1,\"payload\":\"\",\"payloadType\":\"\",\"signatures\":[]}}"),
    );
    let decide = format!("decide {COMMON} --trust trust.json --policy two-of-three --evidence hostile.json");
    let said = world.run(&format!("{decide} --report markdown=r.md --report json=r.json")).exits(3);
    let markdown = String::from_utf8(world.read("r.md")).unwrap();
    for text in [&said.stdout, &markdown] {
        assert!(text.contains("malformed"), "it is refused by name: {text}");
        assert!(!text.lines().any(|line| line.starts_with(forged)), "on no line of its own: {text}");
    }
    let json = quorum_schemas::parse(world.read("r.json").trim_ascii_end()).unwrap();
    let why = json.get("why").and_then(Value::as_array).unwrap();
    assert!(!why.iter().any(|line| line.as_str().is_some_and(|line| line.starts_with(forged))), "{why:?}");
}

#[test]
fn evidence_without_its_bundle_cannot_support() {
    let world = world();
    verify(&world, "plan.toml", "verifier-a");
    verify(&world, "plan-b.toml", "verifier-b");
    let moved = world.copy(&world.path("verifier-b/evidence.dsse.json"), "lone/evidence.dsse.json");
    assert!(moved.exists());
    let decide = format!(
        "decide {COMMON} --trust trust.json --policy two-of-three --evidence verifier-a/evidence.dsse.json \
         --evidence lone/evidence.dsse.json"
    );
    let said = world.run(&decide).exits(3);
    assert!(said.stdout.contains("bundle_missing"), "{}", said.stdout);
    world.copy(&world.path("verifier-b"), "bundles");
    for id in ["verifier-a", "verifier-b"] {
        for file in world.files(id).into_iter().filter(|file| file.ends_with(".zip")) {
            world.copy(&world.path(&format!("{id}/{file}")), &format!("bundles/{file}"));
        }
    }
    world.run(&format!("{decide} --bundle bundles --out out")).exits(0);
    world.run("audit out").exits(0);
}

#[test]
fn verify_writes_evidence_whatever_it_shows() {
    let world = world();
    let verify = format!("verify {COMMON} --trust trust.json --key verifier-a.pem --plan example/plan.toml");
    // Another candidate than the manifest's: the digest tells.
    let said = world.run(&format!("{verify} --candidate example/wrong --out a --json")).exits(0).json();
    assert_eq!(said.get("verdict").and_then(Value::as_str), Some("rejects"));
    let named = |key: &str| said.get(key).and_then(Value::as_str).unwrap().to_owned();
    let files = world.files("a");
    assert!(
        files.contains(&named("evidence")) && files.contains(&named("bundle")) && files.contains(&"plan.json".into())
    );
    assert_eq!(files.len(), 3);
    // What keeps it from running is no verdict.
    world.run(&format!("{verify} --candidate absent --out b")).refuses(2, "cannot_read");
    world.run(&verify.replace("manifest.json", "example/plan.toml").to_string()).exits(2);
    assert!(!world.path("b").exists());
}

#[test]
fn only_the_verifiers_own_key_signs_its_statement() {
    let world = world();
    let verify = format!(
        "verify {COMMON} --candidate example/good --trust trust.json --plan example/plan.toml --unsigned --out a"
    );
    world.run(&verify).exits(0);
    let sign = "sign --trust trust.json a/evidence.statement.json -o out.json";
    for key in ["verifier-b.pem", "gate.pem", "worker.pem"] {
        let said = world.run(&format!("{sign} --key {key}")).exits(2);
        assert!(said.stderr.starts_with("error["), "{key}: {}", said.stderr);
        assert!(!world.path("out.json").exists());
    }
    world.run(&format!("{sign} --key verifier-a.pem")).exits(0);
}

#[test]
fn a_hidden_plan_stays_out_of_the_record() {
    let world = world();
    let plan = String::from_utf8(world.read("example/plan.toml")).unwrap();
    world.write("hidden.toml", plan.replace("visibility = \"public\"", "visibility = \"hidden\""));
    let gate = "gate --work-unit example/work-unit.json --candidate example/wrong --plan hidden.toml --out out";
    world.run(gate).exits(1);
    assert!(!world.files("out").contains(&"plan.json".to_owned()));
    world.run("audit out").exits(0);
}

#[test]
fn keys_never_reach_the_check_child() {
    let world = world();
    // The checks run a command that reports everything it can see of the parent.
    let plan = String::from_utf8(world.read("example/plan.toml")).unwrap();
    let (head, _) = plan.split_once("[[check]]\nid = \"independent-acceptance\"").unwrap();
    let key = world.path("verifier-a.pem");
    let script = format!(
        "cat {} && exit 1; env | grep -v -E '^(PATH|PWD|OLDPWD|SHLVL|_)=' && exit 1; test -e /proc/self/fd/5 && exit 1; exit 0",
        key.display()
    );
    world.write(
        "spy.toml",
        format!(
            "{head}[[check]]\nid = \"independent-acceptance\"\nkind = \"command\"\nargv = [\"/bin/sh\", \"-c\", {script:?}]\ntimeout = \"10s\"\n"
        ),
    );
    let line = format!(
        "verify {COMMON} --candidate example/good --trust trust.json --key verifier-a.pem --plan spy.toml --out a"
    );
    let output = world.command().args(line.split(' ')).env("SECRET_OF_THE_CALLER", "1").output().unwrap();
    let said = crate::world::Said::of(output).exits(0);
    assert!(said.stdout.contains("passed        independent-acceptance"), "{}", said.stdout);
}

/// The process, its check child and the command under it end; no scratch space and no output stays.
#[test]
fn an_interrupt_exits_130_and_leaves_nothing() {
    let world = world();
    let plan = String::from_utf8(world.read("example/plan.toml")).unwrap();
    let (head, _) = plan.split_once("[[check]]\nid = \"independent-acceptance\"").unwrap();
    let marker = format!("{}.5", 60_000 + std::process::id());
    world.write(
        "slow.toml",
        format!(
            "{head}[[check]]\nid = \"independent-acceptance\"\nkind = \"command\"\nargv = [\"/bin/sleep\", \"{marker}\"]\ntimeout = \"60s\"\n"
        ),
    );
    std::fs::create_dir(world.path("tmp")).unwrap();
    let line = "gate --work-unit example/work-unit.json --candidate example/good --plan slow.toml --out out";
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let mut command = world.command();
        let mut child =
            command.args(line.split(' ')).env("TMPDIR", world.path("tmp")).stdout(Stdio::null()).spawn().unwrap();
        wait_until("the command runs", || sleeping(&marker));
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        wait_until("the command is gone", || !sleeping(&marker));
        assert_eq!(world.files("tmp"), Vec::<String>::new(), "{signal}");
        assert!(!world.path("out").exists(), "{signal}");
    }
}

/// Whether a process has this word as an argument.
fn sleeping(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok()).any(|line| {
        line.starts_with(b"/bin/sleep\0") && line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
    })
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
