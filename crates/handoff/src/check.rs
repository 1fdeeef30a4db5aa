//! The rules P1 to P10 and V1 to V16, as functions of documents.

use std::collections::BTreeSet;

use quorum_schemas::{SchemaName, Value, validate};

use crate::error::{shown, shown_text};
use crate::read::{items, text};
use crate::reference::different;
use crate::{Handoff, Manifest, ManifestBinding, Rule, Violation, WorkUnit};

/// The rules that judge a manifest at intake: P1, P2, P3, V3 and V4. Pointers are into the manifest.
#[must_use]
pub fn check_manifest(manifest: &Manifest, work_unit: &WorkUnit) -> Vec<Violation> {
    let mut found = Findings::default();
    let value = manifest.value();
    if manifest.work_unit_id() != work_unit.id() {
        let message = different("work_unit_id", value.get("work_unit_id"), work_unit.id());
        found.add(&[Rule::P1], "/work_unit_id", message);
    }
    if manifest.work_unit_version() != work_unit.version() {
        let message =
            format!("work_unit_version is {}, expected {}", manifest.work_unit_version(), work_unit.version());
        found.add(&[Rule::P2, Rule::V3], "/work_unit_version", message);
    }
    if manifest.declared_work_unit_digest() != work_unit.digest().to_string() {
        let message =
            format!("work_unit_digest is {}, expected {}", manifest.declared_work_unit_digest(), work_unit.digest());
        found.add(&[Rule::P3], "/provenance/work_unit_digest", message);
    }
    let produced: BTreeSet<&str> = manifest.artifacts().iter().map(|artifact| text(artifact, &["id"])).collect();
    for (index, id) in manifest.evidence_artifact_ids().into_iter().enumerate() {
        if !produced.contains(id) {
            let message = format!("the artifact {} was not produced", shown_text(id));
            found.add(&[Rule::V4], &format!("/verification_request/evidence_artifact_ids/{index}"), message);
        }
    }
    found.done()
}

/// Whether a binding is the one of this handoff and work unit: a verifier on the mesh receives the three together and
/// re-checks them. Pointers are into the binding.
#[must_use]
pub fn check_binding(handoff: &Handoff, binding: &ManifestBinding, work_unit: &WorkUnit) -> Vec<Violation> {
    let mut found = Findings::default();
    let mut same = |rule, name: &str, ours: String, theirs: String| {
        if ours != theirs {
            let message = format!("{name} is {}, the handoff says {}", shown_text(&ours), shown_text(&theirs));
            found.add(&[rule], &format!("/{name}"), message);
        }
    };
    let (b, h) = (binding, handoff);
    same(Rule::P4, "result_manifest_id", b.result_manifest_id().into(), h.result_manifest_id().into());
    same(
        Rule::P6,
        "result_manifest_digest",
        b.result_manifest_digest().to_string(),
        h.result_manifest_digest().to_string(),
    );
    same(Rule::P5, "attempt", b.attempt().to_string(), h.attempt().to_string());
    same(Rule::P9, "worker_id", b.worker_id().into(), h.worker_id().into());
    same(Rule::P1, "work_unit_id", b.work_unit_id().into(), h.work_unit_id().into());
    same(Rule::P2, "work_unit_version", b.work_unit_version().to_string(), h.work_unit_version().to_string());
    same(Rule::P3, "work_unit_digest", b.work_unit_digest().to_string(), h.work_unit_digest().to_string());
    same(Rule::P8, "source_revision", b.source_revision().into(), h.source_revision().into());
    same(Rule::V4, "candidate", b.candidate_artifact_id().into(), h.candidate_artifact_id().into());
    same(Rule::V4, "candidate", b.candidate_digest().to_string(), h.candidate_artifact_digest().to_string());
    if work_unit.digest() != handoff.work_unit_digest() {
        let message =
            format!("the work unit is {}, the handoff says {}", work_unit.digest(), handoff.work_unit_digest());
        found.add(&[Rule::P3], "/work_unit_digest", message);
    }
    let required = work_unit.validators().iter().filter(|v| v.required).map(|v| v.id.as_str());
    if !required.eq(handoff.required_validator_ids().iter().map(String::as_str)) {
        let message = "the handoff's required validators are not the work unit's".to_owned();
        found.add(&[Rule::V9], "/required_validator_ids", message);
    }
    found.done()
}

/// Every rule that speaks about a VerificationResult. Pointers are into the result.
///
/// A result that breaks its schema (V1) is judged no further, since the other rules read a known shape. Required are
/// the handoff's ids, whatever the result's own flags say. V10 is reported with its own rule and is for the caller to
/// weigh or to leave: a worker who asks for one more validator must not be able to void every result.
#[must_use]
pub fn check_result(
    result: &Value,
    handoff: &Handoff,
    binding: &ManifestBinding,
    work_unit: &WorkUnit,
) -> Vec<Violation> {
    if let Err(violations) = validate(SchemaName::VerificationResult, result) {
        let as_rule =
            |v: quorum_schemas::SchemaViolation| Violation { rule: Rule::V1, pointer: v.pointer, message: v.message };
        return violations.into_iter().map(as_rule).collect();
    }
    check_result_rules(result, handoff, binding, work_unit)
}

/// [`check_result`] without V1, for a result that follows its schema already: as a part of a larger document, whose schema
/// refers to it, it has been held against it. What does not follow it is found to differ, never to agree.
#[must_use]
pub fn check_result_rules(
    result: &Value,
    handoff: &Handoff,
    binding: &ManifestBinding,
    work_unit: &WorkUnit,
) -> Vec<Violation> {
    let mut found = Findings::default();
    bindings(result, handoff, binding, work_unit, &mut found);
    independence(result, binding, work_unit, &mut found);
    coverage(result, handoff, binding, &mut found);
    consistency(result, handoff, &mut found);
    found.done()
}

