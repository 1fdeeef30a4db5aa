//! Keys in and out, and what is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quorum_attest::{KeyId, PublicKey, SigningKey};

use crate::support::{key, unhex32};

/// RFC 8410 section 10.
const RFC_8410_PUBLIC: &str = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
const RFC_8410_V1: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
const RFC_8410_V2: &str = "-----BEGIN PRIVATE KEY-----\nMHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\noB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB\nZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PRIVATE KEY-----\n";

#[test]
fn rfc_8410_private_and_public_key() {
    let key = SigningKey::from_pkcs8_pem(RFC_8410_V1).unwrap();
    assert_eq!(key.public().spki_base64(), RFC_8410_PUBLIC);
    assert_eq!(*key.to_pkcs8_pem(), RFC_8410_V1, "we write version 1, as every tool reads it");
    let with_public = SigningKey::from_pkcs8_pem(RFC_8410_V2).unwrap();
    assert_eq!(with_public.public(), key.public());
    let error = SigningKey::from_pkcs8_pem(&RFC_8410_V2.replace("ZuE=", "ZuA=")).unwrap_err();
    assert_eq!(error.code(), "key_malformed", "a public half of another key");
}

#[test]
fn every_encoding_of_a_key_is_the_same_key() {
    let key = key(5).public();
    let pem = key.spki_pem();
    assert_eq!(PublicKey::from_spki_base64(&key.spki_base64()).unwrap(), key);
    assert_eq!(PublicKey::from_bytes(*key.as_bytes()).unwrap(), key);
    for (name, text) in [
        ("as written", pem.clone()),
        ("CRLF", pem.replace('\n', "\r\n")),
        ("no newline at the end", pem.trim().to_owned()),
        ("spaces around", format!("\n\n  {pem}\n\n")),
    ] {
        let read = PublicKey::from_spki_pem(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((read, read.key_id()), (key, key.key_id()), "{name}");
    }
}

#[test]
fn key_id_is_sha256_of_the_spki() {
    let key = PublicKey::from_spki_base64(RFC_8410_PUBLIC).unwrap();
    let der = STANDARD.decode(RFC_8410_PUBLIC).unwrap();
    assert_eq!(key.key_id().digest(), quorum_schemas::Digest::of(&der));
    assert_eq!(key.key_id().to_string().parse::<KeyId>().unwrap(), key.key_id());
    for text in ["", "abc", &key.key_id().to_string().to_uppercase(), &format!("sha256:{}", key.key_id())] {
        assert_eq!(text.parse::<KeyId>().unwrap_err().code(), "key_id_malformed", "{text}");
    }
}

#[test]
fn public_key_texts_that_are_refused() {
    let good = RFC_8410_PUBLIC;
    let der = STANDARD.decode(good).unwrap();
    let null_parameters = [&[0x30, 0x2c, 0x30, 0x07], &der[4..9], &[0x05, 0x00], &der[9..]].concat();
    let long_form = [&[0x30, 0x81, 0x2a], &der[2..]].concat();
    let x25519 = [&der[..8], &[0x6e], &der[9..]].concat();
    let trailing = [&der[..], &[0]].concat();
    let cases = [
        ("empty", String::new()),
        ("not base64", "?".to_owned()),
        ("raw key without SPKI", STANDARD.encode(&der[12..])),
        ("no padding", good.trim_end_matches('=').to_owned()),
        ("trailing bits", good.replace("ZuE=", "ZuF=")),
        ("newline", format!("{good}\n")),
        ("url alphabet", good.replace('/', "_").replacen("MCow", "MC-w", 1)),
        ("NULL parameters", STANDARD.encode(null_parameters)),
        ("long form of the length", STANDARD.encode(long_form)),
        ("X25519", STANDARD.encode(x25519)),
        ("trailing byte", STANDARD.encode(trailing)),
        ("truncated", STANDARD.encode(&der[..43])),
    ];
    for (name, text) in cases {
        let error = PublicKey::from_spki_base64(&text).map(|_| ()).expect_err(name);
        assert_eq!(error.code(), "key_malformed", "{name}: {error}");
    }
}

/// The eight points of small order, each in its canonical encoding (y, and the sign of x where x is not zero).
const SMALL_ORDER: [&str; 8] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
];

/// Every encoding with y from p to 2^255 - 1 under both signs, and the two with the sign bit set where x is zero.
fn not_canonical() -> Vec<[u8; 32]> {
    let mut all = vec![
        unhex32("0100000000000000000000000000000000000000000000000000000000000080"),
        unhex32("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"),
    ];
    for low in 0xed..=0xff {
        for top in [0x7f, 0xff] {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (low, top);
            all.push(bytes);
        }
    }
    all
}

#[test]
fn weak_and_non_canonical_keys_are_refused_at_load() {
    for hex in SMALL_ORDER {
        let error = PublicKey::from_bytes(unhex32(hex)).unwrap_err();
        assert_eq!(error.code(), "weak_key", "{hex}: {error}");
        assert!(error.to_string().contains(hex), "{error}");
    }
    let mut codes = std::collections::BTreeMap::<&str, usize>::new();
    for bytes in not_canonical() {
        *codes.entry(PublicKey::from_bytes(bytes).unwrap_err().code()).or_default() += 1;
    }
    // Half of the values of y are on no point of the curve.
    assert_eq!(codes.keys().collect::<Vec<_>>(), [&"key_malformed", &"key_not_canonical"], "{codes:?}");
    // y = 2 is not on the curve.
    let off = "0200000000000000000000000000000000000000000000000000000000000000";
    assert_eq!(PublicKey::from_bytes(unhex32(off)).unwrap_err().code(), "key_malformed");
    let spki = [&STANDARD.decode(RFC_8410_PUBLIC).unwrap()[..12], &unhex32(SMALL_ORDER[4])].concat();
    assert_eq!(PublicKey::from_spki_base64(&STANDARD.encode(spki)).unwrap_err().code(), "weak_key");
}

#[test]
fn private_key_texts_that_are_refused_say_what_they_are_and_nothing_of_the_secret() {
    let body = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp";
    let cases = [
        ("", "BEGIN PRIVATE KEY"),
        ("hello", "BEGIN PRIVATE KEY"),
        (
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "encrypted",
        ),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp\n-----END OPENSSH PRIVATE KEY-----\n",
            "OpenSSH",
        ),
        (
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
            "public key",
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp\n-----END PRIVATE KEY-----\n",
            "BEGIN PRIVATE KEY",
        ),
    ];
    for (text, says) in cases {
        let error = SigningKey::from_pkcs8_pem(text).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "key_malformed");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.to_string().contains(body) && !format!("{error:?}").contains(body));
    }
    let error = PublicKey::from_spki_pem(RFC_8410_V1).unwrap_err();
    assert!(error.to_string().contains("private key"), "{error}");
    let huge = format!("{}{RFC_8410_V1}", "\n".repeat(20_000));
    assert_eq!(SigningKey::from_pkcs8_pem(&huge).map(|_| ()).unwrap_err().code(), "key_malformed");
    assert_eq!(PublicKey::from_spki_pem(&huge).unwrap_err().code(), "key_malformed");
}

#[test]
fn debug_of_a_private_key_shows_its_id_only() {
    let key = key(0xab);
    assert_eq!(format!("{key:?}"), format!("SigningKey({})", key.public().key_id()));
}
