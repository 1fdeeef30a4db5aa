//! A second comparison, without documents: both schemas written in one normal form are the same text.

use quorum_schemas::upstream;
use serde_json::{Map, Value as Json, json};

use super::{TWINS, upstream_schema};

/// What says nothing about an instance, and what docs/contracts.md lists as a narrowing.
const LEFT_OUT: [&str; 10] =
    ["$schema", "$id", "title", "description", "$defs", "format", "maxLength", "maxItems", "maxProperties", "$ref"];

fn normal(root: &Json, schema: &Json) -> Json {
    if let Some(target) = schema.get("$ref").and_then(Json::as_str) {
        return normal(root, root.pointer(target.strip_prefix('#').unwrap()).unwrap());
    }
    let Some(words) = schema.as_object() else { return schema.clone() };
    let mut out = Map::new();
    for (key, value) in words.iter().filter(|(key, _)| !LEFT_OUT.contains(&key.as_str())) {
        let written = match key.as_str() {
            "properties" => {
                value.as_object().unwrap().iter().map(|(name, inner)| (name.clone(), normal(root, inner))).collect()
            }
            "items" | "if" | "then" => normal(root, value),
            "oneOf" => value.as_array().unwrap().iter().map(|branch| normal(root, branch)).collect(),
            // A single condition may stand by itself or in a list of one.
            "allOf" => {
                let branches = value.as_array().unwrap();
                assert_eq!(branches.len(), 1, "a list of several conditions has no normal form here");
                out.extend(normal(root, &branches[0]).as_object().unwrap().clone());
                continue;
            }
            "additionalProperties" if value == &json!(true) => continue,
            "additionalProperties" => normal(root, value),
            "required" | "enum" | "type" if value.is_array() => {
                let mut words = value.as_array().unwrap().clone();
                words.sort_by_key(Json::to_string);
                // Every integer is a number.
                if key == "type" && words.contains(&json!("number")) {
                    words.retain(|word| word != "integer");
                }
                Json::Array(words)
            }
            "pattern" => json!(value.as_str().unwrap().trim_end_matches("(?!\n)").replace("(?:", "(")),
            _ => value.clone(),
        };
        out.insert(key.clone(), written);
    }
    Json::Object(out)
}

/// The pointers at which two values differ, with both sides.
fn differences(at: &str, ours: &Json, theirs: &Json, out: &mut Vec<String>) {
    match (ours, theirs) {
        (Json::Object(a), Json::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let side = |members: &Map<String, Json>| members.get(key).cloned().unwrap_or(json!("nothing"));
                differences(&format!("{at}/{key}"), &side(a), &side(b), out);
            }
        }
        (a, b) if a != b => out.push(format!("{at}: ours {a}, upstream's {b}")),
        _ => {}
    }
}

#[test]
fn our_schemas_and_upstreams_have_one_normal_form() {
    let Some(folder) = upstream::path() else { return };
    for name in TWINS {
        let ours: Json = serde_json::from_str(name.text()).unwrap();
        let theirs = upstream_schema(&folder, name);
        let mut found = Vec::new();
        differences("", &normal(&ours, &ours), &normal(&theirs, &theirs), &mut found);
        assert!(found.is_empty(), "{}:\n{}", name.as_str(), found.join("\n"));
    }
}
