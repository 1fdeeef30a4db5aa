//! The proof tree of a recorded decision, from its files alone.

use std::path::Path;

use quorum_attest::TrustRoot;
use quorum_policies::{Case, Explanation, Policy, explain_recorded};

use super::{Difference, Finding, differs, digests, evidence, file, folder, read_decision};
use crate::decision::Files;
use crate::{AuditOutcome, GateError, audit_files, record};

/// Why the decision of a record is what it is. Only a record that holds is explained: the first difference otherwise.
///
/// # Errors
/// As [`crate::audit`].
pub fn explain_record(directory: &Path) -> Result<Result<Explanation, Difference>, GateError> {
    let files = match folder::read(directory)? {
        Err(difference) => return Ok(Err(difference)),
        Ok(files) => files,
    };
    Ok(match audit_files(&files)? {
        AuditOutcome::Differs(difference) => Err(difference),
        AuditOutcome::Same(_) => explained(&files),
    })
}

fn explained(files: &Files) -> Finding<Explanation> {
    let signed = files.contains_key(record::SIGNED_DECISION);
    let name = if signed { record::SIGNED_DECISION } else { record::UNSIGNED_DECISION };
    let trust = TrustRoot::load(file(files, record::TRUST)?).or_else(|error| differs(record::TRUST, error))?;
    let (decision, _, _) = read_decision(files, name, signed, &trust)?;
    let sheet = &decision.facts;
    let policy = Policy::parse(file(files, record::POLICY)?).or_else(|error| differs(record::POLICY, error))?;
    let documents = super::documents(files, &trust, sheet)?;
    let envelopes: Vec<Vec<u8>> = evidence(files, &digests(files), sheet)?.envelopes.into_values().collect();
    let case = Case {
        handoff: &documents.intake.handoff,
        work_unit: &documents.intake.work_unit,
        binding: &documents.intake.binding,
        worker: sheet.worker,
        trust: &trust,
        policy: &policy,
        panel: sheet.panel,
        deadline: sheet.deadline,
        facts: &sheet.facts,
        envelopes: &envelopes,
    };
    explain_recorded(&case, &decision).or_else(|error| differs(name, error))
}
