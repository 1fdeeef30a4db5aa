//! Envelopes and statements of others, both ways: securesystemslib signs and verifies, in-toto-attestation writes and
//! reads statements, and we hold them against ours.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quorum_attest::{
    AttestError, Envelope, ForeignEnvelope, PAYLOAD_TYPE, PredicateType, PublicKey, Role, SigningKey, Statement,
    TRUST_PAYLOAD_TYPE, TrustDraft, Verified, sign, signer_uri, urn, verify_foreign,
};
use quorum_schemas::{Digest, SchemaName, Value, upstream, validate};
use serde_json::{Value as Json, json};

use crate::support::{self, DAY, envelope, key, load, seed, sign_draft, statement, time};

/// What the packages of others answer; `None` where they are not installed (never in CI).
pub(crate) fn ask(tasks: &[Json]) -> Option<Vec<Json>> {
    let python = upstream::foreign_python()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/dsse.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter is a program");
    let asked = serde_json::to_vec(tasks).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&asked));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "tests/foreign/dsse.py ended with {}", output.status);
    let answers: Vec<Json> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers.len(), tasks.len());
    Some(answers)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn described(key: &PublicKey) -> Json {
    json!({"keyid": key.key_id().to_string(), "public": hex(key.as_bytes())})
}

fn verify_task(envelope: &[u8], keys: &[PublicKey], threshold: usize, statement: bool) -> Json {
    let keys: Vec<Json> = keys.iter().map(described).collect();
    let text = String::from_utf8(envelope.to_vec()).unwrap();
    json!({"do": "verify", "envelope": text, "keys": keys, "threshold": threshold, "statement": statement})
}

/// A verification summary as the schema asks; the gate's real ones are read by others in the end-to-end tests.
fn summary() -> Statement {
    let digest = Digest::of(b"").hex();
    let predicate = json!({
        "verifier": {"id": signer_uri(Role::Gate, "gate-1"), "version": {"rules": "1"}},
        "timeVerified": "2026-01-01T00:00:00.123456Z",
        "resourceUri": urn(&["candidate", "w", "1", "a"]),
        "policy": {"uri": urn(&["policy", "p"]), "digest": {"sha256": digest}},
        "inputAttestations": [{"uri": urn(&["record", "evidence/1"]), "digest": {"sha256": digest}}],
        "verificationResult": "PASSED",
        "verifiedLevels": ["SLSA_BUILD_LEVEL_UNEVALUATED"],
        "slsaVersion": "1.1",
        "urn:idkmesh-quorum:vsa:v0.1": {"revision": 1},
    });
    let predicate = Value::from_serde(predicate);
    validate(SchemaName::Vsa, &predicate).unwrap();
    Statement { predicate, ..statement(PredicateType::Vsa) }
}

#[test]
fn our_envelopes_of_every_predicate_type_verify_with_securesystemslib() {
    let signer = key(seed(Role::Gate));
    let statements: Vec<Statement> = PredicateType::ALL
        .into_iter()
        .map(|kind| if kind == PredicateType::Vsa { summary() } else { statement(kind) })
        .collect();
    let envelopes: Vec<Vec<u8>> =
        statements.iter().map(|statement| sign(PAYLOAD_TYPE, &statement.to_bytes(), &signer)).collect();
    let tasks: Vec<Json> =
        envelopes.iter().map(|envelope| verify_task(envelope, &[signer.public()], 1, true)).collect();
    let Some(answers) = ask(&tasks) else { return };
    for (statement, answer) in statements.iter().zip(&answers) {
        let kind = statement.predicate_type;
        assert_eq!(answer["verified"], json!(true), "{kind}: {answer}");
        assert_eq!(answer["signers"], json!([signer.public().key_id().to_string()]), "{kind}");
        assert_eq!(answer["payload_type"], json!(PAYLOAD_TYPE), "{kind}");
        assert_eq!(answer["payload"], json!(STANDARD.encode(statement.to_bytes())), "{kind}");
        assert_eq!(answer["predicate_type"], json!(kind.uri()));
        let subject = json!([{"name": "candidate", "digest": {"sha256": Digest::of(b"candidate").hex()}}]);
        assert_eq!(answer["subject"], subject, "{kind}");
    }
    let vsa = &answers[5]["vsa"];
    assert_eq!(vsa["verifier"]["id"], json!("urn:idkmesh-quorum:gate:gate-1"));
    assert_eq!(vsa["timeVerified"], json!("2026-01-01T00:00:00.123456Z"));
    assert_eq!(vsa["verificationResult"], json!("PASSED"));
    assert_eq!(vsa["verifiedLevels"], json!(["SLSA_BUILD_LEVEL_UNEVALUATED"]));
}

