//! Every refusal of the parser: its code, its offset, its pointer.

use quorum_schemas::limits::{DOCUMENT, INTEGER_DIGITS, Limits};
use quorum_schemas::{ParseError, Value, parse, parse_with};

/// Document, code, byte offset, pointer.
const REFUSED: &[(&str, &str, usize, &str)] = &[
    ("", "json_syntax", 0, ""),
    ("  ", "json_syntax", 2, ""),
    ("nul", "json_syntax", 3, ""),
    ("nulll", "json_trailing_bytes", 4, ""),
    ("[1,]", "json_syntax", 3, "/1"),
    ("{,}", "json_syntax", 1, ""),
    ("{\"a\":1,}", "json_syntax", 7, ""),
    ("[1 2]", "json_syntax", 3, "/0"),
    ("[{\"a\":[0,[1 2]]}]", "json_syntax", 12, "/0/a/1/0"),
    ("{\"a\" 1}", "json_syntax", 5, "/a"),
    ("{a:1}", "json_syntax", 1, ""),
    ("'a'", "json_syntax", 0, ""),
    ("01", "json_syntax", 1, ""),
    ("[-]", "json_syntax", 2, "/0"),
    ("[1.]", "json_syntax", 3, "/0"),
    ("[1e]", "json_syntax", 3, "/0"),
    (".5", "json_syntax", 0, ""),
    ("+1", "json_syntax", 0, ""),
    ("0x10", "json_trailing_bytes", 1, ""),
    ("[1", "json_syntax", 2, "/0"),
    ("{\"a\":1", "json_syntax", 6, "/a"),
    ("\"abc", "json_syntax", 4, ""),
    ("\"\\u12\"", "json_syntax", 6, ""),
    ("\"\\x\"", "json_syntax", 2, ""),
    ("\"a\nb\"", "json_syntax", 2, ""),
    ("{\"k\":[\"\u{1}\"]}", "json_syntax", 7, "/k/0"),
    ("/* c */ 1", "json_syntax", 0, ""),
    ("\u{a0}1", "json_syntax", 0, ""),
    ("\n\n[1,\n x]", "json_syntax", 7, "/1"),
    ("{\"a/b~\":\n\n[tru]}", "json_syntax", 14, "/a~1b~0/0"),
    ("NaN", "json_non_finite", 0, ""),
    ("[1,NaN]", "json_non_finite", 3, "/1"),
    ("{\"a\":[1,Infinity]}", "json_non_finite", 8, "/a/1"),
    ("{\"a\":-Infinity}", "json_non_finite", 5, "/a"),
    ("{\"\u{e9}\": NaN}", "json_non_finite", 7, "/\u{e9}"),
    ("{\"NaN\":1 2}", "json_syntax", 9, "/NaN"),
    ("[1e400]", "json_number_overflow", 1, "/0"),
    ("{\"a\":{\"b\":-1e999}}", "json_number_overflow", 10, "/a/b"),
    ("[1.8e308]", "json_number_overflow", 1, "/0"),
    ("\"\\ud800\"", "json_lone_surrogate", 0, ""),
    ("\"\\udc00\"", "json_lone_surrogate", 0, ""),
    ("[0,\"x\\ud800y\"]", "json_lone_surrogate", 3, "/1"),
    ("\"\\ud800\\u0041\"", "json_lone_surrogate", 0, ""),
    ("\"\\ud83d\\ud83d\"", "json_lone_surrogate", 0, ""),
    ("{\"a\":{\"\\ud800\":1}}", "json_lone_surrogate", 6, "/a"),
    ("{\"a\":1,\"a\":2}", "json_duplicate_key", 7, "/a"),
    ("[{\"a\":{\"b\":1,\"\\u0062\":2}}]", "json_duplicate_key", 13, "/0/a/b"),
    ("{\"\":1,\"\":2}", "json_duplicate_key", 6, "/"),
    ("\u{feff}{}", "json_bom", 0, ""),
    ("1 2", "json_trailing_bytes", 2, ""),
    ("{} x", "json_trailing_bytes", 3, ""),
    ("[]]", "json_trailing_bytes", 2, ""),
    ("{}\u{0}", "json_trailing_bytes", 2, ""),
];

#[test]
fn refusals_have_a_code_and_a_place() {
    for (document, code, offset, pointer) in REFUSED {
        let refusal = parse(document.as_bytes()).unwrap_err();
        let found = (refusal.reason.code(), refusal.offset, refusal.pointer.as_str());
        assert_eq!(found, (*code, *offset, *pointer), "{document:?}: {refusal}");
        assert!(refusal.to_string().starts_with(code), "{refusal}");
    }
}

