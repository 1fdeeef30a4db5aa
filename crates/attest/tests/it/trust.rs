//! What a trust root must be.

use quorum_attest::{AttestError, Entry, Role, TRUST_PAYLOAD_TYPE, TrustDraft, TrustRoot, limits, sign};
use quorum_schemas::{Digest, Timestamp, Value, c1};
use serde_json::json;

use crate::support::{DAY, draft, entry, key, load, sign_draft, time, trust};

/// The payload of a good root as JSON, to be spoiled.
fn payload() -> serde_json::Value {
    let envelope: serde_json::Value = serde_json::from_slice(trust().bytes()).unwrap();
    let payload =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, envelope["payload"].as_str().unwrap());
    serde_json::from_slice(&payload.unwrap()).unwrap()
}

/// Signs any payload with the root key.
fn signed(payload: &serde_json::Value) -> Vec<u8> {
    sign(TRUST_PAYLOAD_TYPE, &c1(&Value::from_serde(payload.clone())), &key(1))
}

fn code(result: Result<TrustRoot, AttestError>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "loaded")
}

#[test]
fn a_root_there_and_back() {
    let mut draft = draft();
    let policies = [Digest::of(b"b"), Digest::of(b"a")];
    for policy in policies {
        draft.admit_policy(policy).unwrap();
        draft.admit_policy(policy).unwrap();
    }
    let verifier =
        entry(Role::Verifier, "zoë/1", 20).with_attribute("operator", "Acme Größe").with_attribute("host", "h");
    draft.add(verifier.clone()).unwrap();
    draft.add(entry(Role::Author, "zoë/1", 21)).unwrap();
    let root = load(&draft, &[1]);
    assert_eq!((root.version(), root.threshold()), (1, 1));
    assert_eq!((root.issued_at(), root.expires_at()), (time(0), time(365 * DAY)));
    assert_eq!(root.by_id(Role::Verifier, "zoë/1"), Some(&verifier));
    assert_eq!(root.by_key(&key(20).public()), Some(&verifier));
    assert_eq!(root.by_key_id(&key(20).public().key_id()), Some(&verifier));
    assert_eq!(root.by_id(Role::Worker, "zoë/1"), None);
    assert_eq!(root.by_key(&key(1).public()), None, "a root key is no entry");
    assert!(policies.iter().all(|policy| root.admits_policy(policy)));
    assert!(!root.admits_policy(&Digest::of(b"c")));
    assert_eq!(root.digest(), Digest::of(root.bytes()));
    assert_eq!(root.signers().collect::<Vec<_>>(), [key(1).public().key_id()]);
    assert_eq!(root.entries().len(), 2);
    assert_eq!(root.policies().len(), 2);
    assert_eq!(root.root_keys(), [key(1).public()]);
}

#[test]
fn the_bytes_do_not_depend_on_the_order_of_editing() {
    let (mut one, mut other) = (draft(), draft());
    let entries: Vec<Entry> = (20..26).map(|seed| entry(Role::Verifier, &format!("v{seed}"), seed)).collect();
    for entry in &entries {
        one.add(entry.clone()).unwrap();
    }
    for entry in entries.iter().rev() {
        other.add(entry.clone()).unwrap();
    }
    assert_eq!(sign_draft(&one, &[1]).unwrap(), sign_draft(&other, &[1]).unwrap());
}

