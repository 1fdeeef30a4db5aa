//! Signing what somebody else wrote: only what this key may say, and only about itself.

use quorum_schemas::{SchemaName, Timestamp, Value, validate};

use crate::{
    AttestError, Entry, Envelope, PAYLOAD_TYPE, PredicateType, SigningKey, Statement, TrustRoot, authenticate, sign,
    signer_uri,
};

/// Signs the bytes of a statement as they are, after checking what its readers will check: the trust root is current,
/// the key stands in it, its role may say this, the author that the document names is the key's entry, the key is valid
/// at `now`, and the document follows its schema.
///
/// # Errors
/// Those of [`TrustRoot::check_current`], [`Statement::parse`] and [`authenticate`]; [`AttestError::IdMismatch`];
/// [`AttestError::SchemaInvalid`].
pub fn sign_statement(
    bytes: &[u8],
    key: &SigningKey,
    trust: &TrustRoot,
    now: Timestamp,
) -> Result<Vec<u8>, AttestError> {
    trust.check_current(now)?;
    let statement = Statement::parse(bytes)?;
    let signed = sign(PAYLOAD_TYPE, bytes, key);
    // The reader's own checks, over the very bytes that will be written.
    let authentic = authenticate(&Envelope::parse(&signed)?, trust, statement.predicate_type, now)?;
    check_id(&statement, authentic.signer())?;
    check_schema(&statement)?;
    Ok(signed)
}

/// Evidence names its verifier, a manifest its worker and a verification summary who summarises: that is the signer, or
/// the signature says a falsehood.
fn check_id(statement: &Statement, signer: &Entry) -> Result<(), AttestError> {
    let path: &[&str] = match statement.predicate_type {
        PredicateType::Evidence => &["result", "verifier", "id"],
        PredicateType::ResultManifest => &["worker", "id"],
        PredicateType::Vsa => &["verifier", "id"],
        _ => return Ok(()),
    };
    let found = statement.predicate.at(path).and_then(Value::as_str).unwrap_or_default();
    let same = match statement.predicate_type {
        PredicateType::Vsa => found == signer_uri(signer.role, &signer.id),
        _ => found == signer.id,
    };
    if same {
        return Ok(());
    }
    let pointer = format!("/predicate/{}", path.join("/"));
    Err(AttestError::IdMismatch {
        pointer,
        found: crate::limits::shorten(found),
        role: signer.role,
        id: signer.id.clone(),
    })
}

fn check_schema(statement: &Statement) -> Result<(), AttestError> {
    let predicate = &statement.predicate;
    let check = |what, name, value: &Value| {
        validate(name, value).map_err(|violations| AttestError::SchemaInvalid { what, violations })
    };
    match statement.predicate_type {
        PredicateType::WorkUnit => check("work unit", SchemaName::of_work_unit(predicate), predicate),
        PredicateType::ResultManifest => check("result manifest", SchemaName::ResultManifest, predicate),
        PredicateType::Handoff => check("handoff", SchemaName::HandoffPredicate, predicate),
        PredicateType::Evidence => {
            check("evidence", SchemaName::EvidencePredicate, predicate)?;
            let result = predicate.get("result").unwrap_or(&Value::Null);
            check("verification result", SchemaName::VerificationResult, result)
        }
        PredicateType::Decision => check("decision", SchemaName::Decision, predicate),
        PredicateType::Vsa => check("verification summary", SchemaName::Vsa, predicate),
    }
}
