//! Keys, times and trust roots for the tests.

use quorum_attest::{
    Entry, PAYLOAD_TYPE, PredicateType, Role, SigningKey, Statement, Subject, TrustDraft, TrustRoot, sign,
};
use quorum_schemas::{Digest, Timestamp, Value};

pub(crate) fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

/// 2026-01-01 and some seconds.
pub(crate) fn time(seconds: i64) -> Timestamp {
    "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap().plus_seconds(seconds)
}

pub(crate) const DAY: i64 = 86_400;

/// Seed of the key of each role in [`trust`].
pub(crate) fn seed(role: Role) -> u8 {
    match role {
        Role::Author => 11,
        Role::Worker => 12,
        Role::Coordinator => 13,
        Role::Verifier => 14,
        Role::Gate => 15,
    }
}

pub(crate) fn entry(role: Role, id: &str, seed: u8) -> Entry {
    Entry::new(role, id, key(seed).public(), time(0), time(100 * DAY))
}

/// Version 1 with one root key (seed 1), threshold 1, without entries.
pub(crate) fn draft() -> TrustDraft {
    TrustDraft::new(time(0), time(365 * DAY), 1, vec![key(1).public()])
}

/// One entry of each role.
pub(crate) fn trust() -> TrustRoot {
    let mut draft = draft();
    for role in Role::ALL {
        draft.add(entry(role, &format!("{role}-1"), seed(role))).unwrap();
    }
    load(&draft, &[1])
}

/// One verifier entry, changed by `change`.
pub(crate) fn trust_with(change: impl FnOnce(&mut Entry)) -> TrustRoot {
    let mut draft = draft();
    let mut verifier = entry(Role::Verifier, "verifier-1", seed(Role::Verifier));
    change(&mut verifier);
    draft.add(verifier).unwrap();
    load(&draft, &[1])
}

pub(crate) fn load(draft: &TrustDraft, seeds: &[u8]) -> TrustRoot {
    TrustRoot::load(&sign_draft(draft, seeds).unwrap()).unwrap()
}

pub(crate) fn sign_draft(draft: &TrustDraft, seeds: &[u8]) -> Result<Vec<u8>, quorum_attest::AttestError> {
    let keys: Vec<SigningKey> = seeds.iter().map(|seed| key(*seed)).collect();
    draft.sign(&keys.iter().collect::<Vec<_>>())
}

pub(crate) fn statement(predicate_type: PredicateType) -> Statement {
    Statement {
        subject: vec![Subject::sha256("candidate", Digest::of(b"candidate"))],
        predicate_type,
        predicate: Value::from_serde(serde_json::json!({"n": 1, "text": "café"})),
    }
}

pub(crate) fn envelope(predicate_type: PredicateType, signer: &SigningKey) -> Vec<u8> {
    sign(PAYLOAD_TYPE, &statement(predicate_type).to_bytes(), signer)
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "odd hex: {text}");
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

pub(crate) fn unhex32(text: &str) -> [u8; 32] {
    unhex(text).try_into().unwrap()
}