#[test]
fn a_trust_root_of_several_signatures_verifies_with_securesystemslib() {
    let keys: Vec<PublicKey> = [1, 2, 3].map(|seed| key(seed).public()).to_vec();
    let draft = TrustDraft::new(time(0), time(365 * DAY), 2, keys.clone());
    let bytes = sign_draft(&draft, &[1, 2, 3]).unwrap();
    let root = load(&draft, &[1, 2, 3]);
    let mut altered: Json = serde_json::from_slice(&bytes).unwrap();
    altered["payloadType"] = json!(PAYLOAD_TYPE);
    let altered = serde_json::to_vec(&altered).unwrap();
    let tasks = [
        verify_task(&bytes, &keys, 1, false),
        verify_task(&bytes, &keys, 2, false),
        verify_task(&bytes, &keys, 3, false),
        verify_task(&bytes, &[keys[0], key(9).public()], 2, false),
        verify_task(&altered, &keys, 1, false),
    ];
    let Some(answers) = ask(&tasks) else { return };
    let verdicts: Vec<bool> = answers.iter().map(|answer| answer["verified"] == json!(true)).collect();
    assert_eq!(verdicts, [true, true, true, false, false], "{answers:?}");
    assert_eq!(answers[2]["payload_type"], json!(TRUST_PAYLOAD_TYPE));
    assert_eq!(root.bytes(), bytes);
    // Our own reader of foreign envelopes sees the same signers.
    assert_eq!(verify_foreign(&bytes, &keys, 3).unwrap().signers().len(), 3);
}

fn sign_task(seeds: &[u8], asked: &Json) -> Json {
    let mut task = json!({"do": "sign", "seeds": seeds.iter().map(|seed| hex(&[*seed; 32])).collect::<Vec<_>>()});
    task.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
    task
}

#[test]
fn envelopes_that_securesystemslib_signed_verify_here() {
    let written = json!({"statement": {
        "subject": [{"name": "a.tar.gz", "digest": {"sha256": "00", "sha512": "11"}}, {"name": "", "digest": {"x": "y"}}],
        "predicate_type": "https://example.com/other/v7",
        "predicate": {"n": 1, "text": "café", "deep": {"list": [1.5, null, true]}},
    }});
    let bytes: Vec<u8> = (0..=255).collect();
    let raw = json!({"payload_type": "http://example.com/Bytes", "payload": STANDARD.encode(&bytes)});
    let empty = json!({"payload_type": "", "payload": ""});
    let tasks =
        [sign_task(&[1], &written), sign_task(&[1, 2, 3], &written), sign_task(&[4], &raw), sign_task(&[5], &empty)];
    let Some(answers) = ask(&tasks) else { return };
    let bytes_of = |n: usize| answers[n]["envelope"].as_str().unwrap().as_bytes();
    let keys = |seeds: &[u8]| seeds.iter().map(|seed| key(*seed).public()).collect::<Vec<_>>();
    let verify = |n: usize, seeds: &[u8], threshold| verify_foreign(bytes_of(n), &keys(seeds), threshold);

    let one = verify(0, &[1], 1).unwrap();
    assert_eq!(one.payload_type(), PAYLOAD_TYPE);
    assert_eq!(STANDARD.encode(one.payload()), answers[0]["payload"].as_str().unwrap());
    assert_eq!(one.envelope(), Digest::of(bytes_of(0)));
    let read = one.statement().unwrap();
    assert_eq!(read.predicate_type, "https://example.com/other/v7");
    let digests: Vec<_> = read.subject.iter().map(|subject| (subject.name.as_deref(), subject.digest.len())).collect();
    assert_eq!(digests, [(Some("a.tar.gz"), 2), (None, 1)]);
    assert_eq!(read.predicate.unwrap().at(&["text"]).and_then(Value::as_str), Some("café"));

    assert_eq!(verify(1, &[1, 2, 3], 3).unwrap().signers().len(), 3);
    assert_eq!(verify(1, &[3, 9], 1).unwrap().signers().iter().collect::<Vec<_>>(), [&key(3).public()]);
    assert_eq!(verify(2, &[4], 1).unwrap().payload(), bytes);
    let nothing = verify(3, &[5], 1).unwrap();
    assert_eq!((nothing.payload_type(), nothing.payload()), ("", b"".as_slice()));
    assert_eq!(nothing.statement().unwrap_err().code(), "wrong_type");

    for (n, seeds, threshold, code) in [
        (0, [2, 9], 1, "not_enough_signers"),
        (0, [1, 2], 2, "not_enough_signers"),
        (1, [1, 9], 2, "not_enough_signers"),
        (0, [1, 2], 0, "signers_threshold_invalid"),
        (0, [1, 2], 3, "signers_threshold_invalid"),
        (0, [1, 1], 2, "signers_threshold_invalid"),
    ] {
        assert_eq!(verify(n, &seeds, threshold).unwrap_err().code(), code, "{n} {seeds:?} {threshold}");
    }
    // The strict reader of our own documents knows one form only.
    for n in 0..4 {
        assert_eq!(Envelope::parse(bytes_of(n)).unwrap_err().code(), "malformed");
    }
}

