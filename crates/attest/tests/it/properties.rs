//! What holds for every document.

use proptest::prelude::*;
use quorum_attest::{
    Entry, Envelope, PAYLOAD_TYPE, PredicateType, Role, SigningKey, Statement, Subject, TrustDraft, TrustRoot,
    authenticate, sign,
};
use quorum_schemas::{Digest, Value};

use crate::support::{DAY, key, seed, time, trust};

fn predicates() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        any::<String>().prop_map(Value::String),
    ];
    let inner = leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Value::Object),
        ]
    });
    prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Value::Object)
}

fn statements() -> impl Strategy<Value = Statement> {
    let subject = ("[^\u{0}]{1,20}", any::<[u8; 32]>(), any::<bool>()).prop_map(|(name, bytes, commit)| {
        let digest: Digest = Digest::from_bytes(bytes);
        if commit { Subject::git_commit(name, &digest.hex()[..40]) } else { Subject::sha256(name, digest) }
    });
    (prop::collection::vec(subject, 1..4), prop::sample::select(PredicateType::ALL.to_vec()), predicates())
        .prop_map(|(subject, predicate_type, predicate)| Statement { subject, predicate_type, predicate })
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let one = (
        prop::sample::select(Role::ALL.to_vec()),
        "[a-zé/ ]{1,12}",
        prop::collection::btree_map("[a-z][a-z0-9_]{0,8}", "[^\\p{Cc}]{1,12}", 0..5),
        prop::option::of(0..90 * DAY),
        prop::option::of(0..90 * DAY),
    );
    prop::collection::vec(one, 0..6).prop_map(|list| {
        let mut entries: Vec<Entry> = Vec::new();
        for (n, (role, id, attributes, retired, revoked)) in list.into_iter().enumerate() {
            let public = key(u8::try_from(n).unwrap() + 100).public();
            let mut entry = Entry::new(role, format!("{id}{n}"), public, time(0), time(100 * DAY));
            entry.attributes = attributes;
            entry.retired_at = retired.map(time);
            entry.revoked_at = revoked.map(time);
            entry.compromised_since = revoked.map(|at| time(at / 2));
            entries.push(entry);
        }
        entries
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_signed_is_what_is_read(statement in statements(), seed in any::<[u8; 32]>()) {
        let signer = SigningKey::from_seed(&seed);
        let bytes = sign(PAYLOAD_TYPE, &statement.to_bytes(), &signer);
        let envelope = Envelope::parse(&bytes).unwrap();
        prop_assert_eq!(envelope.bytes(), &bytes[..]);
        prop_assert_eq!(envelope.key_id(), signer.public().key_id());
        prop_assert_eq!(Statement::parse(envelope.payload()).unwrap().to_bytes(), statement.to_bytes());
    }

    #[test]
    fn only_the_allowed_role_is_authentic(
        statement in statements(),
        role in prop::sample::select(Role::ALL.to_vec()),
        expected in prop::sample::select(PredicateType::ALL.to_vec()),
        at in -10..110 * DAY,
    ) {
        let bytes = sign(PAYLOAD_TYPE, &statement.to_bytes(), &key(seed(role)));
        static TRUST: std::sync::OnceLock<TrustRoot> = std::sync::OnceLock::new();
        let trust = TRUST.get_or_init(trust);
        let result = authenticate(&Envelope::parse(&bytes).unwrap(), trust, expected, time(at));
        let should = statement.predicate_type == expected
            && expected.allowed_roles().contains(&role)
            && (0..100 * DAY).contains(&at);
        prop_assert_eq!(result.is_ok(), should);
    }

    #[test]
    fn nothing_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), text in any::<String>()) {
        let _ = Envelope::parse(&bytes);
        let _ = TrustRoot::load(&bytes);
        let _ = Statement::parse(&bytes);
        let _ = SigningKey::from_pkcs8_pem(&text);
        let _ = quorum_attest::PublicKey::from_spki_pem(&text);
        let _ = quorum_attest::PublicKey::from_spki_base64(&text);
        if let Ok(bytes) = <[u8; 32]>::try_from(&bytes[..bytes.len().min(32)])
            && let Ok(key) = quorum_attest::PublicKey::from_bytes(bytes)
        {
            prop_assert_eq!(quorum_attest::PublicKey::from_spki_base64(&key.spki_base64()).unwrap(), key);
        }
    }

    #[test]
    fn keys_survive_pem(seed in any::<[u8; 32]>()) {
        let signer = SigningKey::from_seed(&seed);
        let read = SigningKey::from_pkcs8_pem(&signer.to_pkcs8_pem()).unwrap();
        prop_assert_eq!(read.public(), signer.public());
        prop_assert_eq!(quorum_attest::PublicKey::from_spki_pem(&signer.public().spki_pem()).unwrap(), signer.public());
    }

    #[test]
    fn trust_roots_there_and_back(list in entries(), policies in prop::collection::btree_set(any::<[u8; 32]>(), 0..4)) {
        let mut draft = TrustDraft::new(time(0), time(DAY), 1, vec![key(1).public()]);
        for entry in &list {
            draft.add(entry.clone()).unwrap();
        }
        for policy in &policies {
            draft.admit_policy(Digest::from_bytes(*policy)).unwrap();
        }
        let bytes = draft.sign(&[&key(1)]).unwrap();
        let root = TrustRoot::load(&bytes).unwrap();
        prop_assert_eq!(root.bytes(), &bytes[..]);
        prop_assert_eq!(root.entries().len(), list.len());
        for entry in &list {
            prop_assert_eq!(root.by_key(&entry.public_key), Some(entry));
            prop_assert_eq!(root.by_id(entry.role, &entry.id), Some(entry));
        }
        prop_assert!(policies.iter().all(|policy| root.admits_policy(&Digest::from_bytes(*policy))));
    }
}
