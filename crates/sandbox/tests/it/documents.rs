//! What the pages say is what the code does.

use quorum_sandbox::{NO_SOCKETS, OBSERVATION_LAYERS, REFUSED};

#[test]
fn the_table_of_calls_is_the_filters() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sandbox.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut told: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 3).collect();
    for row in REFUSED.iter().chain([&NO_SOCKETS]) {
        let names: Vec<String> = row.calls.iter().map(|(name, _)| format!("`{name}`")).collect();
        let line = format!("| {} | {} |", names.join(", "), row.why);
        assert!(told.contains(&line.as_str()), "docs/sandbox.md has no line\n{line}");
        told.retain(|told| *told != line);
    }
    for layer in OBSERVATION_LAYERS {
        assert!(page.contains(&format!("`{layer}`")), "{layer}");
    }
}
