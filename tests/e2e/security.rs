//! `docs/security.md` is true in what can be checked: every test that it names exists, every threat has one or says what is
//! missing, and every key has its paragraph.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/security.md")).unwrap()
}

/// Where `crate/file::test` stands.
fn file_of(place: &str) -> PathBuf {
    let (room, rest) = place.split_once('/').unwrap();
    let path = match (room, rest.split_once('/')) {
        ("e2e", _) => format!("tests/e2e/{rest}.rs"),
        (_, Some(("src", _))) => format!("crates/{room}/{rest}.rs"),
        _ => format!("crates/{room}/tests/it/{rest}.rs"),
    };
    root().join(path)
}

/// A test function, or the name that a macro of tests is given.
fn is_test(text: &str, name: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    ["fn ", "escape!(", "    "].iter().any(|before| {
        text.match_indices(&format!("{before}{name}")).any(|(at, found)| {
            let rest = &text[at + found.len()..];
            is_end(rest)
                && match *before {
                    "fn " => rest.starts_with('('),
                    "escape!(" => rest.starts_with(','),
                    _ => rest.starts_with(": "),
                }
        })
    })
}

/// The tests that a part of the page names.
fn named(text: &str) -> Vec<(&str, &str)> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|code| code.split_once("::"))
        .filter(|(place, _)| place.contains('/'))
        .collect()
}

fn sections<'a>(text: &'a str, heading: &str) -> Vec<(&'a str, &'a str)> {
    let part = text.split(heading).nth(1).unwrap_or_else(|| panic!("no part {heading:?}"));
    let part = part.split("\n## ").next().unwrap();
    part.split("\n### ").skip(1).map(|section| section.split_once('\n').unwrap()).collect()
}

/// "Not yet" without saying what brings it is a shrug.
#[test]
fn whatever_is_missing_names_the_work_that_brings_it() {
    let page = page();
    let roadmap = std::fs::read_to_string(root().join("docs/roadmap.md")).unwrap();
    let titles: Vec<&str> = roadmap.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(titles, ["Engines and sandbox", "A mesh that survives", "Calibration"]);
    let missing: Vec<&str> = page.split("Not yet").skip(1).collect();
    assert!(missing.len() >= 5, "{}", missing.len());
    for text in missing {
        let named = titles.iter().find(|title| text.starts_with(&format!(" ([{title}](roadmap.md))")));
        assert!(named.is_some(), "`Not yet` without its work: {}", text.lines().next().unwrap_or_default());
    }
}

#[test]
fn every_test_that_the_threats_name_exists() {
    let page = page();
    let named = named(&page);
    assert!(named.len() > 80, "only {} tests were looked at", named.len());
    for (place, test) in named {
        if (place, test) == ("crate/file", "test") || test == "x" {
            continue;
        }
        let file = file_of(place);
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("`{place}::{test}`: {error}"));
        assert!(is_test(&text, test), "`{place}::{test}` is no test of {}", file.display());
    }
}

#[test]
fn every_threat_has_a_named_test_or_says_what_is_missing() {
    let page = page();
    let threats = sections(&page, "\n## The threats\n");
    assert_eq!(threats.len(), 20);
    for (number, (heading, text)) in threats.iter().enumerate() {
        assert!(heading.starts_with(&format!("{}. ", number + 1)), "{heading}");
        assert!(!named(text).is_empty() || text.contains("Not yet: "), "{heading}: no test, and nothing missing");
    }
    let keys = sections(&page, "\n## What a stolen key can and cannot do\n");
    let headings: Vec<&str> = keys.iter().map(|(heading, _)| *heading).collect();
    for role in quorum_attest::Role::ALL {
        let expected = format!("{role} key");
        assert!(headings.iter().any(|heading| heading.to_lowercase() == expected), "{expected}");
    }
    assert!(headings.contains(&"Root key"));
    for (heading, text) in keys {
        assert!(!named(text).is_empty(), "{heading} names no test");
    }
}

#[test]
fn a_name_that_is_no_test_is_seen() {
    let text = "fn one() {}\n    two: Code <- Code;\nescape!(three, {\nfn fourth() {}\n";
    for (name, is) in [("one", true), ("two", true), ("three", true), ("four", false), ("thre", false), ("on", false)] {
        assert_eq!(is_test(text, name), is, "{name}");
    }
}