/// P4 to P9, V5, V6, V7, V11.
fn bindings(result: &Value, handoff: &Handoff, binding: &ManifestBinding, unit: &WorkUnit, found: &mut Findings) {
    let mut text_is = |rules: &[Rule], pointer: &str, expected: &str| {
        let path: Vec<&str> = pointer.split('/').skip(1).collect();
        if text(result, &path) != expected {
            found.add(rules, pointer, different(path[path.len() - 1], result.at(&path), expected));
        }
    };
    text_is(&[Rule::P4, Rule::V5], "/result_manifest_id", binding.result_manifest_id());
    text_is(&[Rule::P5, Rule::V6], "/work_unit_id", handoff.work_unit_id());
    text_is(&[Rule::V7], "/work_unit_id", unit.id());
    text_is(&[Rule::P6], "/provenance/result_manifest_digest", &binding.result_manifest_digest().to_string());
    text_is(&[Rule::P7], "/provenance/work_unit_digest", &unit.digest().to_string());
    text_is(&[Rule::P8], "/provenance/source_revision", binding.source_revision());
    text_is(&[Rule::P9, Rule::V11], "/independence/worker_id_observed", binding.worker_id());
    for (name, expected) in [("work_unit_version", handoff.work_unit_version()), ("attempt", binding.attempt())] {
        if result.get(name).and_then(Value::as_u64) != Some(expected) {
            let message = format!("{name} is {}, expected {expected}", shown(result.get(name)));
            found.add(&[Rule::P5, Rule::V6], &format!("/{name}"), message);
        }
    }
}

/// P10, V12, V13.
fn independence(result: &Value, binding: &ManifestBinding, work_unit: &WorkUnit, found: &mut Findings) {
    let claims = result.at(&["independence", "independent_from_worker"]).and_then(Value::as_bool) == Some(true);
    let verifier = text(result, &["verifier", "id"]);
    if verifier == binding.worker_id() {
        let message = format!("the verifier {} is the worker", shown_text(verifier));
        if claims {
            found.add(&[Rule::P10], "/verifier/id", format!("{message}, and claims independence from it"));
        }
        found.add(&[Rule::V13], "/verifier/id", message);
    }
    if work_unit.independent_from_worker() && !claims {
        let message = "independent_from_worker is false, and the work unit asks for an independent verifier";
        found.add(&[Rule::V12], "/independence/independent_from_worker", message.to_owned());
    }
}

/// V8, V9, V10 and repeated check ids.
fn coverage(result: &Value, handoff: &Handoff, binding: &ManifestBinding, found: &mut Findings) {
    let evidence: BTreeSet<&str> = items(result, &["evidence"]).iter().map(|item| text(item, &["id"])).collect();
    let mut checks = BTreeSet::new();
    for (index, check) in items(result, &["checks"]).iter().enumerate() {
        let id = text(check, &["id"]);
        if !checks.insert(id) {
            let message = format!("the check id {} appears twice", shown_text(id));
            found.add(&[Rule::RepeatedCheck], &format!("/checks/{index}/id"), message);
        }
        for (place, cited) in items(check, &["evidence_ids"]).iter().enumerate() {
            if cited.as_str().is_none_or(|cited| !evidence.contains(cited)) {
                let message = format!("the check {} cites unknown evidence {}", shown_text(id), shown(Some(cited)));
                found.add(&[Rule::V8], &format!("/checks/{index}/evidence_ids/{place}"), message);
            }
        }
    }
    let mut missing = |rule, ids: &[String], who: &str| {
        for id in ids.iter().filter(|id| !checks.contains(id.as_str())) {
            found.add(&[rule], "/checks", format!("no check for the validator {} that {who}", shown_text(id)));
        }
    };
    missing(Rule::V9, handoff.required_validator_ids(), "the work unit requires");
    missing(Rule::V10, binding.requested_validators(), "the worker requested");
}

/// V14, V15, V16.
fn consistency(result: &Value, handoff: &Handoff, found: &mut Findings) {
    let passed = text(result, &["status"]) == "passed";
    let accepts = text(result, &["decision_support", "recommendation"]) == "accept_candidate";
    if accepts && !passed {
        let message = format!("accept_candidate requires status \"passed\", found {}", shown(result.get("status")));
        found.add(&[Rule::V15], "/decision_support/recommendation", message);
    }
    let checks = items(result, &["checks"]);
    for id in handoff.required_validator_ids() {
        let statuses: Vec<&str> =
            checks.iter().filter(|check| text(check, &["id"]) == id).map(|check| text(check, &["status"])).collect();
        if !statuses.is_empty() && statuses.iter().all(|status| *status == "passed") {
            continue;
        }
        let what = if statuses.is_empty() { "missing".to_owned() } else { statuses.join(", ") };
        let id = shown_text(id);
        if passed {
            found.add(&[Rule::V14], "/status", format!("status \"passed\", but the required check {id} is {what}"));
        }
        if accepts {
            let message = format!("accept_candidate requires every required check passed, but {id} is {what}");
            found.add(&[Rule::V16], "/decision_support/recommendation", message);
        }
    }
}

#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, rules: &[Rule], pointer: &str, message: String) {
        for rule in rules {
            self.0.push(Violation { rule: *rule, pointer: pointer.to_owned(), message: message.clone() });
        }
    }

    fn done(mut self) -> Vec<Violation> {
        self.0.sort();
        self.0
    }
}
