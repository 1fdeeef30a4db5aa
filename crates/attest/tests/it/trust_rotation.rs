//! From one version to the next.

use quorum_attest::{AttestError, Revocation, Role, TrustDraft, TrustRoot};
use quorum_schemas::{Digest, Timestamp};

use crate::support::{DAY, entry, key, load, sign_draft, time, trust};

fn next(root: &TrustRoot) -> TrustDraft {
    let mut draft = TrustDraft::from(root);
    draft.next_version(time(DAY), time(400 * DAY));
    draft
}

fn publics(seeds: &[u8]) -> Vec<quorum_attest::PublicKey> {
    seeds.iter().map(|seed| key(*seed).public()).collect()
}

fn code(result: Result<TrustRoot, AttestError>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "accepted")
}

#[test]
fn a_successor_keeps_what_was_not_changed() {
    let first = trust();
    let mut draft = next(&first);
    draft.add(entry(Role::Verifier, "verifier-2", 40).with_attribute("operator", "b")).unwrap();
    draft.admit_policy(Digest::of(b"p")).unwrap();
    let second = first.accept_successor(&sign_draft(&draft, &[1]).unwrap()).unwrap();
    assert_eq!(second.version(), 2);
    assert_eq!((second.issued_at(), second.expires_at()), (time(DAY), time(400 * DAY)));
    assert_eq!(second.entries().len(), first.entries().len() + 1);
    assert!(first.entries().iter().all(|entry| second.by_key(&entry.public_key) == Some(entry)));
    assert!(second.admits_policy(&Digest::of(b"p")));
    let mut third = next(&second);
    assert!(third.withdraw_policy(&Digest::of(b"p")));
    assert!(!third.withdraw_policy(&Digest::of(b"p")));
    let third = second.accept_successor(&sign_draft(&third, &[1]).unwrap()).unwrap();
    assert!(!third.admits_policy(&Digest::of(b"p")));
    assert_eq!(code(first.accept_successor(third.bytes())), "version_not_successor", "a version skipped");
    assert_eq!(code(third.accept_successor(second.bytes())), "version_not_successor", "rollback");
    assert_eq!(code(third.accept_successor(third.bytes())), "version_not_successor", "the same again");
}

/// Root keys 1, 2, 3 with threshold 2 hand over to 3, 4, 5 with threshold 2.
#[test]
fn rotation_needs_a_threshold_of_old_and_of_new() {
    let first = load(&TrustDraft::new(time(0), time(DAY * 9), 2, publics(&[1, 2, 3])), &[1, 2]);
    let mut draft = next(&first);
    draft.set_root_keys(2, publics(&[3, 4, 5])).unwrap();
    let cases: [(&str, &[u8], &str); 9] = [
        ("two old, two new", &[1, 2, 4, 5], "accepted"),
        ("one is both", &[1, 3, 4], "accepted"),
        ("all", &[1, 2, 3, 4, 5], "accepted"),
        ("only old", &[1, 2], "threshold_not_met"),
        ("only new", &[4, 5], "threshold_not_met"),
        ("two old, one new", &[1, 2, 4], "threshold_not_met"),
        ("one old, two new", &[1, 4, 5], "threshold_not_met"),
        ("one old twice", &[1, 1, 4, 5], "threshold_not_met"),
        ("a stranger", &[1, 2, 4, 5, 9], "unknown_signer"),
    ];
    for (name, signers, should) in cases {
        let result = sign_draft(&draft, signers).and_then(|bytes| first.accept_successor(&bytes));
        assert_eq!(code(result), should, "{name}");
    }
}

/// What a reader of the old root sees of a version 2 that its signers made as if it stood alone.
#[test]
fn a_second_root_of_other_people_is_no_successor() {
    let first = trust();
    let mut usurper = TrustDraft::new(time(0), time(DAY), 1, publics(&[9]));
    usurper.next_version(time(0), time(DAY));
    let bytes = sign_draft(&usurper, &[9]).unwrap();
    assert_eq!(TrustRoot::load(&bytes).unwrap().version(), 2, "it is a good root for who trusts key 9");
    assert_eq!(code(first.accept_successor(&bytes)), "threshold_not_met");
}

#[test]
fn a_spoiled_signature_of_an_old_key_refuses_the_successor() {
    let first = load(&TrustDraft::new(time(0), time(DAY * 9), 1, publics(&[1])), &[1]);
    let mut draft = next(&first);
    draft.set_root_keys(1, publics(&[2])).unwrap();
    let bytes = sign_draft(&draft, &[1, 2]).unwrap();
    let mut file: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let old = key(1).public().key_id().to_string();
    let signatures = file["signatures"].as_array_mut().unwrap();
    let new_signature = signatures.iter().find(|signed| signed["keyid"] != *old).unwrap()["sig"].clone();
    signatures.iter_mut().find(|signed| signed["keyid"] == *old).unwrap()["sig"] = new_signature;
    let spoiled = quorum_schemas::c1(&quorum_schemas::Value::from_serde(file));
    assert!(TrustRoot::load(&spoiled).is_ok(), "load looks at the root's own keys");
    assert_eq!(code(first.accept_successor(&spoiled)), "bad_signature");
}