#[test]
fn a_spoiled_payload_is_refused_also_when_the_root_key_signs_it() {
    let other_key = key(50).public().spki_base64();
    let root_key = key(1).public().spki_base64();
    type Spoil = Box<dyn Fn(&mut serde_json::Value)>;
    let set = |pointer: &'static str, value: serde_json::Value| -> Spoil {
        Box::new(move |payload| *payload.pointer_mut(pointer).unwrap() = value.clone())
    };
    let cases: Vec<(&str, Spoil, &str)> = vec![
        ("nothing", Box::new(|_| ()), "loaded"),
        ("unknown member", Box::new(|p| p["extra"] = json!(1)), "schema_invalid"),
        ("unknown member of an entry", Box::new(|p| p["entries"][0]["extra"] = json!(1)), "schema_invalid"),
        ("missing member", Box::new(|p| drop(p.as_object_mut().unwrap().remove("policies"))), "schema_invalid"),
        ("another schema version", set("/schema_version", json!("0.2")), "schema_invalid"),
        ("version 0", set("/version", json!(0)), "schema_invalid"),
        ("version 1.0", set("/version", json!(1.0)), "schema_invalid"),
        ("version over 2^53 - 1", set("/version", json!(1_u64 << 53)), "schema_invalid"),
        ("threshold 0", set("/threshold", json!(0)), "schema_invalid"),
        ("threshold over the keys", set("/threshold", json!(2)), "threshold_invalid"),
        ("no root keys", set("/root_keys", json!([])), "schema_invalid"),
        ("root key twice", set("/root_keys", json!([root_key, root_key])), "schema_invalid"),
        ("root key also an entry", set("/entries/0/public_key", json!(root_key)), "duplicate_public_key"),
        (
            "unsorted root keys",
            Box::new(move |p| {
                let mut keys = [key(1).public(), key(50).public()];
                keys.sort();
                p["root_keys"] = keys.iter().rev().map(|key| key.spki_base64()).collect();
            }),
            "malformed",
        ),
        ("only strangers as root keys", set("/root_keys", json!([other_key])), "threshold_not_met"),
        ("key of another form", set("/entries/0/public_key", json!("AAAA")), "schema_invalid"),
        (
            "weak key",
            set("/entries/0/public_key", json!("MCowBQYDK2VwAyEAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")),
            "weak_key",
        ),
        (
            "non-canonical key",
            set("/entries/0/public_key", json!("MCowBQYDK2VwAyEA7v///////////////////////////////////////38=")),
            "key_not_canonical",
        ),
        ("unknown role", set("/entries/0/role", json!("root")), "schema_invalid"),
        ("role in capitals", set("/entries/0/role", json!("Author")), "schema_invalid"),
        ("empty id", set("/entries/0/id", json!("")), "schema_invalid"),
        ("id of 97 bytes", set("/entries/0/id", json!("x".repeat(97))), "schema_invalid"),
        ("id of 98 bytes in 49 characters", set("/entries/0/id", json!("é".repeat(49))), "id_invalid"),
        ("id with a newline", set("/entries/0/id", json!("a\nb")), "id_invalid"),
        ("unsorted entries", Box::new(|p| p["entries"].as_array_mut().unwrap().reverse()), "malformed"),
        ("time with an offset", set("/expires_at", json!("2026-12-31T00:00:00+01:00")), "malformed"),
        ("time with empty fraction", set("/expires_at", json!("2026-12-31T00:00:00.000Z")), "malformed"),
        ("time without offset", set("/expires_at", json!("2026-12-31T00:00:00")), "schema_invalid"),
        ("expires before issue", set("/expires_at", json!("2025-12-31T00:00:00Z")), "times_inconsistent"),
        ("expires at issue", set("/expires_at", json!("2026-01-01T00:00:00Z")), "times_inconsistent"),
        (
            "valid_until at valid_from",
            set("/entries/0/valid_until", json!("2026-01-01T00:00:00Z")),
            "times_inconsistent",
        ),
        ("null revocation", Box::new(|p| p["entries"][0]["revoked_at"] = json!(null)), "schema_invalid"),
        (
            "compromised after the revocation",
            Box::new(|p| {
                p["entries"][0]["revoked_at"] = json!("2026-02-01T00:00:00Z");
                p["entries"][0]["compromised_since"] = json!("2026-02-02T00:00:00Z");
            }),
            "times_inconsistent",
        ),
        ("attribute a number", set("/entries/0/attributes", json!({"operator": 1})), "schema_invalid"),
        ("attribute empty", set("/entries/0/attributes", json!({"operator": ""})), "schema_invalid"),
        ("attribute with a tab", set("/entries/0/attributes", json!({"operator": "a\tb"})), "attribute_invalid"),
        (
            "attribute over 256 bytes",
            set("/entries/0/attributes", json!({"operator": "é".repeat(200)})),
            "attribute_invalid",
        ),
        ("axis with capitals", set("/entries/0/attributes", json!({"Operator": "x"})), "schema_invalid"),
        (
            "33 attributes",
            set("/entries/0/attributes", (0..33).map(|n| (format!("a{n}"), json!("x"))).collect()),
            "schema_invalid",
        ),
        ("policy without prefix", set("/policies", json!(["ab".repeat(32)])), "schema_invalid"),
        (
            "policy twice",
            set("/policies", json!([Digest::of(b"a").to_string(), Digest::of(b"a").to_string()])),
            "schema_invalid",
        ),
    ];
    for (name, spoil, should) in cases {
        let mut spoiled = payload();
        spoil(&mut spoiled);
        let result = TrustRoot::load(&signed(&spoiled));
        let message = result.as_ref().err().map(ToString::to_string);
        assert_eq!(code(result), should, "{name}: {message:?}");
    }
}