#[test]
fn the_neighbours_of_refusals_are_read() {
    for document in [
        "null",
        " [1, 2] \n",
        "\t{\"a\": 1, \"b\": 1}\r\n",
        "-0",
        "-0.0",
        "1e308",
        "1e-400",
        "\"\\ud83d\\ude00\"",
        "\"\\u0000\"",
        "\"\u{feff}\"",
        "\"NaN\"",
        "{\"a\":{\"a\":{\"a\":1}}}",
        "{\"A\":1,\"a\":2}",
        // NFC and NFD of the same letter are different keys.
        "{\"\u{e9}\":1,\"e\u{301}\":2}",
    ] {
        parse(document.as_bytes()).unwrap_or_else(|error| panic!("{document:?}: {error}"));
    }
}

fn refusal(bytes: &[u8]) -> ParseError {
    parse(bytes).unwrap_err()
}

#[test]
fn bytes_that_are_not_utf_8_are_refused_and_utf_16_is_named() {
    let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (bytes, offset, named) in [
        (b"\"\xff\"".to_vec(), 1, false),
        (b"{\"a\":\"\xc3\x28\"}".to_vec(), 6, false),
        (b"\"\xed\xa0\x80\"".to_vec(), 1, false),
        (b"\"\xc0\x80\"".to_vec(), 1, false),
        (b"\xff\xfe{\0}\0".to_vec(), 0, true),
        (utf16, 0, true),
        (big, 0, true),
    ] {
        let refusal = refusal(&bytes);
        assert_eq!((refusal.reason.code(), refusal.offset), ("json_not_utf8", offset), "{bytes:?}");
        assert_eq!(refusal.to_string().contains("UTF-16"), named, "{refusal}");
    }
}

fn nested(depth: usize) -> String {
    format!("{}1{}", "[{\"a\":".repeat(depth / 2), "}]".repeat(depth / 2))
}

#[test]
fn depth_is_bounded() {
    assert!(parse(nested(DOCUMENT.depth).as_bytes()).is_ok());
    let refusal = refusal(nested(DOCUMENT.depth + 2).as_bytes());
    assert_eq!(refusal.reason.code(), "json_too_deep");
    assert_eq!(refusal.offset, 6 * DOCUMENT.depth / 2);
    assert_eq!(refusal.pointer, "/0/a".repeat(DOCUMENT.depth / 2));
    let limits = Limits { depth: 1, ..DOCUMENT };
    assert!(parse_with(b"[1]", limits).is_ok());
    assert_eq!(parse_with(b"[1,[]]", limits).unwrap_err().pointer, "/1");
    assert!(parse_with(b"1", Limits { depth: 0, ..DOCUMENT }).is_ok());
}

/// A megabyte of brackets, closed or not, neither overflows the stack nor yields an endless place.
#[test]
fn a_megabyte_of_brackets_is_refused_quickly() {
    for document in ["[".repeat(DOCUMENT.bytes), "{\"a\":".repeat(200_000), nested(400_000), "[1 ".repeat(300_000)] {
        let refusal = refusal(document.as_bytes());
        assert!(refusal.pointer.len() <= 4 * DOCUMENT.depth, "{}", refusal.pointer.len());
    }
}

#[test]
fn size_is_bounded() {
    let fits = format!("\"{}\"", "x".repeat(DOCUMENT.bytes - 2));
    assert!(parse(fits.as_bytes()).is_ok());
    let refusal = refusal(format!("{fits} ").as_bytes());
    assert_eq!((refusal.reason.code(), refusal.offset), ("json_too_large", DOCUMENT.bytes));
}

#[test]
fn integers_are_bounded_by_digits() {
    let longest = "9".repeat(INTEGER_DIGITS);
    for sign in ["", "-"] {
        let value = parse(format!("{sign}{longest}").as_bytes()).unwrap();
        assert!(matches!(value, Value::Int(integer) if integer.as_str() == format!("{sign}{longest}")));
        let refusal = refusal(format!("[0,{sign}{longest}0]").as_bytes());
        let found = (refusal.reason.code(), refusal.offset, refusal.pointer.as_str());
        assert_eq!(found, ("json_integer_too_long", 3, "/1"));
    }
}

#[test]
fn foreign_text_in_messages_is_cut() {
    let key = "k".repeat(10_000);
    let refusal = refusal(format!("{{\"{key}\":1,\"{key}\":2}}").as_bytes());
    assert_eq!(refusal.reason.code(), "json_duplicate_key");
    assert!(refusal.reason.to_string().len() < 200);
}
