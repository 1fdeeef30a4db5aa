//! A harness and a candidate that meet only through two pipes.

use std::fs;
use std::time::Duration;

use quorum_sandbox::{End, Identity, Isolation, Spec, run_pair};

use crate::support::{again_as_ordinary_user, alive, open_folder, shell, text, token};

fn candidate(line: &str) -> Spec {
    let mut spec = shell(line, Isolation::ProcessSandbox);
    spec.identity = Identity::Candidate;
    spec
}

fn harness(line: &str) -> Spec {
    shell(line, Isolation::ProcessSandbox)
}

#[test]
fn question_and_answer() {
    let ask = harness("echo 20 22 >&4; read answer <&3; echo got $answer; test \"$answer\" = 42");
    let pair = run_pair(&ask, &candidate("read a b; echo $((a + b)); echo told >&2")).unwrap();
    assert_eq!(pair.harness.end, End::Exited(0), "{pair:?}");
    assert_eq!(text(&pair.harness), "got 42\n");
    assert!(pair.candidate.stdout.bytes.is_empty());
    let wrong = run_pair(&ask, &candidate("read a b; echo 41")).unwrap();
    assert_eq!(wrong.harness.end, End::Exited(1));
}

#[test]
fn question_and_answer_as_ordinary_user() {
    again_as_ordinary_user("pairs::question_and_answer");
}

#[test]
fn the_candidate_reaches_neither_the_harness_nor_its_result() {
    let folder = open_folder();
    let tests = folder.path().join("tests");
    fs::create_dir(&tests).unwrap();
    fs::write(tests.join("expected"), "42").unwrap();
    fs::write(tests.join("report"), "").unwrap();
    for name in ["expected", "report"] {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        fs::set_permissions(tests.join(name), permissions).unwrap();
    }
    let mut ask = harness(&format!("cat <&3; echo fail > {}/report; exit 1", tests.display()));
    ask.writable.push(tests.clone());
    let attack = format!(
        "cat {t}/expected; echo pass > {t}/report; ls {t}; for pid in /proc/[0-9]*; do cat $pid/cmdline; done; kill -9 -1; exit 0",
        t = tests.display()
    );
    let mut cheat = candidate(&attack);
    cheat.read_only.push(folder.path().to_owned());
    cheat.hidden.push(tests.clone());
    let pair = run_pair(&ask, &cheat).unwrap();
    assert_eq!(pair.harness.end, End::Exited(1));
    let heard = text(&pair.harness);
    assert!(!heard.contains("42") && !heard.contains("expected\n"), "{heard}");
    assert_eq!(fs::read(tests.join("report")).unwrap(), b"fail\n");
}

#[test]
fn the_candidate_reaches_nothing_as_ordinary_user() {
    again_as_ordinary_user("pairs::the_candidate_reaches_neither_the_harness_nor_its_result");
}

#[test]
fn different_users_where_the_caller_is_root() {
    let who = "id -u";
    let pair = run_pair(&harness(&format!("{who}; cat <&3")), &candidate(who)).unwrap();
    let said = text(&pair.harness);
    assert_eq!(said, "65534\n65533\n");
    if nix::unistd::geteuid().is_root() {
        assert!(pair.candidate.enforced.iter().any(|layer| layer == "uid:65533"));
    } else {
        assert!(pair.candidate.enforced.iter().any(|layer| layer == "uid:own"));
    }
}

#[test]
fn the_candidate_ends_with_the_harness() {
    let token = token();
    let pair = run_pair(&harness("exit 5"), &candidate(&format!("setsid sleep {token} & sleep {token}"))).unwrap();
    assert_eq!(pair.harness.end, End::Exited(5));
    assert_eq!(pair.candidate.end, End::Signaled(9));
    assert_eq!(alive(&token), 0);
}

#[test]
fn a_silent_candidate_meets_the_deadline_of_the_harness() {
    let mut ask = harness("read answer <&3; exit 0");
    ask.timeout = Duration::from_millis(400);
    assert_eq!(run_pair(&ask, &candidate("sleep 1000")).unwrap().harness.end, End::TimedOut);
    let gone = run_pair(&harness("read answer <&3 || exit 9"), &candidate("exit 0")).unwrap();
    assert_eq!(gone.harness.end, End::Exited(9), "a candidate that ends is the end of the stream");
}

#[test]
fn the_end_of_the_questions_is_seen() {
    let ask = harness("echo one >&4; echo two >&4; exec 4>&-; cat <&3");
    let pair = run_pair(&ask, &candidate("wc -l; echo done")).unwrap();
    assert_eq!(pair.harness.end, End::Exited(0));
    assert_eq!(text(&pair.harness).split_whitespace().collect::<Vec<_>>(), ["2", "done"]);
}

#[test]
fn what_cannot_keep_them_apart_is_refused() {
    let mut plain = candidate("true");
    plain.isolation = Isolation::None;
    let mut same = candidate("true");
    same.identity = Identity::Checker;
    let mut fed = candidate("true");
    fed.stdin = Some(Vec::new());
    for spec in [plain, same, fed] {
        assert_eq!(run_pair(&harness("true"), &spec).unwrap_err().code(), "sandbox_spec_invalid");
    }
}
