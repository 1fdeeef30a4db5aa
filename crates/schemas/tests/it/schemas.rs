//! The embedded schemas: themselves, against upstream's, and the strictness that the dialect leaves open.

use std::path::{Path, PathBuf};

use quorum_schemas::{SchemaName, Value, parse, upstream, validate};
use serde_json::{Value as Json, json};

use crate::agreement::{TWINS, upstream_schema};

fn valid(name: SchemaName, document: &Json) -> bool {
    validate(name, &Value::from_serde(document.clone())).is_ok()
}

fn schema(name: SchemaName) -> Json {
    serde_json::from_str(name.text()).unwrap()
}

#[test]
fn every_schema_compiles_and_is_identified_by_its_name() {
    for name in SchemaName::ALL {
        assert_eq!(name.as_str().parse::<SchemaName>().unwrap(), *name);
        let schema = schema(*name);
        assert_eq!(schema["$id"], format!("urn:idkmesh-quorum:schema:{name}", name = name.as_str()));
        assert!(schema["title"].is_string(), "{} has no title", name.as_str());
        jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("{}: {error}", name.as_str()));
        assert!(!valid(*name, &json!({"nonsense": 1})), "{} admits nonsense", name.as_str());
    }
    assert_eq!("no-such".parse::<SchemaName>().unwrap_err().code(), "schema_unknown");
}

/// An object with named members is closed, or one misspelt member would pass unseen.
#[test]
fn every_object_with_named_members_is_closed() {
    fn walk(place: &str, node: &Json, conditional: bool) {
        match node {
            Json::Object(members) => {
                // Below a condition stand refinements of what is closed elsewhere; what names its type is no refinement.
                let refines = conditional && !members.contains_key("type");
                let named = members.contains_key("properties") && !refines;
                let branches = members.get("allOf").and_then(Json::as_array).cloned().unwrap_or_default();
                let dispatches = !branches.is_empty() && branches.iter().all(|one| one["then"]["$ref"].is_string());
                let closed = members.contains_key("additionalProperties") || dispatches;
                assert!(!named || closed, "{place} is open");
                for (key, member) in members {
                    let inside = matches!(key.as_str(), "if" | "then" | "else" | "contains");
                    walk(&format!("{place}/{key}"), member, conditional || inside);
                }
            }
            Json::Array(items) => items.iter().for_each(|item| walk(place, item, conditional)),
            _ => {}
        }
    }
    for name in SchemaName::ALL {
        walk(name.as_str(), &schema(*name), false);
    }
}

fn upstream_validator(folder: &Path, name: SchemaName) -> jsonschema::Validator {
    let schema = upstream_schema(folder, name);
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap()
}

pub(crate) fn json_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            json_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            out.push(path);
        }
    }
}

/// Every example of upstream gets the same answer from our schema and from upstream's, under every shared name.
#[test]
fn upstream_examples_get_the_same_answer() {
    let Some(folder) = upstream::path() else { return };
    let mut files = Vec::new();
    json_files(&folder.join("idkmesh/examples"), &mut files);
    assert!(files.len() >= 38, "only {} examples", files.len());
    let mut admitted = 0;
    for name in TWINS {
        let theirs = upstream_validator(&folder, name);
        for file in &files {
            let document: Json = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            let answer = theirs.is_valid(&document);
            assert_eq!(valid(name, &document), answer, "{} as {}", file.display(), name.as_str());
            admitted += u32::from(answer);
        }
    }
    assert!(admitted >= 21, "only {admitted} admitted");
    eprintln!("{} examples under {} names, {admitted} times admitted", files.len(), TWINS.len());
}

/// What a mutation puts in the place of a value.
fn replacements(value: &Json) -> Vec<Json> {
    let mut out = vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(0.5),
        json!(""),
        json!("x"),
        json!("allowlist"),
        json!("quorum"),
        json!([]),
        json!(["a", "a"]),
        json!({}),
        json!(format!("sha256:{}", "A".repeat(64))),
        json!(format!("sha256:{}", "0".repeat(64))),
    ];
    if let Json::String(text) = value {
        out.push(json!(format!("{text}\n")));
        out.push(json!(format!("\n{text}")));
        out.push(json!(text.to_uppercase()));
        out.push(json!(text.repeat(20)));
    }
    out
}