#[test]
fn the_payload_must_be_canonical_bytes() {
    let bytes = c1(&Value::from_serde(payload()));
    assert_eq!(code(TrustRoot::load(&sign(TRUST_PAYLOAD_TYPE, &bytes, &key(1)))), "loaded");
    let spaced = [&bytes[..], b"\n"].concat();
    assert_eq!(code(TrustRoot::load(&sign(TRUST_PAYLOAD_TYPE, &spaced, &key(1)))), "malformed");
    assert_eq!(code(TrustRoot::load(&sign("application/vnd.in-toto+json", &bytes, &key(1)))), "wrong_type");
    assert_eq!(code(TrustRoot::load(&[trust().bytes(), b"\n"].concat())), "malformed");
}

#[test]
fn no_flip_of_any_byte_of_a_root_loads_as_another_root() {
    let mut draft = draft();
    draft.add(entry(Role::Verifier, "v", 20)).unwrap();
    let good = sign_draft(&draft, &[1]).unwrap();
    let mut changed = good.clone();
    for at in 0..good.len() {
        for bit in 0..8 {
            changed[at] = good[at] ^ (1 << bit);
            assert!(TrustRoot::load(&changed).is_err(), "byte {at} bit {bit}");
        }
        changed[at] = good[at];
    }
}

/// A key stands once: under another id, in another role, beside a root key, in whatever encoding it came.
#[test]
fn a_public_key_twice_is_refused() {
    let again = |role: Role, id: &str, public_key| Entry::new(role, id, public_key, time(0), time(DAY));
    let pem = key(20).public().spki_pem().replace('\n', "\r\n");
    let from_pem = quorum_attest::PublicKey::from_spki_pem(&pem).unwrap();
    let cases = [
        ("another id", again(Role::Verifier, "w", key(20).public())),
        ("another role", again(Role::Gate, "v", key(20).public())),
        ("another role and id", again(Role::Worker, "w", key(20).public())),
        ("another encoding", again(Role::Verifier, "w", from_pem)),
        ("a root key", again(Role::Verifier, "w", key(1).public())),
    ];
    for (name, second) in cases {
        let mut draft = draft();
        draft.add(entry(Role::Verifier, "v", 20)).unwrap();
        let error = draft.add(second).unwrap_err();
        assert_eq!(error.code(), "duplicate_public_key", "{name}: {error}");
        assert_eq!(load(&draft, &[1]).entries().len(), 1, "{name}: the draft is unchanged");
    }
    let twice = TrustDraft::new(time(0), time(DAY), 2, vec![key(1).public(), key(1).public()]);
    assert_eq!(sign_draft(&twice, &[1]).unwrap_err().code(), "duplicate_public_key");
}

#[test]
fn an_id_of_a_role_names_one_entry_at_a_time() {
    let mut draft = draft();
    draft.add(entry(Role::Verifier, "v", 20)).unwrap();
    assert_eq!(draft.add(entry(Role::Verifier, "v", 21)).unwrap_err().code(), "duplicate_id");
    draft.add(entry(Role::Gate, "v", 21)).unwrap();
}

#[test]
fn threshold_table() {
    let keys = |count: u8| (1..=count).map(|seed| key(seed).public()).collect::<Vec<_>>();
    let cases: [(&str, u64, u8, &[u8], &str); 14] = [
        ("1 of 1", 1, 1, &[1], "loaded"),
        ("nobody", 1, 1, &[], "threshold_not_met"),
        ("2 of 2", 2, 2, &[1, 2], "loaded"),
        ("2 of 2 by one", 2, 2, &[1], "threshold_not_met"),
        ("2 of 2 by one who signs twice", 2, 2, &[1, 1], "threshold_not_met"),
        ("2 of 3", 2, 3, &[3, 1], "loaded"),
        ("2 of 3 by all", 2, 3, &[3, 2, 1], "loaded"),
        ("3 of 3 by two, one twice", 3, 3, &[1, 2, 2], "threshold_not_met"),
        ("a stranger", 1, 1, &[1, 9], "unknown_signer"),
        ("a stranger alone", 1, 1, &[9], "unknown_signer"),
        ("threshold 0", 0, 1, &[1], "threshold_invalid"),
        ("threshold over the keys", 3, 2, &[1, 2], "threshold_invalid"),
        ("16 of 16", 16, 16, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], "loaded"),
        ("17 keys", 1, 17, &[1], "too_many"),
    ];
    for (name, threshold, count, signers, should) in cases {
        let draft = TrustDraft::new(time(0), time(DAY), threshold, keys(count));
        let result = sign_draft(&draft, signers).and_then(|bytes| TrustRoot::load(&bytes));
        let message = result.as_ref().err().map(ToString::to_string);
        assert_eq!(code(result), should, "{name}: {message:?}");
    }
}

