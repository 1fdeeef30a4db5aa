//! What derivation and binding can never depend on.

use proptest::prelude::*;
use quorum_handoff::{Handoff, ManifestBinding, check_result, derive, intake_values};
use quorum_schemas::{Value, c1, parse};
use serde_json::{Value as Json, json};

use crate::fixtures::{admitted, manifest, pair, result, work_unit};

/// Everything that a worker says about itself, as the schema admits it.
fn talk() -> impl Strategy<Value = Json> {
    let word = "[a-zA-Z \u{e9}\u{1f600}\"\\\\]{0,12}";
    (
        prop::sample::select(vec!["succeeded", "failed", "error", "timeout", "cancelled"]),
        (word, prop::collection::vec(word, 0..4), prop::option::of(0.0..=1.0_f64)),
        prop::collection::btree_map("[a-z]{1,6}", prop::option::of(-1e9..1e9_f64), 0..4),
        prop::collection::vec(("[a-z.]{1,9}", prop::sample::select(vec!["stdout", "stderr", "trace"])), 0..3),
        (0.0..1e6_f64, prop::option::of(any::<u32>())),
        prop::collection::btree_map("[a-z]{1,4}\\.[a-z]{1,6}", any::<bool>(), 0..3),
        prop::option::of("[a-z ]{0,9}"),
    )
        .prop_map(|(status, (summary, claims, confidence), metrics, logs, (wall, tokens), extensions, notes)| {
            let mut talk = json!({
                "status": status, "self_report": {"summary": summary, "claims": claims}, "metrics": metrics,
                "logs": logs.into_iter().map(|(l, t)| json!({"type": t, "locator": l})).collect::<Vec<_>>(),
                "resources": {"wall_seconds": wall}, "extensions": extensions,
            });
            if let Some(value) = confidence {
                talk["self_report"]["confidence"] = json!({"value": value, "meaning": "probability_of_success"});
            }
            if let Some(tokens) = tokens {
                talk["resources"]["tokens"] = json!(tokens);
            }
            if let Some(notes) = notes {
                talk["notes"] = json!(notes);
            }
            talk
        })
}

fn with_talk(mut talk: Json) -> Json {
    let mut manifest = manifest(&work_unit());
    if let Some(notes) = talk.as_object_mut().unwrap().remove("notes") {
        manifest["verification_request"]["notes"] = notes;
    }
    for (key, value) in talk.as_object().unwrap() {
        manifest[key] = value.clone();
    }
    manifest
}

/// Every member but the manifest's digest, which names the talk and must change with it.
fn without_digest(value: &Value) -> Value {
    let mut members = value.as_object().unwrap().clone();
    members.remove("result_manifest_digest");
    Value::Object(members)
}

/// The document with members in reverse and other white space.
fn rewritten(value: &Json) -> String {
    match value {
        Json::Object(members) => {
            let inner: Vec<String> =
                members.iter().rev().map(|(key, member)| format!("{} :\n{}", json!(key), rewritten(member))).collect();
            format!("{{ {} }}", inner.join(" , "))
        }
        Json::Array(items) => format!("[\t{}]", items.iter().map(rewritten).collect::<Vec<_>>().join(",\r\n")),
        leaf => leaf.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_that_a_worker_says_about_itself_reaches_handoff_or_binding(talk in talk()) {
        let quiet = admitted();
        let loud = intake_values(work_unit().into(), with_talk(talk).into(), None).unwrap();
        prop_assert_eq!(without_digest(loud.handoff.value()), without_digest(quiet.handoff.value()));
        prop_assert_eq!(without_digest(&loud.binding.to_value()), without_digest(&quiet.binding.to_value()));
        prop_assert_eq!(loud.handoff.result_manifest_digest(), loud.manifest.digest());
        // The same verdicts re-bound break the same rules, whichever way the worker talks.
        let violations = check_result(&result(&loud).into(), &loud.handoff, &loud.binding, &loud.work_unit);
        prop_assert_eq!(violations, Vec::new());
    }

    #[test]
    fn key_order_and_white_space_never_matter(talk in talk()) {
        let (unit, manifest) = (work_unit(), with_talk(talk));
        let straight = derive(&unit.clone().into(), &manifest.clone().into(), None).unwrap();
        let turned = derive(
            &parse(rewritten(&unit).as_bytes()).unwrap(),
            &parse(rewritten(&manifest).as_bytes()).unwrap(),
            None,
        ).unwrap();
        prop_assert_eq!(turned.id(), straight.id());
        prop_assert_eq!(c1(turned.value()), c1(straight.value()));
        prop_assert_eq!(Handoff::parse(&parse(&c1(straight.value())).unwrap()).unwrap(), straight);
    }

    /// Whatever stands where, derivation answers with a handoff or with one numbered refusal; it never panics, and what
    /// it derives is admitted by its own reader.
    #[test]
    fn any_value_anywhere_gives_a_handoff_or_a_numbered_refusal(
        place in 0..1_000_usize, in_unit in any::<bool>(), junk in junk(), candidate in prop::option::of("[a-z]{0,6}"),
    ) {
        let (mut unit, mut manifest) = pair();
        let target = if in_unit { &mut unit } else { &mut manifest };
        let mut places = Vec::new();
        pointers("", target, &mut places);
        *target.pointer_mut(&places[place % places.len()]).unwrap() = junk;
        let (unit, manifest): (Value, Value) = (unit.into(), manifest.into());
        match derive(&unit, &manifest, candidate.as_deref()) {
            Ok(handoff) => prop_assert_eq!(Handoff::parse(handoff.value()).unwrap(), handoff),
            Err(error) => prop_assert!(error.code().starts_with("idk_h"), "{}", error),
        }
        if let Err(refusals) = intake_values(unit, manifest, candidate.as_deref()) {
            prop_assert!(!refusals.is_empty() && refusals.iter().all(|refusal| !refusal.places().is_empty()));
        }
    }

    #[test]
    fn no_value_makes_the_readers_of_handoff_and_binding_panic(place in 0..1_000_usize, junk in junk()) {
        let intake = admitted();
        for document in [intake.handoff.value(), &intake.binding.to_value()] {
            let mut document: Json = serde_json::from_slice(&c1(document)).unwrap();
            let mut places = Vec::new();
            pointers("", &document, &mut places);
            *document.pointer_mut(&places[place % places.len()]).unwrap() = junk.clone();
            let document: Value = document.into();
            if let Ok(handoff) = Handoff::parse(&document) {
                prop_assert_eq!(handoff.value(), &document);
            }
            if let Ok(binding) = ManifestBinding::parse(&document) {
                prop_assert_eq!(binding.to_value(), document);
            }
        }
    }
}

fn junk() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (0..4_u64).prop_map(Json::from),
        (-4.0..4.0_f64).prop_map(Json::from),
        "[ a-z\n]{0,8}".prop_map(Json::from),
        Just(json!(format!("sha256:{}", "0".repeat(64)))),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::btree_map("[a-z_]{0,8}", inner, 0..3).prop_map(|members| json!(members)),
        ]
    })
}

fn pointers(at: &str, node: &Json, out: &mut Vec<String>) {
    match node {
        Json::Object(members) => {
            for (key, member) in members {
                out.push(format!("{at}/{key}"));
                pointers(&format!("{at}/{key}"), member, out);
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
