//! The hash of an invocation against its vectors.

use std::collections::BTreeMap;

use quorum_engine::{BinaryIdentity, input_hash};
use serde_json::Value;

#[test]
fn input_hash_vectors() {
    let Some(bytes) = quorum_schemas::upstream::read("vyges/input-hash-vectors.json") else { return };
    let file: Value = serde_json::from_slice(&bytes).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    let first = &vectors[0];
    for vector in vectors {
        // What a vector does not state is as in the first one.
        let of = |key: &str| vector.get(key).unwrap_or(&first[key]).clone();
        let binary: Vec<String> = serde_json::from_value(of("binary")).unwrap();
        let binary = match binary[0].as_str() {
            "path" => BinaryIdentity::Path(&binary[1]),
            _ => BinaryIdentity::Image(&binary[1]),
        };
        let env: BTreeMap<String, String> = serde_json::from_value(of("env")).unwrap();
        let argv: Vec<String> = serde_json::from_value(of("argv")).unwrap();
        let found = input_hash(binary, of("version").as_str(), &env, &argv);
        assert_eq!(found, vector["input_hash"], "{}", vector["name"]);
    }
    assert_eq!(vectors.len(), 7);
}

#[test]
fn loom_h2_and_h6_absent_is_not_empty_and_unresolved_is_not_resolved() {
    let argv = vec!["x".to_owned()];
    let hash = |binary, version, env: &[(&str, &str)]| {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        input_hash(binary, version, &env, &argv)
    };
    let path = BinaryIdentity::Path("/x");
    assert_ne!(hash(path, Some("1"), &[]), hash(path, Some("1"), &[("PDK_ROOT", "")]));
    assert_ne!(hash(path, None, &[]), hash(path, Some(""), &[]));
    assert_ne!(hash(path, None, &[]), hash(BinaryIdentity::Unresolved("/x"), None, &[]));
}