#[test]
fn revocation_only_gets_stricter() {
    let first = trust();
    let at = |seconds: i64, since: Option<i64>| Revocation { at: time(seconds), compromised_since: since.map(time) };
    let mut draft = next(&first);
    let revoke = |draft: &mut TrustDraft, revocation| {
        draft.revoke((Role::Verifier, "verifier-1"), None, revocation).map_or_else(|error| error.code(), |()| "revoked")
    };
    let cases = [
        ("first", at(100, Some(50)), "revoked"),
        ("the same", at(100, Some(50)), "revoked"),
        ("later", at(101, Some(50)), "revocation_weakened"),
        ("compromise later", at(100, Some(51)), "revocation_weakened"),
        ("compromise forgotten", at(100, None), "revocation_weakened"),
        ("compromised after the revocation", at(40, Some(50)), "times_inconsistent"),
        ("both earlier", at(90, Some(40)), "revoked"),
    ];
    for (name, revocation, should) in cases {
        assert_eq!(revoke(&mut draft, revocation), should, "{name}");
    }
    let second = first.accept_successor(&sign_draft(&draft, &[1]).unwrap()).unwrap();
    let verifier = second.by_id(Role::Verifier, "verifier-1").unwrap();
    assert_eq!((verifier.revoked_at, verifier.compromised_since), (Some(time(90)), Some(time(40))));
}

#[test]
fn retiring_is_not_revoking() {
    let first = trust();
    let mut draft = next(&first);
    draft.retire((Role::Worker, "worker-1"), None, time(5 * DAY)).unwrap();
    let second = first.accept_successor(&sign_draft(&draft, &[1]).unwrap()).unwrap();
    let worker = second.by_id(Role::Worker, "worker-1").unwrap();
    assert_eq!((worker.retired_at, worker.revoked_at), (Some(time(5 * DAY)), None));
    let before = Timestamp::from_micros(time(5 * DAY).micros() - 1);
    assert!(worker.check_valid(before).is_ok() && worker.check_valid(time(5 * DAY)).is_err());
}

#[test]
fn an_unknown_entry_is_named_with_the_nearest() {
    let mut draft = next(&trust());
    let revocation = Revocation { at: time(1), compromised_since: None };
    let error = draft.revoke((Role::Verifier, "verifer-1"), None, revocation).unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry_unknown: the trust root has no verifier `verifer-1`; did you mean `verifier-1`?"
    );
    let error = draft.retire((Role::Gate, "nobody at all"), None, time(1)).unwrap_err();
    assert_eq!(error.to_string(), "entry_unknown: the trust root has no gate `nobody at all`");
}

#[test]
fn a_draft_of_a_root_cannot_be_signed_under_the_same_version() {
    let first = trust();
    assert_eq!(sign_draft(&TrustDraft::from(&first), &[1]).unwrap_err().code(), "version_not_successor");
    let mut draft = next(&first);
    draft.next_version(time(DAY), time(2 * DAY));
    assert_eq!(draft.version(), 2, "next_version counts from the root");
}

/// A signature that nobody can check has no place in a successor, whatever it says.
#[test]
fn a_successor_with_a_signature_of_a_stranger_is_refused() {
    use base64::Engine as _;
    let first = trust();
    let good = sign_draft(&next(&first), &[1]).unwrap();
    let mut file: serde_json::Value = serde_json::from_slice(&good).unwrap();
    let payload = base64::engine::general_purpose::STANDARD.decode(file["payload"].as_str().unwrap()).unwrap();
    let strange = quorum_attest::sign(quorum_attest::TRUST_PAYLOAD_TYPE, &payload, &key(9));
    let strange: serde_json::Value = serde_json::from_slice(&strange).unwrap();
    let signatures = file["signatures"].as_array_mut().unwrap();
    signatures.push(strange["signatures"][0].clone());
    signatures.sort_by_key(|signed| signed["keyid"].to_string());
    let both = quorum_schemas::c1(&quorum_schemas::Value::from_serde(file));
    assert_eq!(code(first.accept_successor(&good)), "accepted");
    assert!(TrustRoot::load(&both).is_ok(), "alone it may be of an older root");
    assert_eq!(code(first.accept_successor(&both)), "unknown_signer");
}
