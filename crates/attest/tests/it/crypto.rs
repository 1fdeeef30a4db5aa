//! Our verify path against the published vectors.

use quorum_attest::{PublicKey, SigningKey, pae, sign};
use serde_json::Value;

use crate::support::{unhex, unhex32};

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[test]
fn wycheproof_every_vector() {
    let Some(bytes) = quorum_schemas::upstream::read("crypto/wycheproof-ed25519.json") else { return };
    let file: Value = serde_json::from_slice(&bytes).unwrap();
    let (mut run, mut wrong) = (0, Vec::new());
    for group in file["testGroups"].as_array().unwrap() {
        let key = PublicKey::from_bytes(unhex32(text(&group["publicKey"], "pk"))).unwrap();
        assert_eq!(PublicKey::from_spki_pem(text(group, "publicKeyPem")).unwrap(), key);
        for test in group["tests"].as_array().unwrap() {
            let verified = key.verify(&unhex(text(test, "msg")), &unhex(text(test, "sig"))).is_ok();
            if verified != (text(test, "result") == "valid") {
                wrong.push(format!("tcId {}: {} ({})", test["tcId"], test["result"], test["comment"]));
            }
            run += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(run, file["numberOfTests"].as_u64().unwrap());
    assert_eq!(run, 151);
}

/// What each case does, frozen: a library upgrade that changes one must be seen. Here a key is refused when it is
/// loaded as `w`eak, or the `s`ignature is refused, or it is accepted (`+`: mixed order, for which the equation without
/// cofactor holds). The library's `verify_strict` alone must give the same verdicts without our checks of the key.
const SPECCHECK: &str = "wwwwsss+sssssww";
const SPECCHECK_STRICT: &str = "-------+-------";

#[test]
fn speccheck_table_is_frozen() {
    let Some(bytes) = quorum_schemas::upstream::read("crypto/ed25519-speccheck-cases.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    let found: String = cases.iter().map(ours).collect();
    assert_eq!(found, SPECCHECK);
    let found: String = cases.iter().map(strict).collect();
    assert_eq!(found, SPECCHECK_STRICT);
}

fn ours(case: &Value) -> char {
    let key = match PublicKey::from_bytes(unhex32(text(case, "pub_key"))) {
        Ok(key) => key,
        Err(error) if error.code() == "weak_key" => return 'w',
        Err(_) => return '?',
    };
    match key.verify(&unhex(text(case, "message")), &unhex(text(case, "signature"))) {
        Ok(()) => '+',
        Err(error) if error.code() == "bad_signature" => 's',
        Err(_) => '?',
    }
}

fn strict(case: &Value) -> char {
    let Ok(key) = ed25519_dalek::VerifyingKey::from_bytes(&unhex32(text(case, "pub_key"))) else { return '-' };
    let signature = ed25519_dalek::Signature::from_slice(&unhex(text(case, "signature"))).unwrap();
    if key.verify_strict(&unhex(text(case, "message")), &signature).is_ok() { '+' } else { '-' }
}

/// RFC 8032 section 7.1, TEST 1 to 3: secret, public key, message, signature.
const RFC_8032: [[&str; 4]; 3] = [
    [
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ],
    [
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ],
    [
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ],
];

#[test]
fn rfc_8032_keys_and_signatures() {
    for [secret, public, message, signature] in RFC_8032 {
        let key = SigningKey::from_seed(&unhex32(secret));
        assert_eq!(key.public().as_bytes(), &unhex32(public));
        key.public().verify(&unhex(message), &unhex(signature)).unwrap();
        let longer = [unhex(message), vec![0]].concat();
        assert_eq!(key.public().verify(&longer, &unhex(signature)).unwrap_err().code(), "bad_signature");
    }
}

#[test]
fn verify_refuses_other_lengths_of_signature() {
    let key = SigningKey::from_seed(&[3; 32]);
    for length in [0, 1, 63, 65, 128] {
        assert_eq!(key.public().verify(b"", &vec![0; length]).unwrap_err().code(), "bad_signature");
    }
}

#[test]
fn dsse_pae_vector_of_the_protocol() {
    assert_eq!(
        pae("http://example.com/HelloWorld", b"hello world"),
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    );
    assert_eq!(pae("", b""), b"DSSEv1 0  0 ");
    assert_eq!(pae("é", b"\xff "), b"DSSEv1 2 \xc3\xa9 2 \xff ", "lengths are bytes");
}

#[test]
fn signing_is_deterministic() {
    let key = SigningKey::from_seed(&[9; 32]);
    assert_eq!(sign("t", b"payload", &key), sign("t", b"payload", &key));
}
