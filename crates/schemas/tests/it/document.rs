//! The C1 form straight from the bytes is that of the parsed value, and refuses what the parser refuses.
//!
//! With debug assertions on (as in every test) `parse` and `c1_of_document` themselves hold what they read in one pass
//! against what the library reads; here are the places where a one-pass reader goes wrong.

use proptest::prelude::*;
use quorum_schemas::{C1Digest, Digest, c1, c1_of_document, parse, upstream};

fn both(document: &[u8]) {
    let expected = parse(document).map(|value| c1(&value));
    assert_eq!(c1_of_document(document), expected, "{}", String::from_utf8_lossy(document));
    let digest = C1Digest::of_document(document).map(|digest| digest.to_string());
    assert_eq!(digest, expected.map(|bytes| Digest::of(&bytes).to_string()));
}

#[test]
fn members_are_ordered_whatever_their_keys_share() {
    for (document, written) in [
        (r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#),
        (r#"{"b":1,"":2,"a":{"d":[],"c":{}}}"#, r#"{"":2,"a":{"c":{},"d":[]},"b":1}"#),
        // Beyond the first eight bytes, and one key the start of another.
        (
            r#"{"abcdefghZ":1,"abcdefgh":2,"abcdefghA":3,"abcdefg":4}"#,
            r#"{"abcdefg":4,"abcdefgh":2,"abcdefghA":3,"abcdefghZ":1}"#,
        ),
        // A quote sorts after a blank, but it is no part of a key.
        (r#"{"a b":1,"a":2,"a!":3}"#, r#"{"a":2,"a b":1,"a!":3}"#),
        (
            "{\"é\":1,\"z\":2,\"\u{7f}\":3,\"\u{10000}\":4,\"\u{ffff}\":5}",
            "{\"z\":2,\"\u{7f}\":3,\"é\":1,\"\u{ffff}\":5,\"\u{10000}\":4}",
        ),
        // The last bytes of a document: fewer than eight after the key.
        (r#"{"zz":1,"a":2}"#, r#"{"a":2,"zz":1}"#),
        (r#"{"bbbbbbbbbb":1,"c":2}"#, r#"{"bbbbbbbbbb":1,"c":2}"#),
        (
            r#" [ { "x" : { "b" : [ 1 , { "d" : 0 , "c" : 0 } ] , "a" : null } } ] "#,
            r#"[{"x":{"a":null,"b":[1,{"c":0,"d":0}]}}]"#,
        ),
        (r#"{"z":"\n\"\\","é":"/"}"#, r#"{"z":"\n\"\\","é":"/"}"#),
        (r#"{"\u0062":1,"a":"\u0061\/"}"#, r#"{"a":"a/","b":1}"#),
    ] {
        assert_eq!(String::from_utf8(c1_of_document(document.as_bytes()).unwrap()).unwrap(), written);
        both(document.as_bytes());
    }
}

#[test]
fn numbers_are_those_of_the_parser() {
    for number in [
        "0",
        "-0",
        "-1",
        "10",
        "01",
        "-",
        "-01",
        "1.",
        ".5",
        "1.0",
        "-0.0",
        "0.0",
        "0.10",
        "1.50",
        "100.0",
        "0.1",
        "0.7",
        "0.0001",
        "0.00012",
        "0.00001",
        "0.00010",
        "0.000",
        "123456789012345.0",
        "1234567890123456.0",
        "0.123456789012345",
        "0.1234567890123456",
        "12345678.1234567",
        "12345678.12345678",
        "9007199254740993.0",
        "1e5",
        "1E+2",
        "1e-5",
        "1e",
        "1e+",
        "1.5e300",
        "1e400",
        "-1e400",
        "1e-400",
        "5e-324",
        "18446744073709551616",
        "746807203247962.25",
        "+1",
        "1.e1",
        "0x1",
        "1_0",
        "NaN",
        "-Infinity",
        "999999999.999999",
        "0.3000000000000000444",
        "4.35",
        "2.675",
        "1.005",
        "9999999999999999.0",
        "99999999999999.99",
        "0.30000000000000004",
        "1000000000.5",
    ] {
        for document in
            [number.to_owned(), format!("[{number}]"), format!("{{\"a\": {number} }}"), format!(" {number}\n")]
        {
            both(document.as_bytes());
        }
    }
    both("9".repeat(4_300).as_bytes());
    both("9".repeat(4_301).as_bytes());
}

/// Every decimal of up to six places and a few whole digits is written as it stands.
#[test]
fn short_decimals_are_written_as_they_are_read() {
    for whole in [0_u32, 1, 9, 10, 255, 4_096, 99_999] {
        for part in (0..1_000).chain([1_001, 12_345, 99_999, 100_000, 123_456, 999_999]) {
            let written = format!("{whole}.{part}");
            let short = written.trim_end_matches('0');
            let short = if short.ends_with('.') { format!("{short}0") } else { short.to_owned() };
            for sign in ["", "-"] {
                let document = format!("{sign}{written}");
                let expected = format!("{sign}{short}");
                assert_eq!(c1_of_document(document.as_bytes()).unwrap(), expected.as_bytes(), "{document}");
                assert_eq!(c1(&parse(document.as_bytes()).unwrap()), expected.as_bytes(), "{document}");
            }
        }
    }
}

#[test]
fn refusals_are_those_of_the_parser() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deep = |depth: usize| format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let large = |size: usize| format!("\"{}\"", "x".repeat(size - 2));
    for document in [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "{}",
        "[]",
        "{ }",
        "[ ]",
        "[1,]",
        "[,1]",
        "{,}",
        "{\"a\":1,}",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{\"a\":1 \"b\":2}",
        "[1 2]",
        "[1}",
        "{\"a\":1]",
        "\"",
        "\"\\",
        "\"\\u12\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\t\"",
        "\"\u{7f}\"",
        "tru",
        "true",
        "trueX",
        "nul",
        "falsee",
        "null null",
        "\u{feff}1",
        "{\"a\":1,\"a\":1}",
        "{\"a\":1,\"\\u0061\":1}",
        "{\"b\":1,\"a\":1,\"b\":2}",
        "{\"abcdefghi\":1,\"abcdefghi\":2}",
        "\u{a0}1",
        "1\u{b}",
        "//1",
        "'a'",
        "[1]]",
        "{}{}",
        &nested(64),
        &nested(65),
        &deep(64),
        &deep(65),
        &large(1 << 20),
        &large((1 << 20) + 1),
    ] {
        both(document.as_bytes());
    }
    for document in [&b"\xff"[..], b"\"\xc3\"", b"1\0", b"\x001", b"\"\0\"", b"\xfe\xff\0", b"\"\xed\xa0\x80\""] {
        both(document);
    }
}

#[test]
fn examples_of_upstream_have_one_form() {
    let Some(folder) = upstream::path() else { return };
    let mut files = Vec::new();
    crate::schemas::json_files(&folder, &mut files);
    let read: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    read.iter().filter(|document| document.len() < 1 << 18).for_each(|document| both(document));
    assert!(read.len() > 200, "only {} files", read.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_of_json_pieces_is_judged_alike(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "{", "}", "[", "]", ",", ":", "\"", "\"a\":", "\"b\":", "\"aaaaaaaab\":", "\"aaaaaaaaa\":", "1", "-0", "1.0",
                "0.5e3", "true", "null", "\"x\"", "\"\\n\"", "\"\\u00e9\"", " ", "\n        ", "é",
            ]),
            0..24,
        )
    ) {
        both(pieces.concat().as_bytes());
    }

    /// One byte of a real document is changed.
    #[test]
    fn one_changed_byte_is_judged_alike(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut document = br#"{"b": [1.50, -2, {"d": "x\"y", "c": null}], "abcdefghi": {"": true}, "abcdefgh": "z"}"#.to_vec();
        let at = at.index(document.len());
        if cut {
            document.truncate(at);
        } else {
            document[at] = byte;
        }
        both(&document);
    }
}
