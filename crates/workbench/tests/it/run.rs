//! Real runs in the real sandbox: what becomes of each end of a command.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use quorum_sandbox::ChangeKind;
use quorum_schemas::{Timestamp, Value, parse};
use quorum_workbench::{Grant, Key, NotRun, Now, Outcome, Place, Request, Retention, RunResult, Store, run};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::support::{bytes, edited, profile, request};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A workspace with one root, a store, and a profile that runs one shell line.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) profile: Json,
    pub(crate) generation: &'static str,
}

impl Bench {
    pub(crate) fn new(effect: &str, line: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(folder.path().join("root/src")).unwrap();
        fs::write(folder.path().join("root/src/a"), "hello").unwrap();
        let mut profile = profile();
        profile["executable"] = json!("/bin/sh");
        profile["fixed_args"] = json!(["-c", line]);
        profile["effect/mode"] = json!(effect);
        Self { folder, profile, generation: "generation:1" }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn request(&self) -> Json {
        let request = edited(&request(&self.profile), "/grant~1ref", json!("grant:owner"));
        edited(&edited(&request, "/arguments", json!([])), "/timeout~1ms", json!(30_000))
    }

    pub(crate) fn command(&self, request: &Json) -> Command {
        let file = self.folder.path().join("request.json");
        fs::write(&file, bytes(request)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_quorum-workbench-run"));
        let pin = request["command-profile/digest"].as_str().unwrap();
        command.arg(self.store()).arg(self.root()).args([self.generation, pin]).arg(file);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, request: &Json) -> Output {
        self.command(request).output().unwrap()
    }

    pub(crate) fn outcome(&self, request: &Json) -> Outcome {
        RunResult::read(&stdout(&self.run(request))).unwrap().outcome
    }

    fn refused(&self, request: &Json) -> String {
        let output = self.run(request);
        assert!(output.stdout.is_empty(), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        text.strip_prefix("error[").unwrap().split(']').next().unwrap().to_owned()
    }
}

pub(crate) fn stdout(output: &Output) -> Vec<u8> {
    assert!(output.status.success(), "{output:?}");
    output.stdout.clone()
}

/// Looks every few milliseconds until it is so.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let by = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < by, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process runs whose command line has this word.
pub(crate) fn running(word: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.starts_with(b"/bin/sh\0") && line.windows(word.len()).any(|part| part == word.as_bytes()))
}

fn key(name: &str, request: &Json) -> Json {
    edited(request, "/idempotency~1key", json!(name))
}

#[test]
fn an_observation_completes_with_its_whole_record() {
    let bench = Bench::new("observation", "cat src/a; echo x >&2; exit 1");
    let output = stdout(&bench.run(&bench.request()));
    let Outcome::CompletedObservation(completed, record) = RunResult::read(&output).unwrap().outcome else {
        panic!("{}", String::from_utf8_lossy(&output));
    };
    assert_eq!((completed.exit, &completed.stdout[..], &completed.stderr[..]), (Some(1), &b"hello"[..], &b"x\n"[..]));
    assert_eq!((record.mechanism.as_str(), record.uid), ("linux-unprivileged-readonly-namespace.v1", 65_534));
    let roots = quorum_sandbox::read_roots(&[bench.root()]).unwrap();
    assert_eq!(record.roots_digest, roots.digest);
    let layers = record.extra["x/layers"].as_array().unwrap();
    for layer in quorum_sandbox::OBSERVATION_LAYERS {
        assert!(layers.contains(&Value::from(layer)), "{layer}");
    }
    assert_eq!(record.extra["x/isolation-class"], Value::from("process-sandbox"));
}

#[test]
fn an_observation_writes_nothing_and_sees_no_store() {
    let bench = Bench::new("observation", "echo x > new || echo x > src/a || ls ../store/keys");
    let Outcome::CompletedObservation(completed, _) = bench.outcome(&bench.request()) else { panic!() };
    assert_ne!(completed.exit, Some(0));
    assert_eq!(fs::read_dir(bench.root()).unwrap().count(), 1);
    assert_eq!(fs::read(bench.root().join("src/a")).unwrap(), b"hello");
}

#[test]
fn a_mutation_runs_on_a_throwaway_copy_and_claims_no_effect() {
    let bench = Bench::new("mutation", "echo new > src/a && cat src/a && rm src/a && kill -9 $$");
    let Outcome::CompletedMutation(completed) = bench.outcome(&bench.request()) else { panic!() };
    assert_eq!((completed.exit, &completed.stdout[..]), (None, &b"new\n"[..]));
    assert_eq!(fs::read(bench.root().join("src/a")).unwrap(), b"hello");
}

#[test]
fn the_changes_of_a_mutation_are_told_once() {
    quorum_sandbox::use_helper(Path::new(env!("CARGO_BIN_EXE_quorum-workbench-run")));
    let bench = Bench::new("mutation", "echo new > src/b; rm src/a");
    let request = Request::read(&bytes(&bench.request())).unwrap();
    let mut host = crate::support::host(&bench.profile);
    host.grants.insert(crate::support::name("grant:owner"), Grant::OperatorConfirmed);
    let root = crate::support::name("root:repo");
    let place = Place { roots: [(root, bench.root())].into(), hidden: vec![bench.store()], search: Vec::new() };
    let hour = Duration::from_secs(3600);
    let generation = crate::support::name("generation:1");
    let retention = Retention::new(hour * 2, hour, Duration::ZERO).unwrap();
    let now = Now { generation: &generation, decided: false, retention, clock: || Timestamp::from_micros(1) };
    let store = Store::open(&bench.store()).unwrap();
    let answer = run(&request, &host, &place, &store, now).unwrap();
    let changes = answer.report.unwrap().changes.unwrap();
    let told: Vec<_> = changes.list.iter().map(|change| (change.path.as_str(), change.kind)).collect();
    // The folder's own entry may be told as well.
    assert!(told.contains(&("src/a", ChangeKind::Removed)) && told.contains(&("src/b", ChangeKind::Added)), "{told:?}");
    let again = run(&request, &host, &place, &store, now).unwrap();
    assert_eq!((again.replayed, again.report, again.result), (true, None, answer.result));
}

#[test]
fn w_003_the_environment_of_the_command_is_the_profiles() {
    let mut bench = Bench::new("observation", "");
    bench.profile["executable"] = json!("env");
    bench.profile["fixed_args"] = json!([]);
    let output = bench.command(&bench.request()).env("GITHUB_TOKEN", "x").env("FOO", "y").output().unwrap();
    let Outcome::CompletedObservation(completed, _) = RunResult::read(&stdout(&output)).unwrap().outcome else {
        panic!()
    };
    assert_eq!(String::from_utf8(completed.stdout).unwrap(), "EMPTY=\nLANG=C\n");
}

#[test]
fn w_050_a_timed_out_observation_is_quiesced_and_its_roots_are_told() {
    let bench = Bench::new("observation", ": w050token; setsid sleep 60 & sleep 60");
    let outcome = bench.outcome(&edited(&bench.request(), "/timeout~1ms", json!(500)));
    let roots = quorum_sandbox::read_roots(&[bench.root()]).unwrap();
    assert_eq!(outcome, Outcome::TimeoutQuiesced(roots.digest));
    assert!(!running("w050token"));
}

#[test]
fn w_051_a_commands_own_124_is_no_timeout() {
    let bench = Bench::new("observation", "exit 124");
    assert!(matches!(bench.outcome(&bench.request()), Outcome::CompletedObservation(ran, _) if ran.exit == Some(124)));
}

#[test]
fn a_timed_out_mutation_is_unknown() {
    let bench = Bench::new("mutation", "sleep 60");
    let outcome = bench.outcome(&edited(&bench.request(), "/timeout~1ms", json!(500)));
    assert!(matches!(&outcome, Outcome::Unknown { code, .. } if code.as_str() == "process-timeout"), "{outcome:?}");
}

#[test]
fn w_070_w_071_more_than_the_bound_is_drained_and_said() {
    let mut bench = Bench::new("observation", "head -c 300000 /dev/zero; echo end >&2");
    bench.profile["limits"]["stdout_bytes"] = json!(10);
    let Outcome::CompletedObservation(completed, _) = bench.outcome(&bench.request()) else { panic!() };
    assert_eq!((completed.exit, completed.stdout.len(), completed.whole_stdout()), (Some(0), 10, None));
    assert_eq!(completed.stderr, b"end\n");
}

#[test]
fn an_effect_from_outside_is_detected_and_taints_the_generation() {
    let bench = Bench::new("observation", ": tainttoken; while [ ! -e go ]; do sleep 0.02; done");
    let child = bench.command(&bench.request()).spawn().unwrap();
    until("the command runs", || running("tainttoken"));
    fs::write(bench.root().join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(RunResult::read(&stdout(&output)).unwrap().outcome, Outcome::EffectDetected);
    // A replay answers; a new key finds the generation tainted, after any restart; a new generation runs.
    assert_eq!(bench.outcome(&bench.request()), Outcome::EffectDetected);
    assert_eq!(bench.refused(&key("check-2", &bench.request())), "environment-tainted");
    let bench = Bench { generation: "generation:2", ..bench };
    let anew = edited(&key("check-2", &bench.request()), "/source~1generation-ref", json!("generation:2"));
    assert!(matches!(bench.outcome(&anew), Outcome::CompletedObservation(..)));
}

#[test]
fn w_060_a_replay_is_the_same_bytes_and_runs_nothing() {
    let bench = Bench::new("observation", "cat src/a");
    let first = stdout(&bench.run(&bench.request()));
    fs::write(bench.root().join("src/a"), "changed").unwrap();
    assert_eq!(stdout(&bench.run(&bench.request())), first);
    assert_ne!(stdout(&bench.run(&key("check-2", &bench.request()))), first);
}

#[test]
fn w_061_w_080_other_requests_and_other_generations_are_refused() {
    let bench = Bench::new("observation", "true");
    stdout(&bench.run(&bench.request()));
    let other = edited(&bench.request(), "/address/relative~1path", json!("src"));
    assert_eq!(bench.refused(&other), "idempotency-key-conflict");
    let old = edited(&key("check-2", &bench.request()), "/source~1generation-ref", json!("generation:0"));
    assert_eq!(bench.refused(&old), "workbench-restart-required-relink");
}

#[test]
fn what_cannot_start_is_a_result_that_says_nothing_ran() {
    let table = [
        ("/nowhere/tool", ".", "command-not-found", NotRun::Workbench),
        ("no-such-tool-anywhere", ".", "command-not-found", NotRun::Workbench),
        ("src/a", ".", "command-profile-denied", NotRun::Workbench),
        ("/bin/sh", "none", "path-refused", NotRun::Workbench),
        ("/bin/sh", "link", "path-refused", NotRun::Workbench),
        ("/bin/sh", "src/a", "path-refused", NotRun::Workbench),
        ("/etc/passwd", ".", "command-spawn-failed", NotRun::Sandbox),
    ];
    for (executable, path, expected, by) in table {
        let mut bench = Bench::new("observation", "true");
        symlink("src", bench.root().join("link")).unwrap();
        bench.profile["executable"] = json!(executable);
        let outcome = bench.outcome(&edited(&bench.request(), "/address/relative~1path", json!(path)));
        let Outcome::NotRun { code, seen, .. } = outcome else { panic!("{executable}: {outcome:?}") };
        assert_eq!((code.as_str(), seen), (expected, by), "{executable} {path}");
    }
}

#[test]
fn w_053_a_workspace_beyond_the_bounds_is_not_observed() {
    let bench = Bench::new("observation", "true");
    let mut deep = bench.root();
    (0..140).for_each(|_| deep.push("d"));
    fs::create_dir_all(deep).unwrap();
    let outcome = bench.outcome(&bench.request());
    let Outcome::NotRun { code, seen: NotRun::Sandbox, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(code.as_str(), "observation-roots-unprovable");
}

#[test]
fn a_key_is_one_process_at_a_time_and_strange_content_is_never_nothing() {
    let bench = Bench::new("observation", "true");
    let store = Store::open(&bench.store()).unwrap();
    let held = store.hold(&Key::new("check-1").unwrap()).unwrap();
    assert_eq!(bench.refused(&bench.request()), "operation-in-progress");
    drop(held);
    stdout(&bench.run(&bench.request()));
    let entry = entry(&bench.store());
    let good = fs::read(&entry).unwrap();
    assert!(parse(&good).is_ok());
    for bad in [&b""[..], b"{}", &good[..good.len() - 1]] {
        fs::write(&entry, bad).unwrap();
        assert_eq!(bench.refused(&bench.request()), "workbench_store_malformed");
    }
}

fn entry(store: &Path) -> PathBuf {
    let folder = fs::read_dir(store.join("keys")).unwrap().next().unwrap().unwrap().path();
    folder.join("entry.json")
}
