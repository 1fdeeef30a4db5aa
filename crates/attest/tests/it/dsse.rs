//! One form of envelope, and no other.

use quorum_attest::{Envelope, PAYLOAD_TYPE, PredicateType, Role, SigningKey, authenticate, sign};
use quorum_schemas::Digest;

use crate::support::{self, envelope, key, statement, time, trust};

const GOLDEN: &[u8] = include_bytes!("golden/evidence.dsse.json");
const GOLDEN_KEY: &str = include_str!("golden/seed-07.pem");

/// The golden file was written by CPython's json and signed by OpenSSL 3.0.
#[test]
fn golden_envelope_byte_for_byte() {
    let signer = SigningKey::from_pkcs8_pem(GOLDEN_KEY).unwrap();
    let bytes = envelope(PredicateType::Evidence, &signer);
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), String::from_utf8(GOLDEN.to_vec()).unwrap());
    let read = Envelope::parse(GOLDEN).unwrap();
    assert_eq!(read.digest().hex(), "35cf53136e3f5d1d3b517bf61f44275198e92acaec89b50c1d1f6671b1c0ca93");
    assert_eq!(read.digest(), Digest::of(GOLDEN));
    assert_eq!(read.key_id(), signer.public().key_id());
    assert_eq!(read.key_id().to_string(), "324be2dea8bc44461b0233e51fa48902ed6b1cc671e7739af2551e0bfe68f54e");
    assert_eq!(read.payload_type(), PAYLOAD_TYPE);
    assert_eq!(read.payload(), statement(PredicateType::Evidence).to_bytes());
    assert_eq!(read.bytes(), GOLDEN);
}

fn golden() -> String {
    String::from_utf8(GOLDEN.to_vec()).unwrap()
}

