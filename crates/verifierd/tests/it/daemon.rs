//! What a verifier daemon does, undisturbed and killed.

use std::time::Duration;

use nix::sys::signal::Signal;
use quorum_mesh::{Place, StreamName, UserRole, fault};
use quorum_testkit::AUDITOR;

use crate::setting::{Setting, VERIFIERS};

fn fault_at(point: &str) -> [(String, String); 1] {
    [(fault::VARIABLE.to_owned(), point.to_owned())]
}

#[tokio::test(flavor = "multi_thread")]
async fn design_7_three_daemons_answer_and_the_mesh_decides() {
    let mut setting = Setting::start().await;
    setting.start_verifiers(&VERIFIERS);
    for (candidate, wanted) in
        [("good", "accept_candidate"), ("wrong", "reject_candidate"), ("forbidden", "reject_candidate")]
    {
        let submitted = setting.submit(candidate).await;
        let (found, decision) = setting.decision(&submitted).await;
        assert_eq!(found, wanted, "{candidate}: {decision:?}\n{}", setting.logs());
    }
    for id in VERIFIERS {
        let status = setting.world.verifier(id).unwrap().stop().unwrap();
        assert!(status.success(), "{id}: {status}\n{}", setting.logs());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn design_11_a_verifier_killed_after_its_lease_leaves_a_seat_that_is_filled_again() {
    let mut setting = Setting::start().await;
    setting.world.start_verifier("verifier-a", &fault_at("after_lease")).unwrap();
    setting.start_verifiers(&["verifier-b", "verifier-c"]);
    let submitted = setting.submit("good").await;
    setting.world.verifier("verifier-a").unwrap().wait_stopped().unwrap();
    setting.world.verifier("verifier-a").unwrap().kill9().unwrap();
    setting.start_verifiers(&["verifier-a"]);
    let (found, decision) = setting.decision(&submitted).await;
    assert_eq!(found, "accept_candidate", "{decision:?}\n{}", setting.logs());
}

#[tokio::test(flavor = "multi_thread")]
async fn design_7_a_crash_between_storing_and_publishing_never_signs_twice() {
    for point in ["after_blob", "after_evidence_before_offer_ack"] {
        let mut setting = Setting::start().await;
        setting.world.start_verifier("verifier-a", &fault_at(point)).unwrap();
        setting.start_verifiers(&["verifier-b", "verifier-c"]);
        let submitted = setting.submit("good").await;
        setting.world.verifier("verifier-a").unwrap().wait_stopped().unwrap();
        let answers = setting.world.dir().join("state-verifier-a/answers");
        let stored = std::fs::read_dir(&answers).unwrap().next().unwrap().unwrap().path();
        let signed = std::fs::read(stored.join("evidence.dsse.json")).unwrap();
        setting.world.verifier("verifier-a").unwrap().kill9().unwrap();
        setting.start_verifiers(&["verifier-a"]);
        let (found, decision) = setting.decision(&submitted).await;
        assert_eq!(found, "accept_candidate", "{point}: {decision:?}\n{}", setting.logs());
        let auditor = setting.world.connect(UserRole::Auditor, AUDITOR).await.unwrap();
        let evidence = auditor.scan(StreamName::Evidence, None, 1).await.unwrap();
        let mine: Vec<_> = evidence
            .iter()
            .filter(|stored| {
                matches!(stored.place(), Ok(Place::Evidence { verifier, try_no: 1, .. }) if verifier == "verifier-a")
            })
            .collect();
        assert_eq!(mine.len(), 1, "{point}");
        assert_eq!(mine[0].body.as_ref(), signed, "{point}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn design_11_sigterm_ends_a_daemon_in_time_and_gives_its_lease_back() {
    let mut setting = Setting::start().await;
    setting.world.start_verifier("verifier-a", &fault_at("after_lease")).unwrap();
    setting.submit("good").await;
    let process = setting.world.verifier("verifier-a").unwrap();
    process.wait_stopped().unwrap();
    process.signal(Signal::SIGTERM).unwrap();
    process.signal(Signal::SIGCONT).unwrap();
    let begun = std::time::Instant::now();
    assert!(setting.world.verifier("verifier-a").unwrap().stop().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}
