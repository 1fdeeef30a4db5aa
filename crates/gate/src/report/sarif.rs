//! The report as SARIF 2.1.0, with what GitHub's code scanning needs: a place for every result, rules with texts, and
//! fingerprints that are the same in the next run.

use std::collections::BTreeMap;

use quorum_schemas::Digest;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::clean;
use super::model::{End, Item, Level, Model, Part};
use super::rules::Rule;

/// Where the schema of this version is published.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'a str,
    version: &'a str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool<'a>,
    automation_details: Json,
    invocations: [Json; 1],
    column_kind: &'a str,
    results: Vec<SarifResult<'a>>,
    properties: Json,
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'a str,
    semantic_version: &'a str,
    rules: Vec<Json>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'a> {
    rule_id: &'a str,
    rule_index: usize,
    level: &'a str,
    message: Json,
    locations: [Json; 1],
    partial_fingerprints: Json,
    properties: Json,
}

pub(super) fn render(model: &Model<'_>) -> String {
    let rules = used_rules(model);
    let index: BTreeMap<&str, usize> = rules.iter().enumerate().map(|(at, (rule, _))| (rule.id, at)).collect();
    let prints = model.fingerprints();
    let shown = model.items.iter().zip(prints).filter(|(item, _)| item.level != Level::Pass);
    let results = shown.map(|(item, print)| result(model, item, print, index[item.rule.id])).collect();
    let (category, properties) = about(model);
    let log = Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "Quorum",
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: rules.iter().map(|(rule, level)| descriptor(rule, *level)).collect(),
                },
            },
            automation_details: json!({ "id": category }),
            // Short of an accept the process fails, and a viewer that shows only this must not show success.
            invocations: [json!({
                "executionSuccessful": model.accepts(),
                "exitCode": model.exit_code().number(),
                "exitCodeDescription": model.word(),
            })],
            column_kind: "unicodeCodePoints",
            results,
            properties,
        }],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("strings, numbers and lists always serialise");
    text.push('\n');
    text
}

/// Every rule that a result names, once, with its worst level.
fn used_rules(model: &Model<'_>) -> Vec<(Rule, Level)> {
    let mut rules: BTreeMap<&str, (Rule, Level)> = BTreeMap::new();
    for item in model.items.iter().filter(|item| item.level != Level::Pass) {
        let entry = rules.entry(item.rule.id).or_insert((item.rule, item.level));
        entry.1 = entry.1.min(item.level);
    }
    rules.into_values().collect()
}

fn descriptor(rule: &Rule, level: Level) -> Json {
    json!({
        "id": rule.id,
        "name": pascal(rule.id),
        "shortDescription": { "text": rule.meaning },
        "fullDescription": { "text": rule.meaning },
        "help": { "text": format!("{} {}", rule.meaning, rule.action) },
        "defaultConfiguration": { "level": level_of(level) },
    })
}

fn level_of(level: Level) -> &'static str {
    match level {
        Level::Failure | Level::Error => "error",
        Level::Warning => "warning",
        Level::Note | Level::Pass => "note",
    }
}

fn result<'a>(model: &Model<'_>, item: &'a Item, print: String, rule_index: usize) -> SarifResult<'a> {
    let place = item.place.clone().unwrap_or_else(|| model.subject.default_place());
    let verifier = match &item.part {
        Part::Verifier(id) => Some(id),
        _ => None,
    };
    SarifResult {
        rule_id: item.rule.id,
        rule_index,
        level: level_of(item.level),
        message: json!({ "text": item.message }),
        locations: [json!({
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&place.file) },
                "region": { "startLine": place.line },
            },
            "logicalLocations": [{ "name": item.name, "fullyQualifiedName": qualified(item) }],
        })],
        // GitHub reads the first name only; the second says by which rule of ours it was made.
        partial_fingerprints: json!({ "primaryLocationLineHash": &print, "quorumItem/v1": &print }),
        properties: json!({ "quorumLevel": item.level.as_str(), "about": item.about, "verifier": verifier }),
    }
}

fn qualified(item: &Item) -> String {
    match &item.part {
        Part::Verifier(id) => format!("{id}/{}", item.name),
        _ => item.name.clone(),
    }
}

/// The category, which keeps the runs of several work units apart, and what the run was about.
fn about(model: &Model<'_>) -> (String, Json) {
    let recommendation = model.word();
    let End::Decided(decision) = model.end else {
        return ("quorum/".to_owned(), json!({ "recommendation": recommendation }));
    };
    let unit = clean::name(&decision.work_unit.id);
    let properties = json!({
        "recommendation": recommendation,
        "workUnit": unit,
        "handoffId": decision.handoff_id.to_string(),
        "decisionDigest": decision.digest().to_string(),
        "policyDigest": decision.policy.digest.to_string(),
    });
    // The last segment of an id is the run's own name; without one it ends in a slash. An id of a work unit may hold what
    // a category must not.
    let safe = decision.work_unit.id.chars().all(|it| it.is_ascii_alphanumeric() || "-._/".contains(it));
    let category = if safe { unit } else { Digest::of(unit.as_bytes()).hex() };
    (format!("quorum/{category}/"), properties)
}

/// A path as a relative URI reference.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn pascal(id: &str) -> String {
    let capital = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => first.to_ascii_uppercase() + rest,
        None => String::new(),
    };
    id.split('_').map(capital).collect()
}
