//! RFC 8785 beside C1: against a package that we did not write, what it has no form for, and where the two forms part.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};

use quorum_schemas::{C1Digest, JcsDigest, SchemasError, Value, c1, jcs, parse, upstream};

use crate::random::Random;

const DOCUMENTS: usize = 20_000;
const SEED: u64 = 0x3c_6e_f3_72_fe_94_f8_2b;

/// Answers each line, a JSON text, with the hex of its RFC 8785 form, or with `-` where the package refuses it.
const JUDGE: &str = r#"
import json, sys, rfc8785
for line in sys.stdin.buffer:
    try:
        print(rfc8785.dumps(json.loads(line)).hex(), flush=False)
    except rfc8785.CanonicalizationError:
        print("-")
"#;

fn text(random: &mut Random) -> String {
    let length = random.below(6);
    let letters = ["a", "Z", "1", " ", "\u{0}", "\u{1f}", "\n", "\"", "\\", "/", "\u{7f}", "\u{80}", "ö", "\u{2028}"];
    let beyond = ["\u{d7ff}", "\u{e000}", "\u{fb33}", "\u{ff61}", "\u{ffff}", "\u{10000}", "😀", "\u{10ffff}"];
    let mut letter = || {
        let from = if random.chance(50) { &letters[..] } else { &beyond[..] };
        random.pick(from)
    };
    (0..length).map(|_| letter()).collect()
}

fn number(random: &mut Random) -> Value {
    let written = match random.below(6) {
        0 => random.below(100).to_string(),
        1 => format!("-{}", random.below(1 << 53)),
        // At and beyond the last integer that the RFC has a form for.
        2 => (9_007_199_254_740_985 + random.below(12)).to_string(),
        3 => format!("{}e{}", random.digits(3), random.below(40)),
        4 => format!("0.{}e-{}", random.digits(17), random.below(30)),
        _ => loop {
            let float = f64::from_bits(random.next());
            if float.is_finite() {
                return Value::Float(float);
            }
        },
    };
    parse(written.as_bytes()).unwrap()
}

fn document(random: &mut Random, depth: u64) -> Value {
    match random.below(if depth == 0 { 4 } else { 7 }) {
        0 => [Value::Null, Value::Bool(true), Value::Bool(false)][random.index(3)].clone(),
        1 => text(random).into(),
        2 | 3 => number(random),
        4 => Value::Array((0..random.below(5)).map(|_| document(random, depth - 1)).collect()),
        _ => Value::Object((0..random.below(6)).map(|_| (text(random), document(random, depth - 1))).collect()),
    }
}

