//! Offers that a hostile broker, worker or coordinator's neighbour could make up.

use quorum_attest::{Entry, PAYLOAD_TYPE, Role, SigningKey, Statement, Subject, TrustDraft, sign};
use quorum_handoff::{C6Manifest, CandidateReference, Intake, Worker, build_c6_manifest, intake_values};
use quorum_schemas::{C1Digest, parse};
use serde_json::json;

use super::*;

const WORK_UNIT: &str = include_str!("../../../examples/json-answer/work-unit.json");
const NOW: Timestamp = Timestamp::from_micros(1_750_000_000_000_000);

fn key(role: Role) -> SigningKey {
    SigningKey::from_seed(&[role as u8 + 1; 32])
}

fn trust() -> TrustRoot {
    let root = SigningKey::from_seed(&[99; 32]);
    let (from, until) = (NOW.plus_seconds(-1000), NOW.plus_seconds(1000));
    let mut draft = TrustDraft::new(from, until, 1, vec![root.public()]);
    for role in [Role::Author, Role::Worker, Role::Coordinator, Role::Verifier] {
        draft.add(Entry::new(role, format!("the-{}", role.as_str()), key(role).public(), from, until)).unwrap();
    }
    TrustRoot::load(&draft.sign(&[&root]).unwrap()).unwrap()
}

fn envelope(predicate_type: PredicateType, predicate: Value, role: Role) -> Vec<u8> {
    let statement = Statement { subject: vec![Subject::sha256("x", Digest::of(b"x"))], predicate_type, predicate };
    sign(PAYLOAD_TYPE, &statement.to_bytes(), &key(role))
}

fn intake() -> Intake {
    let unit = WorkUnit::parse(WORK_UNIT.as_bytes()).unwrap();
    let manifest = build_c6_manifest(&C6Manifest {
        id: "the-worker/1".into(),
        work_unit: &unit,
        source_revision: "none".into(),
        reference: CandidateReference::Bundle {
            locator: "candidate.zip".into(),
            digest: Digest::of(b"candidate"),
            media_type: None,
        },
        worker: Worker { id: "the-worker".into(), kind: "agent".into(), adapter: "t".into(), adapter_version: None },
        attempt: 1,
        status: "succeeded".into(),
        started_at: NOW,
        finished_at: NOW,
        tool_versions: [].into(),
    })
    .unwrap();
    intake_values(unit.value().clone(), manifest.value().clone(), None).unwrap()
}

/// The parts of an offer, to be spoilt one by one.
struct Parts {
    predicate: serde_json::Value,
    signer: Role,
    work_unit: Vec<u8>,
    offer: Offer,
    subject: Place,
}

fn good() -> Parts {
    let intake = intake();
    let work_unit = envelope(PredicateType::WorkUnit, parse(WORK_UNIT.as_bytes()).unwrap(), Role::Author);
    let handoff = intake.handoff.id();
    let predicate = json!({
        "handoff": intake.handoff.value().to_serde(), "handoff_id": handoff.to_string(),
        "manifest_binding": intake.binding.to_value().to_serde(),
        "work_unit_envelope": Digest::of(&work_unit).to_string(), "policy_digest": Digest::of(b"p").to_string(),
        "trust_version": 1, "panel": 3, "issued_at": NOW.to_string(), "deadline": NOW.plus_seconds(60).to_string(),
    });
    let candidate =
        BlobRef { role: BlobRole::Worker, publisher: "the-worker".into(), sha256: Digest::of(b"candidate"), bytes: 9 };
    let offer = Offer { handoff: Vec::new(), work_unit: Vec::new(), candidate, baseline: None, seat: 1, try_no: 2 };
    let subject = Place::Offer { verifier: "the-verifier".into(), handoff, seat: 1, try_no: 2 };
    Parts { predicate, signer: Role::Coordinator, work_unit, offer, subject }
}

fn open_parts(parts: Parts) -> Result<Task, VerifierdError> {
    let mut offer = parts.offer;
    offer.handoff = envelope(PredicateType::Handoff, parts.predicate.into(), parts.signer);
    offer.work_unit = parts.work_unit;
    let stored = Stored {
        subject: parts.subject.subject().unwrap(),
        sequence: 1,
        received_at: NOW,
        body: offer.to_bytes().unwrap().into(),
    };
    open(&stored, "the-verifier", &trust())
}

#[test]
fn design_4_an_offer_of_a_signed_handoff_is_opened() {
    let task = open_parts(good()).unwrap();
    assert_eq!((task.question.seat, task.question.try_no), (1, 2));
    assert_eq!(task.deadline, NOW.plus_seconds(60));
}

#[test]
fn design_4_nothing_but_a_coordinators_handoff_is_acted_upon() {
    for (role, code) in [(Role::Worker, "wrong_role"), (Role::Verifier, "wrong_role"), (Role::Author, "wrong_role")] {
        assert_eq!(open_parts(Parts { signer: role, ..good() }).unwrap_err().code(), code, "{role:?}");
    }
    let by_worker = envelope(PredicateType::WorkUnit, parse(WORK_UNIT.as_bytes()).unwrap(), Role::Worker);
    assert_eq!(open_parts(Parts { work_unit: by_worker, ..good() }).unwrap_err().code(), "wrong_role");
}

#[test]
fn design_4_what_an_offer_points_at_must_be_what_the_handoff_means() {
    type Spoil = fn(&mut Parts);
    let spoils: [(&str, Spoil); 9] = [
        ("another candidate", |parts| parts.offer.candidate.sha256 = Digest::of(b"other")),
        ("another worker's blob", |parts| parts.offer.candidate.publisher = "somebody".into()),
        ("a verifier's blob", |parts| parts.offer.candidate.role = BlobRole::Verifier),
        ("a baseline that the work unit has not", |parts| {
            parts.offer.baseline = Some(BlobRef { role: BlobRole::Author, ..parts.offer.candidate.clone() });
        }),
        ("another seat in the body", |parts| parts.offer.seat = 0),
        ("another try in the body", |parts| parts.offer.try_no = 1),
        ("another handoff's subject", |parts| {
            parts.subject = Place::Offer {
                verifier: "the-verifier".into(),
                handoff: C1Digest::c1(&"other".into()),
                seat: 1,
                try_no: 2,
            };
        }),
        ("another verifier's subject", |parts| {
            let Place::Offer { verifier, .. } = &mut parts.subject else { unreachable!() };
            "the-other".clone_into(verifier);
        }),
        ("another work unit envelope", |parts| {
            parts.predicate["work_unit_envelope"] = Digest::of(b"other").to_string().into();
        }),
    ];
    for (what, spoil) in spoils {
        let mut parts = good();
        spoil(&mut parts);
        assert_eq!(open_parts(parts).expect_err(what).code(), "offer_refused", "{what}");
    }
}
