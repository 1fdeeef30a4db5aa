//! Create-only publication and blobs.

use quorum_mesh::{BlobRef, BlobRole, Place, StreamName};
use quorum_schemas::Digest;

use crate::common::{VERIFIER, WORKER, World};

fn result(attempt: u64) -> Place {
    Place::Result { worker: WORKER.into(), work: "w/1".into(), version: 1, attempt }
}

#[tokio::test]
async fn design_6_subject_is_written_once_and_read_back() {
    let world = World::start().await;
    let worker = world.worker().await;
    let first = worker.publish(&result(1), b"one").await.unwrap();
    assert!(first.fresh);
    let again = worker.publish(&result(1), b"one").await.unwrap();
    assert_eq!((again.fresh, again.sequence, again.stored_at), (false, first.sequence, first.stored_at));
    let error = worker.publish(&result(1), b"two").await.unwrap_err();
    assert_eq!(error.code(), "already_published");
    assert!(error.to_string().contains(&Digest::of(b"one").to_string()), "{error}");
    let stored = worker.read(&result(1)).await.unwrap().unwrap();
    assert_eq!((stored.body.as_ref(), stored.place().unwrap()), (b"one".as_ref(), result(1)));
    assert_eq!(stored.received_at, first.stored_at);
    assert_eq!(worker.read(&result(2)).await.unwrap(), None);
}

#[tokio::test]
async fn design_6_second_message_proves_equivocation_and_the_third_is_a_refused_flood() {
    let world = World::start().await;
    let verifier = world.verifier().await;
    let place = Place::Evidence { verifier: VERIFIER.into(), handoff: Digest::c1(&"h".into()), seat: 0, try_no: 1 };
    let subject = place.subject().unwrap();
    verifier.publish(&place, b"pass").await.unwrap();
    verifier.publish_unconditionally(&subject, b"fail").await.unwrap();
    let error = verifier.publish_unconditionally(&subject, b"third").await.unwrap_err();
    assert_eq!(error.code(), "stream_full", "{error}");
    let coordinator = world.coordinator().await;
    let all = coordinator.scan(StreamName::Evidence, Some(&subject), 1).await.unwrap();
    assert_eq!(all.iter().map(|stored| stored.body.as_ref()).collect::<Vec<_>>(), [b"pass", b"fail"]);
}

#[tokio::test]
async fn design_6_other_subjects_hold_one_message_even_for_a_hostile_publisher() {
    let world = World::start().await;
    let worker = world.worker().await;
    let blob = worker.put_blob(BlobRole::Worker, WORKER, b"candidate").await.unwrap();
    let chunk = Place::Blob { role: BlobRole::Worker, publisher: WORKER.into(), sha256: blob.sha256, chunk: 0 };
    let error = worker.publish_unconditionally(&chunk.subject().unwrap(), b"other").await.unwrap_err();
    assert_eq!(error.code(), "stream_full", "{error}");
}

#[tokio::test]
async fn design_6_blobs_of_every_size_come_back_and_repeat_harmlessly() {
    let world = World::start().await;
    let (worker, verifier) = (world.worker().await, world.verifier().await);
    let chunk = 512 * 1024;
    for size in [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk + 5] {
        let bytes: Vec<u8> = (0..size).map(|index: usize| u8::try_from(index % 251).unwrap()).collect();
        let blob = worker.put_blob(BlobRole::Worker, WORKER, &bytes).await.unwrap();
        assert_eq!(worker.put_blob(BlobRole::Worker, WORKER, &bytes).await.unwrap(), blob);
        assert_eq!(verifier.find_blob(BlobRole::Worker, WORKER, blob.sha256).await.unwrap().as_ref(), Some(&blob));
        assert_eq!(verifier.get_blob(&blob).await.unwrap(), bytes);
        assert_eq!(BlobRef::parse(&blob.to_value()).unwrap(), blob);
    }
    assert_eq!(verifier.find_blob(BlobRole::Worker, WORKER, Digest::of(b"absent")).await.unwrap(), None);
}

#[tokio::test]
async fn design_6_a_blob_that_is_not_its_name_is_detected() {
    let world = World::start().await;
    let (worker, verifier) = (world.worker().await, world.verifier().await);
    let named = Digest::of(b"good");
    let place = Place::Blob { role: BlobRole::Worker, publisher: WORKER.into(), sha256: named, chunk: 0 };
    // Without its size the chunk is malformed; a forged one with the right size needs the right bytes too.
    worker.publish_unconditionally(&place.subject().unwrap(), b"evil").await.unwrap();
    let forged = BlobRef { role: BlobRole::Worker, publisher: WORKER.into(), sha256: named, bytes: 4 };
    assert_eq!(verifier.get_blob(&forged).await.unwrap_err().code(), "message_malformed");
    let blob = worker.put_blob(BlobRole::Worker, WORKER, b"real").await.unwrap();
    for (bytes, code) in [(3, "blob_corrupt"), (5, "blob_corrupt"), (600_000, "blob_corrupt")] {
        let wrong = BlobRef { bytes, ..blob.clone() };
        assert_eq!(verifier.get_blob(&wrong).await.unwrap_err().code(), code, "{bytes}");
    }
    let missing = BlobRef { sha256: Digest::of(b"none"), ..blob };
    assert_eq!(verifier.get_blob(&missing).await.unwrap_err().code(), "not_found");
}

#[tokio::test]
async fn design_6_too_large_is_refused_before_the_server_sees_it() {
    let world = World::start().await;
    let worker = world.worker().await;
    let error = worker.publish(&result(1), &vec![0; 4 * 1024 * 1024 + 1]).await.unwrap_err();
    assert_eq!(error.code(), "too_large");
    worker.publish(&result(1), &vec![0; 4 * 1024 * 1024]).await.unwrap();
}
