//! `command` and `engine` checks: the result table row by row, and real processes.

use quorum_verifier::{CaseStatus, Channel, CheckStatus, CommandEnd, IsolationClass, TestCase, judge_command};

use crate::world::{World, exe, write};

fn world() -> World {
    World::new(&[("v", "test")]).with(&[("a", "1")])
}

fn shell(script: &str, rest: &str) -> String {
    format!(
        "[[check]]\nid = \"v\"\nkind = \"command\"\nargv = [\"/bin/sh\", \"-c\", '''{script}''', \"sh\", \"{{candidate}}\"]\n{rest}\n"
    )
}

#[test]
fn the_result_table_of_design_section_7_row_by_row() {
    use CaseStatus::{Failed as F, Passed as P, Skipped as S};
    use CheckStatus::{Error, Failed, Inconclusive, Passed};
    use CommandEnd::{Exited, OutputLimit, Signaled, TimedOut};
    type Report = Option<Result<Vec<TestCase>, String>>;
    let case = |(id, status): &(&str, CaseStatus)| TestCase { id: (*id).to_owned(), status: *status };
    let cases = |rows: &[(&str, CaseStatus)]| -> Report { Some(Ok(rows.iter().map(case).collect())) };
    let broken: Report = Some(Err("not written".into()));
    let none: Report = None;
    let two = ["t::a", "t::b"].map(str::to_owned);
    for (name, end, expect, report, expected) in [
        // Without `expect`.
        ("exit 0", Exited(0), &two[..0], &none, Passed),
        ("exit 0, whatever the report says", Exited(0), &two[..0], &cases(&[("t::a", F)]), Passed),
        ("fail_exit", Exited(1), &two[..0], &none, Failed),
        ("other exit", Exited(2), &two[..0], &none, Error),
        ("signal", Signaled(11), &two[..0], &none, Error),
        ("deadline", TimedOut, &two[..0], &none, Error),
        ("flood", OutputLimit, &two[..0], &none, Error),
        // With `expect`.
        ("all once", Exited(0), &two[..], &cases(&[("t::a", P), ("t::b", P)]), Passed),
        ("all once and more", Exited(0), &two[..], &cases(&[("t::a", P), ("t::b", P), ("t::c", F)]), Passed),
        ("one failed", Exited(1), &two[..], &cases(&[("t::a", P), ("t::b", F)]), Failed),
        ("one failed, exit 0", Exited(0), &two[..], &cases(&[("t::a", P), ("t::b", F)]), Failed),
        ("one failed, one missing", Exited(1), &two[..], &cases(&[("t::b", F)]), Failed),
        ("passed and failed", Exited(0), &two[..], &cases(&[("t::a", P), ("t::b", P), ("t::b", F)]), Failed),
        ("missing", Exited(0), &two[..], &cases(&[("t::a", P)]), Inconclusive),
        ("skipped", Exited(0), &two[..], &cases(&[("t::a", P), ("t::b", S)]), Inconclusive),
        ("double", Exited(0), &two[..], &cases(&[("t::a", P), ("t::a", P), ("t::b", P)]), Inconclusive),
        ("passed and skipped", Exited(0), &two[..], &cases(&[("t::a", P), ("t::b", P), ("t::b", S)]), Inconclusive),
        ("no report, exit 0", Exited(0), &two[..], &broken, Inconclusive),
        ("no report, exit 1", Exited(1), &two[..], &broken, Error),
        (
            "exit 1, no expected test failed",
            Exited(1),
            &two[..],
            &cases(&[("t::a", P), ("t::b", P), ("t::c", F)]),
            Error,
        ),
        ("exit 2, all passed", Exited(2), &two[..], &cases(&[("t::a", P), ("t::b", P)]), Error),
        ("signal after a failure", Signaled(9), &two[..], &cases(&[("t::a", F)]), Error),
        ("deadline after a failure", TimedOut, &two[..], &cases(&[("t::a", F)]), Error),
    ] {
        let judged = judge_command(end, expect, &[1], report.as_ref());
        assert_eq!(judged.status, expected, "{name}: {}", judged.summary);
        assert_eq!(judged.by_exit_status, expect.is_empty(), "{name}");
    }
    assert_eq!(judge_command(Exited(2), &[], &[2, 3], None).status, Failed);
    assert_eq!(judge_command(Exited(1), &[], &[2, 3], None).status, Error);
    assert_eq!(judge_command(Exited(1), &[], &[], None).status, Error);
}

