//! The edits that turn each law red (docs/laws.md) still name text that is there, exactly once.

use std::path::Path;

#[test]
fn every_listed_edit_still_has_exactly_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("mutations.toml")).expect("mutations.toml");
    let table: toml::Table = text.parse().expect("TOML");
    let edits = table["mutation"].as_array().expect("a list of edits");
    let mut laws: Vec<&str> = Vec::new();
    for edit in edits {
        let member =
            |name: &str| edit.get(name).and_then(toml::Value::as_str).unwrap_or_else(|| panic!("{name} of {edit}"));
        let source = std::fs::read_to_string(root.join(member("file")))
            .unwrap_or_else(|error| panic!("{}: {error}", member("file")));
        assert_eq!(source.matches(member("old")).count(), 1, "law {}: {:?}", member("law"), member("old"));
        assert_ne!(member("old"), member("new"));
        let laws_text = concat!(include_str!("laws.rs"), include_str!("trust_changes.rs"));
        assert!(laws_text.contains(&format!("fn {}", member("test"))), "no test {}", member("test"));
        laws.push(member("law"));
    }
    laws.sort_unstable();
    laws.dedup();
    assert_eq!(laws, ["1", "2", "3", "3b", "4", "5", "6", "7", "8", "9"]);
}
