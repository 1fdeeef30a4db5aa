//! B1 to B13: each refusal by its number, and beside it the same pair without the defect.

use quorum_handoff::{Document, HandoffError, SourceRule, WorkUnitSourceBinding};
use quorum_schemas::{Digest, Value};
use serde_json::{Value as Json, json};

use crate::fixtures::{edit, work_unit};
use crate::rules::named;

const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

/// A work unit, the trusted revision, the retained binding and the observed revision.
struct Case {
    unit: Json,
    trusted: String,
    binding: Json,
    observed: Option<String>,
}

impl Case {
    fn sound() -> Self {
        let mut unit = work_unit();
        edit(&mut unit, "/provenance/source_revision", Some(json!(REVISION)));
        let binding = WorkUnitSourceBinding::bind(&unit.clone().into(), REVISION).unwrap();
        let binding = serde_json::from_slice(&quorum_schemas::c1(&binding.to_value())).unwrap();
        Self { unit, trusted: REVISION.to_owned(), binding, observed: Some(REVISION.to_owned()) }
    }

    fn bind(&self) -> Result<WorkUnitSourceBinding, HandoffError> {
        WorkUnitSourceBinding::bind(&self.unit.clone().into(), &self.trusted)
    }

    fn validate(&self) -> Result<(), HandoffError> {
        let binding = WorkUnitSourceBinding::parse(&self.binding.clone().into())?;
        binding.validate(&self.unit.clone().into(), self.observed.as_deref())
    }

    fn unit(&mut self, pointer: &str, value: impl Into<Option<Json>>) {
        edit(&mut self.unit, pointer, value.into());
    }

    fn binding(&mut self, pointer: &str, value: impl Into<Option<Json>>) {
        edit(&mut self.binding, pointer, value.into());
    }
}

