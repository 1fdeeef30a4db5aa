//! Which keywords a schema has, which of them can refuse by themselves, and which of them an instance reaches.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

/// What a keyword does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It refuses by itself: hit when an error of upstream's schema names it.
    Refuses,
    /// It only leads to other keywords, or is not asserted: hit when it is applied to an instance.
    Leads,
}

/// Keywords that say nothing about an instance, or are only a place for other schemas.
const SILENT: [&str; 5] = ["$schema", "$id", "title", "description", "$defs"];

pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Every keyword of a schema by its JSON Pointer.
pub(crate) fn keywords(schema: &Json) -> BTreeMap<String, Kind> {
    let mut out = BTreeMap::new();
    collect("", schema, false, &mut out);
    out
}

fn collect(at: &str, schema: &Json, condition: bool, out: &mut BTreeMap<String, Kind>) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        let place = format!("{at}/{}", escaped(key));
        match key.as_str() {
            "properties" | "$defs" => {
                for (name, member) in value.as_object().unwrap() {
                    collect(&format!("{place}/{}", escaped(name)), member, condition, out);
                }
            }
            "allOf" | "oneOf" => {
                for (index, branch) in value.as_array().unwrap().iter().enumerate() {
                    collect(&format!("{place}/{index}"), branch, condition, out);
                }
            }
            "if" => collect(&place, value, true, out),
            "items" | "then" | "additionalProperties" => collect(&place, value, condition, out),
            _ => {}
        }
        if !SILENT.contains(&key.as_str()) {
            out.insert(place, kind(key, value, condition));
        }
    }
}

fn kind(key: &str, value: &Json, condition: bool) -> Kind {
    match key {
        "properties" | "items" | "allOf" | "if" | "then" | "$ref" | "format" => Kind::Leads,
        "additionalProperties" if value != &Json::Bool(false) => Kind::Leads,
        "type"
        | "const"
        | "enum"
        | "pattern"
        | "minLength"
        | "minItems"
        | "uniqueItems"
        | "minimum"
        | "maximum"
        | "required"
        | "oneOf"
        | "additionalProperties" => {
            if condition {
                Kind::Leads
            } else {
                Kind::Refuses
            }
        }
        other => panic!("upstream's schemas have a new keyword, {other}: say here what it does"),
    }
}

/// One schema applied to one value: the pointers of both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    pub(crate) schema: String,
    pub(crate) instance: String,
}

/// Everything that happens when `instance` is judged by `root`.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    pub(crate) sites: Vec<Site>,
    /// Keywords of [`Kind::Leads`] that were applied.
    pub(crate) applied: BTreeSet<String>,
}

pub(crate) fn reach(root: &Json, instance: &Json) -> Reach {
    let mut reach = Reach::default();
    visit(root, "", root, "", instance, &mut reach);
    reach
}

fn visit(root: &Json, at: &str, schema: &Json, here: &str, value: &Json, reach: &mut Reach) {
    let Some(words) = schema.as_object() else { return };
    reach.sites.push(Site { schema: at.to_owned(), instance: here.to_owned() });
    for (key, word) in words {
        let place = format!("{at}/{}", escaped(key));
        let led = match (key.as_str(), value) {
            ("$ref", _) => {
                let target = word.as_str().unwrap().strip_prefix('#').unwrap();
                visit(root, target, root.pointer(target).unwrap(), here, value, reach);
                true
            }
            ("properties", Json::Object(members)) => {
                for (name, inner) in word.as_object().unwrap() {
                    if let Some(member) = members.get(name) {
                        let (down, there) = (format!("{place}/{}", escaped(name)), format!("{here}/{}", escaped(name)));
                        visit(root, &down, inner, &there, member, reach);
                    }
                }
                true
            }
            ("additionalProperties", Json::Object(members)) => {
                let named = schema.get("properties").and_then(Json::as_object);
                let others = members.iter().filter(|(name, _)| named.is_none_or(|named| !named.contains_key(*name)));
                others.fold(false, |_, (name, member)| {
                    visit(root, &place, word, &format!("{here}/{}", escaped(name)), member, reach);
                    true
                })
            }
            ("items", Json::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    visit(root, &place, word, &format!("{here}/{index}"), item, reach);
                }
                !items.is_empty()
            }
            ("allOf" | "oneOf", _) => {
                for (index, branch) in word.as_array().unwrap().iter().enumerate() {
                    visit(root, &format!("{place}/{index}"), branch, here, value, reach);
                }
                true
            }
            ("if", _) => {
                visit(root, &place, word, here, value, reach);
                true
            }
            ("then", _) if holds(&schema["if"], value) => {
                visit(root, &place, word, here, value, reach);
                true
            }
            ("then", _) => false,
            ("const", _) => true,
            ("format", Json::String(_)) => true,
            _ => false,
        };
        if led {
            reach.applied.insert(place);
        }
    }
}

/// Upstream's conditions are all of one form: some members, if they are there, have these values.
pub(crate) fn holds(condition: &Json, value: &Json) -> bool {
    let words = condition.as_object().unwrap();
    assert!(words.len() == 1 && words.contains_key("properties"), "a condition of another form: {condition}");
    words["properties"].as_object().unwrap().iter().all(|(name, inner)| {
        let constant = inner.get("const").unwrap_or_else(|| panic!("a condition of another form: {condition}"));
        value.as_object().is_none_or(|members| members.get(name).is_none_or(|member| member == constant))
    })
}
