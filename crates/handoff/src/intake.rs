//! Intake: both documents together, every reason at once.

use quorum_schemas::{Value, parse};

use crate::{
    DerivationRule, Document, Handoff, HandoffError, Manifest, ManifestBinding, Rule, WorkUnit, check_manifest, derive,
};

/// A pair of documents that may be handed to verifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct Intake {
    /// What was asked.
    pub work_unit: WorkUnit,
    /// The self-report. Only intake reads it; hand [`Intake::binding`] on, never this.
    pub manifest: Manifest,
    /// The derived handoff.
    pub handoff: Handoff,
    /// What verifiers and policies may know of the manifest.
    pub binding: ManifestBinding,
}

/// Parses both documents, checks both schemas and derives the handoff.
///
/// # Errors
/// Every reason found, worst first: unreadable documents, then the derivation's refusal and broken bindings, then
/// schema violations. Never empty.
pub fn intake(
    work_unit_bytes: &[u8],
    manifest_bytes: &[u8],
    candidate: Option<&str>,
) -> Result<Intake, Vec<HandoffError>> {
    let read = |document, bytes| parse(bytes).map_err(|error| HandoffError::Parse { document, error });
    match (read(Document::WorkUnit, work_unit_bytes), read(Document::ResultManifest, manifest_bytes)) {
        (Ok(work_unit), Ok(manifest)) => intake_values(work_unit, manifest, candidate),
        (work_unit, manifest) => Err([work_unit.err(), manifest.err()].into_iter().flatten().collect()),
    }
}

/// [`intake`] on values that were parsed strictly before, as the payloads of envelopes are.
///
/// # Errors
/// As [`intake`].
pub fn intake_values(work_unit: Value, manifest: Value, candidate: Option<&str>) -> Result<Intake, Vec<HandoffError>> {
    let derived = derive(&work_unit, &manifest, candidate);
    let work_unit = WorkUnit::from_value(work_unit);
    let manifest = Manifest::from_value(manifest);
    let mut refusals = Vec::new();
    let broken = derived.as_ref().err().and_then(derivation_rule);
    if let (Ok(work_unit), Ok(manifest)) = (&work_unit, &manifest) {
        let violations = check_manifest(manifest, work_unit);
        refusals.extend(
            violations
                .into_iter()
                .filter(|violation| twin(violation.rule).is_none_or(|rule| Some(rule) != broken))
                .map(|violation| HandoffError::Binding { document: Document::ResultManifest, violation }),
        );
    }
    match (derived, work_unit, manifest) {
        (Ok(handoff), Ok(work_unit), Ok(manifest)) if refusals.is_empty() => {
            let binding = ManifestBinding::of(&manifest, &handoff).map_err(|error| vec![error])?;
            Ok(Intake { work_unit, manifest, handoff, binding })
        }
        (derived, work_unit, manifest) => {
            let first = derived.err().into_iter();
            let last = [work_unit.err(), manifest.err()].into_iter().flatten();
            Err(first.chain(refusals).chain(last).collect())
        }
    }
}

fn derivation_rule(error: &HandoffError) -> Option<DerivationRule> {
    if let HandoffError::Derivation { rule, .. } = error { Some(*rule) } else { None }
}

/// The derivation rule that says the same, so that one fault is told once.
fn twin(rule: Rule) -> Option<DerivationRule> {
    match rule {
        Rule::P1 => Some(DerivationRule::H6),
        Rule::P2 | Rule::V3 => Some(DerivationRule::H7),
        Rule::P3 => Some(DerivationRule::H10),
        _ => None,
    }
}