#[test]
fn a_command_passes_fails_or_shows_nothing() {
    for (script, expected, exit) in [
        ("exit 0", CheckStatus::Passed, Some(0)),
        ("exit 1", CheckStatus::Failed, Some(1)),
        ("exit 7", CheckStatus::Error, Some(7)),
        ("kill -SEGV $$", CheckStatus::Error, None),
    ] {
        let outcome = world().outcome(&shell(script, ""));
        assert_eq!((outcome.status, outcome.exit), (expected, exit), "{script}: {}", outcome.summary);
        assert_eq!(outcome.channel, Channel::InProcess);
        assert_eq!(outcome.isolation, IsolationClass::ProcessSandbox);
        assert!(outcome.by_exit_status);
        assert_eq!(outcome.limit_ms, Some(60_000));
    }
    let missing = world().outcome("[[check]]\nid = \"v\"\nkind = \"command\"\nargv = [\"/nonexistent\"]\n");
    assert_eq!(missing.status, CheckStatus::Error, "{}", missing.summary);
}

#[test]
fn a_command_runs_in_a_throwaway_copy() {
    let world = world();
    let outcome = world.outcome(&shell("cd \"$1\" && echo 2 > a && echo x > new && cat a", ""));
    assert_eq!(outcome.status, CheckStatus::Passed, "{outcome:?}");
    assert_eq!(std::fs::read_to_string(world.candidate().join("a")).unwrap(), "1");
    assert!(!world.candidate().join("new").exists());
    assert_eq!(std::fs::read_dir(world.dir.path().join("scratch")).unwrap().count(), 0, "the copy is gone");
    let log = outcome.files.iter().find(|file| file.path == "logs/01.stdout.txt").unwrap();
    assert_eq!(log.bytes, b"2\n");
}

#[test]
fn a_tool_declared_data_cannot_write_the_candidate() {
    let outcome = world().outcome(&shell("echo 2 > \"$1/a\"", "channel = \"data\"\nfail_exit = [1, 2]"));
    assert_eq!(outcome.status, CheckStatus::Failed, "{outcome:?}");
    assert_eq!(outcome.channel, Channel::Data);
    assert_eq!(outcome.isolation, IsolationClass::ProcessSandbox, "a tool still needs isolation");
}

#[test]
fn the_environment_of_a_command_is_the_plans() {
    let outcome = world().outcome(&shell("env | sort | grep -v ^_= ", "env = { A = \"b\" }\npath = \"/usr/bin:/bin\""));
    let log = outcome.files.iter().find(|file| file.path == "logs/01.stdout.txt").unwrap();
    let text = String::from_utf8_lossy(&log.bytes).into_owned();
    let names: Vec<&str> = text.lines().filter(|line| !line.starts_with("PWD=")).collect();
    assert_eq!(names, ["A=b", "PATH=/usr/bin:/bin"]);
}

#[test]
fn a_timeout_is_no_verdict_and_the_baseline_is_timed() {
    let script = "cd \"$1\" && test -f slow && sleep 60; exit 0";
    let world = World::new(&[("v", "test")]).with(&[("slow", "1")]).with_baseline(&[("fast", "1")]);
    let outcome = world.outcome(&shell(script, "timeout = \"1s\""));
    assert_eq!(outcome.status, CheckStatus::Error);
    assert!(outcome.timed_out);
    assert_eq!((outcome.exit, outcome.limit_ms), (None, Some(1000)));
    assert!(outcome.baseline_ms.is_some_and(|time| time < 1000), "{:?}", outcome.baseline_ms);
    let alone = World::new(&[("v", "test")]).with(&[("slow", "1")]).outcome(&shell(script, "timeout = \"300ms\""));
    assert_eq!((alone.timed_out, alone.baseline_ms), (true, None));
}

