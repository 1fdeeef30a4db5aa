//! Statements: exactly in-toto v1, exactly one form.

use quorum_attest::{PredicateType, Statement, Subject};
use quorum_schemas::Digest;

use crate::support::statement;

fn good() -> String {
    String::from_utf8(statement(PredicateType::Evidence).to_bytes()).unwrap()
}

#[test]
fn every_predicate_type_there_and_back() {
    for predicate_type in PredicateType::ALL {
        let written = statement(predicate_type);
        assert_eq!(Statement::parse(&written.to_bytes()).unwrap(), written);
        assert_eq!(PredicateType::from_uri(predicate_type.uri()), Some(predicate_type));
    }
    assert_eq!(PredicateType::from_uri("urn:idkmesh-quorum:evidence:v0.2"), None);
}

#[test]
fn subjects_of_both_kinds() {
    let mut written = statement(PredicateType::Handoff);
    for commit in ["a".repeat(40), "0123456789abcdef".repeat(4)] {
        written.subject = vec![Subject::git_commit("head", &commit), Subject::sha256("x", Digest::of(b""))];
        assert_eq!(Statement::parse(&written.to_bytes()).unwrap(), written);
    }
}

#[test]
fn other_forms_are_refused() {
    let good = good();
    let hash = Digest::of(b"candidate").hex();
    let sixteen_more = format!("[{}", r#"{"digest":{"sha256":"HASH"},"name":"c"},"#.repeat(16).replace("HASH", &hash));
    let cases = [
        ("newline", format!("{good}\n"), "malformed"),
        ("space", good.replacen(':', ": ", 1), "malformed"),
        ("ascii escapes", good.replace('é', "\\u00e9"), "malformed"),
        ("float spelling", good.replace("\"n\":1,", "\"n\":1e0,"), "malformed"),
        ("array", format!("[{good}]"), "malformed"),
        ("older statement", good.replace("Statement/v1", "Statement/v0.1"), "malformed"),
        ("unknown member", good.replacen("{\"_type\"", "{\"A\":1,\"_type\"", 1), "malformed"),
        ("no predicate", good.replace("\"predicate\":{\"n\":1,\"text\":\"café\"},", ""), "malformed"),
        ("predicate a list", good.replace("{\"n\":1,\"text\":\"café\"}", "[]"), "malformed"),
        ("predicate type a number", good.replace("\"urn:idkmesh-quorum:evidence:v0.1\"", "1"), "malformed"),
        ("predicate type unknown", good.replace("evidence:v0.1", "evidence:v9.9"), "wrong_type"),
        ("predicate type in other case", good.replace("evidence:v0.1", "Evidence:v0.1"), "wrong_type"),
        ("no subject", good.replace(&good[good.find("[{\"digest\"").unwrap()..good.len() - 1], "[]"), "malformed"),
        ("subject an object", good.replace("[{\"digest\"", "{\"digest\"").replace("}]}", "}}"), "malformed"),
        ("17 subjects", good.replace('[', &sixteen_more), "malformed"),
        ("subject without name", good.replace(",\"name\":\"candidate\"", ""), "malformed"),
        ("subject with uri", good.replace("\"candidate\"}", "\"candidate\",\"uri\":\"\"}"), "malformed"),
        ("empty name", good.replace("\"name\":\"candidate\"", "\"name\":\"\""), "malformed"),
        ("name a number", good.replace("\"name\":\"candidate\"", "\"name\":1"), "malformed"),
        ("no digest", good.replace(&format!("\"sha256\":\"{hash}\""), ""), "malformed"),
        ("digest upper case", good.replace(&hash, &hash.to_uppercase()), "malformed"),
        ("digest with prefix", good.replace(&hash, &format!("sha256:{hash}")), "malformed"),
        ("digest short", good.replace(&hash, &hash[1..]), "malformed"),
        ("digest of another algorithm", good.replace("\"sha256\"", "\"sha512\""), "malformed"),
        ("commit of 41 digits", good.replace("\"sha256\"", "\"gitCommit\"").replace(&hash, &hash[..41]), "malformed"),
        ("duplicate key", good.replace("\"n\":1,", "\"n\":1,\"n\":1,"), "malformed"),
    ];
    for (name, text, code) in cases {
        assert_ne!(text, good, "{name}: the case changes nothing");
        let error = Statement::parse(text.as_bytes()).map(|_| ()).expect_err(name);
        assert_eq!(error.code(), code, "{name}: {error}");
    }
}
