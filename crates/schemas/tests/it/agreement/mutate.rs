//! Edits of a document: those that break one named keyword, those that keep it valid, and those that only ours refuses.

use serde_json::{Value as Json, json};

use super::generate::Generator;
use super::keywords::Site;
use crate::random::Random;

/// Breaks the keyword at `keyword` at the value `instance` of `document`; the document stays as it is where the value
/// there is none that the keyword speaks of.
pub(crate) fn break_keyword(root: &Json, keyword: &str, instance: &str, document: &mut Json, random: &mut Random) {
    let (schema, word) = keyword.rsplit_once('/').unwrap();
    let schema = root.pointer(schema).unwrap();
    let limit = &schema[word];
    let Some(slot) = document.pointer_mut(instance) else { return };
    match (word, &mut *slot) {
        ("type", value) => *value = of_another_type(limit, value, random),
        ("const" | "enum", value) => *value = none_of(limit, random),
        ("pattern", Json::String(text)) => *slot = json!(unmatched(text, random)),
        ("minLength", value) => *value = json!(""),
        ("minItems", Json::Array(items)) => items.truncate(usize::try_from(limit.as_u64().unwrap()).unwrap() - 1),
        ("uniqueItems", Json::Array(items)) => {
            if items.is_empty() {
                items.push(Generator { root, random, fullness: 0 }.value(&schema["items"]));
            }
            let twin = items[random.index(items.len())].clone();
            items.insert(random.index(items.len() + 1), twin);
        }
        ("minimum", value) => {
            let limit = limit.as_i64().unwrap();
            *value = match random.below(3) {
                0 => json!(limit - 1),
                1 => json!(limit - 1_000_000_007),
                _ => json!((limit - 2) as f64),
            };
        }
        ("maximum", value) => *value = json!(limit.as_f64().unwrap() + [0.001, 1.0, 1e300][random.index(3)]),
        ("required", Json::Object(members)) => {
            let present: Vec<&str> = limit
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Json::as_str)
                .filter(|name| members.contains_key(*name))
                .collect();
            if !present.is_empty() {
                members.remove(present[random.index(present.len())]);
            }
        }
        ("additionalProperties", Json::Object(members)) => {
            let near = members.keys().next().map_or_else(|| "x".to_owned(), |name| name.to_uppercase());
            let name = random.pick(&["unknown", "accepted", "", "a/b~c", near.as_str()]).to_owned();
            members.insert(name, arbitrary(random));
        }
        ("oneOf", value) => *value = arbitrary(random),
        _ => {}
    }
}

fn arbitrary(random: &mut Random) -> Json {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!(["x"]),
        json!({}),
    ];
    values[random.index(values.len())].clone()
}

fn of_another_type(kinds: &Json, value: &Json, random: &mut Random) -> Json {
    let listed = |kind: &str| kinds == kind || kinds.as_array().is_some_and(|kinds| kinds.contains(&json!(kind)));
    loop {
        // The whole of a container in a list, and a text of the number, are the mistakes that people make.
        let made = match random.below(6) {
            0 => json!([value]),
            1 => json!(value.to_string()),
            _ => arbitrary(random),
        };
        let admitted = match &made {
            Json::Null => listed("null"),
            Json::Bool(_) => listed("boolean"),
            Json::Number(number) => listed("number") || (listed("integer") && number.as_f64().unwrap().fract() == 0.0),
            Json::String(_) => listed("string"),
            Json::Array(_) => listed("array"),
            Json::Object(_) => listed("object"),
        };
        if !admitted {
            return made;
        }
    }
}

fn none_of(words: &Json, random: &mut Random) -> Json {
    let words = words.as_array().map_or(std::slice::from_ref(words), Vec::as_slice);
    loop {
        let near = match &words[random.index(words.len())] {
            Json::String(word) => match random.below(5) {
                0 => json!(word.to_uppercase()),
                1 => json!(format!("{word}\n")),
                2 => json!(format!(" {word}")),
                3 => json!([word]),
                _ => arbitrary(random),
            },
            Json::Bool(word) => {
                [json!(!word), json!(word.to_string()), json!(u8::from(*word))][random.index(3)].clone()
            }
            _ => arbitrary(random),
        };
        if !words.contains(&near) {
            return near;
        }
    }
}

fn unmatched(text: &str, random: &mut Random) -> String {
    match random.below(7) {
        0 => String::new(),
        1 => format!("{text}\n"),
        2 => format!("\n{text}"),
        3 => format!(" {text}"),
        4 => format!("{text}é"),
        5 => format!("{text}{}", "a".repeat(130)),
        _ => format!("{text}\u{0}"),
    }
}

/// Another valid value somewhere, an optional member less, or the whole of an object anew.
pub(crate) fn valid_edit(root: &Json, sites: &[Site], document: &mut Json, random: &mut Random) {
    let site = &sites[random.index(sites.len())];
    let schema = root.pointer(&site.schema).unwrap();
    let Some(slot) = document.pointer_mut(&site.instance) else { return };
    if let (Json::Object(members), true) = (&mut *slot, random.chance(40)) {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let optional: Vec<String> = members.keys().filter(|name| !required.contains(&json!(name))).cloned().collect();
        if !optional.is_empty() {
            members.remove(&optional[random.index(optional.len())]);
            return;
        }
    }
    if schema.get("type").is_some() || schema.get("enum").is_some() || schema.get("const").is_some() {
        let fullness = [0, 30, 100][random.index(3)];
        *slot = Generator { root, random, fullness }.value(schema);
    }
}

/// An edit that upstream's schema lets pass and a narrowing of ours may refuse.
pub(crate) fn narrow_edit(root: &Json, sites: &[Site], document: &mut Json, random: &mut Random) {
    let wanted = random.below(20);
    for _ in 0..100 {
        let site = &sites[random.index(sites.len())];
        let schema = root.pointer(&site.schema).unwrap();
        let Some(slot) = document.pointer_mut(&site.instance) else { continue };
        match (wanted, &mut *slot) {
            (0..8, Json::Number(number)) if schema["type"] == "integer" && !number.is_f64() => {
                *slot = json!(number.as_u64().unwrap() as f64);
                return;
            }
            (8..14, Json::String(text)) if schema.get("format").is_some() => {
                *text = ["", "noon", "2026-01-31", "2026-02-30T00:00:00Z", "2026-01-31T12:00:00"][random.index(5)]
                    .to_owned();
                return;
            }
            (14..17, Json::String(text)) if schema["type"] == "string" && schema.get("pattern").is_none() => {
                *text = "ä".repeat([4_096, 4_097, 65_536, 65_537][random.index(4)]);
                return;
            }
            (17, Json::Array(items)) if schema["items"].get("enum").is_none() && !items.is_empty() => {
                let length = [4_096, 4_097][random.index(2)];
                let first = items[0].clone();
                let unique = schema["uniqueItems"] == true;
                *slot = (0..length).map(|n| if unique { json!(format!("item {n}")) } else { first.clone() }).collect();
                return;
            }
            (18, Json::Object(members)) if site.schema == "/properties/extensions" => {
                let levels = 59 + random.index(6);
                let nest = (0..levels).fold(json!(1), |inner, _| json!([inner]));
                members.insert("org.example.nest".to_owned(), nest);
                return;
            }
            (19, Json::Object(members)) if site.schema == "/properties/extensions" => {
                let size = [900 << 10, 1 << 20][random.index(2)];
                members.insert("org.example.bulk".to_owned(), json!("x".repeat(size)));
                return;
            }
            _ => {}
        }
    }
}
