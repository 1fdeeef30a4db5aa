//! Bound plans: the QuorumPlan v0.1 of one handoff.

use std::collections::BTreeSet;

use quorum_handoff::{Handoff, Manifest};
use quorum_schemas::{C1Digest, Digest, Object, SchemaName, Value, parse, validate};

use super::check::{Check, CheckSpec};
use super::template;
use crate::checks::ManifestFacts;
use crate::evaluator::EvaluatorPlan;
use crate::{CheckRequest, VerifierError};

/// A plan that is bound to exactly one work unit, revision and candidate artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundPlan {
    value: Value,
    digest: C1Digest,
    required: Vec<String>,
    checks: Vec<Check>,
    verifier: String,
    adapter_version: String,
    imported: Option<Box<Imported>>,
}

/// What an imported plan has beside its document.
#[derive(Debug, Clone, PartialEq)]
struct Imported {
    plan: EvaluatorPlan,
    facts: Option<ManifestFacts>,
}

impl BoundPlan {
    /// Reads a bound plan.
    ///
    /// # Errors
    /// [`VerifierError::PlanSyntax`], [`VerifierError::PlanInvalid`] for a schema violation, and the `plan_*` errors of
    /// the checks.
    pub fn parse(bytes: &[u8]) -> Result<Self, VerifierError> {
        Self::from_value(parse(bytes).map_err(|error| VerifierError::PlanSyntax(error.to_string()))?)
    }

    /// Checks a parsed plan.
    ///
    /// # Errors
    /// As [`BoundPlan::parse`].
    pub fn from_value(value: Value) -> Result<Self, VerifierError> {
        validate(SchemaName::QuorumPlan, &value)
            .map_err(|violations| VerifierError::PlanInvalid(violations[0].to_string()))?;
        Self::reread(value)
    }

    /// Takes back a plan that [`BoundPlan::from_value`] admitted in the process that handed it over; no schema is
    /// compiled for it. Never for a document from outside.
    ///
    /// # Errors
    /// As [`BoundPlan::parse`], for what needs no schema to be seen.
    pub(crate) fn reread(value: Value) -> Result<Self, VerifierError> {
        let ids = value.get("required_validator_ids").and_then(Value::as_array).unwrap_or_default();
        let required: Vec<String> = ids.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let checks = template::checks(value.get("checks").unwrap_or(&Value::Null))?;
        check_ids(&checks, &required)?;
        if !checks.iter().map(Check::id).eq(required.iter().map(String::as_str)) {
            return Err(VerifierError::PlanInvalid(
                "the checks are not in the order of the required validators".into(),
            ));
        }
        let text = |path: &[&str]| value.at(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (verifier, adapter_version) = (text(&["verifier", "id"]), text(&["verifier", "adapter_version"]));
        Ok(Self { digest: Digest::c1(&value), value, required, checks, verifier, adapter_version, imported: None })
    }

    /// The plan of an EvaluatorPlan, run under the name of `verifier`. The document stays upstream's, byte for byte in C1,
    /// and so does its digest.
    ///
    /// # Errors
    /// [`VerifierError::EvaluatorPlan`] with E1 or E8.
    pub(crate) fn of_evaluator(
        plan: EvaluatorPlan,
        verifier: &str,
        adapter_version: &str,
    ) -> Result<Self, VerifierError> {
        let checks = plan.checks()?;
        Ok(Self {
            value: plan.value().clone(),
            digest: plan.digest(),
            required: checks.iter().map(|check| check.id().to_owned()).collect(),
            checks,
            verifier: verifier.to_owned(),
            adapter_version: adapter_version.to_owned(),
            imported: Some(Box::new(Imported { plan, facts: None })),
        })
    }

    /// Gives an imported plan that judges them the worker's status and logs. Every other plan stays as it is: it has no
    /// place for them.
    #[must_use]
    pub fn observing(mut self, manifest: &Manifest) -> Self {
        if let Some(imported) = self.imported.as_mut().filter(|imported| imported.plan.reads_worker_status()) {
            imported.facts = Some(ManifestFacts::of(manifest));
        }
        self
    }

    /// What goes to the check child beside the document of an imported plan.
    pub(crate) fn import_value(&self) -> Option<Value> {
        let imported = self.imported.as_ref()?;
        let mut members = Object::from([
            ("verifier".to_owned(), self.verifier.as_str().into()),
            ("adapter_version".to_owned(), self.adapter_version.as_str().into()),
        ]);
        members.extend(imported.facts.as_ref().map(|facts| ("facts".to_owned(), facts.to_value())));
        Some(Value::Object(members))
    }

    /// Takes back what [`BoundPlan::import_value`] and the document say, in the process that handed it over.
    pub(crate) fn reread_imported(value: Value, import: &Value) -> Result<Self, VerifierError> {
        let text = |key: &str| import.get(key).and_then(Value::as_str).unwrap_or_default();
        let plan = EvaluatorPlan::reread(value)?;
        let mut bound = Self::of_evaluator(plan, text("verifier"), text("adapter_version"))?;
        if let (Some(imported), Some(facts)) = (&mut bound.imported, import.get("facts")) {
            imported.facts = Some(ManifestFacts::read(facts));
        }
        Ok(bound)
    }

    /// Whether the plan may be run on everything that a request brings; [`BoundPlan::check_handoff`] and, for an imported
    /// plan, E5 and E9.
    pub(crate) fn check_request(&self, request: &CheckRequest) -> Result<(), VerifierError> {
        self.check_handoff(&request.handoff)?;
        let Some(imported) = &self.imported else { return Ok(()) };
        imported.plan.check_work_unit(&request.work_unit)?;
        imported.plan.check_request(&request.binding)
    }

    /// Whether this is a plan for exactly this handoff (upstream E2 to E5, E7, E10).
    ///
    /// # Errors
    /// [`VerifierError::PlanWrongHandoff`], [`VerifierError::PlanValidatorsDiffer`], [`VerifierError::SelfVerification`];
    /// [`VerifierError::EvaluatorPlan`] with the rule's number for an imported plan.
    pub fn check_handoff(&self, handoff: &Handoff) -> Result<(), VerifierError> {
        if let Some(imported) = &self.imported {
            return imported.plan.check_handoff(handoff, &self.verifier);
        }
        let wrong = |field, plan: Option<&Value>, ours: Option<&Value>| VerifierError::PlanWrongHandoff {
            field,
            plan: shown(plan),
            handoff: shown(ours),
        };
        for field in ["work_unit_id", "work_unit_version", "work_unit_digest", "source_revision"] {
            let (plan, ours) = (self.value.at(&["binding", field]), handoff.value().get(field));
            if plan != ours {
                return Err(wrong(field, plan, ours));
            }
        }
        let artifact = self.value.get("candidate_artifact_id");
        if artifact != handoff.value().get("candidate_artifact_id") {
            return Err(wrong("candidate_artifact_id", artifact, handoff.value().get("candidate_artifact_id")));
        }
        check_ids(&self.checks, handoff.required_validator_ids())?;
        if self.required != handoff.required_validator_ids() {
            let ids = self.value.get("required_validator_ids");
            return Err(wrong("required_validator_ids", ids, handoff.value().get("required_validator_ids")));
        }
        if self.verifier_id() == handoff.worker_id() {
            return Err(VerifierError::SelfVerification(self.verifier_id().to_owned()));
        }
        Ok(())
    }

    /// The document.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Its C1 bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        quorum_schemas::c1(&self.value)
    }

