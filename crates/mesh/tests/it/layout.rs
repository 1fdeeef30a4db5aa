//! Subjects as types, and the generated server configuration word for word.

use proptest::prelude::*;
use quorum_mesh::{BlobRole, MeshUser, Place, ServerSettings, UserRole, server_config};
use quorum_schemas::Digest;

fn id() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9./=_é -]{1,24}"
}

fn places() -> impl Strategy<Value = Place> {
    let bytes = any::<[u8; 32]>();
    let roles = [BlobRole::Worker, BlobRole::Author, BlobRole::Verifier, BlobRole::Coordinator];
    (id(), id(), bytes, any::<u64>(), any::<u32>(), any::<u32>(), 0..9usize).prop_map(
        move |(one, two, bytes, big, seat, try_no, kind)| match kind {
            0 => Place::Work { work: one, version: big },
            1 => Place::Result { worker: one, work: two, version: big, attempt: u64::from(seat) },
            2 => Place::Handoff { handoff: Digest::from_bytes(bytes) },
            3 => Place::Offer { verifier: one, handoff: Digest::from_bytes(bytes), seat, try_no },
            4 => Place::Evidence { verifier: one, handoff: Digest::from_bytes(bytes), seat, try_no },
            5 => Place::Decision { handoff: Digest::from_bytes(bytes), revision: seat },
            6 => Place::Audit { kind: one, record: Digest::from_bytes(bytes) },
            _ => Place::Blob {
                role: roles[seat as usize % 4],
                publisher: one,
                sha256: Digest::from_bytes(bytes),
                chunk: try_no,
            },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]
    #[test]
    fn design_6_places_and_subjects_are_the_same_thing(a in places(), b in places()) {
        let (left, right) = (a.subject().unwrap(), b.subject().unwrap());
        prop_assert_eq!(&Place::parse(&left).unwrap(), &a);
        prop_assert_eq!(left == right, a == b);
        let filter = a.stream().filter().trim_end_matches('>').to_owned();
        prop_assert!(left.starts_with(&filter), "{} {}", left, filter);
    }
}

#[test]
fn design_6_subjects_of_other_spelling_are_refused() {
    let hex = "0".repeat(64);
    let upper = "A".repeat(64);
    for subject in [
        "idkmesh.v1".to_owned(),
        "idkmesh.v1.".to_owned(),
        "idkmesh.v2.work.a.1".to_owned(),
        "idkmesh.v1.work.a.01".to_owned(),
        "idkmesh.v1.work.a.+1".to_owned(),
        "idkmesh.v1.work.a.-1".to_owned(),
        "idkmesh.v1.work.A.1".to_owned(),
        "idkmesh.v1.work.a.1.x".to_owned(),
        "idkmesh.v1.work.=61.1".to_owned(),
        format!("idkmesh.v1.handoff.{upper}"),
        format!("idkmesh.v1.handoff.{}", &hex[1..]),
        format!("idkmesh.v1.evidence.v.{hex}.4294967296.1"),
        format!("idkmesh.v1.blob.gate.p.{hex}.0"),
        format!("idkmesh.v1.lease.v.{hex}.0"),
    ] {
        assert!(Place::parse(&subject).is_err(), "{subject}");
    }
}

#[test]
fn design_6_the_generated_server_configuration() {
    let users: Vec<MeshUser> = [
        (UserRole::Worker, "w/1"),
        (UserRole::Verifier, "v1"),
        (UserRole::Coordinator, "c1"),
        (UserRole::Author, "a1"),
        (UserRole::Auditor, "audit"),
        (UserRole::Provisioner, "p"),
    ]
    .map(|(role, id)| MeshUser::new(role, id, &format!("password-of-{id}")).unwrap())
    .into();
    let settings = ServerSettings::local(4222, None, "/var/lib/\"quorum\"".into());
    insta::assert_snapshot!(server_config(&settings, &users).unwrap());
}
