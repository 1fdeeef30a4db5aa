//! A decision as a SLSA Verification Summary v1, so that tools which know nothing of quorums can hold an artifact to it.

use quorum_attest::{PredicateType, Role, Statement, Subject, signer_uri, urn};
use quorum_schemas::{Digest, SchemaName, Value, validate};
use serde_json::{Value as Json, json};

use crate::{Decision, PoliciesError, Recommendation, record};

/// The member of the predicate that says what a verification summary has no word for.
pub const VSA_EXTENSION: &str = "urn:idkmesh-quorum:vsa:v0.1";

/// The version of the SLSA specification whose fields are written.
const SLSA_VERSION: &str = "1.1";

/// What SLSA calls an artifact of which no level is claimed. A quorum knows nothing of how the bytes were built.
const NO_LEVEL: &str = "SLSA_BUILD_LEVEL_UNEVALUATED";

/// The summary of `decision` by its signer, or by nobody: the bytes are a function of the two. Only accept and reject
/// have one; `None` for the others, since a summary knows no third result.
///
/// Every attestation of the record is an input: signed documents, and all evidence that was received, with the reasons
/// why some of it was refused. The decision's own file and that of the summary are not: they come after it.
///
/// # Errors
/// [`PoliciesError::SchemaInvalid`].
pub fn vsa(decision: &Decision, signer: Option<(Role, &str)>) -> Result<Option<Statement>, PoliciesError> {
    let (result, level) = match decision.recommendation {
        Recommendation::AcceptCandidate => ("PASSED", NO_LEVEL),
        Recommendation::RejectCandidate => ("FAILED", "FAILED"),
        Recommendation::Escalate | Recommendation::InsufficientEvidence => return Ok(None),
    };
    let candidate = &decision.candidate;
    let predicate = json!({
        "verifier": {
            "id": signer.map_or_else(|| urn(&["unsigned"]), |(role, id)| signer_uri(role, id)),
            // The rules and not the program: another version of it has to recompute the same bytes.
            "version": {"idkmesh-quorum-rules": decision.facts.facts.rules_version.to_string()},
        },
        "timeVerified": decision.facts.now,
        "resourceUri": resource_uri(&decision.work_unit.id, decision.work_unit.version, &candidate.name),
        "policy": {
            "uri": urn(&["policy", &decision.policy.id]),
            "digest": {"sha256": decision.policy.digest.hex()},
        },
        "inputAttestations": inputs(decision),
        "verificationResult": result,
        "verifiedLevels": [level],
        "slsaVersion": SLSA_VERSION,
        VSA_EXTENSION: extension(decision),
    });
    let predicate = Value::from_serde(predicate);
    validate(SchemaName::Vsa, &predicate)
        .map_err(|violations| PoliciesError::SchemaInvalid { document: "verification summary", violations })?;
    let subject = vec![Subject { name: candidate.name.clone(), digest: candidate.digest.clone() }];
    Ok(Some(Statement { subject, predicate_type: PredicateType::Vsa, predicate }))
}

/// What a reader of a summary must expect as its `resourceUri`: the candidate artifact of a work unit.
#[must_use]
pub fn resource_uri(work_unit: &str, version: u64, artifact: &str) -> String {
    urn(&["candidate", work_unit, &version.to_string(), artifact])
}

fn inputs(decision: &Decision) -> Vec<Json> {
    let described =
        |path: &str, digest: Digest| json!({"uri": urn(&["record", path]), "digest": {"sha256": digest.hex()}});
    let documents = decision.files.iter().filter(|file| record::is_signed_document(&file.path));
    let evidence = decision.facts.facts.received.keys();
    documents
        .map(|file| described(&file.path, file.sha256))
        .chain(evidence.map(|digest| described(&record::evidence(digest), *digest)))
        .collect()
}

fn extension(decision: &Decision) -> Json {
    let refused = decision.refusals.iter().map(|refusal| {
        json!({
            "envelope": refusal.envelope,
            "kind": refusal.kind,
            "code": refusal.code,
            "pointer": refusal.pointer,
        })
    });
    let mut extension = json!({
        "handoff_id": decision.handoff_id,
        "recommendation": decision.recommendation,
        "row": decision.row,
        "revision": decision.revision,
        "work_unit": decision.work_unit,
        "result_manifest": decision.result_manifest,
        "trust": decision.trust,
        "worker_identity": decision.worker_identity,
        "assurance": decision.assurance,
        "tally": decision.tally,
        "refused": refused.collect::<Vec<_>>(),
    });
    if let (Some(superseded), Some(members)) = (&decision.supersedes, extension.as_object_mut()) {
        members.insert("supersedes".to_owned(), json!(superseded.digest));
    }
    extension
}