/// What is done to an envelope.
type Change = fn(&mut Json);

#[test]
fn both_sides_refuse_what_was_altered() {
    let changes: [(&str, Change); 9] = [
        ("nothing", |_| ()),
        ("payload", |envelope| envelope["payload"] = json!(STANDARD.encode(b"{}"))),
        ("payload type", |envelope| envelope["payloadType"] = json!("application/json")),
        ("payload type in other case", |envelope| envelope["payloadType"] = json!(PAYLOAD_TYPE.to_uppercase())),
        ("signature", |envelope| {
            let sig = envelope["signatures"][0]["sig"].as_str().unwrap().to_owned();
            let other = if sig.starts_with('A') { 'B' } else { 'A' };
            envelope["signatures"][0]["sig"] = json!(format!("{other}{}", &sig[1..]));
        }),
        ("signature of zeros", |envelope| envelope["signatures"][0]["sig"] = json!(STANDARD.encode([0; 64]))),
        ("short signature", |envelope| envelope["signatures"][0]["sig"] = json!(STANDARD.encode([0; 63]))),
        ("no signature", |envelope| envelope["signatures"] = json!([])),
        ("signature of another envelope", |envelope| {
            let other: Json = serde_json::from_slice(&support::envelope(PredicateType::Handoff, &key(14))).unwrap();
            envelope["signatures"] = other["signatures"].clone();
        }),
    ];
    let signer = key(14).public();
    let good: Json = serde_json::from_slice(&envelope(PredicateType::Evidence, &key(14))).unwrap();
    let cases: Vec<(&str, Vec<u8>)> = changes
        .iter()
        .map(|(name, change)| {
            let mut changed = good.clone();
            change(&mut changed);
            (*name, quorum_schemas::c1(&Value::from_serde(changed)))
        })
        .collect();
    let tasks: Vec<Json> = cases.iter().map(|(_, bytes)| verify_task(bytes, &[signer], 1, false)).collect();
    let theirs = ask(&tasks);
    for (n, (name, bytes)) in cases.iter().enumerate() {
        let expected = *name == "nothing";
        let strict = Envelope::parse(bytes).and_then(|envelope| envelope.verify(&signer)).is_ok();
        let lenient = verify_foreign(bytes, &[signer], 1).is_ok();
        assert_eq!((strict, lenient), (expected, expected), "{name}");
        if let Some(theirs) = &theirs {
            assert_eq!(theirs[n]["verified"], json!(expected), "{name}: {}", theirs[n]);
        }
    }
    let other = verify_task(&cases[0].1, &[key(15).public()], 1, false);
    if let Some(theirs) = ask(&[other]) {
        assert_eq!(theirs[0]["verified"], json!(false), "another key");
    }
}

