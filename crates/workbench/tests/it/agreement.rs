//! Our two schemas of upstream's documents against upstream's own: what ours takes, theirs takes; what only ours refuses,
//! it refuses at a place that docs/workbench.md names.

use std::collections::BTreeSet;

use jsonschema::Validator;
use quorum_schemas::{SchemaName, Value, upstream, validate};
use serde_json::{Value as Json, json};

use crate::result::{outcomes, written};
use crate::support::profile;

const MUTATIONS: usize = 12_000;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from((mixed ^ (mixed >> 27)) % bound as u64).unwrap()
    }
}

fn theirs(file: &str) -> Option<Validator> {
    let schema: Json = serde_json::from_slice(&upstream::read(&format!("sensorium/schemas/{file}"))?).unwrap();
    Some(jsonschema::draft202012::new(&schema).unwrap())
}

fn pointers(at: &str, node: &Json, out: &mut Vec<String>) {
    match node {
        Json::Object(members) => {
            for (key, member) in members {
                let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                out.push(place.clone());
                pointers(&place, member, out);
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                out.push(format!("{at}/{index}"));
                pointers(&format!("{at}/{index}"), item, out);
            }
        }
        _ => {}
    }
}

/// Takes a member away, puts a word in its place, or takes over a member of another document.
fn mutate(document: &mut Json, bases: &[Json], words: &[Json], random: &mut Random) {
    let mut places = Vec::new();
    pointers("", document, &mut places);
    let place = &places[random.below(places.len())];
    match random.below(4) {
        0 => {
            let (parent, last) = place.rsplit_once('/').unwrap();
            if let Some(members) = document.pointer_mut(parent).unwrap().as_object_mut() {
                members.remove(&last.replace("~1", "/"));
            }
        }
        1 | 2 => *document.pointer_mut(place).unwrap() = words[random.below(words.len())].clone(),
        _ => {
            let other = bases[random.below(bases.len())].as_object().unwrap();
            let (key, value) = other.iter().nth(random.below(other.len())).unwrap();
            document.as_object_mut().unwrap().insert(key.clone(), value.clone());
        }
    }
}

/// How many both took, only upstream's took, neither took.
fn compare(name: SchemaName, theirs: &Validator, bases: &[Json], words: &[Json], narrowed: &[&str]) -> [usize; 3] {
    let mut random = Random(0x51_0e_52_7f);
    let (mut counts, mut seen) = ([0; 3], BTreeSet::new());
    for number in 0..MUTATIONS {
        let mut document = bases[number % bases.len()].clone();
        (0..=random.below(3)).for_each(|_| mutate(&mut document, bases, words, &mut random));
        match (validate(name, &Value::from_serde(document.clone())), theirs.is_valid(&document)) {
            (Ok(()), true) => counts[0] += 1,
            (Ok(()), false) => panic!("only upstream's refuses {document}"),
            (Err(_), false) => counts[2] += 1,
            (Err(violations), true) => {
                counts[1] += 1;
                for violation in violations {
                    let known = narrowed.iter().find(|place| violation.pointer.starts_with(*place));
                    let known = known.unwrap_or_else(|| panic!("{violation} is no named narrowing: {document}"));
                    seen.insert(*known);
                }
            }
        }
    }
    eprintln!(
        "{}: both take {}, only upstream's takes {}, neither takes {}",
        name.as_str(),
        counts[0],
        counts[1],
        counts[2]
    );
    assert_eq!(
        seen.len(),
        narrowed.len(),
        "never met: {:?}",
        narrowed.iter().filter(|place| !seen.contains(**place)).collect::<Vec<_>>()
    );
    counts
}

fn words() -> Vec<Json> {
    let texts = [
        "",
        "x",
        "none",
        "completed",
        "refused",
        "unknown",
        "observation",
        "mutation",
        "guest-execution",
        "guest-admission",
        "observation-timeout-quiesced",
        "observation-effect-detected",
        "operation-interrupted",
        "a/b",
        "a/",
        "a\\b",
        "..",
        ".",
        "!!!",
        "b2sK",
        "sha256:x",
        "sha256:hH7Dw1n7aFpA8sPq3m5r1C0mYw8sI0bJq1l0pQz9y7A",
        "\u{0}",
        "a\nb",
        "A=B",
        "blocked",
        "internet",
        "allowlisted",
    ];
    let mut words: Vec<Json> = texts.iter().map(|text| json!(text)).collect();
    words.extend([
        json!("a".repeat(70_000)),
        json!(format!("sha256:{}", "1".repeat(64))),
        json!(format!("{}x", "a/".repeat(600))),
    ]);
    words.extend([
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.0),
        json!(65_534),
        json!(1_u64 << 40),
    ]);
    words.extend([json!([]), json!(["."]), json!(["a", "a"]), json!({}), json!({"mode": "none"}), json!({"x": "y"})]);
    words
}

#[test]
fn results_that_ours_takes_upstreams_takes() {
    let Some(theirs) = theirs("sensorium-workbench-process-run-result.v1.schema.json") else { return };
    let bases: Vec<Json> = outcomes().into_iter().map(written).collect();
    bases.iter().for_each(|base| assert!(theirs.is_valid(base), "upstream's refuses what we write: {base}"));
    // The places of the narrowings: the whole (W-033), class and code (W-031, W-032, W-040), and the rest of 5.
    let narrowed = [
        "/address/relative~1path",
        "/command-profile~1digest",
        "/effect~1enforcement",
        "/evidence~1class",
        "/exit~1code",
        "/observation~1timeout",
        "/outcome",
        "/schema~1v",
        "/stderr~1base64",
        "/stdout~1base64",
    ];
    let narrowed: Vec<&str> = narrowed.into_iter().chain([""]).collect();
    let counts = compare(SchemaName::ProcessRunResult, &theirs, &bases, &words(), &narrowed);
    assert!(counts.iter().all(|count| *count >= 200), "{counts:?}");
}

#[test]
fn profiles_that_ours_takes_upstreams_takes() {
    let Some(theirs) = theirs("sensorium-command-profile.v1.schema.json") else { return };
    let mut other = profile();
    other["env"] = json!({"mode": "profile-defaults-only"});
    other["network"] = json!({"mode": "none", "egress": {"policy": null}});
    other["effect/mode"] = json!("mutation");
    let bases = [profile(), other];
    bases.iter().for_each(|base| assert!(theirs.is_valid(base), "{base}"));
    // Lengths, and 1.0 for an integer.
    let narrowed = [
        "/allowed_arg_prefixes",
        "/allowed_workspace_roots",
        "/command.profile~1ref",
        "/env",
        "/executable",
        "/fixed_args",
        "/limits",
        "/schema~1v",
    ];
    let counts = compare(SchemaName::CommandProfile, &theirs, &bases, &words(), &narrowed);
    assert!(counts.iter().all(|count| *count >= 20), "{counts:?}");
}
