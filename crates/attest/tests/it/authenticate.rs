//! Role, type, signature and time of an envelope.

use quorum_attest::{
    Entry, Envelope, PAYLOAD_TYPE, PredicateType, Role, TRUST_PAYLOAD_TYPE, TrustRoot, authenticate, sign,
};
use quorum_schemas::Timestamp;

use crate::support::{DAY, envelope, key, seed, statement, time, trust, trust_with};

fn code(bytes: &[u8], trust: &TrustRoot, expected: PredicateType, at: Timestamp) -> &'static str {
    match Envelope::parse(bytes).and_then(|envelope| authenticate(&envelope, trust, expected, at)) {
        Ok(_) => "authentic",
        Err(error) => error.code(),
    }
}

/// Design section 4, written out: rows predicate types, columns author, worker, coordinator, verifier, gate.
const MAY_SIGN: [(PredicateType, [bool; 5]); 6] = [
    (PredicateType::WorkUnit, [true, false, false, false, false]),
    (PredicateType::ResultManifest, [false, true, false, false, false]),
    (PredicateType::Handoff, [false, false, true, false, false]),
    (PredicateType::Evidence, [false, false, false, true, false]),
    (PredicateType::Decision, [false, false, true, false, true]),
    (PredicateType::Vsa, [false, false, true, false, true]),
];

#[test]
fn role_table_signed_by_every_role_expected_as_every_type() {
    let trust = trust();
    for (signed_as, may) in MAY_SIGN {
        for (role, allowed) in Role::ALL.into_iter().zip(may) {
            let bytes = envelope(signed_as, &key(seed(role)));
            for expected in PredicateType::ALL {
                let should = match (signed_as == expected, allowed) {
                    (false, _) => "wrong_type",
                    (true, false) => "wrong_role",
                    (true, true) => "authentic",
                };
                assert_eq!(code(&bytes, &trust, expected, time(1)), should, "{role} {signed_as} as {expected}");
            }
        }
    }
}

#[test]
fn authentic_tells_what_was_checked() {
    let trust = trust();
    let bytes = envelope(PredicateType::Evidence, &key(seed(Role::Verifier)));
    let parsed = Envelope::parse(&bytes).unwrap();
    let authentic = authenticate(&parsed, &trust, PredicateType::Evidence, time(7)).unwrap();
    assert_eq!(authentic.envelope(), parsed.digest());
    assert_eq!(authentic.statement(), &statement(PredicateType::Evidence));
    assert_eq!(authentic.predicate(), &statement(PredicateType::Evidence).predicate);
    assert_eq!(authentic.signer(), trust.by_id(Role::Verifier, "verifier-1").unwrap());
    assert_eq!(authentic.received_at(), time(7));
}

/// The worker's own "evidence", sent through a verifier's credentials.
#[test]
fn evidence_signed_by_the_worker_is_wrong_role() {
    let bytes = envelope(PredicateType::Evidence, &key(seed(Role::Worker)));
    let error =
        authenticate(&Envelope::parse(&bytes).unwrap(), &trust(), PredicateType::Evidence, time(1)).unwrap_err();
    assert_eq!(error.to_string(), "wrong_role: worker `worker-1` may not sign urn:idkmesh-quorum:evidence:v0.1");
}

#[test]
fn unknown_signers() {
    for (name, stranger) in [("no entry", key(99)), ("a root key", key(1))] {
        let bytes = envelope(PredicateType::Evidence, &stranger);
        assert_eq!(code(&bytes, &trust(), PredicateType::Evidence, time(1)), "unknown_signer", "{name}");
    }
}

/// A signature of one key under the key id of another.
#[test]
fn borrowed_key_ids_do_not_verify() {
    let (mallory, verifier) = (key(99).public().key_id(), key(seed(Role::Verifier)).public().key_id());
    let bytes = String::from_utf8(envelope(PredicateType::Evidence, &key(99))).unwrap();
    let borrowed = bytes.replace(&mallory.to_string(), &verifier.to_string());
    assert_eq!(code(borrowed.as_bytes(), &trust(), PredicateType::Evidence, time(1)), "bad_signature");
}

/// The same bytes signed under another payload type, then relabelled.
#[test]
fn a_signature_for_another_payload_type_does_not_carry_over() {
    let signer = key(seed(Role::Verifier));
    let payload = statement(PredicateType::Evidence).to_bytes();
    for other in ["application/json", "", TRUST_PAYLOAD_TYPE] {
        let bytes = sign(other, &payload, &signer);
        assert_eq!(code(&bytes, &trust(), PredicateType::Evidence, time(1)), "wrong_type", "{other}");
        let relabelled = String::from_utf8(bytes)
            .unwrap()
            .replace(&format!("\"payloadType\":\"{other}\""), &format!("\"payloadType\":\"{PAYLOAD_TYPE}\""));
        assert_eq!(code(relabelled.as_bytes(), &trust(), PredicateType::Evidence, time(1)), "bad_signature", "{other}");
    }
    assert_eq!(code(trust().bytes(), &trust(), PredicateType::Evidence, time(1)), "wrong_type", "a trust root");
}

