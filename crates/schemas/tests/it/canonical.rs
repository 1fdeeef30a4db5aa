//! Canonical forms: RFC 8785 vectors, Python's number forms, and laws of C1.

use proptest::prelude::*;
use quorum_schemas::{Digest, Object, SchemasError, Value, c1, jcs, parse, upstream};

#[test]
fn rfc_8785_vectors() {
    let Some(folder) = upstream::path() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.join("jcs/input")).unwrap() {
        let input = entry.unwrap().path();
        let name = input.file_name().unwrap().to_owned();
        let expected = std::fs::read(folder.join("jcs/output").join(&name)).unwrap();
        let value = parse(&std::fs::read(&input).unwrap()).unwrap();
        let got = jcs(&value).unwrap();
        assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(&expected), "{}", name.display());
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn rfc_8785_has_no_form_for_integers_beyond_binary64() {
    for (text, fits) in [
        ("9007199254740991", true),
        ("-9007199254740991", true),
        ("9007199254740992", false),
        ("-9007199254740992", false),
        ("18446744073709551616", false),
    ] {
        let value = parse(format!("[{text}]").as_bytes()).unwrap();
        match jcs(&value) {
            Ok(bytes) => assert!(fits && bytes == format!("[{text}]").into_bytes(), "{text}"),
            Err(error) => {
                assert!(!fits, "{text}");
                assert_eq!(error, SchemasError::NotIJson(text.to_owned()));
            }
        }
    }
}

/// Numbers of RFC 8785, appendix B, by their bits.
#[test]
fn rfc_8785_writes_numbers_as_ecmascript() {
    for (bits, text) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0x430539bcd085bad2, "746807203247962.2"),
    ] {
        let bytes = jcs(&Value::Float(f64::from_bits(bits))).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), text, "{bits:016x}");
    }
}

/// C1 sorts by code point, RFC 8785 by UTF-16 unit: the two part at U+E000.
#[test]
fn the_two_forms_sort_astral_keys_differently() {
    let value = parse("{\"\u{1f600}\":1,\"\u{ff61}\":2}".as_bytes()).unwrap();
    assert_eq!(String::from_utf8(c1(&value)).unwrap(), "{\"\u{ff61}\":2,\"\u{1f600}\":1}");
    assert_eq!(String::from_utf8(jcs(&value).unwrap()).unwrap(), "{\"\u{1f600}\":1,\"\u{ff61}\":2}");
}

#[test]
fn numbers_are_written_as_python_writes_them() {
    for (input, output) in [
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("0.0", "0.0"),
        ("0e0", "0.0"),
        ("1.0", "1.0"),
        ("1e0", "1.0"),
        ("1E2", "100.0"),
        ("1e15", "1000000000000000.0"),
        ("9999999999999998.0", "9999999999999998.0"),
        ("1e16", "1e+16"),
        ("123456789012345678.0", "1.2345678901234568e+17"),
        ("0.0001", "0.0001"),
        ("0.00009999", "9.999e-05"),
        ("1e-5", "1e-05"),
        ("1.5e-7", "1.5e-07"),
        ("1e100", "1e+100"),
        ("1e-100", "1e-100"),
        ("5e-324", "5e-324"),
        ("1e-400", "0.0"),
        ("-1e-400", "-0.0"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308"),
        ("2.2250738585072011e-308", "2.225073858507201e-308"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("9007199254740993.0", "9007199254740992.0"),
        // Ties between equally short digits go to the even one.
        ("746807203247962.25", "746807203247962.2"),
        ("5e-5", "5e-05"),
        ("5.684341886080801486968994140625E-14", "5.684341886080802e-14"),
        ("18446744073709551616", "18446744073709551616"),
        ("-170141183460469231731687303715884105729", "-170141183460469231731687303715884105729"),
    ] {
        let value = parse(input.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(c1(&value)).unwrap(), output, "{input}");
    }
}

#[test]
fn strings_escape_only_what_python_escapes() {
    for code in (0..0x300).chain(0x2020..0x2030).chain([0xe000, 0xfeff, 0xffff, 0x10000, 0x10ffff]) {
        let character = char::from_u32(code).unwrap();
        let expected = match character {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\u{8}' => "\\b".to_owned(),
            '\t' => "\\t".to_owned(),
            '\n' => "\\n".to_owned(),
            '\u{c}' => "\\f".to_owned(),
            '\r' => "\\r".to_owned(),
            control if code < 0x20 => format!("\\u{:04x}", u32::from(control)),
            other => other.to_string(),
        };
        let bytes = c1(&Value::from(character.to_string()));
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), format!("\"{expected}\""), "U+{code:04X}");
        assert_eq!(parse(&bytes).unwrap(), Value::from(character.to_string()), "U+{code:04X}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i128>().prop_map(|number| parse(number.to_string().as_bytes()).unwrap()),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        ".{0,8}".prop_map(Value::String),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(".{0,5}", inner, 0..6).prop_map(|members: Object| Value::Object(members)),
        ]
    })
}

/// The same document with other white space and every member in reverse order.
fn rewritten(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push_str("[ \n");
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(" ,\t");
                }
                rewritten(item, out);
            }
            out.push_str("\r\n]");
        }
        Value::Object(members) => {
            out.push_str(" {");
            for (index, (key, member)) in members.iter().rev().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                out.push_str(&String::from_utf8(c1(&Value::from(key.as_str()))).unwrap());
                out.push_str(" : ");
                rewritten(member, out);
            }
            out.push_str("} ");
        }
        leaf => out.push_str(&String::from_utf8(c1(leaf)).unwrap()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn c1_reads_back_and_is_a_fixed_point(value in value()) {
        let bytes = c1(&value);
        let again = parse(&bytes).unwrap();
        prop_assert_eq!(c1(&again), bytes);
        // Equality of floats says nothing about the sign of zero; the digest does.
        prop_assert_eq!(Digest::c1(&again), Digest::c1(&value));
        prop_assert_eq!(again, value);
    }

    #[test]
    fn c1_depends_on_neither_order_nor_white_space(value in value()) {
        let mut text = String::new();
        rewritten(&value, &mut text);
        prop_assert_eq!(c1(&parse(text.as_bytes()).unwrap()), c1(&value));
    }

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Err(refusal) = parse(&bytes) {
            prop_assert!(refusal.offset <= bytes.len());
        }
    }

    #[test]
    fn no_json_like_text_makes_the_parser_panic(text in r#"[\[\]{},:"\\/ntfue0-9.eE+\-dD89aAbB]{0,40}"#) {
        if let Err(refusal) = parse(text.as_bytes()) {
            prop_assert!(refusal.offset <= text.len());
            prop_assert!(!refusal.to_string().is_empty());
        }
    }
}
