//! Reading an EvaluatorPlan, and holding it against a handoff.

use std::collections::BTreeSet;

use quorum_handoff::{Handoff, ManifestBinding, WorkUnit};
use quorum_schemas::{C1Digest, Digest, SchemaName, Value, parse, validate};

use super::EvaluatorRule;
use crate::plan::{Check, PatchText};
use crate::tree::check_path;
use crate::{VerifierError, limits};

/// A version of EvaluatorPlan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EvaluatorVersion {
    /// 0.1: a JSON file equals a value.
    V01,
    /// 0.2: a diff adds whole lines.
    V02,
    /// 0.3: a diff adds lines that hold substrings.
    V03,
    /// 0.4: a diff adds and removes lines that hold substrings.
    V04,
}

impl EvaluatorVersion {
    /// Every version.
    pub const ALL: [Self; 4] = [Self::V01, Self::V02, Self::V03, Self::V04];

    /// The `schema_version`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V01 => "0.1",
            Self::V02 => "0.2",
            Self::V03 => "0.3",
            Self::V04 => "0.4",
        }
    }

    fn schema(self) -> SchemaName {
        match self {
            Self::V01 => SchemaName::EvaluatorPlanV01,
            Self::V02 => SchemaName::EvaluatorPlanV02,
            Self::V03 => SchemaName::EvaluatorPlanV03,
            Self::V04 => SchemaName::EvaluatorPlanV04,
        }
    }

    /// The adapter, and its version, whose meaning the fields have.
    #[must_use]
    pub fn adapter(self) -> (&'static str, &'static str) {
        match self {
            Self::V01 => ("deterministic-json-verifier", "0.1"),
            Self::V02 => ("deterministic-patch-verifier", "0.1.1"),
            Self::V03 => ("deterministic-patch-verifier", "0.2.0"),
            Self::V04 => ("deterministic-patch-verifier", "0.3.0"),
        }
    }

    /// The validators that this version implements.
    #[must_use]
    pub fn validators(self) -> &'static [&'static str] {
        match self {
            Self::V01 => &["artifact-digest", "candidate-scope", "independent-acceptance"],
            _ => &["result-manifest-schema", "independent-review"],
        }
    }

    /// The word for the backend in evidence.
    #[must_use]
    pub fn backend(self) -> &'static str {
        if self == Self::V01 { "json_exact" } else { "unified_diff" }
    }

    /// The word for the meaning in evidence.
    #[must_use]
    pub fn semantic_contract(self) -> &'static str {
        match self {
            Self::V01 => "json_equal_as_python_compares",
            Self::V02 => "complete_added_line",
            Self::V03 => "substring_in_validated_added_line",
            Self::V04 => "added_and_removed_line_substring_all",
        }
    }
}

/// What one check of an imported plan does.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportedCheck {
    /// The artifact has the declared digest.
    ArtifactDigest,
    /// The files of the candidate are exactly these.
    FileList(Vec<String>),
    /// The artifact is JSON and equals this value as Python compares.
    Json {
        /// The value.
        required: Value,
        /// Larger artifacts fail.
        max_bytes: u64,
    },
    /// The manifest followed its schema when it was taken in.
    ManifestSchema,
    /// The patch, the logs and the worker's status.
    Review(PatchReview),
}

/// Settings of `independent-review`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchReview {
    /// Larger patches fail.
    pub max_candidate_bytes: u64,
    /// Larger logs fail.
    pub max_log_bytes: u64,
    /// Types of which at least one log must be declared.
    pub required_log_types: Vec<String>,
    /// What the patch must add and remove.
    pub text: PatchText,
}

/// An EvaluatorPlan that follows its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatorPlan {
    value: Value,
    digest: C1Digest,
    version: EvaluatorVersion,
}

/// The id that upstream's schemas fix. Nobody else is called so, we least of all.
const UPSTREAM_VERIFIER: &str = "idkmesh-local-verifier";

fn refuse<T>(rule: EvaluatorRule, message: impl Into<String>) -> Result<T, VerifierError> {
    Err(VerifierError::EvaluatorPlan { rule, message: message.into() })
}

