//! Who may do what, as the server enforces it.

use quorum_mesh::{
    AuditRecord, BlobRole, LeaseOp, LeaseRequest, Mesh, MeshError, MeshUser, Place, StreamName, UserRole,
};
use quorum_schemas::{C1Digest, Digest};
use quorum_testkit::{NatsServer, find_nats_server};

use crate::common::{OTHER, VERIFIER, WORKER, World};

fn handoff() -> C1Digest {
    Digest::c1(&"handoff".into())
}

fn evidence(verifier: &str) -> Place {
    Place::Evidence { verifier: verifier.into(), handoff: handoff(), seat: 0, try_no: 1 }
}

fn assert_denied<T: std::fmt::Debug>(what: &str, outcome: Result<T, MeshError>) {
    let error = outcome.expect_err(what);
    assert_eq!(error.code(), "permission_denied", "{what}: {error}");
    assert!(error.to_string().contains("Permissions Violation"), "{what}: {error}");
}

#[tokio::test]
async fn design_6_worker_cannot_publish_evidence_and_reads_the_servers_own_words() {
    let world = World::start().await;
    let worker = world.worker().await;
    let error = worker.publish(&evidence(VERIFIER), b"accepted, says the worker").await.unwrap_err();
    let subject = evidence(VERIFIER).subject().unwrap();
    let MeshError::PermissionDenied { subject: named, server } = error else { panic!("{error}") };
    assert_eq!(named, subject);
    assert!(server.starts_with("Permissions Violation for Publish to") && server.contains(&subject), "{server}");
    // The connection goes on.
    worker.put_blob(BlobRole::Worker, WORKER, b"x").await.unwrap();
}

#[tokio::test]
async fn design_6_a_worker_writes_only_its_own_and_reads_no_offer_bundle_or_evidence() {
    let world = World::start().await;
    let worker = world.worker().await;
    let offer = Place::Offer { verifier: VERIFIER.into(), handoff: handoff(), seat: 0, try_no: 1 };
    let foreign = Place::Result { worker: "other".into(), work: "w".into(), version: 1, attempt: 1 };
    let record = AuditRecord {
        kind: "refusal".into(),
        code: "x".into(),
        place: "x".into(),
        digest: handoff().of_bytes(),
        publisher: "x".into(),
        handoff: None,
    };
    assert_denied("another worker's result", worker.publish(&foreign, b"x").await);
    assert_denied("another worker's blob", worker.put_blob(BlobRole::Worker, "other", b"x").await);
    assert_denied("a verifier's blob", worker.put_blob(BlobRole::Verifier, VERIFIER, b"x").await);
    assert_denied("a work unit", worker.publish(&Place::Work { work: "w".into(), version: 1 }, b"x").await);
    assert_denied("a handoff", worker.publish(&Place::Handoff { handoff: handoff() }, b"x").await);
    assert_denied("a decision", worker.publish(&Place::Decision { handoff: handoff(), revision: 1 }, b"x").await);
    assert_denied("an audit record", worker.audit(&record).await);
    assert_denied("an offer", worker.publish(&offer, b"x").await);
    assert_denied("reading an offer", worker.read(&offer).await);
    assert_denied("reading evidence", worker.read(&evidence(VERIFIER)).await);
    assert_denied("reading another's result", worker.read(&foreign).await);
    assert_denied("reading a bundle", worker.find_blob(BlobRole::Verifier, VERIFIER, handoff().of_bytes()).await);
    assert_denied("scanning", worker.scan(StreamName::Evidence, None, 1).await);
    assert_denied("pulling offers", worker.offers(VERIFIER).unwrap().next().await);
    assert_denied("watching evidence", worker.watch("idkmesh.v1.evidence.>").await.map(|_| ()));
    assert_denied("watching everything", worker.watch(">").await.map(|_| ()));
    assert_denied("other inboxes", worker.watch("_INBOX.>").await.map(|_| ()));
}

