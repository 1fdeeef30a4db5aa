//! Forgeries by name, on a real pytest project whose honest run fails.
//!
//! The project adds wrongly. Six candidates try to look right all the same: they end the test process, replace pytest's
//! verdicts, run before pytest does, write the report themselves, delete the test, print a summary.

use std::fs;
use std::path::Path;

use quorum_attest::{Entry, Envelope, PAYLOAD_TYPE, Role, SigningKey, TrustDraft, TrustRoot, sign};
use quorum_handoff::Intake;
use quorum_policies::{Assurance, Case, Facts, Policy, Received, Recommendation, RefusalCode, WorkerIdentity, decide};
use quorum_schemas::Timestamp;
use quorum_verifier::{Answer, CheckStatus};

use crate::pytest;
use crate::world::{World, write};

const TEST: &str = "from calc import add\n\ndef test_add():\n    assert add(2, 2) == 4\n\ndef test_zero():\n    assert add(0, 0) == 0\n";
const WRONG: &str = "def add(a, b):\n    return 0\n";
const RIGHT: &str = "def add(a, b):\n    return a + b\n";
/// How a black-box harness talks to the project: one sum per line.
const SERVE: &str = "import sys\nfrom calc import add\nfor line in sys.stdin:\n    a, b = line.split()\n    print(add(int(a), int(b)), flush=True)\n";
/// What writes a report in which everything passed, to the place that the command line names.
const REPORT: &str = "import os, sys\nfor word in getattr(sys, 'orig_argv', sys.argv):\n    if word.startswith('--junitxml='):\n        cases = ''.join('<testcase classname=\"tests.test_calc\" name=\"%s\"/>' % name for name in ('test_add', 'test_zero'))\n        open(word.split('=', 1)[1], 'w').write('<testsuites><testsuite>' + cases + '</testsuite></testsuites>')\n        os._exit(0)\n";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Forgery {
    ExitZero,
    Conftest,
    Sitecustomize,
    ForgedReport,
    DeletedTest,
    PrintedSummary,
}

const ALL: [Forgery; 6] = [
    Forgery::ExitZero,
    Forgery::Conftest,
    Forgery::Sitecustomize,
    Forgery::ForgedReport,
    Forgery::DeletedTest,
    Forgery::PrintedSummary,
];

fn project(calc: &str) -> World {
    World::new(&[("v", "test")]).with(&[
        ("calc.py", calc),
        ("serve.py", SERVE),
        ("tests/__init__.py", ""),
        ("tests/test_calc.py", TEST),
    ])
}

fn forge(root: &Path, forgery: Forgery) {
    match forgery {
        Forgery::ExitZero => write(root, "calc.py", "import os\nos._exit(0)\n"),
        Forgery::Conftest => write(
            root,
            "conftest.py",
            "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome, report.longrepr = 'passed', None\n",
        ),
        Forgery::Sitecustomize => write(root, "sitecustomize.py", REPORT),
        Forgery::ForgedReport => write(root, "calc.py", REPORT),
        Forgery::DeletedTest => write(root, "tests/test_calc.py", &TEST.replace("def test_add", "def no_test_add")),
        Forgery::PrintedSummary => write(
            root,
            "calc.py",
            "import os\nprint('<testsuite><testcase classname=\"tests.test_calc\" name=\"test_add\"/></testsuite>')\nprint('===== 2 passed in 0.01s =====', flush=True)\nos._exit(0)\n",
        ),
    }
}

fn in_process(python: &Path, rest: &str) -> String {
    let harness = pytest::harness(python);
    format!(
        "[[check]]\nid = \"v\"\nkind = \"command\"\nharness = {harness:?}\nenv = {{ PYTHONPATH = \".\", PYTHONDONTWRITEBYTECODE = \"1\" }}\nargv = [{python:?}, \"{{harness}}/run.py\", \"-q\", \"-p\", \"no:cacheprovider\"{rest}\n"
    )
}

fn with_expect(python: &Path) -> String {
    in_process(
        python,
        ", \"--junitxml={report}\"]\nreport = \"junit\"\nexpect = [\"tests.test_calc::test_add\", \"tests.test_calc::test_zero\"]",
    )
}

fn black_box(python: &Path) -> String {
    let harness = pytest::harness(python);
    format!(
        "[[check]]\nid = \"v\"\nkind = \"command\"\nchannel = \"black_box\"\nharness = {harness:?}\nenv = {{ PYTHONDONTWRITEBYTECODE = \"1\" }}\nargv = [{python:?}, \"{{harness}}/run.py\", \"-q\", \"-p\", \"no:cacheprovider\", \"--junitxml={{report}}\", \"--rootdir={{harness}}\", \"{{harness}}/tests\"]\ncandidate = [{python:?}, \"{{candidate}}/serve.py\"]\nreport = \"junit\"\nexpect = [\"tests.test_hidden::test_add\", \"tests.test_hidden::test_zero\"]\n"
    )
}

/// The forged candidate's answer under a plan.
fn answer(forgery: Forgery, plan: &str) -> (Intake, Answer) {
    let world = project(WRONG);
    forge(&world.candidate(), forgery);
    (world.intake(), world.answer(plan))
}