fn foreign(envelope: &Json, keys: &[PublicKey], threshold: usize) -> Result<Verified, AttestError> {
    ForeignEnvelope::parse(&serde_json::to_vec(envelope).unwrap())?.verify(keys, threshold)
}

fn signed_by(payload_type: &str, payload: &[u8], signers: &[SigningKey]) -> Json {
    let mut whole: Json = serde_json::from_slice(&sign(payload_type, payload, &signers[0])).unwrap();
    let signatures = signers.iter().map(|signer| {
        let one: Json = serde_json::from_slice(&sign(payload_type, payload, signer)).unwrap();
        one["signatures"][0].clone()
    });
    whole["signatures"] = Json::Array(signatures.collect());
    whole
}

#[test]
fn bounds_of_what_one_envelope_may_cost() {
    let all: Vec<SigningKey> = (1..=65).map(key).collect();
    let publics: Vec<PublicKey> = all.iter().map(SigningKey::public).collect();
    let sixty_four = signed_by("t", b"p", &all[..64]);
    assert_eq!(foreign(&sixty_four, &publics[..64], 64).unwrap().signers().len(), 64);
    assert_eq!(foreign(&signed_by("t", b"p", &all), &publics[..1], 1).unwrap_err().code(), "too_many");
    assert_eq!(foreign(&sixty_four, &publics, 1).unwrap_err().code(), "too_many");
    // A key that is given twice is one key.
    let repeated = [publics[..64].to_vec(), publics[..64].to_vec()].concat();
    assert_eq!(foreign(&sixty_four, &repeated, 64).unwrap().signers().len(), 64);
}

/// in-toto's parsing rules: what a statement does not name is ignored, what it names has its type.
#[test]
fn foreign_statements_by_the_parsing_rules_of_in_toto() {
    let good = json!({
        "_type": "https://in-toto.io/Statement/v1", "predicateType": "https://example.com/p",
        "subject": [{"digest": {"sha256": "ab"}}], "predicate": {"a": 1}, "unknown": [1],
    });
    let read = |changed: &Json| {
        let bytes = serde_json::to_vec(changed).unwrap();
        foreign(&signed_by(PAYLOAD_TYPE, &bytes, &[key(1)]), &[key(1).public()], 1).unwrap().statement()
    };
    let statement = read(&good).unwrap();
    assert_eq!((statement.subject.len(), statement.subject[0].name.as_deref()), (1, None));
    let mut silent = good.clone();
    silent.as_object_mut().unwrap().remove("predicate");
    assert_eq!(read(&silent).unwrap().predicate, None);
    let cases: [(&str, Json, &str); 11] = [
        ("/_type", json!("https://in-toto.io/Statement/v0.1"), "wrong_type"),
        ("/_type", json!(1), "malformed"),
        ("/predicateType", json!(""), "malformed"),
        ("/predicateType", json!(null), "malformed"),
        ("/subject", json!([]), "malformed"),
        ("/subject", json!({}), "malformed"),
        ("/subject/0", json!({"name": "a"}), "malformed"),
        ("/subject/0/digest", json!({}), "malformed"),
        ("/subject/0/digest", json!({"sha256": 1}), "malformed"),
        ("/subject/0/name", json!(1), "malformed"),
        ("/predicate", json!([]), "malformed"),
    ];
    for (place, value, code) in cases {
        let mut changed = good.clone();
        match changed.pointer_mut(place) {
            Some(slot) => *slot = value.clone(),
            None => changed["subject"][0]["name"] = value.clone(),
        }
        assert_eq!(read(&changed).unwrap_err().code(), code, "{place} = {value}");
    }
    let many = json!({"_type": good["_type"], "predicateType": "x", "subject": vec![good["subject"][0].clone(); 1025]});
    assert_eq!(read(&many).unwrap_err().code(), "too_many");
}
