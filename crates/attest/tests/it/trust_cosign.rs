//! A version that holders of root keys sign one after the other, on machines of their own.

use quorum_attest::{AttestError, Lacking, PublicKey, TrustDraft, TrustProposal, TrustRoot};
use quorum_schemas::{Digest, Value, c1};

use crate::support::{DAY, key, load, sign_draft, time};

fn publics(seeds: &[u8]) -> Vec<PublicKey> {
    seeds.iter().map(|seed| key(*seed).public()).collect()
}

/// Root keys 1, 2, 3, two of which must sign.
fn first() -> TrustRoot {
    load(&TrustDraft::new(time(0), time(9 * DAY), 2, publics(&[1, 2, 3])), &[1, 2])
}

/// The next version hands over to 3, 4, 5, two of which must sign.
fn handing_over() -> TrustDraft {
    let mut draft = TrustDraft::from(&first());
    draft.next_version(time(DAY), time(400 * DAY));
    draft.set_root_keys(2, publics(&[3, 4, 5])).unwrap();
    draft
}

fn lacking(own: u64, previous: u64) -> Lacking {
    Lacking { own, previous }
}

#[test]
fn signatures_come_together_one_by_one_and_the_content_stays() {
    let first = first();
    let proposal = handing_over().propose(&[&key(1)]).unwrap();
    let content = proposal.content();
    let mut file = proposal.bytes();
    for (signer, missing) in [(1, lacking(2, 1)), (3, lacking(1, 0)), (3, lacking(1, 0)), (5, lacking(0, 0))] {
        assert!(TrustRoot::load(&file).is_err() && first.accept_successor(&file).is_err(), "before {signer}");
        let mut received = TrustProposal::read(&file, Some(&first)).unwrap();
        assert_eq!(received.content(), content);
        received.sign(&key(signer)).unwrap();
        assert_eq!(received.lacking().unwrap(), missing, "after {signer}");
        assert_eq!(received.finish().is_ok(), missing.is_nothing(), "after {signer}");
        file = received.bytes();
    }
    let second = first.accept_successor(&file).unwrap();
    assert_eq!(second.root_keys().len(), 3);
    // Nobody sees in what order or where it was signed.
    assert_eq!(file, sign_draft(&handing_over(), &[5, 3, 1]).unwrap());
}

#[test]
fn a_half_signed_file_is_no_trust_root_and_says_how_many_signatures_are_missing() {
    let draft = TrustDraft::new(time(0), time(DAY), 3, publics(&[1, 2, 3]));
    let cases = [(&[1][..], "2 signatures are missing"), (&[1, 2], "1 signature is missing")];
    for (signers, says) in cases {
        let keys: Vec<_> = signers.iter().map(|seed| key(*seed)).collect();
        let file = draft.propose(&keys.iter().collect::<Vec<_>>()).unwrap().bytes();
        let error = TrustRoot::load(&file).unwrap_err();
        let found = signers.len() as u64;
        assert_eq!(error, AttestError::ThresholdNotMet { whose: "this", needed: 3, found });
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(TrustProposal::read(&file, None).unwrap().lacking().unwrap(), lacking(3 - found, 0));
    }
}

/// Changing anything in the content after the first signature spoils that signature, for the next holder already.
#[test]
fn nobody_changes_the_content_on_the_way() {
    use base64::Engine as _;
    let first = first();
    let file = handing_over().propose(&[&key(1)]).unwrap().bytes();
    let engine = base64::engine::general_purpose::STANDARD;
    let envelope: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let payload: serde_json::Value =
        serde_json::from_slice(&engine.decode(envelope["payload"].as_str().unwrap()).unwrap()).unwrap();
    let strangers_key = key(9).public().spki_base64();
    type Change = Box<dyn Fn(&mut serde_json::Value)>;
    let set = |pointer: &'static str, to: serde_json::Value| -> Change {
        Box::new(move |payload: &mut serde_json::Value| *payload.pointer_mut(pointer).unwrap() = to.clone())
    };
    let cases: [(&str, Change, &str); 5] = [
        ("lower threshold", set("/threshold", 1.into()), "bad_signature"),
        ("longer life", set("/expires_at", "2099-01-01T00:00:00Z".into()), "bad_signature"),
        ("a policy", set("/policies", vec![Digest::of(b"p").to_string()].into()), "bad_signature"),
        ("another version", set("/version", 3.into()), "version_not_successor"),
        ("a stranger as root", set("/root_keys", vec![strangers_key].into()), "threshold_invalid"),
    ];
    for (name, change, should) in cases {
        let mut changed = payload.clone();
        change(&mut changed);
        let mut forged = envelope.clone();
        forged["payload"] = engine.encode(c1(&Value::from_serde(changed))).into();
        let result = TrustProposal::read(&c1(&Value::from_serde(forged)), Some(&first));
        assert_eq!(result.map_or_else(|error| error.code(), |_| "read"), should, "{name}");
    }
    let mut flipped = file.clone();
    for at in (0..file.len()).step_by(7) {
        flipped[at] ^= 1;
        assert!(TrustProposal::read(&flipped, Some(&first)).is_err(), "byte {at}");
        flipped[at] = file[at];
    }
}