#[test]
fn twenty_thousand_documents_agree_with_the_rfc8785_package() {
    let Some(python) = upstream::foreign_python() else { return };
    let mut child = Command::new(python)
        .args(["-I", "-c", JUDGE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the Python of tests/foreign starts");
    let mut random = Random(SEED);
    let documents: Vec<Value> = (0..DOCUMENTS).map(|_| document(&mut random, 4)).collect();
    let mut stdin = child.stdin.take().unwrap();
    let lines: Vec<Vec<u8>> = documents.iter().map(c1).collect();
    let writer = std::thread::spawn(move || {
        for mut line in lines {
            line.push(b'\n');
            stdin.write_all(&line).unwrap();
        }
    });
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut refused = 0;
    for document in &documents {
        let theirs = answers.next().expect("an answer for each document").unwrap();
        let ours = jcs(document).map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        match ours {
            Ok(hex) => assert_eq!(hex, theirs, "{}", String::from_utf8(c1(document)).unwrap()),
            Err(error) => {
                assert_eq!((error.code(), theirs.as_str()), ("jcs_not_i_json", "-"), "{error}");
                refused += 1;
            }
        }
    }
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    eprintln!("{DOCUMENTS} documents, {refused} of them without an RFC 8785 form");
    assert!((100..DOCUMENTS / 2).contains(&refused), "{refused} refused");
}

/// Each row is a document on which a reader that takes one form for the other computes another digest.
#[test]
fn c1_and_jcs_part_where_they_must() {
    for (input, in_c1, in_jcs) in [
        ("1.0", "1.0", "1"),
        ("-0.0", "-0.0", "0"),
        ("1e2", "100.0", "100"),
        ("1e16", "1e+16", "10000000000000000"),
        ("1e20", "1e+20", "100000000000000000000"),
        ("1e-5", "1e-05", "0.00001"),
        ("1.5e-7", "1.5e-07", "1.5e-7"),
        ("0.0000010", "1e-06", "0.000001"),
        ("{\"\u{ff61}\":1,\"\u{1f600}\":2}", "{\"\u{ff61}\":1,\"\u{1f600}\":2}", "{\"\u{1f600}\":2,\"\u{ff61}\":1}"),
        ("{\"\u{e000}\":1,\"\u{10000}\":2}", "{\"\u{e000}\":1,\"\u{10000}\":2}", "{\"\u{10000}\":2,\"\u{e000}\":1}"),
    ] {
        let value = parse(input.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(c1(&value)).unwrap(), in_c1, "{input}");
        assert_eq!(String::from_utf8(jcs(&value).unwrap()).unwrap(), in_jcs, "{input}");
        let (c1_digest, jcs_digest) = (C1Digest::c1(&value), JcsDigest::jcs(&value).unwrap());
        assert_ne!(c1_digest.as_bytes(), jcs_digest.as_bytes(), "{input}");
    }
}

/// Where nothing parts them, the two forms are the same bytes: that is why only a type can tell their digests apart.
#[test]
fn c1_and_jcs_are_one_form_for_short_integers_and_keys_below_u_e000() {
    for input in [
        "{\"b\":[1,-0,9007199254740991,null,true],\"a\":{\"é\":\"\\u0007\\b\\u007f\\u2028/\",\"z\":\"😀\"}}",
        "{\"\u{d7ff}\":1,\"\u{10000}\":2,\"\":3}",
        "[0.5,1e21,5e-324,1.7976931348623157e308,0.0001]",
    ] {
        let value = parse(input.as_bytes()).unwrap();
        assert_eq!(c1(&value), jcs(&value).unwrap(), "{input}");
    }
}

/// What RFC 8785 asks of its input (I-JSON) and ours does not have: refused at the door, with the same parser as C1.
#[test]
fn jcs_has_no_form_for_what_is_not_i_json() {
    for (input, code) in [
        (&b"{\"a\":1,\"a\":1}"[..], "json_duplicate_key"),
        (b"{\"a\":1,\"\\u0061\":1}", "json_duplicate_key"),
        (b"\"\\ud83d\"", "json_lone_surrogate"),
        (b"\"\\ude00\\ud83d\"", "json_lone_surrogate"),
        (b"{\"\\udfff\":1}", "json_lone_surrogate"),
        (b"NaN", "json_non_finite"),
        (b"-Infinity", "json_non_finite"),
        (b"1e400", "json_number_overflow"),
        (b"\xef\xbb\xbf1", "json_bom"),
        (b"\"\xff\"", "json_not_utf8"),
        (b"[1,]", "json_syntax"),
        (b"01", "json_syntax"),
        (b"1 1", "json_trailing_bytes"),
    ] {
        let refused = parse(input).unwrap_err();
        assert_eq!(refused.reason.code(), code, "{}", String::from_utf8_lossy(input));
    }
    for input in
        ["[[{\"a\":9007199254740992}]]", "-9007199254740992", "18446744073709551616", "[1,2,99999999999999999999]"]
    {
        let value = parse(input.as_bytes()).unwrap();
        assert!(matches!(jcs(&value), Err(SchemasError::NotIJson(_))), "{input}");
        assert!(JcsDigest::jcs(&value).is_err(), "{input}");
        assert!(parse(&c1(&value)).is_ok_and(|read| read == value), "{input} has a C1 form");
    }
}
