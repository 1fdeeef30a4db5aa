//! Sample files of every version of every document: what a reader of today takes, and what it refuses and where.
//!
//! `tests/golden/<schema>/valid` and `invalid` are for reading as well. A file under `valid` is never changed or taken
//! away while its version may be read; its digest in `digests.json` was computed by CPython.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quorum_schemas::{C1Digest, SchemaName, parse, validate};
use serde_json::Value as Json;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The files of one schema in one of the two folders.
fn files(name: SchemaName, kind: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let place = folder().join(name.as_str()).join(kind);
    if place.is_dir() {
        crate::schemas::json_files(&place, &mut out);
    }
    out.sort();
    out
}

/// Documents that people and programs exchange; the others are what a command prints, and its tests hold them.
fn documents() -> impl Iterator<Item = SchemaName> {
    let printed = |name: &str| name.starts_with("output-") || name.starts_with("report-") || name.contains("-explain-");
    SchemaName::ALL.iter().copied().filter(move |name| !printed(name.as_str()))
}

#[test]
fn every_document_has_samples_that_are_taken_and_samples_that_are_refused() {
    for name in documents() {
        for kind in ["valid", "invalid"] {
            assert!(!files(name, kind).is_empty(), "tests/golden/{}/{kind} is empty", name.as_str());
        }
    }
    for entry in std::fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap().path();
        let known = entry.file_name().unwrap().to_str().unwrap().parse::<SchemaName>().is_ok();
        assert!(known || entry.is_file(), "{} belongs to no schema", entry.display());
    }
}

#[test]
fn valid_samples_are_read_with_the_digest_that_cpython_gave_them() {
    let digests = std::fs::read(folder().join("digests.json")).unwrap();
    let mut digests: BTreeMap<String, String> = serde_json::from_slice(&digests).unwrap();
    for name in SchemaName::ALL {
        for file in files(*name, "valid") {
            let bytes = std::fs::read(&file).unwrap();
            validate(*name, &parse(&bytes).unwrap()).unwrap_or_else(|why| panic!("{}: {why:?}", file.display()));
            let shown = file.strip_prefix(folder()).unwrap().to_str().unwrap();
            let expected = digests.remove(shown).unwrap_or_else(|| panic!("{shown} has no digest"));
            assert_eq!(C1Digest::of_document(&bytes).unwrap().to_string(), expected, "{shown}");
        }
    }
    assert!(digests.is_empty(), "samples that were taken away: {digests:?}");
}

#[test]
fn invalid_samples_are_refused_where_they_are_wrong() {
    for name in SchemaName::ALL {
        for file in files(*name, "invalid") {
            let sample: Json = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let document = parse(&serde_json::to_vec(&sample["document"]).unwrap()).unwrap();
            let violations = validate(*name, &document).expect_err(&format!("{} is taken", file.display()));
            let at = sample["refused_at"].as_str().unwrap();
            assert!(violations.iter().any(|violation| violation.pointer == at), "{}: {violations:?}", file.display());
        }
    }
}

/// WorkUnit 0.2 is taken with and without the two members that its budget got later, and never with one of them.
#[test]
fn a_work_unit_is_held_to_the_form_that_it_claims() {
    let judged = |unit: &Json| {
        let unit = parse(&serde_json::to_vec(unit).unwrap()).unwrap();
        let name = SchemaName::of_work_unit(&unit);
        (name, validate(name, &unit).is_ok())
    };
    let sample = |name: SchemaName| -> Json {
        serde_json::from_slice(&std::fs::read(&files(name, "valid")[0]).unwrap()).unwrap()
    };
    for name in [SchemaName::WorkUnitV01, SchemaName::WorkUnitV02, SchemaName::WorkUnitV02Early] {
        assert_eq!(judged(&sample(name)), (name, true));
    }
    for later in ["project_spend_usd_max", "paid_fallback_allowed"] {
        let mut unit = sample(SchemaName::WorkUnitV02);
        unit["budget"].as_object_mut().unwrap().remove(later).unwrap();
        assert_eq!(judged(&unit), (SchemaName::WorkUnitV02, false), "without {later}");
    }
    for budget in [Json::Null, Json::Bool(true)] {
        let mut unit = sample(SchemaName::WorkUnitV02);
        unit["budget"] = budget;
        assert_eq!(judged(&unit), (SchemaName::WorkUnitV02, false));
    }
    let historical = "idkmesh/examples/historical/phase0-smoke.work-unit.6d41c2c0.json";
    let Some(bytes) = quorum_schemas::upstream::read(historical) else { return };
    assert_eq!(judged(&serde_json::from_slice(&bytes).unwrap()), (SchemaName::WorkUnitV02Early, true));
}
