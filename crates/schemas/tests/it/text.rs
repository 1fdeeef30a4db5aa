//! Digests and times as documents write them.

use proptest::prelude::*;
use quorum_schemas::{Digest, Sha256, Timestamp, Value};

const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn digests_are_read_and_written() {
    assert_eq!(Digest::of(b"").to_string(), EMPTY);
    assert_eq!(EMPTY.parse::<Digest>().unwrap(), Digest::of(b""));
    assert_eq!(Digest::from_hex(&EMPTY[7..]).unwrap(), Digest::of(b""));
    assert_eq!(Value::from(Digest::of(b"")), Value::from(EMPTY));
    let mut parts = Sha256::default();
    parts.update(b"ab");
    parts.update(b"");
    parts.update(b"c");
    assert_eq!(parts.finish(), Digest::of(b"abc"));
    assert_eq!(Digest::from_bytes(*Digest::of(b"x").as_bytes()), Digest::of(b"x"));
}

#[test]
fn malformed_digests_are_refused() {
    for text in [
        "",
        "sha256:",
        &EMPTY[7..],
        &EMPTY.to_uppercase(),
        &format!("sha256:{}", &EMPTY[7..].to_uppercase()),
        &format!("{EMPTY}\n"),
        &format!(" {EMPTY}"),
        &EMPTY[..70],
        &format!("{EMPTY}0"),
        &EMPTY.replace("sha256", "sha512"),
        &EMPTY.replace('e', "g"),
        &format!("sha256:{}", "\u{e9}".repeat(32)),
        &format!("sha256:+{}", &EMPTY[8..]),
    ] {
        let error = text.parse::<Digest>().unwrap_err();
        assert_eq!(error.code(), "digest_malformed", "{text:?}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn times_are_read_with_any_offset_and_written_in_utc() {
    for (text, written) in [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
        ("2026-01-31T12:00:00+00:00", "2026-01-31T12:00:00Z"),
        ("2026-01-31T12:00:00-00:00", "2026-01-31T12:00:00Z"),
        ("2026-01-31T00:30:00+01:00", "2026-01-30T23:30:00Z"),
        ("2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.5Z"),
        ("2026-01-31T12:00:00.123456Z", "2026-01-31T12:00:00.123456Z"),
        ("2026-01-31T12:00:00.123456999Z", "2026-01-31T12:00:00.123456Z"),
        ("1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.999999Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ] {
        assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), written, "{text}");
    }
}

#[test]
fn malformed_times_are_refused() {
    for text in [
        "",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-01-31T12:00Z",
        "2026-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z",
        "2026-01-31T25:00:00Z",
        "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00 Z",
        "2026-01-31T12:00:00Z ",
        "26-01-31T12:00:00Z",
        "+2026-01-31T12:00:00Z",
        "-001-01-31T12:00:00Z",
        "1769860800",
        // In UTC these lie in years that cannot be written.
        "0000-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ] {
        let error = text.parse::<Timestamp>().unwrap_err();
        assert_eq!(error.code(), "timestamp_malformed", "{text:?}");
    }
}

#[test]
fn arithmetic_stops_at_the_ends() {
    let time: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    assert_eq!(time.plus_seconds(-86_400).to_string(), "2026-01-30T12:00:00Z");
    assert_eq!(time.plus_seconds(90).micros_since(time), 90_000_000);
    assert_eq!(time.micros_since(time.plus_seconds(1)), -1_000_000);
    for far in [i64::MAX, i64::MAX / 1_000_000] {
        assert_eq!(time.plus_seconds(far), Timestamp::MAX);
        assert_eq!(time.plus_seconds(-far), Timestamp::MIN);
    }
    assert_eq!(Timestamp::from_micros(i64::MAX).to_string(), "9999-12-31T23:59:59.999999Z");
    assert_eq!(Timestamp::from_micros(i64::MIN).to_string(), "0000-01-01T00:00:00Z");
}

proptest! {
    #[test]
    fn every_time_reads_back(micros in Timestamp::MIN.micros()..=Timestamp::MAX.micros()) {
        let time = Timestamp::from_micros(micros);
        prop_assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        prop_assert_eq!(time.micros(), micros);
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in "[0-9TZtz:+. -]{0,32}") {
        let _ = text.parse::<Timestamp>();
        let _ = text.parse::<Digest>();
    }
}
