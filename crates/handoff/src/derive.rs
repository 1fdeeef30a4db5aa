//! The derivation: from a work unit and a manifest to the one handoff that they allow. Deterministic, so that anyone
//! may repeat it; it reads neither status nor self-report.

use std::collections::BTreeSet;

use quorum_schemas::{Digest, Object, Value};

use crate::DerivationRule::{self, *};
use crate::error::{shown, shown_text};
use crate::read::{is_blank, nonblank, not_array, not_count, not_digest, not_object, not_text, object_in, positive};
use crate::{Document, Handoff, HandoffError, Strategy};

/// Top-level members by which a manifest would claim authority (H3).
const AUTHORITY: &[&str] =
    &["accepted", "human_decision", "integration_authorized", "merge_authorized", "verification_result", "verified"];

/// Derives the handoff of a manifest, refusing at the first of the rules H1 to H47 that is broken, in upstream's order.
///
/// Runs on any parsed values; it does not check schemas ([`crate::intake`] does both). Integers must be integer
/// tokens, where upstream's equality also admits `1.0` and `true`. An explicit `null` counts as present.
///
/// # Errors
/// [`HandoffError::Derivation`] with the rule, the document, the place and the value.
pub fn derive(
    work_unit: &Value,
    manifest: &Value,
    candidate_artifact_id: Option<&str>,
) -> Result<Handoff, HandoffError> {
    let mut fields = Object::new();
    fields.insert("schema_version".into(), "0.1".into());
    identity(work_unit, manifest, &mut fields)?;
    provenance(work_unit, manifest, &mut fields)?;
    let request = object_in(manifest, "verification_request")
        .ok_or_else(|| in_manifest(H15, "/verification_request", not_object(manifest.get("verification_request"))))?;
    let requested = requested_validators(request)?;
    let required = required_validators(work_unit)?;
    let omitted: BTreeSet<&str> = required.iter().copied().filter(|id| !requested.contains(id)).collect();
    if !omitted.is_empty() {
        let list: Vec<String> = omitted.into_iter().map(shown_text).collect();
        let message = format!("the request omits required validator(s): {}", list.join(", "));
        return Err(in_manifest(H25, "/verification_request/expected_validator_ids", message));
    }
    fields.insert("required_validator_ids".into(), required.into());
    candidate(manifest, request, candidate_artifact_id, &mut fields)?;
    policy(work_unit, &mut fields)?;
    worker(manifest, &mut fields)?;
    Handoff::parse(&Value::Object(fields))
}

/// H1 to H7.
fn identity(work_unit: &Value, manifest: &Value, fields: &mut Object) -> Result<(), HandoffError> {
    if work_unit.as_object().is_none() {
        return Err(in_work_unit(H1, "", format!("a JSON object is needed, found {}", work_unit.kind())));
    }
    let Some(members) = manifest.as_object() else {
        return Err(in_manifest(H2, "", format!("a JSON object is needed, found {}", manifest.kind())));
    };
    let claimed: Vec<&str> = AUTHORITY.iter().copied().filter(|name| members.contains_key(*name)).collect();
    if let Some(first) = claimed.first() {
        let message = format!(
            "the manifest contains forbidden authority field(s): {}; a worker's report never accepts itself",
            claimed.join(", ")
        );
        return Err(in_manifest(H3, &format!("/{first}"), message));
    }
    let id = nonblank(work_unit.get("id")).ok_or_else(|| in_work_unit(H4, "/id", not_text(work_unit.get("id"))))?;
    let version = positive(work_unit.get("version"))
        .ok_or_else(|| in_work_unit(H5, "/version", not_count(work_unit.get("version"), 1)))?;
    let named = manifest.get("work_unit_id");
    if named.and_then(Value::as_str) != Some(id) {
        let message =
            format!("the manifest references a different work unit: {}, expected {}", shown(named), shown_text(id));
        return Err(in_manifest(H6, "/work_unit_id", message));
    }
    let named = manifest.get("work_unit_version");
    if named.and_then(Value::as_u64) != Some(version) {
        let message =
            format!("the manifest references a different work unit version: {}, expected {version}", shown(named));
        return Err(in_manifest(H7, "/work_unit_version", message));
    }
    fields.insert("work_unit_id".into(), id.into());
    fields.insert("work_unit_version".into(), version.into());
    Ok(())
}