/// One key's signature written twice into the file, also under another key's id, does not make a threshold of two.
#[test]
fn two_signatures_by_one_key_are_one() {
    let draft = TrustDraft::new(time(0), time(DAY), 2, vec![key(1).public(), key(2).public()]);
    let both: serde_json::Value = serde_json::from_slice(&sign_draft(&draft, &[1, 2]).unwrap()).unwrap();
    let ids = [key(1).public().key_id().to_string(), key(2).public().key_id().to_string()];
    let signature_of = |id: &str| {
        let listed = both["signatures"].as_array().unwrap();
        listed.iter().find(|signed| signed["keyid"] == *id).unwrap()["sig"].clone()
    };
    let load = |signatures: Vec<serde_json::Value>| {
        let mut file = both.clone();
        file["signatures"] = signatures.into();
        code(TrustRoot::load(&c1(&Value::from_serde(file))))
    };
    let signed = |keyid: &str, sig: serde_json::Value| json!({"keyid": keyid, "sig": sig});
    let mut sorted = ids.clone();
    sorted.sort();
    let genuine = |id: &str| signed(id, signature_of(id));
    assert_eq!(load(sorted.iter().map(|id| genuine(id)).collect()), "loaded");
    assert_eq!(load(sorted.iter().rev().map(|id| genuine(id)).collect()), "malformed", "not in order");
    assert_eq!(load(vec![genuine(&ids[0])]), "threshold_not_met");
    assert_eq!(load(vec![genuine(&ids[0]), genuine(&ids[0])]), "malformed", "the same twice");
    let lent: Vec<_> = sorted.iter().map(|id| signed(id, signature_of(&ids[0]))).collect();
    assert_eq!(load(lent), "bad_signature", "lent to another id");
    let mut alias = [genuine(&ids[0]), signed(&"ab".repeat(32), signature_of(&ids[0]))];
    alias.sort_by_key(|signed| signed["keyid"].to_string());
    assert_eq!(load(alias.to_vec()), "threshold_not_met", "an id of nobody");
    let many: Vec<_> = (0..17_u8).map(|n| signed(&format!("{n:02x}").repeat(32), signature_of(&ids[0]))).collect();
    assert_eq!(load(many), "malformed", "17 signatures");
}

#[test]
fn currency_table() {
    let root = trust();
    let micro = |time: Timestamp, micros: i64| Timestamp::from_micros(time.micros() + micros);
    let cases = [
        (micro(time(0), -1), "trust_root_not_yet_valid"),
        (time(0), "current"),
        (micro(time(365 * DAY), -1), "current"),
        (time(365 * DAY), "trust_root_expired"),
        (time(366 * DAY), "trust_root_expired"),
    ];
    for (now, should) in cases {
        let found = root.check_current(now).map_or_else(|error| error.code(), |()| "current");
        assert_eq!(found, should, "{now}");
    }
}

#[test]
fn the_longest_validity_there_and_back() {
    let mut draft = TrustDraft::new(Timestamp::MIN, Timestamp::MAX, 1, vec![key(1).public()]);
    let mut long = entry(Role::Verifier, "v", 20);
    (long.valid_from, long.valid_until) = (Timestamp::MIN, Timestamp::MAX);
    draft.add(long.clone()).unwrap();
    assert_eq!(load(&draft, &[1]).by_id(Role::Verifier, "v"), Some(&long));
}

#[test]
fn the_largest_root_loads_and_one_entry_more_does_not() {
    let build = |count: usize| {
        let mut entries = Vec::with_capacity(count);
        for n in 0..count {
            let mut seed = [0; 32];
            seed[..8].copy_from_slice(&(n as u64 + 1).to_le_bytes());
            let public = quorum_attest::SigningKey::from_seed(&seed).public();
            entries.push(Entry::new(Role::Verifier, format!("v{n:05}"), public, time(0), time(DAY)));
        }
        entries
    };
    let mut draft = draft();
    draft.add_all(build(limits::TRUST_ENTRIES)).unwrap();
    assert_eq!(load(&draft, &[1]).entries().len(), limits::TRUST_ENTRIES);
    assert_eq!(draft.add(entry(Role::Verifier, "one more", 250)).unwrap_err().code(), "too_many");
}