fn refused<T: std::fmt::Debug>(found: Result<T, HandoffError>, rule: SourceRule, document: Document, place: &str) {
    match found {
        Err(HandoffError::Source { rule: found, document: whose, pointer, message }) => {
            assert_eq!((found, whose, pointer.as_str()), (rule, document, place), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

/// One test for each case: `bind` or `validate` refuses the defect by its rule at its place.
macro_rules! source_cases {
    ($($name:ident: $rule:ident, $act:ident, $document:ident $place:literal, $defect:expr;)*) => {
        $(
            #[test]
            fn $name() {
                named(stringify!($name), &[SourceRule::$rule.as_str()]);
                let mut case = Case::sound();
                case.$act().unwrap();
                let defect: fn(&mut Case) = $defect;
                defect(&mut case);
                refused(case.$act(), SourceRule::$rule, Document::$document, $place);
            }
        )*

        pub(crate) const COVERED: &[(SourceRule, &str)] = &[$((SourceRule::$rule, stringify!($name))),*];
    };
}

source_cases! {
    idk_b01_work_unit_an_array: B1, bind, WorkUnit "", |c| c.unit = json!([]);
    idk_b01_work_unit_an_array_when_validated: B1, validate, WorkUnit "", |c| c.unit = json!([]);
    idk_b02_id_blank: B2, bind, WorkUnit "/id", |c| c.unit("/id", json!(" "));
    idk_b02_id_missing_when_validated: B2, validate, WorkUnit "/id", |c| c.unit("/id", None);
    idk_b02_bound_id_blank: B2, validate, SourceBinding "/work_unit_id", |c| c.binding("/work_unit_id", json!(""));
    idk_b03_version_true: B3, bind, WorkUnit "/version", |c| c.unit("/version", json!(true));
    idk_b03_version_zero: B3, bind, WorkUnit "/version", |c| c.unit("/version", json!(0));
    idk_b03_version_a_float_when_validated: B3, validate, WorkUnit "/version", |c| c.unit("/version", json!(3.0));
    idk_b03_bound_version_zero: B3, validate, SourceBinding "/work_unit_version",
        |c| c.binding("/work_unit_version", json!(0));
    idk_b04_trusted_a_branch: B4, bind, SourceBinding "/source_revision", |c| c.trusted = "main".into();
    idk_b04_trusted_empty: B4, bind, SourceBinding "/source_revision", |c| c.trusted = String::new();
    idk_b04_trusted_39_digits: B4, bind, SourceBinding "/source_revision", |c| { c.trusted.pop(); };
    idk_b04_trusted_not_hex: B4, bind, SourceBinding "/source_revision", |c| c.trusted = "g".repeat(40);
    idk_b04_trusted_with_a_newline: B4, bind, SourceBinding "/source_revision", |c| c.trusted.push('\n');
    idk_b04_bound_revision_a_tag: B4, validate, SourceBinding "/source_revision",
        |c| c.binding("/source_revision", json!("v1.0"));
    idk_b04_observed_a_branch: B4, validate, SourceBinding "/source_revision", |c| c.observed = Some("main".into());
    idk_b05_provenance_null: B5, bind, WorkUnit "/provenance", |c| c.unit("/provenance", json!(null));
    idk_b05_provenance_missing: B5, bind, WorkUnit "/provenance", |c| c.unit("/provenance", None);
    idk_b06_declared_a_word: B6, bind, WorkUnit "/provenance/source_revision",
        |c| c.unit("/provenance/source_revision", json!("rev-1"));
    idk_b06_declared_null: B6, bind, WorkUnit "/provenance/source_revision",
        |c| c.unit("/provenance/source_revision", json!(null));
    idk_b07_declared_another: B7, bind, WorkUnit "/provenance/source_revision",
        |c| c.unit("/provenance/source_revision", json!("a".repeat(40)));
    idk_b07_trusted_another: B7, bind, WorkUnit "/provenance/source_revision", |c| c.trusted = "b".repeat(64);
    idk_b08_binding_a_string: B8, validate, SourceBinding "", |c| c.binding = json!(REVISION);
    idk_b08_binding_without_a_member: B8, validate, SourceBinding "/work_unit_digest",
        |c| c.binding("/work_unit_digest", None);
    idk_b08_binding_with_more: B8, validate, SourceBinding "", |c| c.binding("/verified", json!(true));
    idk_b09_other_id: B9, validate, SourceBinding "/work_unit_id", |c| c.binding("/work_unit_id", json!("acme/other"));
    idk_b10_other_version: B10, validate, SourceBinding "/work_unit_version",
        |c| c.binding("/work_unit_version", json!(4));
    idk_b11_content_changed: B11, validate, SourceBinding "/work_unit_digest",
        |c| c.unit("/objective", json!("Answer well."));
    idk_b12_other_revision_observed: B12, validate, SourceBinding "/source_revision",
        |c| c.observed = Some("a".repeat(40));
    idk_b13_digest_upper_case: B13, validate, SourceBinding "/work_unit_digest",
        |c| c.binding("/work_unit_digest", json!(format!("sha256:{}", "A".repeat(64))));
    idk_b13_digest_a_number: B13, validate, SourceBinding "/work_unit_digest",
        |c| c.binding("/work_unit_digest", json!(1));
}

#[test]
fn a_binding_has_the_members_of_a_plans_binding_and_reads_back() {
    let case = Case::sound();
    let binding = case.bind().unwrap();
    assert_eq!(
        case.binding,
        json!({
            "work_unit_id": "acme/answer", "work_unit_version": 3, "source_revision": REVISION,
            "work_unit_digest": Digest::c1(&Value::from_serde(case.unit.clone())).to_string(),
        })
    );
    assert_eq!(WorkUnitSourceBinding::parse(&binding.to_value()).unwrap(), binding);
    assert_eq!((binding.work_unit_id(), binding.work_unit_version()), ("acme/answer", 3));
    assert_eq!(binding.source_revision(), REVISION);
    assert_eq!(binding.work_unit_digest(), Digest::c1(&case.unit.into()));
}

/// Git writes object ids in either case; the binding writes lower case and compares without regard to it.
#[test]
fn the_case_of_a_revision_has_no_say() {
    let mut case = Case::sound();
    case.unit("/provenance/source_revision", json!(REVISION.to_uppercase()));
    case.trusted = REVISION.to_uppercase();
    let binding = case.bind().unwrap();
    assert_eq!(binding.source_revision(), REVISION);
    binding.validate(&case.unit.into(), Some(&REVISION.to_uppercase())).unwrap();
}

/// A work unit that declares no revision is bound to the trusted one; nobody needs to observe one later.
#[test]
fn an_undeclared_revision_is_bound_and_an_unobserved_one_is_no_fault() {
    let mut case = Case::sound();
    case.unit("/provenance/source_revision", None);
    for revision in [REVISION.to_owned(), "ab".repeat(32)] {
        let binding = WorkUnitSourceBinding::bind(&case.unit.clone().into(), &revision).unwrap();
        assert_eq!(binding.source_revision(), revision);
        binding.validate(&case.unit.clone().into(), None).unwrap();
    }
}