#[tokio::test]
async fn design_6_a_verifier_cannot_write_leases_nor_read_others_evidence_or_blobs() {
    let world = World::start().await;
    let (verifier, other) = (world.verifier().await, world.user(UserRole::Verifier, OTHER).await);
    other.publish(&evidence(OTHER), b"other's").await.unwrap();
    let bundle = other.put_blob(BlobRole::Verifier, OTHER, b"other's bundle").await.unwrap();
    let request = LeaseRequest { op: LeaseOp::Claim, handoff: handoff(), seat: 0, try_no: 1, epoch: None };
    assert_denied("a lease key", verifier.lease_store().put("x.0", b"mine", 0).await);
    assert_denied("reading a lease key", verifier.lease_store().get("x.0").await);
    assert_denied("another's evidence", verifier.publish(&evidence(OTHER), b"x").await);
    assert_denied("reading another's evidence", verifier.read(&evidence(OTHER)).await);
    assert_denied("reading another's bundle", verifier.get_blob(&bundle).await);
    assert_denied("leasing in another's name", verifier.lease(OTHER, &request).await);
    assert_denied("answering leases", verifier.lease_calls().await.map(|_| ()));
    assert_denied("another's offers", verifier.offers(OTHER).unwrap().next().await);
    assert_denied("the coordinators' consumer", verifier.intake(StreamName::Evidence).next().await);
    let result = Place::Result { worker: WORKER.into(), work: "w".into(), version: 1, attempt: 1 };
    assert_denied("reading a manifest", verifier.read(&result).await);
    assert_denied("watching evidence", verifier.watch("idkmesh.v1.evidence.*.*.*.*").await.map(|_| ()));
}

#[tokio::test]
async fn design_6_nobody_at_run_time_changes_or_erases_a_stream() {
    let world = World::start().await;
    for (role, id) in [
        (UserRole::Worker, WORKER),
        (UserRole::Verifier, VERIFIER),
        (UserRole::Coordinator, "coordinator"),
        (UserRole::Author, "author"),
        (UserRole::Auditor, "auditor"),
    ] {
        let mesh: Mesh = world.user(role, id).await;
        for verb in ["CREATE", "UPDATE", "DELETE", "PURGE", "MSG.DELETE"] {
            for stream in [StreamName::Evidence.as_str(), StreamName::Leases.as_str(), "NEW"] {
                let subject = format!("$JS.API.STREAM.{verb}.{stream}");
                assert_denied(
                    &format!("{} {subject}", role.as_str()),
                    mesh.publish_unconditionally(&subject, b"{}").await,
                );
            }
        }
        let create = "$JS.API.CONSUMER.CREATE.IDKMESH_EVIDENCE.spy".to_owned();
        assert_denied("a consumer", mesh.publish_unconditionally(&create, b"{}").await);
    }
    let provisioner = world.user(UserRole::Provisioner, "provisioner").await;
    assert_denied("documents by the provisioner", provisioner.publish(&evidence(VERIFIER), b"x").await);
    // Even the provisioner cannot erase: the streams deny it.
    let purge = provisioner.publish_unconditionally("$JS.API.STREAM.PURGE.IDKMESH_EVIDENCE", b"{}").await;
    assert_eq!(purge.unwrap_err().code(), "broker");
}

#[tokio::test]
async fn design_6_the_auditor_reads_everything_and_writes_nothing() {
    let world = World::start().await;
    let (auditor, verifier) = (world.user(UserRole::Auditor, "auditor").await, world.verifier().await);
    verifier.publish(&evidence(VERIFIER), b"pass").await.unwrap();
    let bundle = verifier.put_blob(BlobRole::Verifier, VERIFIER, b"bundle").await.unwrap();
    assert_eq!(auditor.get_blob(&bundle).await.unwrap(), b"bundle");
    assert_eq!(auditor.scan(StreamName::Evidence, None, 1).await.unwrap().len(), 1);
    assert_denied("a decision", auditor.publish(&Place::Decision { handoff: handoff(), revision: 1 }, b"x").await);
}

#[tokio::test]
async fn design_11_a_wrong_password_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let user = MeshUser::generate(UserRole::Worker, "w").unwrap();
    let server = NatsServer::start(&find_nats_server().unwrap(), dir.path(), &[user]).unwrap();
    for (name, password) in [("worker-w", "wrong"), ("nobody", "x")] {
        let credentials = quorum_mesh::Credentials::new(name, password);
        let patience = std::time::Duration::from_secs(60);
        let error = Mesh::connect(&server.url(), &credentials, patience).await.unwrap_err();
        assert_eq!(error.code(), "connect_failed");
        assert!(!error.to_string().contains("wrong"), "{error}");
    }
}