/// A trust root of one verifier, the answer signed by it, and what a policy makes of it.
fn judged(intake: &Intake, answer: &Answer, min_channel: &str) -> (Recommendation, Vec<RefusalCode>) {
    let root = SigningKey::from_seed(&[1; 32]);
    let verifier = SigningKey::from_seed(&[2; 32]);
    let (start, end, now) =
        (Timestamp::from_micros(0), Timestamp::from_micros(1_000_000_000_000), Timestamp::from_micros(3_000_000));
    let policy = format!(
        "schema_version = \"0.1\"\nid = \"p\"\nquorum = 1\nindependent_on = []\nmin_isolation = \"process-sandbox\"\nmin_channel = \"{min_channel}\"\n"
    );
    let policy = Policy::parse(policy.as_bytes()).unwrap();
    let mut draft = TrustDraft::new(start, end, 1, vec![root.public()]);
    draft.add(Entry::new(Role::Verifier, "acme-verifier-1", verifier.public(), start, end)).unwrap();
    draft.admit_policy(policy.digest()).unwrap();
    let trust = TrustRoot::load(&draft.sign(&[&root]).unwrap()).unwrap();
    let envelope = sign(PAYLOAD_TYPE, &answer.statement, &verifier);
    let digest = Envelope::parse(&envelope).unwrap().digest();
    let received = Received { received_at: now, bundle_checked: true };
    let facts = Facts::closed([(digest, received)].into(), Assurance::TrustRoot);
    let envelopes = [envelope];
    let case = Case {
        handoff: &intake.handoff,
        work_unit: &intake.work_unit,
        binding: &intake.binding,
        worker: WorkerIdentity::Unauthenticated,
        trust: &trust,
        policy: &policy,
        panel: 1,
        deadline: end,
        facts: &facts,
        envelopes: &envelopes,
    };
    let outcome = decide(&case, now).unwrap();
    let decision = outcome.decision().unwrap();
    (decision.recommendation, decision.refusals.iter().map(|refusal| refusal.code).collect())
}

#[test]
fn the_honest_project_is_judged_right_on_every_channel() {
    let Some(python) = pytest::python() else { return };
    for (calc, expected) in [(RIGHT, CheckStatus::Passed), (WRONG, CheckStatus::Failed)] {
        let world = project(calc);
        for plan in [in_process(&python, "]"), with_expect(&python), black_box(&python)] {
            let outcome = world.outcome(&plan);
            assert_eq!(outcome.status, expected, "{plan}\n{}", logs(&outcome));
        }
    }
}

#[test]
fn issue_4_none_becomes_support_under_a_policy_that_demands_black_box() {
    let Some(python) = pytest::python() else { return };
    let world = project(RIGHT);
    let honest = world.answer(&black_box(&python));
    assert_eq!(judged(&world.intake(), &honest, "black_box").0, Recommendation::AcceptCandidate);
    for forgery in ALL {
        let (intake, answer) = answer(forgery, &with_expect(&python));
        let (recommendation, refusals) = judged(&intake, &answer, "black_box");
        assert_ne!(recommendation, Recommendation::AcceptCandidate, "{forgery:?} in process");
        if answer.verdict() == "supports" {
            assert!(refusals.contains(&RefusalCode::ChannelTooWeak), "{forgery:?}: {refusals:?}");
        }
        let (intake, answer) = self::answer(forgery, &black_box(&python));
        assert_eq!(answer.verdict(), "rejects", "{forgery:?} as a black box");
        assert_ne!(
            judged(&intake, &answer, "black_box").0,
            Recommendation::AcceptCandidate,
            "{forgery:?} as a black box"
        );
    }
}

#[test]
fn issue_4_with_expect_alone_three_do_not_pass() {
    let Some(python) = pytest::python() else { return };
    for forgery in [Forgery::ExitZero, Forgery::DeletedTest, Forgery::PrintedSummary] {
        let (intake, answer) = answer(forgery, &with_expect(&python));
        assert_eq!(answer.status, "inconclusive", "{forgery:?}");
        assert_ne!(judged(&intake, &answer, "in_process").0, Recommendation::AcceptCandidate, "{forgery:?}");
    }
}

#[test]
fn issue_4_with_expect_alone_three_do_pass_which_is_why_in_process_is_named() {
    let Some(python) = pytest::python() else { return };
    for forgery in [Forgery::Conftest, Forgery::Sitecustomize, Forgery::ForgedReport] {
        let (intake, answer) = answer(forgery, &with_expect(&python));
        assert_eq!(answer.verdict(), "supports", "{forgery:?}");
        assert_eq!(judged(&intake, &answer, "in_process").0, Recommendation::AcceptCandidate, "{forgery:?}");
        let channel =
            answer.predicate.get("checks").and_then(|checks| checks.as_array()?.first()?.get("channel")?.as_str());
        assert_eq!(channel, Some("in_process"), "the evidence says why it is worth little");
    }
}

#[test]
fn without_expect_an_exit_status_is_all_there_is_and_the_evidence_says_so() {
    let Some(python) = pytest::python() else { return };
    let (_, answer) = answer(Forgery::ExitZero, &in_process(&python, "]"));
    assert_eq!(answer.verdict(), "supports");
    let row = answer.predicate.get("checks").and_then(|checks| checks.as_array()?.first()).unwrap();
    assert_eq!(row.get("by_exit_status").and_then(|flag| flag.as_bool()), Some(true));
}

#[test]
fn a_report_left_in_the_candidate_is_not_the_report() {
    let Some(python) = pytest::python() else { return };
    let world = project("import os\nos._exit(0)\n");
    fs::create_dir(world.candidate().join("out")).unwrap();
    write(
        &world.candidate(),
        "out/report.xml",
        "<testsuite><testcase classname='tests.test_calc' name='test_add'/><testcase classname='tests.test_calc' name='test_zero'/></testsuite>",
    );
    write(&world.candidate(), "report.xml", "<testsuite/>");
    assert_eq!(world.outcome(&with_expect(&python)).status, CheckStatus::Inconclusive);
}

fn logs(outcome: &quorum_verifier::CheckOutcome) -> String {
    let text = outcome.files.iter().map(|file| format!("--- {}\n{}", file.path, String::from_utf8_lossy(&file.bytes)));
    text.collect::<Vec<_>>().join("\n")
}