/// H8 to H14.
fn provenance(work_unit: &Value, manifest: &Value, fields: &mut Object) -> Result<(), HandoffError> {
    let theirs = object_in(manifest, "provenance")
        .ok_or_else(|| in_manifest(H8, "/provenance", not_object(manifest.get("provenance"))))?;
    let declared = digest(theirs.get("work_unit_digest"))
        .ok_or_else(|| in_manifest(H9, "/provenance/work_unit_digest", not_digest(theirs.get("work_unit_digest"))))?;
    let actual = Digest::c1(work_unit);
    if declared != actual {
        let message = format!(
            "the manifest is not bound to the exact WorkUnit content: it declares {declared}, the work unit is {actual}"
        );
        return Err(in_manifest(H10, "/provenance/work_unit_digest", message));
    }
    let revision = nonblank(theirs.get("source_revision"))
        .ok_or_else(|| in_manifest(H11, "/provenance/source_revision", not_text(theirs.get("source_revision"))))?;
    let ours = object_in(work_unit, "provenance")
        .ok_or_else(|| in_work_unit(H12, "/provenance", not_object(work_unit.get("provenance"))))?;
    if let Some(expected) = ours.get("source_revision") {
        let expected = nonblank(Some(expected))
            .ok_or_else(|| in_work_unit(H13, "/provenance/source_revision", not_text(Some(expected))))?;
        if expected != revision {
            let message = format!(
                "the source revision {} differs from WorkUnit provenance, which says {}",
                shown_text(revision),
                shown_text(expected)
            );
            return Err(in_manifest(H14, "/provenance/source_revision", message));
        }
    }
    fields.insert("work_unit_digest".into(), actual.into());
    fields.insert("source_revision".into(), revision.into());
    fields.insert("result_manifest_digest".into(), Digest::c1(manifest).into());
    Ok(())
}

/// H16 to H18.
fn requested_validators(request: &Value) -> Result<Vec<&str>, HandoffError> {
    const PLACE: &str = "/verification_request/expected_validator_ids";
    let ids = request.get("expected_validator_ids");
    let items = ids.and_then(Value::as_array).ok_or_else(|| in_manifest(H16, PLACE, not_array(ids)))?;
    let mut seen = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("{PLACE}/{index}");
        let id = nonblank(Some(item)).ok_or_else(|| in_manifest(H17, &place, not_text(Some(item))))?;
        if seen.contains(&id) {
            return Err(in_manifest(H18, &place, format!("the validator id {} appears twice", shown_text(id))));
        }
        seen.push(id);
    }
    Ok(seen)
}

/// H19 to H24.
fn required_validators(work_unit: &Value) -> Result<Vec<&str>, HandoffError> {
    let validators = work_unit.get("validators");
    let items =
        validators.and_then(Value::as_array).ok_or_else(|| in_work_unit(H19, "/validators", not_array(validators)))?;
    let mut seen = Vec::new();
    let mut required = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("/validators/{index}");
        if item.as_object().is_none() {
            return Err(in_work_unit(H20, &place, format!("an object is needed, found {}", shown(Some(item)))));
        }
        let id = nonblank(item.get("id"))
            .ok_or_else(|| in_work_unit(H21, &format!("{place}/id"), not_text(item.get("id"))))?;
        if seen.contains(&id) {
            let message = format!("the validator id {} appears twice", shown_text(id));
            return Err(in_work_unit(H22, &format!("{place}/id"), message));
        }
        seen.push(id);
        let flag = item.get("required");
        match flag.and_then(Value::as_bool) {
            Some(true) => required.push(id),
            Some(false) => {}
            None => return Err(in_work_unit(H23, &format!("{place}/required"), not_boolean(flag))),
        }
    }
    if required.is_empty() {
        let message = format!(
            "the work unit has no required validators among its {}; no verification handoff is needed",
            items.len()
        );
        return Err(in_work_unit(H24, "/validators", message));
    }
    Ok(required)
}

/// H26 to H32.
fn candidate(manifest: &Value, request: &Value, asked: Option<&str>, fields: &mut Object) -> Result<(), HandoffError> {
    const PLACE: &str = "/verification_request/evidence_artifact_ids";
    let evidence = evidence_ids(request)?;
    let id = match (asked, evidence.as_slice()) {
        (Some(asked), _) => asked,
        (None, [only]) => only,
        (None, several) => {
            let message = format!(
                "candidate_artifact_id is required when the request contains zero or multiple evidence artifacts; \
                 it contains {}",
                several.len()
            );
            return Err(in_manifest(H27, PLACE, message));
        }
    };
    if is_blank(id) {
        let message = format!("candidate_artifact_id {} is blank; name one of the evidence artifacts", shown_text(id));
        return Err(in_manifest(H28, PLACE, message));
    }
    if !evidence.contains(&id) {
        let message = format!("the candidate {} is not requested as verification evidence", shown_text(id));
        return Err(in_manifest(H29, PLACE, message));
    }
    let produced = manifest.get("produced_artifacts");
    let artifacts = produced
        .and_then(Value::as_array)
        .ok_or_else(|| in_manifest(H30, "/produced_artifacts", not_array(produced)))?;
    let matches: Vec<(usize, &Value)> = artifacts
        .iter()
        .enumerate()
        .filter(|(_, artifact)| artifact.get("id").and_then(Value::as_str) == Some(id))
        .collect();
    let [(index, artifact)] = matches.as_slice() else {
        let message = format!(
            "the candidate artifact id {} must match exactly one produced artifact, it matches {}",
            shown_text(id),
            matches.len()
        );
        return Err(in_manifest(H31, "/produced_artifacts", message));
    };
    let declared = artifact.get("digest");
    let candidate_digest: Digest = digest(declared)
        .ok_or_else(|| in_manifest(H32, &format!("/produced_artifacts/{index}/digest"), not_digest(declared)))?;
    fields.insert("candidate_artifact_id".into(), id.into());
    fields.insert("candidate_artifact_digest".into(), candidate_digest.into());
    Ok(())
}

