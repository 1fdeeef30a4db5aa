//! The handoffs that upstream derives from its own fixtures.

use quorum_handoff::{Handoff, WorkUnit, derive, intake};
use quorum_schemas::{Digest, Value, c1, parse, upstream};

fn vectors() -> Option<Value> {
    Some(parse(&upstream::read("idkmesh/golden-vectors.json")?).unwrap())
}

fn example(name: &str) -> Vec<u8> {
    upstream::read(&format!("idkmesh/examples/{name}")).unwrap()
}

#[test]
fn golden_handoffs_are_reproduced_byte_for_byte() {
    let Some(vectors) = vectors() else { return };
    let cases = vectors.get("handoffs").and_then(Value::as_array).unwrap();
    assert!(cases.len() >= 4, "only {} golden handoffs", cases.len());
    for case in cases {
        let name = |key: &str| case.get(key).and_then(Value::as_str).unwrap();
        let (unit, manifest) = (example(name("work_unit")), example(name("result_manifest")));
        let expected = case.get("handoff").unwrap();
        let handoff = derive(&parse(&unit).unwrap(), &parse(&manifest).unwrap(), None).unwrap();
        assert_eq!(
            String::from_utf8(c1(handoff.value())).unwrap(),
            String::from_utf8(c1(expected)).unwrap(),
            "{}",
            name("result_manifest")
        );
        assert_eq!(handoff.id(), Digest::c1(expected));
        if let Some(binding) = case.get("evaluator_binding") {
            assert_eq!(&handoff.evaluator_binding(), binding);
        }
        assert_eq!(Handoff::parse(expected).unwrap(), handoff);
        let admitted = intake(&unit, &manifest, None).unwrap();
        assert_eq!(admitted.handoff, handoff);
        assert_eq!(admitted.binding.result_manifest_digest(), handoff.result_manifest_digest());
    }
}

/// The self-accepting manifest of upstream is refused, and the refusal names the member.
#[test]
fn invalid_self_acceptance_is_refused_naming_accepted() {
    if upstream::path().is_none() {
        return;
    }
    let unit = example("work-units/phase0-smoke.work-unit.json");
    let refusals = intake(&unit, &example("results/invalid-self-acceptance.result-manifest.json"), None).unwrap_err();
    assert_eq!(refusals[0].code(), "idk_h03");
    assert!(refusals[0].to_string().contains("/accepted"), "{}", refusals[0]);
    let schema = refusals.iter().find(|refusal| refusal.code() == "schema_invalid").unwrap();
    assert!(schema.places().iter().any(|place| place.pointer == "/accepted"), "{schema}");
}

#[test]
fn every_valid_work_unit_of_upstream_is_read() {
    let Some(folder) = upstream::path() else { return };
    let mut read = 0;
    for entry in std::fs::read_dir(folder.join("idkmesh/examples/work-units")).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".work-unit.json") || name.starts_with("invalid-") {
            continue;
        }
        let unit = WorkUnit::parse(&std::fs::read(&file).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!unit.validators().is_empty() && unit.version() >= 1, "{name}");
        read += 1;
    }
    assert!(read >= 4, "only {read} work units");
}
