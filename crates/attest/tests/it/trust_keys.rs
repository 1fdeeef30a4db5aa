//! Keys of one id that follow each other, in every role.

use quorum_attest::{AttestError, KeyId, PredicateType, Revocation, Role, TrustDraft, TrustRoot, authenticate};
use quorum_schemas::Timestamp;

use crate::support::{DAY, draft, entry, envelope, key, load, seed, sign_draft, time, trust};

fn next(root: &TrustRoot, edit: impl FnOnce(&mut TrustDraft) -> Result<(), AttestError>) -> TrustRoot {
    let mut draft = TrustDraft::from(root);
    draft.next_version(time(DAY), time(400 * DAY));
    edit(&mut draft).unwrap();
    root.accept_successor(&sign_draft(&draft, &[1]).unwrap()).unwrap()
}

/// What a role's key signs in these tests.
fn signs(role: Role) -> PredicateType {
    match role {
        Role::Author => PredicateType::WorkUnit,
        Role::Worker => PredicateType::ResultManifest,
        Role::Coordinator => PredicateType::Handoff,
        Role::Verifier => PredicateType::Evidence,
        Role::Gate => PredicateType::Decision,
    }
}

fn verdict(root: &TrustRoot, role: Role, seed: u8, at: Timestamp) -> &'static str {
    let bytes = envelope(signs(role), &key(seed));
    let envelope = quorum_attest::Envelope::parse(&bytes).unwrap();
    authenticate(&envelope, root, signs(role), at).map_or_else(|error| error.code(), |_| "authentic")
}

#[test]
fn a_key_of_every_role_is_rotated_and_old_documents_stay_what_they_were() {
    let root = trust();
    let rotation = time(5 * DAY);
    let before = Timestamp::from_micros(rotation.micros() - 1);
    for role in Role::ALL {
        let (old, new) = (seed(role), 60 + seed(role));
        let id = format!("{role}-1");
        let rotated =
            next(&root, |draft| draft.replace_key((role, &id), key(new).public(), (rotation, time(100 * DAY)), None));
        assert_eq!(verdict(&root, role, new, rotation), "unknown_signer", "{role}: nobody knows the new key yet");
        let cases = [
            (old, before, "authentic"),
            (old, rotation, "key_not_valid_then"),
            (new, before, "key_not_valid_then"),
            (new, rotation, "authentic"),
        ];
        for (seed, at, should) in cases {
            assert_eq!(verdict(&rotated, role, seed, at), should, "{role}: key {seed} at {at}");
        }
        let at = |at| rotated.by_id_at(role, &id, at).map(|entry| entry.public_key);
        assert_eq!((at(before), at(rotation)), (Some(key(old).public()), Some(key(new).public())), "{role}");
        assert_eq!(rotated.by_id(role, &id).unwrap().public_key, key(new).public(), "{role}: the newest");
        assert_eq!(rotated.all_by_id(role, &id).len(), 2, "{role}");
    }
}

#[test]
fn a_compromised_key_is_replaced_in_one_version_and_keeps_its_attributes() {
    let mut draft = draft();
    draft.add(entry(Role::Verifier, "v", 20).with_attribute("operator", "acme")).unwrap();
    let root = load(&draft, &[1]);
    let revocation = Revocation { at: time(5 * DAY), compromised_since: Some(time(3 * DAY)) };
    let rotated = next(&root, |draft| {
        let (key, span) = (key(21).public(), (time(5 * DAY), time(50 * DAY)));
        draft.replace_key((Role::Verifier, "v"), key, span, Some(revocation))
    });
    let [old, new] = rotated.all_by_id(Role::Verifier, "v") else { panic!("two keys") };
    assert_eq!(
        (old.revoked_at, old.compromised_since, old.retired_at),
        (Some(time(5 * DAY)), Some(time(3 * DAY)), None)
    );
    assert_eq!((new.revoked_at, new.compromised_since, new.retired_at), (None, None, None));
    assert_eq!(old.attributes, new.attributes);
    assert_eq!(verdict(&rotated, Role::Verifier, 20, time(5 * DAY)), "key_revoked");
}

#[test]
fn an_id_never_has_two_keys_at_one_time() {
    let id = (Role::Verifier, "verifier-1");
    let try_entry = |from: i64, until: i64| {
        let mut draft = TrustDraft::from(&trust());
        draft.next_version(time(DAY), time(400 * DAY));
        draft.retire(id, None, time(5 * DAY)).unwrap();
        let mut second = entry(Role::Verifier, "verifier-1", 30);
        (second.valid_from, second.valid_until) = (time(from), time(until));
        draft.add(second).map_or_else(|error| error.code(), |()| "added")
    };
    for (from, until, should) in [
        (5 * DAY, 9 * DAY, "added"),
        (5 * DAY - 1, 9 * DAY, "duplicate_id"),
        (6 * DAY, 9 * DAY, "added"),
        (-DAY, 0, "added"),
        (-DAY, 1, "duplicate_id"),
        (DAY, 2 * DAY, "duplicate_id"),
        (-DAY, 9 * DAY, "duplicate_id"),
    ] {
        assert_eq!(try_entry(from, until), should, "{from} to {until}");
    }
    // Moving the end of the first later would make them overlap.
    let mut draft = TrustDraft::from(&trust());
    draft.next_version(time(DAY), time(400 * DAY));
    draft.replace_key(id, key(30).public(), (time(5 * DAY), time(9 * DAY)), None).unwrap();
    let old = key(seed(Role::Verifier)).public().key_id();
    let retire = |draft: &mut TrustDraft, key: Option<KeyId>, at: i64| {
        draft.retire(id, key, time(at)).map_or_else(|error| error.code(), |()| "retired")
    };
    assert_eq!(retire(&mut draft, Some(old), 6 * DAY), "duplicate_id");
    assert_eq!(retire(&mut draft, Some(old), 4 * DAY), "retired");
    assert_eq!(retire(&mut draft, None, 6 * DAY), "retired", "the newest key is meant");
    assert_eq!(retire(&mut draft, Some(key(99).public().key_id()), 6 * DAY), "entry_unknown");
}

#[test]
fn replacing_refuses_what_adding_refuses() {
    let id = (Role::Verifier, "verifier-1");
    let replace = |public, at: i64, until: i64| {
        let mut draft = TrustDraft::from(&trust());
        draft.next_version(time(DAY), time(400 * DAY));
        let done = draft.replace_key(id, public, (time(at), time(until)), None);
        done.map_or_else(|error| error.code(), |()| "replaced")
    };
    assert_eq!(replace(key(30).public(), 5 * DAY, 9 * DAY), "replaced");
    assert_eq!(replace(key(seed(Role::Verifier)).public(), 5 * DAY, 9 * DAY), "duplicate_public_key");
    assert_eq!(replace(key(seed(Role::Worker)).public(), 5 * DAY, 9 * DAY), "duplicate_public_key");
    assert_eq!(replace(key(1).public(), 5 * DAY, 9 * DAY), "duplicate_public_key", "a root key");
    assert_eq!(replace(key(30).public(), 5 * DAY, 5 * DAY), "times_inconsistent");
    let mut draft = TrustDraft::from(&trust());
    let unknown = draft.replace_key((Role::Verifier, "nobody"), key(30).public(), (time(0), time(1)), None);
    assert_eq!(unknown.unwrap_err().code(), "entry_unknown");
}
