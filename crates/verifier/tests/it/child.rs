//! The check child: bounded, keyless, and never a verdict when it fails.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use quorum_verifier::{CheckRequest, run_in_child};

use crate::world::{World, exe};

const INTEGRITY: &str = "[[check]]\nid = \"v\"\nkind = \"artifact_integrity\"\n";

fn request(world: &World) -> CheckRequest {
    world.request(&world.intake(), INTEGRITY).unwrap()
}

fn program(world: &World, script: &str) -> PathBuf {
    let path = world.dir.path().join("child.sh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_request_survives_the_way_to_the_child() {
    let mut world = World::new(&[("v", "test")]).with(&[("a", "1")]).with_baseline(&[("a", "0")]);
    world.hidden = vec!["/keys".into()];
    world.head_commit = Some(b"tree x\n".to_vec());
    let request = request(&world);
    assert_eq!(CheckRequest::parse(&request.to_bytes()).unwrap(), request);
}

#[test]
fn a_request_carries_nothing_that_the_worker_says_about_itself() {
    let world = World::new(&[("v", "test")]).with(&[("a", "1")]).artifact("a");
    let text = String::from_utf8(request(&world).to_bytes()).unwrap();
    for word in ["self_report", "succeeded", "Done.", "wall_seconds\":1.5"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn death_garbage_and_silence_are_errors_and_never_verdicts() {
    let world = World::new(&[("v", "test")]).with(&[("a", "1")]);
    let good = run_in_child(&exe(), &request(&world), Duration::from_secs(60)).unwrap();
    let good = serde_json::to_string(&good).unwrap();
    let path = world.dir.path().join("report.json");
    for (name, script, code) in [
        ("exit", "exit 3".to_owned(), "check_child_died"),
        ("killed", "kill -9 $$".to_owned(), "check_child_died"),
        ("garbage", "echo hello".to_owned(), "check_child_garbage"),
        ("silent", "exit 0".to_owned(), "check_child_garbage"),
        ("good report, bad end", format!("cat {}; exit 1", path.display()), "check_child_died"),
        ("half a report", format!("head -c 100 {}", path.display()), "check_child_garbage"),
        ("two reports", format!("cat {0} {0}", path.display()), "check_child_garbage"),
    ] {
        fs::write(&path, &good).unwrap();
        let error = run_in_child(&program(&world, &script), &request(&world), Duration::from_secs(30)).expect_err(name);
        assert_eq!(error.code(), code, "{name}: {error}");
        assert!(!error.is_control_file());
    }
    let absent = run_in_child("/nonexistent/quorum".as_ref(), &request(&world), Duration::from_secs(1));
    assert_eq!(absent.unwrap_err().code(), "check_child_not_started");
}

/// Not a fault of the machine: the bulk of a request can only be the candidate's.
#[test]
fn a_request_beyond_its_limit_is_named_and_starts_no_child() {
    let world = World::new(&[("v", "test")]).with(&[("a", "1")]);
    let mut request = request(&world);
    let room = quorum_verifier::limits::REQUEST_BYTES - request.to_bytes().len() - 2;
    request.candidate_submodules = vec!["x".repeat(room)];
    assert_eq!(request.to_bytes().len(), quorum_verifier::limits::REQUEST_BYTES);
    let started = run_in_child(&program(&world, "exit 7"), &request, Duration::from_secs(30)).unwrap_err();
    assert_eq!(started.code(), "check_child_died");
    request.candidate_submodules[0].push('x');
    let error = run_in_child(&program(&world, "exit 7"), &request, Duration::from_secs(30)).unwrap_err();
    assert_eq!(error.code(), "check_request_too_large");
    assert!(!error.is_control_file());
}

#[test]
fn a_report_on_other_checks_is_garbage() {
    let world = World::new(&[("v", "test")]).with(&[("a", "1")]);
    let report = run_in_child(&exe(), &request(&world), Duration::from_secs(60)).unwrap();
    let path = world.dir.path().join("report.json");
    type Edit = fn(&mut quorum_verifier::CheckReport);
    let edits: [(&str, Edit); 4] = [
        ("other plan", |report| report.plan_digest = quorum_schemas::Digest::c1(&false.into())),
        ("other check", |report| report.checks[0].id = "w".into()),
        ("no check", |report| report.checks.clear()),
        ("no evidence", |report| report.checks[0].files.clear()),
    ];
    for (name, edit) in edits {
        let mut report = report.clone();
        edit(&mut report);
        fs::write(&path, serde_json::to_vec(&report).unwrap()).unwrap();
        let script = program(&world, &format!("cat {}", path.display()));
        let error = run_in_child(&script, &request(&world), Duration::from_secs(30)).expect_err(name);
        assert_eq!(error.code(), "check_child_garbage", "{name}");
    }
}

#[test]
fn a_child_that_hangs_is_killed_with_its_children() {
    let world = World::new(&[("v", "test")]).with(&[("a", "1")]);
    let pid = world.dir.path().join("pid");
    let script = format!("sleep 300 & echo $! > {}; wait", pid.display());
    let began = Instant::now();
    let error = run_in_child(&program(&world, &script), &request(&world), Duration::from_millis(800)).unwrap_err();
    assert_eq!(error.code(), "check_child_timeout");
    assert!(began.elapsed() < Duration::from_secs(20));
    let pid: i32 = fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    let gone = || match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(_) => true,
        Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')),
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    while !gone() {
        assert!(Instant::now() < deadline, "the grandchild {pid} lives");
        std::thread::yield_now();
    }
}

#[test]
fn the_child_has_an_empty_environment_and_three_descriptors() {
    let world = World::new(&[("v", "test")]).with(&[("a", "1")]);
    let seen = world.dir.path().join("seen");
    // `sh` itself adds PWD and the like; what matters is that nothing of ours is there.
    let script = format!("cat /proc/$$/environ | tr '\\0' '\\n' > {0}; ls /proc/$$/fd >> {0}", seen.display());
    let _ = run_in_child(&program(&world, &script), &request(&world), Duration::from_secs(30));
    let seen = fs::read_to_string(seen).unwrap();
    assert!(!seen.contains("CARGO") && !seen.contains("HOME="), "{seen}");
}

#[test]
fn a_candidate_that_cannot_be_listed_is_an_error_of_the_run() {
    let world = World::new(&[("v", "test")]).with(&[("a", "1")]);
    let request = request(&world);
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&world.candidate().join("pipe"), mode).unwrap();
    let error = run_in_child(&exe(), &request, Duration::from_secs(60)).unwrap_err();
    assert!(error.to_string().contains("tree_special_file"), "{error}");
}

#[test]
fn a_command_sees_neither_the_hidden_key_nor_our_environment() {
    let mut world = World::new(&[("v", "test")]).with(&[("a", "1")]);
    let key = world.dir.path().join("keys/verifier.pem");
    fs::create_dir(key.parent().unwrap()).unwrap();
    fs::write(&key, "secret").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    world.hidden = vec![key.parent().unwrap().to_owned()];
    let script = format!("cat {} && exit 1; env | grep -c . ; exit 0", key.display());
    let plan = format!("[[check]]\nid = \"v\"\nkind = \"command\"\nargv = [\"/bin/sh\", \"-c\", '''{script}''']\n");
    let outcome = world.outcome(&plan);
    assert_eq!(outcome.exit, Some(0), "{outcome:?}");
    for file in &outcome.files {
        assert!(!String::from_utf8_lossy(&file.bytes).contains("secret"));
    }
}

#[test]
fn a_command_without_isolation_is_refused_where_a_key_is() {
    let mut world = World::new(&[("v", "test")]).with(&[("a", "1")]);
    world.isolation = quorum_sandbox::Isolation::None;
    let plan = "[[check]]\nid = \"v\"\nkind = \"command\"\nargv = [\"/bin/true\"]\n";
    let outcome = world.outcome(plan);
    assert_eq!(outcome.isolation, quorum_verifier::IsolationClass::None, "named, so it is run and said");
    assert_eq!(outcome.exit, Some(0));
    world.hidden = vec![world.dir.path().join("key.pem")];
    let request = world.request(&world.intake(), plan).unwrap();
    let error = run_in_child(&exe(), &request, Duration::from_secs(30)).unwrap_err();
    assert_eq!(error.code(), "key_in_reach");
    assert!(error.is_control_file());
    // Our own code reads no key and forbids none.
    let request = world.request(&world.intake(), INTEGRITY).unwrap();
    run_in_child(&exe(), &request, Duration::from_secs(30)).unwrap();
}