#[test]
fn a_flood_of_output_is_cut_and_no_verdict() {
    let outcome = world().outcome(&shell("yes; exit 0", "timeout = \"20s\""));
    assert_eq!(outcome.status, CheckStatus::Error, "{}", outcome.summary);
    let log = outcome.files.iter().find(|file| file.path == "logs/01.stdout.txt").unwrap();
    assert!(log.bytes.len() <= 1 << 20);
}

#[test]
fn a_harness_is_the_verifiers_and_read_only() {
    let world = world();
    write(
        &world.plan_dir(),
        "tests/run.sh",
        "grep -q 1 \"$1/a\" || exit 1; echo x > \"$(dirname \"$0\")/new\" 2>/dev/null && exit 9; exit 0",
    );
    let plan = "[[check]]\nid = \"v\"\nkind = \"command\"\nargv = [\"/bin/sh\", \"{harness}/run.sh\", \"{candidate}\"]\nharness = \"tests\"\n";
    let outcome = world.outcome(plan);
    assert_eq!(outcome.status, CheckStatus::Passed, "{outcome:?}");
    assert!(outcome.diagnostics.unwrap().contains("harness_tree"));
    assert!(!world.plan_dir().join("tests/new").exists());
    let inside = plan.replace("\"tests\"", &format!("{:?}", world.candidate()));
    let intake = world.intake();
    for plan in [inside, plan.replace("\"tests\"", "\"absent\""), plan.replace("\"tests\"", "\"..\"")] {
        let request = world.request(&intake, &plan).unwrap();
        let error = quorum_verifier::run_in_child(&exe(), &request, std::time::Duration::from_secs(30)).unwrap_err();
        assert_eq!(error.code(), "harness_unusable", "{plan}");
        assert!(error.is_control_file());
    }
}

#[test]
fn a_report_decides_with_expected_ids() {
    let report = |body: &str| format!("printf \"%s\" \"<testsuite>{body}</testsuite>\" > \"$2\"");
    let plan = |script: &str| {
        shell(script, "report = \"junit\"\nexpect = [\"t::a\"]")
            .replace("\"{candidate}\"]", "\"{candidate}\", \"{report}\"]")
    };
    let case = |inner: &str| format!("<testcase classname='t' name='a'>{inner}</testcase>");
    for (name, script, expected) in [
        ("passed", report(&case("")), CheckStatus::Passed),
        ("failed", report(&case("<failure/>")) + "; exit 1", CheckStatus::Failed),
        ("skipped", report(&case("<skipped/>")), CheckStatus::Inconclusive),
        ("missing", report(""), CheckStatus::Inconclusive),
        ("double", report(&(case("") + &case(""))), CheckStatus::Inconclusive),
        ("no report", "exit 0".to_owned(), CheckStatus::Inconclusive),
        ("a symlink for a report", "ln -s /etc/passwd \"$2\"".to_owned(), CheckStatus::Inconclusive),
        ("a pipe for a report", "mkfifo \"$2\"".to_owned(), CheckStatus::Inconclusive),
        ("crash", report(&case("")) + "; exit 3", CheckStatus::Error),
    ] {
        let outcome = world().outcome(&plan(&script));
        assert_eq!(outcome.status, expected, "{name}: {}", outcome.summary);
        assert!(!outcome.by_exit_status);
    }
}

#[test]
fn a_black_box_candidate_is_reached_through_pipes_only() {
    let world = World::new(&[("v", "test")]).with(&[("answer.sh", "read question; echo \"42 to $question\"")]);
    write(
        &world.plan_dir(),
        "hidden/check.sh",
        "trap '' PIPE; echo life >&4; read answer <&3; test \"$answer\" = '42 to life' || exit 1",
    );
    let plan = "[[check]]\nid = \"v\"\nkind = \"command\"\nchannel = \"black_box\"\nargv = [\"/bin/sh\", \"{harness}/check.sh\"]\ncandidate = [\"/bin/sh\", \"{candidate}/answer.sh\"]\nharness = \"hidden\"\n";
    let outcome = world.outcome(plan);
    assert_eq!(outcome.status, CheckStatus::Passed, "{outcome:?}");
    assert_eq!(outcome.channel, Channel::BlackBox);
    assert_eq!(outcome.isolation, IsolationClass::ProcessSandbox);
    for (name, script) in [
        ("wrong", "echo 41"),
        ("exits", "exit 0"),
        ("reads the hidden tests", "cat ../../../plan/hidden/check.sh; find / -name check.sh 2>/dev/null"),
    ] {
        write(&world.candidate(), "answer.sh", script);
        let outcome = world.outcome(plan);
        assert_eq!(outcome.status, CheckStatus::Failed, "{name}: {outcome:?}");
        for file in &outcome.files {
            assert!(!String::from_utf8_lossy(&file.bytes).contains("42 to life"), "{name}");
        }
    }
}