/// H26.
fn evidence_ids(request: &Value) -> Result<Vec<&str>, HandoffError> {
    const PLACE: &str = "/verification_request/evidence_artifact_ids";
    let ids = request.get("evidence_artifact_ids");
    let items = ids.and_then(Value::as_array).ok_or_else(|| in_manifest(H26, PLACE, not_array(ids)))?;
    let mut seen = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("{PLACE}/{index}");
        let id = nonblank(Some(item)).ok_or_else(|| in_manifest(H26, &place, not_text(Some(item))))?;
        if seen.contains(&id) {
            return Err(in_manifest(H26, &place, format!("the artifact id {} appears twice", shown_text(id))));
        }
        seen.push(id);
    }
    Ok(seen)
}

/// H33 to H39.
fn policy(work_unit: &Value, fields: &mut Object) -> Result<(), HandoffError> {
    const PLACE: &str = "/verification_policy";
    let policy = object_in(work_unit, "verification_policy")
        .ok_or_else(|| in_work_unit(H33, PLACE, not_object(work_unit.get("verification_policy"))))?;
    let at = |name: &str| format!("{PLACE}/{name}");
    let word = nonblank(policy.get("strategy"))
        .ok_or_else(|| in_work_unit(H34, &at("strategy"), not_text(policy.get("strategy"))))?;
    let strategy = Strategy::from_word(word).ok_or_else(|| {
        let message = format!(
            "unsupported WorkUnit verification strategy {}; use all_required, quorum, threshold or custom",
            shown_text(word)
        );
        in_work_unit(H35, &at("strategy"), message)
    })?;
    let flag = policy.get("independent_from_worker");
    let independent = flag
        .and_then(Value::as_bool)
        .ok_or_else(|| in_work_unit(H36, &at("independent_from_worker"), not_boolean(flag)))?;
    let minimum = policy.get("minimum_independent_verifiers");
    let minimum = minimum
        .and_then(Value::as_u64)
        .ok_or_else(|| in_work_unit(H37, &at("minimum_independent_verifiers"), not_count(minimum, 0)))?;
    let quorum = policy.get("quorum");
    let rule = if strategy == Strategy::Quorum { H38 } else { H39 };
    match positive(quorum) {
        Some(count) => {
            fields.insert("quorum".into(), count.into());
        }
        None if quorum.is_some() || rule == H38 => {
            return Err(in_work_unit(rule, &at("quorum"), not_count(quorum, 1)));
        }
        None => {}
    }
    fields.insert("verification_strategy".into(), strategy.as_str().into());
    fields.insert("independent_from_worker".into(), independent.into());
    fields.insert("minimum_independent_verifiers".into(), minimum.into());
    Ok(())
}

/// H40 to H43.
fn worker(manifest: &Value, fields: &mut Object) -> Result<(), HandoffError> {
    let worker =
        object_in(manifest, "worker").ok_or_else(|| in_manifest(H40, "/worker", not_object(manifest.get("worker"))))?;
    let id = nonblank(manifest.get("id")).ok_or_else(|| in_manifest(H41, "/id", not_text(manifest.get("id"))))?;
    let attempt = positive(manifest.get("attempt"))
        .ok_or_else(|| in_manifest(H42, "/attempt", not_count(manifest.get("attempt"), 1)))?;
    let worker_id =
        nonblank(worker.get("id")).ok_or_else(|| in_manifest(H43, "/worker/id", not_text(worker.get("id"))))?;
    fields.insert("result_manifest_id".into(), id.into());
    fields.insert("attempt".into(), attempt.into());
    fields.insert("worker_id".into(), worker_id.into());
    Ok(())
}

fn digest<F>(value: Option<&Value>) -> Option<Digest<F>> {
    value.and_then(Value::as_str)?.parse().ok()
}

fn not_boolean(value: Option<&Value>) -> String {
    format!("true or false is needed, found {}", shown(value))
}

fn in_work_unit(rule: DerivationRule, pointer: &str, message: String) -> HandoffError {
    HandoffError::Derivation { rule, document: Document::WorkUnit, pointer: pointer.to_owned(), message }
}

fn in_manifest(rule: DerivationRule, pointer: &str, message: String) -> HandoffError {
    HandoffError::Derivation { rule, document: Document::ResultManifest, pointer: pointer.to_owned(), message }
}