impl EvaluatorPlan {
    /// Whether a JSON document means to be one: no plan of ours has an `execution_mode`.
    pub(crate) fn claims(value: &Value) -> bool {
        value.get("execution_mode").is_some() && value.get("kind").is_none()
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// [`VerifierError::PlanSyntax`], or [`VerifierError::EvaluatorPlan`] with E1, E13 or E16.
    pub fn parse(bytes: &[u8]) -> Result<Self, VerifierError> {
        Self::from_value(parse(bytes).map_err(|error| VerifierError::PlanSyntax(error.to_string()))?)
    }

    /// Checks a parsed plan.
    ///
    /// # Errors
    /// As [`EvaluatorPlan::parse`].
    pub fn from_value(value: Value) -> Result<Self, VerifierError> {
        let plan = Self::reread(value)?;
        plan.check_adapter()?;
        plan.check_text()?;
        validate(plan.version.schema(), &plan.value)
            .or_else(|found| refuse(EvaluatorRule::E1, found[0].to_string()))?;
        for path in plan.texts("allowed_files") {
            check_path(path).or_else(|error| refuse(EvaluatorRule::E1, format!("/allowed_files: {error}")))?;
        }
        Ok(plan)
    }

    /// Takes back a plan that was admitted in the process that handed it over; no schema is compiled for it.
    pub(crate) fn reread(value: Value) -> Result<Self, VerifierError> {
        let named = value.get("schema_version").and_then(Value::as_str).unwrap_or_default();
        let version = EvaluatorVersion::ALL.into_iter().find(|version| version.as_str() == named);
        let Some(version) = version else {
            let shown = value.get("schema_version").map_or_else(|| "absent".to_owned(), Value::shown);
            return refuse(
                EvaluatorRule::E1,
                format!("/schema_version is {shown}; an EvaluatorPlan is \"0.1\", \"0.2\", \"0.3\" or \"0.4\""),
            );
        };
        Ok(Self { digest: Digest::c1(&value), value, version })
    }

    /// E13: the fields have the meaning of the adapter that the plan names, so it must be the one of its version.
    fn check_adapter(&self) -> Result<(), VerifierError> {
        let (adapter, version) = self.version.adapter();
        for (key, wanted) in
            [("id", UPSTREAM_VERIFIER), ("type", "system"), ("adapter", adapter), ("adapter_version", version)]
        {
            // What is missing or no text is the schema's to say.
            let Some(found) = self.value.at(&["verifier", key]) else { continue };
            if found.as_str().is_some_and(|found| found != wanted) {
                let (version, found) = (self.version.as_str(), found.shown());
                return refuse(
                    EvaluatorRule::E13,
                    format!("/verifier/{key} is {found}; EvaluatorPlan {version} has the meaning of \"{wanted}\" only"),
                );
            }
        }
        Ok(())
    }

    /// E16: no field of another version, no substring twice, none over lines.
    fn check_text(&self) -> Result<(), VerifierError> {
        if self.version < EvaluatorVersion::V03 {
            return Ok(());
        }
        let Some(backend) = self.value.get("backend") else { return Ok(()) };
        if backend.get("required_added_text").is_some() {
            let why =
                "/backend/required_added_text means complete lines and belongs to 0.2; write required_added_substrings";
            return refuse(EvaluatorRule::E16, why);
        }
        for field in ["required_added_substrings", "required_removed_substrings"] {
            let mut seen = BTreeSet::new();
            for text in
                backend.get(field).and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str)
            {
                if text.contains(['\n', '\r']) {
                    return refuse(
                        EvaluatorRule::E16,
                        format!("/backend/{field}: a value spans lines; none could match"),
                    );
                }
                if !seen.insert(text) {
                    return refuse(EvaluatorRule::E16, format!("/backend/{field}: a value stands twice"));
                }
            }
        }
        Ok(())
    }

