//! A verifier that contradicts itself after the decision: both answers stay, the second objects, the accept is withdrawn
//! by revision 2, and the audit of that record recomputes it.

use quorum_attest::{Envelope, PAYLOAD_TYPE, Role, Statement, sign};
use quorum_coordinator::export;
use quorum_gate::{AuditOutcome, audit};
use quorum_mesh::{Place, StreamName, UserRole};
use quorum_schemas::Value;
use quorum_testkit::AUDITOR;

use crate::chaos::{Chaos, PATIENCE};

fn set(value: &mut Value, path: &[&str], to: &str) {
    let Value::Object(members) = value else { panic!("no object at {path:?}") };
    match path {
        [last] => drop(members.insert((*last).to_owned(), to.into())),
        [first, rest @ ..] => set(members.get_mut(*first).unwrap(), rest, to),
        [] => unreachable!("a path has a first member"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_contradiction_withdraws_the_accept_and_is_audited() {
    let mut chaos = Chaos::start().await;
    chaos.world.start_daemons().unwrap();
    let handoff = chaos.submit(1).await;
    assert_eq!(chaos.told(handoff).await.recommendation, "accept_candidate");

    let stored = chaos.all(StreamName::Evidence).await;
    let first = stored
        .iter()
        .find(|stored| matches!(stored.place(), Ok(Place::Evidence { verifier, .. }) if verifier == "verifier-a"))
        .unwrap();
    let mut statement = Statement::parse(Envelope::parse(&first.body).unwrap().payload()).unwrap();
    set(&mut statement.predicate, &["result", "status"], "failed");
    set(&mut statement.predicate, &["result", "decision_support", "recommendation"], "reject_candidate");
    let Value::Object(predicate) = &mut statement.predicate else { panic!("a predicate is an object") };
    let Some(Value::Object(result)) = predicate.get_mut("result") else { panic!("a result is an object") };
    let Some(Value::Array(checks)) = result.get_mut("checks") else { panic!("checks are an array") };
    set(checks.last_mut().unwrap(), &["status"], "failed");
    let key = chaos.world.key(Role::Verifier, "verifier-a").unwrap();
    let second = sign(PAYLOAD_TYPE, &statement.to_bytes(), key);
    let verifier = chaos.world.connect(UserRole::Verifier, "verifier-a").await.unwrap();
    verifier.publish_unconditionally(&first.subject, &second).await.unwrap();
    verifier.close().await.unwrap();

    let (_, revised) =
        chaos.world.decision(handoff, 2, PATIENCE).await.unwrap_or_else(|e| panic!("{e}\n{}", chaos.logs()));
    assert_eq!(revised.get("recommendation").and_then(Value::as_str), Some("escalate"));
    assert_eq!(revised.get("withdraws").and_then(Value::as_bool), Some(true));

    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let auditor = chaos.world.connect(UserRole::Auditor, AUDITOR).await.unwrap();
    assert_eq!(export(&auditor, handoff, &record).await.unwrap().revision, 2);
    let outcome = audit(&record, Some(&chaos.world.dir().join("trust.json"))).unwrap();
    assert!(matches!(outcome, AuditOutcome::Same(_)), "{outcome:?}");
    auditor.close().await.unwrap();
    chaos.world.stop().unwrap();
}
