//! C1 against the vectors that upstream's own code produces.

use std::collections::BTreeMap;

use quorum_schemas::{Digest, Value, c1, parse, upstream};

fn vectors() -> Option<Value> {
    Some(parse(&upstream::read("idkmesh/golden-vectors.json")?).unwrap())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap()
}

#[test]
fn canonical_json_vectors() {
    let Some(vectors) = vectors() else { return };
    let cases = vectors.get("canonical_json").and_then(Value::as_array).unwrap();
    assert!(cases.len() >= 15, "only {} vectors", cases.len());
    for case in cases {
        let input = text(case, "input_json_text");
        let value = parse(input.as_bytes()).unwrap_or_else(|error| panic!("{input}: {error}"));
        assert_eq!(String::from_utf8(c1(&value)).unwrap(), text(case, "canonical_c1"), "{input}");
        assert_eq!(Digest::c1(&value).to_string(), text(case, "digest_c1"), "{input}");
    }
}

#[test]
fn what_upstream_accepts_but_is_unsafe_is_refused_with_its_code() {
    let Some(vectors) = vectors() else { return };
    let codes = BTreeMap::from([
        (r#"{"a":NaN}"#, "json_non_finite"),
        (r#"{"a":1e400}"#, "json_number_overflow"),
        (r#"{"a":1,"a":2}"#, "json_duplicate_key"),
        (r#"{"k":"\ud800"}"#, "json_lone_surrogate"),
    ]);
    let cases = vectors.get("canonical_json_upstream_accepts_but_unsafe").and_then(Value::as_array).unwrap();
    assert_eq!(cases.len(), codes.len());
    for case in cases {
        let input = text(case, "input_json_text");
        let refusal = parse(input.as_bytes()).unwrap_err();
        assert_eq!(refusal.reason.code(), codes[input], "{input}: {refusal}");
    }
}

#[test]
fn fixture_digests() {
    let Some(vectors) = vectors() else { return };
    let cases = vectors.get("fixture_digests").and_then(Value::as_object).unwrap();
    assert!(cases.len() >= 19, "only {} fixtures", cases.len());
    for (file, digest) in cases {
        let value = parse(&upstream::read(&format!("idkmesh/examples/{file}")).unwrap()).unwrap();
        assert_eq!(Digest::c1(&value).to_string(), digest.as_str().unwrap(), "{file}");
    }
}

/// Each wrong digest belongs to one mistake; making the mistake on purpose gives it, and C1 gives none of them.
#[test]
fn wrong_digests_are_those_of_named_mistakes() {
    let Some(vectors) = vectors() else { return };
    let wrong = vectors.get("wrong_digests_for_phase0_result_manifest").unwrap();
    let bytes = upstream::read("idkmesh/examples/results/phase0-smoke.result-manifest.json").unwrap();
    let value = parse(&bytes).unwrap();
    let right = Digest::c1(&value).to_string();
    assert_eq!(right, text(wrong, "correct"));
    let mut newline = c1(&value);
    newline.push(b'\n');
    let jcs = quorum_schemas::jcs(&value).unwrap();
    for (mistake, digest) in [
        ("if_trailing_newline", Digest::of(&newline)),
        ("if_raw_file_bytes", Digest::of(&bytes)),
        ("if_1.0_written_as_1_(JCS)", Digest::of(&jcs)),
    ] {
        assert_eq!(digest.to_string(), text(wrong, mistake), "{mistake}");
    }
    for (mistake, digest) in wrong.as_object().unwrap() {
        assert_eq!(mistake == "correct", digest.as_str() == Some(&right), "{mistake}");
    }
}