    /// Its C1 digest: `provenance.verifier_config_digest` of the evidence.
    #[must_use]
    pub fn digest(&self) -> C1Digest {
        self.digest
    }

    /// Whether workers may not see the plan.
    #[must_use]
    pub fn hidden(&self) -> bool {
        self.value.get("visibility").and_then(Value::as_str) == Some("hidden")
    }

    /// The verifier's id: ours, also for an imported plan.
    #[must_use]
    pub fn verifier_id(&self) -> &str {
        &self.verifier
    }

    /// The version of our adapter that runs the plan.
    #[must_use]
    pub fn adapter_version(&self) -> &str {
        &self.adapter_version
    }

    /// The EvaluatorPlan that this one is, if it was imported.
    #[must_use]
    pub fn evaluator(&self) -> Option<&EvaluatorPlan> {
        self.imported.as_ref().map(|imported| &imported.plan)
    }

    /// Whether its checks read the worker's own status and logs: only imported plans can.
    #[must_use]
    pub fn reads_worker_status(&self) -> bool {
        self.evaluator().is_some_and(EvaluatorPlan::reads_worker_status)
    }

    /// The worker's status and logs, readable for the checks of imported plans alone.
    pub(crate) fn manifest_facts(&self) -> Option<&ManifestFacts> {
        self.imported.as_ref()?.facts.as_ref()
    }

    /// Whether any check starts a command or an engine.
    #[must_use]
    pub fn starts_programs(&self) -> bool {
        self.checks.iter().any(|check| matches!(check.spec(), CheckSpec::Command(_) | CheckSpec::Engine(_)))
    }

    /// The checks, in the order of the required validators.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }
}

/// Whether the checks are exactly the required validators, whatever the order.
pub(super) fn check_ids(checks: &[Check], required: &[String]) -> Result<(), VerifierError> {
    let have: BTreeSet<&str> = checks.iter().map(Check::id).collect();
    let need: BTreeSet<&str> = required.iter().map(String::as_str).collect();
    if have == need {
        return Ok(());
    }
    let list = |left: &BTreeSet<&str>, right| left.difference(right).map(|id| (*id).to_owned()).collect();
    Err(VerifierError::PlanValidatorsDiffer { missing: list(&need, &have), extra: list(&have, &need) })
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".to_owned(), |value| String::from_utf8_lossy(&quorum_schemas::c1(value)).into_owned())
}