    /// Whether the plan may be run on this handoff by this verifier (E2 to E4, E6 to E8, E10).
    ///
    /// # Errors
    /// [`VerifierError::EvaluatorPlan`], [`VerifierError::PlanWrongHandoff`] for another artifact.
    pub(crate) fn check_handoff(&self, handoff: &Handoff, verifier: &str) -> Result<(), VerifierError> {
        use EvaluatorRule::{E2, E3, E4, E6, E10};
        for (rule, field) in
            [(E2, "work_unit_id"), (E3, "work_unit_version"), (E4, "work_unit_digest"), (E6, "source_revision")]
        {
            let (plan, ours) = (self.value.at(&["binding", field]), handoff.value().get(field));
            if plan != ours {
                let shown = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), Value::shown);
                let message = format!("/binding/{field} is {}, the handoff has {}", shown(plan), shown(ours));
                return refuse(rule, message);
            }
        }
        self.check_validators(handoff)?;
        let artifact = self.text("candidate_artifact_id");
        if artifact != handoff.candidate_artifact_id() {
            return Err(VerifierError::PlanWrongHandoff {
                field: "candidate_artifact_id",
                plan: artifact.to_owned(),
                handoff: handoff.candidate_artifact_id().to_owned(),
            });
        }
        for name in [verifier, UPSTREAM_VERIFIER] {
            if handoff.worker_id() == name {
                return refuse(
                    E10,
                    format!("the worker is called `{name}` like the verifier; have somebody else verify"),
                );
            }
        }
        Ok(())
    }

    fn check_validators(&self, handoff: &Handoff) -> Result<(), VerifierError> {
        let set = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect::<BTreeSet<String>>();
        let list = |left: &BTreeSet<String>, right| left.difference(right).cloned().collect::<Vec<_>>().join(", ");
        let plan = set(self.texts("required_validator_ids"));
        let required = set(handoff.required_validator_ids().iter().map(String::as_str).collect());
        if plan != required {
            let message = format!(
                "/required_validator_ids must be the work unit's required validators; missing: [{}], extra: [{}]",
                list(&required, &plan),
                list(&plan, &required)
            );
            return refuse(EvaluatorRule::E7, message);
        }
        let backend = set(self.version.validators().to_vec());
        if plan != backend {
            let message = format!(
                "EvaluatorPlan {} implements exactly [{}]; not implemented: [{}], left over: [{}]",
                self.version.as_str(),
                self.version.validators().join(", "),
                list(&plan, &backend),
                list(&backend, &plan)
            );
            return refuse(EvaluatorRule::E8, message);
        }
        Ok(())
    }

    /// E5: the revision that the work unit declares, where it declares one.
    pub(crate) fn check_work_unit(&self, work_unit: &WorkUnit) -> Result<(), VerifierError> {
        let bound = self.value.at(&["binding", "source_revision"]).and_then(Value::as_str).unwrap_or_default();
        match work_unit.source_revision() {
            Some(declared) if declared != bound => refuse(
                EvaluatorRule::E5,
                format!("/binding/source_revision is `{bound}`, the work unit has `{declared}`"),
            ),
            _ => Ok(()),
        }
    }

    /// E9: the manifest requests every required validator. Its derivation saw to that (H25); here it is seen again.
    pub(crate) fn check_request(&self, binding: &ManifestBinding) -> Result<(), VerifierError> {
        let requested = binding.requested_validators();
        let missing = self.texts("required_validator_ids").into_iter().find(|id| !requested.iter().any(|r| r == id));
        missing.map_or(Ok(()), |id| refuse(EvaluatorRule::E9, format!("the manifest does not request `{id}`")))
    }

    /// E14: the required checks of a result are exactly the plan's validators.
    pub(crate) fn check_result(&self, result: &Value) -> Result<(), VerifierError> {
        let checks = result.get("checks").and_then(Value::as_array).unwrap_or_default();
        let required = checks.iter().filter(|check| check.get("required").and_then(Value::as_bool) == Some(true));
        let found: BTreeSet<&str> = required.filter_map(|check| check.get("id")?.as_str()).collect();
        let wanted: BTreeSet<&str> = self.texts("required_validator_ids").into_iter().collect();
        if found == wanted {
            return Ok(());
        }
        refuse(
            EvaluatorRule::E14,
            format!("the result has the required checks {found:?}, the plan asks for {wanted:?}"),
        )
    }

    /// The checks, in the order of the plan's validators.
    pub(crate) fn checks(&self) -> Result<Vec<Check>, VerifierError> {
        let mut checks = Vec::new();
        for id in self.texts("required_validator_ids") {
            let check = match id {
                "artifact-digest" => ImportedCheck::ArtifactDigest,
                "candidate-scope" => ImportedCheck::FileList(owned(self.texts("allowed_files"))),
                "independent-acceptance" => ImportedCheck::Json {
                    required: self.value.get("required_json").cloned().unwrap_or(Value::Null),
                    max_bytes: self.bound(&["max_candidate_bytes"])?,
                },
                "result-manifest-schema" => ImportedCheck::ManifestSchema,
                "independent-review" => ImportedCheck::Review(self.review()?),
                other => return refuse(EvaluatorRule::E8, format!("no backend implements the validator `{other}`")),
            };
            checks.push(Check::imported(id, check));
        }
        Ok(checks)
    }

    fn review(&self) -> Result<PatchReview, VerifierError> {
        let backend = |key: &str| {
            let items = self.value.at(&["backend", key]).and_then(Value::as_array).unwrap_or_default();
            owned(items.iter().filter_map(Value::as_str).collect())
        };
        Ok(PatchReview {
            max_candidate_bytes: self.bound(&["backend", "max_candidate_bytes"])?,
            max_log_bytes: self.bound(&["backend", "max_log_bytes"])?,
            required_log_types: backend("required_log_types"),
            text: PatchText {
                added_lines: backend("required_added_text"),
                added_substrings: backend("required_added_substrings"),
                removed_lines: Vec::new(),
                removed_substrings: backend("required_removed_substrings"),
            },
        })
    }

    /// A size; whatever a plan admits, nothing is read beyond what a tree may hold.
    fn bound(&self, path: &[&str]) -> Result<u64, VerifierError> {
        let place = || path.join("/");
        match self.value.at(path) {
            Some(Value::Int(number)) => {
                let beyond = || (!number.as_str().starts_with('-')).then_some(limits::TREE_BYTES);
                let bound = number.as_u64().or_else(beyond).filter(|bound| *bound > 0);
                bound.map_or_else(
                    || refuse(EvaluatorRule::E1, format!("/{} is not a size", place())),
                    |bound| Ok(bound.min(limits::TREE_BYTES)),
                )
            }
            _ => refuse(EvaluatorRule::E1, format!("/{} is missing", place())),
        }
    }

    /// The document as it came.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Its C1 digest: `provenance.verifier_config_digest` of the evidence.
    #[must_use]
    pub fn digest(&self) -> C1Digest {
        self.digest
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> EvaluatorVersion {
        self.version
    }

    /// Whether its checks read the worker's status and logs, as 0.2 to 0.4 do.
    #[must_use]
    pub fn reads_worker_status(&self) -> bool {
        self.version != EvaluatorVersion::V01
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn texts(&self, key: &str) -> Vec<&str> {
        self.value.get(key).and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_str).collect()
    }
}

fn owned(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}