#[test]
fn an_engine_is_judged_through_its_envelope() {
    let rules = r#"{"schema": "quorum-json-rules/1.0", "rules": [{"id": "answer", "at": "/answer", "equals": 42}]}"#;
    let plan = "[[check]]\nid = \"v\"\nkind = \"engine\"\nengine = \"json-rules\"\nchannel = \"data\"\nharness = \"rules\"\nargs = { candidate = \"{candidate}/answer.json\", rules = \"{harness}/rules.json\" }\n";
    for (name, text, expected) in [
        ("pass", r#"{"answer": 42}"#, CheckStatus::Passed),
        ("fail", r#"{"answer": 41}"#, CheckStatus::Failed),
        ("unexamined", r#"{"answer": 42, "more": 1}"#, CheckStatus::Inconclusive),
        ("not JSON", "{", CheckStatus::Failed),
    ] {
        let world = World::new(&[("v", "test")]).with(&[("answer.json", text)]);
        write(&world.plan_dir(), "rules/rules.json", rules);
        let report = world.report(plan);
        let outcome = &report.checks[0];
        assert_eq!(outcome.status, expected, "{name}: {outcome:?}");
        let envelope = outcome.files.iter().find(|file| file.path == "engines/01.json").unwrap();
        let envelope: serde_json::Value = serde_json::from_slice(&envelope.bytes).unwrap();
        assert_eq!(envelope["schema"], "loom-result/1.1");
        assert!(report.engines.contains_key("json-rules"), "{:?}", report.engines);
        assert_eq!(outcome.isolation, IsolationClass::ProcessSandbox);
    }
    let world = World::new(&[("v", "test")]).with(&[("other.json", "{}")]);
    write(&world.plan_dir(), "rules/rules.json", rules);
    assert_eq!(world.outcome(plan).status, CheckStatus::Error, "an engine that cannot read is no verdict");
    let absent = "[[check]]\nid = \"v\"\nkind = \"engine\"\nengine = \"no-such-engine\"\n";
    assert_eq!(world.outcome(absent).status, CheckStatus::Error);
}

#[test]
fn a_flood_in_every_check_still_fits_one_bundle() {
    let ids: Vec<String> = (0..16).map(|nth| format!("v{nth}")).collect();
    let validators: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "test")).collect();
    let world = World::new(&validators).with(&[("a", "1")]);
    let plan: String = ids
        .iter()
        .map(|id| {
            format!(
                "[[check]]\nid = \"{id}\"\nkind = \"command\"\nargv = [\"/bin/sh\", \"-c\", \"head -c 1000000 /dev/zero\"]\n"
            )
        })
        .collect();
    let answer = world.answer(&plan);
    assert_eq!(answer.verdict(), "supports");
    assert!(answer.bundle.bytes.len() < 16 << 20, "{}", answer.bundle.bytes.len());
    quorum_verifier::bundle::check(&answer.bundle.bytes, &answer.predicate).unwrap();
    let files = quorum_verifier::bundle::read(&answer.bundle.bytes).unwrap();
    assert_eq!(files["logs/01.stdout.txt"].len(), 1_000_000);
    assert_eq!(files["logs/16.stdout.txt"].len(), 16 << 10, "the last ones are cut");
    let text = String::from_utf8(answer.statement).unwrap();
    assert!(text.contains("stdout of check 16 [cut]"));
}
