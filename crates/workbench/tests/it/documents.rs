//! docs/workbench.md: every test that it names by number is there, and every number has its line.

const PAGE: &str = include_str!("../../../../docs/workbench.md");
const SOURCES: [(&str, &str); 6] = [
    ("assess.rs", include_str!("assess.rs")),
    ("crash.rs", include_str!("crash.rs")),
    ("profile.rs", include_str!("profile.rs")),
    ("request.rs", include_str!("request.rs")),
    ("result.rs", include_str!("result.rs")),
    ("state.rs", include_str!("state.rs")),
];
/// Of the contract's rules, in the order of the page.
const RULES: [u32; 49] = [
    1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 30, 31, 32, 33, 34, 35, 36, 37, 40, 41, 42, 50, 51, 52, 53, 60, 61, 62,
    63, 64, 65, 66, 70, 71, 80, 81, 82, 83, 84, 85, 90, 100, 101, 102, 103, 104, 105,
];

/// The rules of a first column: `W-010 to W-014` is five of them.
fn rules(column: &str) -> Vec<u32> {
    let numbers: Vec<u32> = column.split("W-").skip(1).map(|part| part[..3].parse().unwrap()).collect();
    match (column.contains(" to "), &numbers[..]) {
        (true, [first, last]) => (*first..=*last).collect(),
        _ => numbers,
    }
}

fn rows() -> impl Iterator<Item = (Vec<u32>, &'static str)> {
    PAGE.lines().filter(|line| line.starts_with("| W-")).map(|line| {
        let (column, rest) = line[2..].split_once(" | ").unwrap();
        (rules(column), rest)
    })
}

#[test]
fn every_rule_has_one_line() {
    let told: Vec<u32> = rows().flat_map(|(rules, _)| rules).collect();
    for rule in RULES {
        assert_eq!(told.iter().filter(|one| **one == rule).count(), 1, "W-{rule:03}");
    }
}

#[test]
fn tests_that_are_named_by_number_are_there() {
    let (mut seen, run) = (0, include_str!("run.rs"));
    for (rules, rest) in rows() {
        for word in rest.split([' ', ',', ':', ';', '(', ')', '.']).filter(|word| word.starts_with("w_")) {
            let named = |source: &str| source.contains(&format!("fn {word}_"));
            assert!(SOURCES.iter().any(|(_, source)| named(source)) || named(run), "{word}");
            seen += 1;
        }
        if rest.contains("each by its number") {
            for rule in rules {
                let test = format!("fn w_{rule:03}_");
                assert!(SOURCES.iter().any(|(_, source)| source.contains(&test)) || run.contains(&test), "{test}");
                seen += 1;
            }
        }
    }
    assert!(seen > 35, "only {seen}");
}