#[test]
fn other_forms_are_malformed() {
    let good = golden();
    let signature = &good[good.find(r#"{"keyid""#).unwrap()..good.rfind(']').unwrap()];
    let other = String::from_utf8(envelope(PredicateType::Evidence, &key(8))).unwrap();
    let other_signature = &other[other.find(r#"{"keyid""#).unwrap()..other.rfind(']').unwrap()];
    let cases: Vec<(&str, String)> = vec![
        ("empty", String::new()),
        ("not json", "hello".to_owned()),
        ("an array", format!("[{good}]")),
        ("newline at the end", format!("{good}\n")),
        ("byte order mark", format!("\u{feff}{good}")),
        ("a space", good.replacen(':', ": ", 1)),
        ("other order of members", {
            let payload_type = format!(r#""payloadType":"{PAYLOAD_TYPE}","#);
            format!("{{{payload_type}{}", &good[1..].replacen(&payload_type, "", 1))
        }),
        ("escaped character", good.replacen("payloadType\":\"application/", "payloadType\":\"application\\/", 1)),
        ("unknown member", good.replacen(r#""signatures""#, r#""q":1,"signatures""#, 1)),
        ("unknown member of a signature", good.replacen(r#""sig":"#, r#""q":1,"sig":"#, 1)),
        ("duplicate member", good.replacen(r#""payloadType""#, r#""payload":"","payloadType""#, 1)),
        ("no signature", good.replacen(signature, "", 1)),
        ("the same signature twice", good.replacen(signature, &format!("{signature},{signature}"), 1)),
        ("two signers", good.replacen(signature, &format!("{signature},{other_signature}"), 1)),
        ("signatures not an array", good.replacen(&format!("[{signature}]"), signature, 1)),
        ("payload missing", format!("{{{}", &good[good.find(r#""payloadType""#).unwrap()..])),
        ("payload a number", good.replacen(&good[11..good.find(r#","payloadType""#).unwrap()], "1", 1)),
        ("payload type null", good.replacen(&format!("\"{PAYLOAD_TYPE}\""), "null", 1)),
        ("signature without padding", good.replacen("==\"}", "\"}", 1)),
        ("signature with one pad", good.replacen("==\"}", "=\"}", 1)),
        ("signature with trailing bits", good.replacen("Bg==\"}", "Bh==\"}", 1)),
        ("signature in the url alphabet", good.replacen("Hv/z9", "Hv_z9", 1)),
        ("signature of 63 bytes", good.replacen("HPuBg==", "HPu", 1)),
        ("signature of 65 bytes", good.replacen("HPuBg==", "HPuBgA=", 1)),
        ("line break in base64", good.replacen("eyJf", "eyJf\\n", 1)),
        ("space in base64", good.replacen("eyJf", "eyJf ", 1)),
        ("key id upper case", good.replacen("324be2dea8bc", "324BE2DEA8BC", 1)),
        ("key id with prefix", good.replacen("324be2de", "sha256:324be2de", 1)),
        ("key id short", good.replacen("324be2de", "324be2d", 1)),
        ("key id empty", good.replacen("324be2dea8bc44461b0233e51fa48902ed6b1cc671e7739af2551e0bfe68f54e", "", 1)),
    ];
    for (name, text) in cases {
        assert_ne!(text, good, "{name}: the case changes nothing");
        let error = Envelope::parse(text.as_bytes()).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "malformed", "{name}: {error}");
    }
}

#[test]
fn an_envelope_over_the_limit_is_malformed() {
    let bytes = sign(PAYLOAD_TYPE, &vec![b'x'; quorum_schemas::limits::ENVELOPE.bytes], &key(1));
    let error = Envelope::parse(&bytes).unwrap_err();
    assert_eq!(error.code(), "malformed");
    assert!(error.to_string().contains("json_too_large"), "{error}");
}

/// Every byte of an envelope with each of its bits flipped and as every other ASCII character: none ever verifies, as
/// this statement or another. (A lone byte over 127 is not UTF-8 wherever it stands.)
#[test]
fn no_flip_of_any_byte_ever_verifies() {
    let trust = trust();
    let good = envelope(PredicateType::Evidence, &key(support::seed(Role::Verifier)));
    let whole = Envelope::parse(&good).unwrap();
    authenticate(&whole, &trust, PredicateType::Evidence, time(1)).unwrap();
    let mut codes = std::collections::BTreeMap::<&str, usize>::new();
    let mut changed = good.clone();
    // When one test run is one of hundreds, every seventh byte.
    let step = if std::env::var_os("QUORUM_LAW_CASES").is_some() { 7 } else { 1 };
    for at in (0..good.len()).step_by(step) {
        for value in (0..=127).chain([good[at] ^ 128]).filter(|value| *value != good[at]) {
            changed[at] = value;
            for expected in PredicateType::ALL {
                let result = Envelope::parse(&changed).and_then(|env| authenticate(&env, &trust, expected, time(1)));
                let error = match result {
                    Ok(_) => panic!("byte {at} = {value:#x} verifies as {expected}"),
                    Err(error) => error,
                };
                *codes.entry(error.code()).or_default() += 1;
                if error.code() == "malformed" {
                    break;
                }
            }
        }
        changed[at] = good[at];
    }
    for code in ["malformed", "wrong_type", "unknown_signer", "bad_signature"] {
        assert!(codes.contains_key(code), "no flip ended in {code}: {codes:?}");
    }
}

#[test]
fn no_truncation_or_extension_verifies() {
    let good = golden();
    for end in 0..good.len() {
        assert_eq!(Envelope::parse(&good.as_bytes()[..end]).unwrap_err().code(), "malformed", "{end}");
    }
    for extra in [" ", "\n", "\0", "{}", "]"] {
        assert_eq!(Envelope::parse(format!("{good}{extra}").as_bytes()).unwrap_err().code(), "malformed");
    }
}

#[test]
fn hostile_text_in_messages_is_cut() {
    let long = format!("{{\"{}\":1}}", "x".repeat(10_000));
    assert!(Envelope::parse(long.as_bytes()).unwrap_err().to_string().len() < 300);
}