/// Every document that differs from `document` in one place.
fn mutants(document: &Json) -> Vec<Json> {
    fn places(at: &str, node: &Json, out: &mut Vec<String>) {
        match node {
            Json::Object(members) => {
                for (key, member) in members {
                    let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                    out.push(place.clone());
                    places(&place, member, out);
                }
            }
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let place = format!("{at}/{index}");
                    out.push(place.clone());
                    places(&place, item, out);
                }
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    places("", document, &mut all);
    let mut out = Vec::new();
    for place in &all {
        for replacement in replacements(document.pointer(place).unwrap()) {
            let mut mutant = document.clone();
            *mutant.pointer_mut(place).unwrap() = replacement;
            out.push(mutant);
        }
        let mut with_more = document.clone();
        if let Json::Object(members) = with_more.pointer_mut(place).unwrap() {
            members.insert("unexpected".to_owned(), json!(1));
            out.push(with_more);
        }
        let (parent, last) = place.rsplit_once('/').unwrap();
        let mut without = document.clone();
        match without.pointer_mut(parent).unwrap() {
            Json::Object(members) => drop(members.remove(&last.replace("~1", "/").replace("~0", "~"))),
            Json::Array(items) => drop(items.remove(last.parse().unwrap())),
            _ => unreachable!("a place has a parent"),
        }
        out.push(without);
    }
    out
}

/// The members that no example of upstream uses, so that mutations reach every branch of the schemas.
fn fuller() -> Vec<(SchemaName, Json)> {
    let Some(bytes) = upstream::read("idkmesh/examples/work-units/phase0-smoke.work-unit.json") else {
        return Vec::new();
    };
    let digest = format!("sha256:{}", "0".repeat(64));
    let mut unit: Json = serde_json::from_slice(&bytes).unwrap();
    unit["context"] = json!({"summary": "s", "references": ["a"], "max_context_bytes": 1});
    unit["inputs"] = json!([{"id": "baseline", "type": "directory", "locator": "", "digest": digest}]);
    unit["dependencies"] = json!([{"work_unit_id": "a", "relationship": "informs", "condition": "c"}]);
    unit["permissions"]["network"] = json!("allowlist");
    unit["permissions"]["network_allowlist"] = json!(["example.org"]);
    unit["verification_policy"]["strategy"] = json!("quorum");
    unit["verification_policy"]["quorum"] = json!(2);
    unit["validators"][0]["command"] = json!(["true"]);
    unit["validators"][0]["type"] = json!("benchmark");
    unit["provenance"]["created_at"] = json!("2026-01-31T12:00:00Z");
    let read = |name: &str| -> Json { serde_json::from_slice(&upstream::read(name).unwrap()).unwrap() };
    let mut manifest = read("idkmesh/examples/results/phase0-smoke.result-manifest.json");
    manifest["worker"]["model"] = json!({"name": "m", "provider": "p", "version": "v"});
    manifest["logs"] = json!([{"type": "trace", "locator": "l", "digest": digest}]);
    manifest["metrics"] = json!({"a": 1, "b": 1.5, "c": null});
    manifest["resources"]["max_rss_mb"] = json!(1.5);
    let mut result = read("idkmesh/examples/results/phase0-smoke.verification-result.json");
    result["findings"] = json!([{"severity": "low", "category": "scope", "summary": "s", "path": "p", "line": 1}]);
    result["attestation"] = json!({"signer_id": "s", "algorithm": "a", "signature": "b"});
    result["checks"][0]["diagnostics"] = json!("{}");
    let mut old = unit.clone();
    old["schema_version"] = json!("0.1");
    for member in ["requirements", "security", "verification_policy"] {
        old.as_object_mut().unwrap().remove(member);
    }
    for (parent, member) in [("provenance", "source_revision"), ("provenance", "created_at")] {
        old[parent].as_object_mut().unwrap().remove(member);
    }
    for member in ["project_spend_usd_max", "paid_fallback_allowed"] {
        old["budget"].as_object_mut().unwrap().remove(member);
    }
    old["validators"][0]["type"] = json!("test");
    old["kind"] = json!("coding");
    let pull = read("idkmesh/examples/candidate-normalization/pr-candidate-reference.json");
    let bundle = read("idkmesh/examples/candidate-normalization/local-candidate-reference.json");
    vec![
        (SchemaName::WorkUnitV01, old),
        (SchemaName::WorkUnitV02, unit),
        (SchemaName::ResultManifest, manifest),
        (SchemaName::VerificationResult, result),
        (SchemaName::CandidateReference, pull),
        (SchemaName::CandidateReference, bundle),
    ]
}

/// Thousands of one-place mutants get the same answer from both schemas.
#[test]
fn mutants_of_upstream_documents_get_the_same_answer() {
    let Some(folder) = upstream::path() else { return };
    let (mut judged, mut refused) = (0_u32, 0_u32);
    for (name, document) in fuller() {
        assert!(valid(name, &document), "the fuller {}", name.as_str());
        let theirs = upstream_validator(&folder, name);
        for mutant in mutants(&document) {
            let answer = theirs.is_valid(&mutant);
            assert_eq!(valid(name, &mutant), answer, "{} as {mutant}", name.as_str());
            judged += 1;
            refused += u32::from(!answer);
        }
    }
    assert!(judged > 5_000 && refused > judged / 3, "{judged} judged, {refused} refused");
}

/// Members that are numbers of any kind.
const NUMBERS: [&str; 9] = [
    "wall_seconds",
    "cpu_seconds",
    "max_rss_mb",
    "compute_units",
    "human_minutes",
    "project_spend_usd_max",
    "cpu_cores_min",
    "confidence",
    "value",
];

/// `1.0` where an integer is needed is refused everywhere, at its own place; upstream's schema would take it.
#[test]
fn a_float_is_no_integer_anywhere() {
    fn integers(at: &str, node: &Json, out: &mut Vec<String>) {
        match node {
            Json::Object(members) => {
                members.iter().for_each(|(key, member)| integers(&format!("{at}/{key}"), member, out))
            }
            Json::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| integers(&format!("{at}/{index}"), item, out));
            }
            Json::Number(number) if !number.is_f64() => out.push(at.to_owned()),
            _ => {}
        }
    }
    let Some(folder) = upstream::path() else { return };
    let mut tried = 0;
    for (name, document) in fuller() {
        let theirs = upstream_validator(&folder, name);
        let mut places = Vec::new();
        integers("", &document, &mut places);
        for place in places {
            let mut mutant = document.clone();
            let slot = mutant.pointer_mut(&place).unwrap();
            let number = slot.as_i64().unwrap();
            *slot = json!(number as f64);
            assert!(theirs.is_valid(&mutant), "{place}");
            let last = place.rsplit('/').next().unwrap();
            let number_is_meant = NUMBERS.contains(&last) || place.starts_with("/metrics/");
            match validate(name, &Value::from_serde(mutant)) {
                Ok(()) => assert!(number_is_meant, "{} {place} took a float", name.as_str()),
                Err(violations) => {
                    assert!(!number_is_meant, "{} {place}: {violations:?}", name.as_str());
                    assert_eq!(violations.len(), 1, "{violations:?}");
                    assert_eq!(violations[0].pointer, place);
                    assert!(violations[0].message.contains("must be of type integer"), "{}", violations[0].message);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried >= 15, "only {tried} integers");
}

/// An integer beyond 64 bits is an integer, whatever the library underneath makes of it.
#[test]
fn huge_integers_are_integers_and_floats_are_not() {
    let Some(bytes) = upstream::read("idkmesh/examples/work-units/local-verifier-smoke.work-unit.json") else { return };
    let text = String::from_utf8(bytes).unwrap();
    for (version, ok) in [
        ("1", true),
        ("18446744073709551616", true),
        ("100000000000000000000000000000000000000000", true),
        ("-18446744073709551616", false),
        ("1e30", false),
        ("1.0", false),
        ("1e0", false),
    ] {
        let edited = text.replacen("\"version\": 1", &format!("\"version\": {version}"), 1);
        let answer = validate(SchemaName::WorkUnitV02, &parse(edited.as_bytes()).unwrap());
        assert_eq!(answer.is_ok(), ok, "{version}: {answer:?}");
        if let Err(violations) = answer {
            assert_eq!(violations[0].pointer, "/version");
        }
    }
}

#[test]
fn date_times_are_asserted() {
    let Some(bytes) = upstream::read("idkmesh/examples/verifier/good/result-manifest.json") else { return };
    let mut manifest: Json = serde_json::from_slice(&bytes).unwrap();
    for (time, ok) in [
        ("2026-08-28T14:40:00Z", true),
        ("2026-08-28T14:40:00.123456789Z", true),
        ("2026-08-28T14:40:00-07:30", true),
        ("2026-08-28t14:40:00z", true),
        ("2026-08-28T14:40:00", false),
        ("2026-08-28 14:40", false),
        ("2026-02-30T14:40:00Z", false),
        ("2026-08-28T24:00:00Z", false),
        ("2026-08-28T14:40:00Z\n", false),
        (" 2026-08-28T14:40:00Z", false),
        ("yesterday", false),
        ("", false),
    ] {
        manifest["started_at"] = json!(time);
        assert_eq!(valid(SchemaName::ResultManifest, &manifest), ok, "{time:?}");
        assert_eq!(time.parse::<quorum_schemas::Timestamp>().is_ok(), ok, "{time:?}");
    }
}

/// The end of a pattern is the end of the text: a trailing newline is a character like any other.
#[test]
fn a_trailing_newline_is_refused_by_every_pattern() {
    let Some(bytes) = upstream::read("idkmesh/examples/verifier/good/result-manifest.json") else { return };
    let manifest: Json = serde_json::from_slice(&bytes).unwrap();
    for place in ["/id", "/produced_artifacts/0/digest", "/provenance/work_unit_digest"] {
        let mut edited = manifest.clone();
        let slot = edited.pointer_mut(place).unwrap();
        *slot = json!(format!("{}\n", slot.as_str().unwrap()));
        let violations = validate(SchemaName::ResultManifest, &Value::from_serde(edited)).unwrap_err();
        assert_eq!(violations[0].pointer, place);
    }
}

#[test]
fn violations_name_place_and_value() {
    let Some(bytes) = upstream::read("idkmesh/examples/verifier/good/result-manifest.json") else { return };
    let manifest: Json = serde_json::from_slice(&bytes).unwrap();
    type Edit = fn(&mut Json);
    let cases: &[(&str, &str, Edit)] = &[
        ("/accepted", "a member called \"accepted\" is not allowed here, found true", |m| m["accepted"] = json!(true)),
        ("/worker/a~1b~0c", "a member called \"a/b~c\" is not allowed here", |m| m["worker"]["a/b~c"] = json!(1)),
        ("/attempt", "the member \"attempt\" is missing", |m| drop(m.as_object_mut().unwrap().remove("attempt"))),
        ("/attempt", "must be at least 1, found 0", |m| m["attempt"] = json!(0)),
        ("/attempt", "must be of type integer, found \"1\"", |m| m["attempt"] = json!("1")),
        ("/status", "must be one of \"succeeded\", \"failed\"", |m| m["status"] = json!("fine")),
        ("/schema_version", "must be \"0.1\", found \"0.2\"", |m| m["schema_version"] = json!("0.2")),
        ("/id", "must match ^[a-z0-9]", |m| m["id"] = json!("Upper Case")),
        ("/worker/id", "must have at least 1 character(s), found \"\"", |m| m["worker"]["id"] = json!("")),
        ("/started_at", "must be a date-time with an offset", |m| m["started_at"] = json!("noon")),
        ("/verification_request/evidence_artifact_ids", "must not have the same item twice", |m| {
            m["verification_request"]["evidence_artifact_ids"] = json!(["a", "a"]);
        }),
        ("/metrics/m", "must be of type number or null, found [\"\\u001b[31m\"]", |m| {
            m["metrics"]["m"] = json!(["\u{1b}[31m"]);
        }),
    ];
    for (pointer, message, edit) in cases {
        let mut edited = manifest.clone();
        edit(&mut edited);
        let violations = validate(SchemaName::ResultManifest, &Value::from_serde(edited)).unwrap_err();
        assert_eq!(violations.len(), 1, "{violations:?}");
        assert_eq!(violations[0].pointer, *pointer);
        assert!(violations[0].message.contains(message), "{}", violations[0].message);
    }
}

/// A document that is wrong in a hundred thousand places yields a bounded list with bounded messages.
#[test]
fn hostile_documents_yield_bounded_messages() {
    let junk: Vec<String> = (0..100_000).map(|number| format!("{number}{}", "x".repeat(200))).collect();
    let violations = validate(SchemaName::ResultManifest, &junk.clone().into()).unwrap_err();
    assert!(violations.iter().all(|violation| violation.message.len() < 1_000), "{violations:?}");
    let members = junk.into_iter().map(|key| (key, Value::Null)).collect();
    let violations = validate(SchemaName::ResultManifest, &Value::Object(members)).unwrap_err();
    assert!(!violations.is_empty() && violations.len() <= quorum_schemas::limits::VIOLATIONS);
}

#[test]
fn the_nearest_form_of_a_reference_is_told() {
    let reference = json!({"schema_version": "0.1", "type": "github_pull_request", "repository": "a/b", "number": 0,
        "head_sha": "0".repeat(40)});
    let violations = validate(SchemaName::CandidateReference, &Value::from_serde(reference)).unwrap_err();
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert_eq!(violations[0].to_string(), "/number: must be at least 1, found 0");
}