#[test]
fn a_payload_that_is_no_statement_is_malformed() {
    let signer = key(seed(Role::Verifier));
    for payload in [b"".as_slice(), b"{}", b"\xff", b"{\"_type\":1}"] {
        let bytes = sign(PAYLOAD_TYPE, payload, &signer);
        assert_eq!(code(&bytes, &trust(), PredicateType::Evidence, time(1)), "malformed");
    }
}

type Change = fn(&mut Entry);

#[test]
fn time_table_of_one_key() {
    let plain: Change = |_| ();
    let retired: Change = |entry| entry.retired_at = Some(time(10 * DAY));
    let revoked: Change = |entry| entry.revoked_at = Some(time(10 * DAY));
    let compromised: Change = |entry| {
        entry.compromised_since = Some(time(5 * DAY));
        entry.revoked_at = Some(time(10 * DAY));
    };
    let only_compromised: Change = |entry| entry.compromised_since = Some(time(5 * DAY));
    let revoked_at_once: Change = |entry| entry.revoked_at = Some(time(0));
    let retired_then_revoked: Change = |entry| {
        entry.retired_at = Some(time(10 * DAY));
        entry.revoked_at = Some(time(20 * DAY));
    };
    let micro = |seconds: i64, micros: i64| Timestamp::from_micros(time(seconds).micros() + micros);
    let cases: [(&str, Change, Timestamp, &str); 21] = [
        ("a microsecond before valid_from", plain, micro(0, -1), "key_not_valid_then"),
        ("at valid_from", plain, time(0), "authentic"),
        ("a microsecond before valid_until", plain, micro(100 * DAY, -1), "authentic"),
        ("at valid_until", plain, time(100 * DAY), "key_not_valid_then"),
        ("a microsecond before retired_at", retired, micro(10 * DAY, -1), "authentic"),
        ("at retired_at", retired, time(10 * DAY), "key_not_valid_then"),
        ("after retired_at", retired, micro(10 * DAY, 1), "key_not_valid_then"),
        ("a microsecond before revoked_at", revoked, micro(10 * DAY, -1), "authentic"),
        ("at revoked_at", revoked, time(10 * DAY), "key_revoked"),
        ("after revoked_at", revoked, micro(10 * DAY, 1), "key_revoked"),
        ("before compromised_since", compromised, micro(5 * DAY, -1), "authentic"),
        ("at compromised_since", compromised, time(5 * DAY), "authentic"),
        ("between compromised_since and revoked_at", compromised, micro(10 * DAY, -1), "authentic"),
        ("compromised, at revoked_at", compromised, time(10 * DAY), "key_revoked"),
        ("compromised without revocation", only_compromised, time(50 * DAY), "authentic"),
        ("revoked at once, before validity", revoked_at_once, micro(0, -1), "key_not_valid_then"),
        ("revoked at once", revoked_at_once, time(0), "key_revoked"),
        ("revoked and past valid_until", revoked, time(100 * DAY), "key_not_valid_then"),
        ("retired and revoked, before both", retired_then_revoked, micro(10 * DAY, -1), "authentic"),
        ("retired and revoked, between", retired_then_revoked, time(15 * DAY), "key_not_valid_then"),
        ("retired and revoked, after both", retired_then_revoked, time(20 * DAY), "key_not_valid_then"),
    ];
    let bytes = envelope(PredicateType::Evidence, &key(seed(Role::Verifier)));
    for (name, change, at, should) in cases {
        assert_eq!(code(&bytes, &trust_with(change), PredicateType::Evidence, at), should, "{name}");
    }
}

/// The order of the reasons: an envelope with every fault shows them one after the other.
#[test]
fn reasons_come_in_the_documented_order() {
    let revoked = trust_with(|entry| {
        entry.valid_until = time(DAY);
        entry.revoked_at = Some(time(0));
    });
    let spoil = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        let at = text.find("\"sig\":\"").unwrap() + 7;
        let other = if text.as_bytes()[at] == b'A' { "B" } else { "A" };
        format!("{}{other}{}", &text[..at], &text[at + 1..]).into_bytes()
    };
    let late = time(2 * DAY);
    let verifier = key(seed(Role::Verifier));
    let evidence = PredicateType::Evidence;
    assert_eq!(code(&spoil(envelope(PredicateType::Handoff, &key(99))), &revoked, evidence, late), "wrong_type");
    assert_eq!(code(&spoil(envelope(evidence, &key(99))), &revoked, evidence, late), "unknown_signer");
    let handoff = spoil(envelope(PredicateType::Handoff, &verifier));
    assert_eq!(code(&handoff, &revoked, PredicateType::Handoff, late), "wrong_role");
    assert_eq!(code(&spoil(envelope(evidence, &verifier)), &revoked, evidence, late), "bad_signature");
    assert_eq!(code(&envelope(evidence, &verifier), &revoked, evidence, late), "key_not_valid_then");
    assert_eq!(code(&envelope(evidence, &verifier), &revoked, evidence, time(1)), "key_revoked");
}