#[test]
fn only_holders_of_root_keys_sign_and_each_counts_once() {
    let first = first();
    let mut proposal = handing_over().propose(&[&key(1)]).unwrap();
    assert_eq!(proposal.sign(&key(9)).unwrap_err(), AttestError::UnknownSigner { key_id: key(9).public().key_id() });
    proposal.sign(&key(1)).unwrap();
    assert_eq!(proposal.signers().count(), 1, "the same key again");
    assert_eq!(proposal.lacking().unwrap(), lacking(2, 1));
    // A stranger's signature that was put into the file by hand.
    let mut file: serde_json::Value = serde_json::from_slice(&proposal.bytes()).unwrap();
    let strange = quorum_attest::sign(quorum_attest::TRUST_PAYLOAD_TYPE, b"x", &key(9));
    let strange: serde_json::Value = serde_json::from_slice(&strange).unwrap();
    let signatures = file["signatures"].as_array_mut().unwrap();
    signatures.push(strange["signatures"][0].clone());
    signatures.sort_by_key(|signed| signed["keyid"].to_string());
    let error = TrustProposal::read(&c1(&Value::from_serde(file)), Some(&first)).unwrap_err();
    assert_eq!(error.code(), "unknown_signer");
}

#[test]
fn a_proposal_is_for_the_version_after_the_one_at_hand() {
    let (first, file) = (first(), handing_over().propose(&[&key(1)]).unwrap().bytes());
    assert_eq!(TrustProposal::read(&file, None).unwrap_err().code(), "version_not_successor");
    let second = first.accept_successor(&sign_draft(&handing_over(), &[1, 3, 4]).unwrap()).unwrap();
    assert_eq!(TrustProposal::read(&file, Some(&second)).unwrap_err().code(), "version_not_successor");
    let foreign = load(&TrustDraft::new(time(0), time(DAY), 1, publics(&[9])), &[9]);
    let result = TrustProposal::read(&file, Some(&foreign)).map(|_| ());
    assert_eq!(result.unwrap_err().code(), "unknown_signer", "other root keys");
    assert!(TrustDraft::from(&first).propose(&[&key(1)]).is_err(), "the same version again");
}

#[test]
fn changes_are_listed_for_people() {
    let first = first();
    let mut draft = handing_over();
    draft.admit_policy(Digest::of(b"p")).unwrap();
    let proposal = draft.propose(&[&key(1)]).unwrap();
    let lines: Vec<String> = proposal.changes().iter().map(ToString::to_string).collect();
    let id = |seed: u8| key(seed).public().key_id();
    let mut expected = vec![
        "~ trust root: version 1 -> 2".to_owned(),
        "~ trust root: expires_at 2026-01-10T00:00:00Z -> 2027-02-05T00:00:00Z".to_owned(),
        format!("+ trust root: policy {} admitted", Digest::of(b"p")),
    ];
    expected.extend([1, 2].map(|seed| format!("- trust root: root key {} listed", id(seed))));
    expected.extend([4, 5].map(|seed| format!("+ trust root: root key {} listed", id(seed))));
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(sorted(lines), sorted(expected));
    let second = first.accept_successor(&sign_draft(&draft, &[1, 3, 4]).unwrap()).unwrap();
    assert_eq!(first.changes_to(&second), proposal.changes());
    assert_eq!(first.changes_to(&first), []);
    let all = TrustDraft::new(time(0), time(DAY), 1, publics(&[1])).propose(&[]).unwrap().changes();
    assert_eq!(all.len(), 4, "version 1 is all new: {all:?}");
}
