//! Recomputing a recorded decision from its files alone, and saying the first difference.

mod explain;
mod folder;
mod handoff;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quorum_attest::{Entry, Envelope, PredicateType, Statement, TrustRoot, authenticate};
use quorum_policies::{Decision, FactSheet, Policy, Recommendation};
use quorum_schemas::{C1Digest, Digest, Value, c1, parse};

use crate::decision::{Files, recompute};
use crate::documents::{Documents, admit};
use crate::evidence::EvidenceSet;
use crate::{GateCode, GateError, ready, record, trust_file};

pub use explain::explain_record;

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcome {
    /// Every byte is as the decision says, and the decision is what its inputs give.
    Same(Box<Audited>),
    /// The first difference.
    Differs(Difference),
}

/// A record that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// What is recommended.
    pub recommendation: Recommendation,
    /// The handoff.
    pub handoff_id: C1Digest,
    /// Digest of the trust root's file: who reads the record must know it from elsewhere.
    pub trust: Digest,
    /// Who signed the decision: role and id; `None` for an unsigned one.
    pub signed_by: Option<String>,
    /// How many files were read.
    pub files: usize,
}

/// Where a record differs from what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The file, relative to the record.
    pub file: String,
    /// What is different, with the place inside the file.
    pub message: String,
}

type Finding<T> = Result<T, Difference>;

fn differs<T>(file: &str, message: impl ToString) -> Finding<T> {
    Err(Difference { file: file.to_owned(), message: message.to_string() })
}

/// Audits a directory; `trust` is the trust root that its reader knows. The record may rest on an earlier version of it,
/// if that one stands beside it.
///
/// # Errors
/// `not_a_record`, `cannot_read`, `record_too_large`: the directory cannot be judged at all. Those of the trust root.
pub fn audit(directory: &Path, trust: Option<&Path>) -> Result<AuditOutcome, GateError> {
    Ok(audit_with_files(directory, trust)?.0)
}

/// As [`audit`], with the files that were judged: whoever tells what is in them must not read others.
///
/// # Errors
/// As [`audit`].
pub fn audit_with_files(directory: &Path, trust: Option<&Path>) -> Result<(AuditOutcome, Files), GateError> {
    ready::schemas(ready::AUDIT);
    let files = match folder::read(directory)? {
        Err(difference) => return Ok((AuditOutcome::Differs(difference), Files::new())),
        Ok(files) => files,
    };
    let outcome = audit_read(&files, trust)?;
    Ok((outcome, files))
}

fn audit_read(files: &Files, trust: Option<&Path>) -> Result<AuditOutcome, GateError> {
    let outcome = audit_files(files)?;
    if let (AuditOutcome::Same(_), Some(path), Some(found)) = (&outcome, trust, files.get(record::TRUST))
        && !trust_file::is_known(path, found)?
    {
        let message = "it is neither the trust root that --trust names nor an earlier version beside it".to_owned();
        return Ok(AuditOutcome::Differs(Difference { file: record::TRUST.to_owned(), message }));
    }
    Ok(outcome)
}

/// The decision of a record that an audit found to be the same.
///
/// # Errors
/// The first difference, of files that nobody audited.
pub fn audited_decision(files: &Files) -> Result<Decision, Difference> {
    Ok(confirmed(files)?.0)
}

/// Audits a record in memory.
///
/// # Errors
/// `not_a_record` when there is no decision in it.
pub fn audit_files(files: &Files) -> Result<AuditOutcome, GateError> {
    let signed = files.contains_key(record::SIGNED_DECISION);
    if !signed && !files.contains_key(record::UNSIGNED_DECISION) {
        return Err(GateError::control(
            GateCode::NotARecord,
            format!(
                "there is neither {} nor {}; name a directory that `gate`, `decide` or `show` wrote with --out",
                record::SIGNED_DECISION,
                record::UNSIGNED_DECISION
            ),
        ));
    }
    Ok(match check(files, signed) {
        Ok(audited) => AuditOutcome::Same(Box::new(audited)),
        Err(difference) => AuditOutcome::Differs(difference),
    })
}

/// The files of a record's directory, or the first thing in it that is no file of a record.
///
/// # Errors
/// `cannot_read`, `record_too_large`.
pub(crate) fn read_record(directory: &Path) -> Result<Result<Files, Difference>, GateError> {
    folder::read(directory)
}

/// The decision and the documents of a record that an audit confirms.
///
/// # Errors
/// The first difference.
pub(crate) fn confirmed(files: &Files) -> Result<(Decision, Documents), Difference> {
    let signed = files.contains_key(record::SIGNED_DECISION);
    check(files, signed)?;
    let trust = TrustRoot::load(file(files, record::TRUST)?).or_else(|error| differs(record::TRUST, error))?;
    let name = if signed { record::SIGNED_DECISION } else { record::UNSIGNED_DECISION };
    let (decision, ..) = read_decision(files, name, signed, &trust)?;
    let documents = documents(files, &trust, &decision.facts)?;
    Ok((decision, documents))
}

fn check(files: &Files, signed: bool) -> Finding<Audited> {
    let name = if signed { record::SIGNED_DECISION } else { record::UNSIGNED_DECISION };
    let trust = TrustRoot::load(file(files, record::TRUST)?).or_else(|error| differs(record::TRUST, error))?;
    let (decision, bytes, signer) = read_decision(files, name, signed, &trust)?;
    let digests = digests(files);
    check_listing(files, &digests, name, &decision)?;
    let sheet = &decision.facts;
    if file(files, record::FACTS)? != c1(&sheet.to_value()) {
        return differs(record::FACTS, format!("these are not the facts that {name} was computed from"));
    }
    let again = recomputed(files, &digests, name, &trust, &decision)?;
    let again = again.to_bytes().or_else(|error| differs(name, error))?;
    if again != bytes {
        let place = match (parse(&again), parse(&bytes)) {
            (Ok(again), Ok(found)) => first_difference(&again, &found, String::new()),
            _ => String::new(),
        };
        return differs(name, format!("recomputing gives another decision, first at {place}"));
    }
    summary::check(files, &decision, signer.as_ref(), &trust)?;
    let signed_by = signer.map(|signer| format!("{} {}", signer.role, signer.id));
    Ok(Audited {
        recommendation: decision.recommendation,
        handoff_id: decision.handoff_id,
        trust: trust.digest(),
        signed_by,
        files: files.len(),
    })
}

fn file<'a>(files: &'a Files, name: &str) -> Finding<&'a [u8]> {
    match files.get(name) {
        Some(bytes) => Ok(bytes),
        None => differs(name, "the file is missing"),
    }
}

/// The decision, its C1 bytes, and who signed it.
fn read_decision(
    files: &Files,
    name: &str,
    signed: bool,
    trust: &TrustRoot,
) -> Finding<(Decision, Vec<u8>, Option<Entry>)> {
    let bytes = file(files, name)?;
    if !signed {
        let value = parse(bytes).or_else(|error| differs(name, error))?;
        if c1(&value) != bytes {
            return differs(name, "the bytes are not the canonical form of the decision");
        }
        let decision = Decision::parse(&value).or_else(|error| differs(name, error))?;
        return Ok((decision, bytes.to_vec(), None));
    }
    let envelope = Envelope::parse(bytes).or_else(|error| differs(name, error))?;
    let statement = Statement::parse(envelope.payload()).or_else(|error| differs(name, error))?;
    // The signature is checked below, at the time that the decision names.
    let decision = Decision::parse(&statement.predicate).or_else(|error| differs(name, error))?;
    // It may be signed long after what it is about, by a key that came later: the key must not have ended before.
    let begin = trust.by_key_id(&envelope.key_id()).map(|entry| entry.valid_from);
    let signed_at = begin.map_or(decision.facts.now, |begin| begin.max(decision.facts.now));
    let authentic =
        authenticate(&envelope, trust, PredicateType::Decision, signed_at).or_else(|error| differs(name, error))?;
    let signer = authentic.signer().clone();
    let about = &statement.subject;
    if about.len() != 1 || about[0].name != decision.candidate.name || about[0].digest != decision.candidate.digest {
        return differs(name, "/subject: the statement is not about the decision's candidate");
    }
    Ok((decision, c1(&statement.predicate), Some(signer)))
}

/// The digest of each file, by its path.
type Digests<'a> = BTreeMap<&'a str, Digest>;

fn digests(files: &Files) -> Digests<'_> {
    files.iter().map(|(path, bytes)| (path.as_str(), Digest::of(bytes))).collect()
}

/// Exactly the files that the decision lists, each with its digest.
fn check_listing(files: &Files, digests: &Digests<'_>, name: &str, decision: &Decision) -> Finding<()> {
    let mut listed = BTreeSet::new();
    for entry in &decision.files {
        listed.insert(entry.path.as_str());
        let Some(found) = digests.get(entry.path.as_str()) else {
            return differs(&entry.path, format!("{name} lists it, and it is missing"));
        };
        if *found != entry.sha256 {
            return differs(&entry.path, format!("it has the digest {found}, {name} lists {}", entry.sha256));
        }
    }
    match files.keys().find(|path| *path != name && !listed.contains(path.as_str())) {
        Some(extra) => differs(extra, format!("{name} does not list it")),
        None => Ok(()),
    }
}

/// The decision that the files give.
fn recomputed(
    files: &Files,
    digests: &Digests<'_>,
    name: &str,
    trust: &TrustRoot,
    recorded: &Decision,
) -> Finding<Decision> {
    let sheet = &recorded.facts;
    let policy = Policy::parse(file(files, record::POLICY)?).or_else(|error| differs(record::POLICY, error))?;
    let (evidence, documents) = ready::beside(&|| evidence(files, digests, sheet), || documents(files, trust, sheet));
    let (documents, evidence) = (documents?, evidence?);
    if let Some(plan) = files.get(record::PLAN) {
        check_plan(plan, &evidence)?;
    }
    let mut decision = recompute(&documents, &policy, trust, &evidence, sheet, Some(recorded))
        .or_else(|error| differs(name, format!("no decision follows from the files: {error}")))?;
    decision.files.clone_from(&recorded.files);
    Ok(decision)
}

fn documents(files: &Files, trust: &TrustRoot, sheet: &FactSheet) -> Finding<Documents> {
    let pick = |stem: &str| {
        let (bare, signed) = (format!("{stem}.json"), format!("{stem}.dsse.json"));
        let name = if files.contains_key(&signed) { signed } else { bare };
        file(files, &name).map(|bytes| (name.clone(), bytes.to_vec()))
    };
    let (unit_name, unit) = pick(record::WORK_UNIT)?;
    let (manifest_name, manifest) = pick(record::RESULT_MANIFEST)?;
    let documents = admit(unit, manifest, Some(trust), handoff::issued_at(files, sheet)).or_else(|error| {
        let blamed = if matches!(error, GateError::WorkerDocument { .. }) { &manifest_name } else { &unit_name };
        differs(blamed, error)
    })?;
    for (document, stem, name) in [
        (&documents.work_unit, record::WORK_UNIT, &unit_name),
        (&documents.manifest, record::RESULT_MANIFEST, &manifest_name),
    ] {
        if document.file_name(stem) != *name {
            return differs(name, "the file's name says whether it is signed, and its content says otherwise");
        }
    }
    if documents.worker != sheet.worker {
        return differs(record::FACTS, "/worker_identity: the manifest says otherwise");
    }
    handoff::check(files, &documents, trust, sheet)?;
    Ok(documents)
}

fn evidence(files: &Files, digests: &Digests<'_>, sheet: &FactSheet) -> Finding<EvidenceSet> {
    let mut set = EvidenceSet::default();
    for ((name, bytes), digest) in files.iter().zip(digests.values().copied()) {
        if name.starts_with("evidence/") {
            if *name != record::evidence(&digest) {
                return differs(name, format!("its digest is {digest}"));
            }
            set.envelopes.insert(digest, bytes.clone());
        } else if name.starts_with("bundles/") {
            if *name != record::bundle(&digest) {
                return differs(name, format!("its digest is {digest}"));
            }
            set.bundles.insert(digest, bytes.clone());
        }
    }
    for (digest, envelope) in &set.envelopes {
        let name = record::evidence(digest);
        let Some(fact) = sheet.facts.received.get(digest) else {
            return differs(&name, "facts.json does not say when it was received");
        };
        if fact.bundle_checked != set.bundle_checked(envelope) {
            return differs(
                &name,
                format!("facts.json says bundle_checked: {}, the bundles say otherwise", fact.bundle_checked),
            );
        }
    }
    match sheet.facts.received.keys().find(|digest| !set.envelopes.contains_key(digest)) {
        Some(digest) => differs(&record::evidence(digest), "facts.json names it, and it is missing"),
        None => Ok(set),
    }
}

/// The plan beside the decision is one that an evidence was made under.
fn check_plan(plan: &[u8], evidence: &EvidenceSet) -> Finding<()> {
    let digest = Digest::of(plan).to_string();
    if evidence.envelopes.values().any(|envelope| crate::evidence::plan_digest(envelope).as_deref() == Some(&digest)) {
        return Ok(());
    }
    differs(record::PLAN, "no evidence was made under this plan")
}

/// JSON Pointer of the first place, in document order, where two values differ.
fn first_difference(expected: &Value, found: &Value, place: String) -> String {
    let below = |key: &str| format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            let key = keys.into_iter().find(|key| left.get(*key) != right.get(*key));
            match key.map(|key| (key, left.get(key), right.get(key))) {
                Some((key, Some(left), Some(right))) => first_difference(left, right, below(key)),
                Some((key, ..)) => below(key),
                None => place,
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            let index = left.iter().zip(right).position(|(left, right)| left != right);
            match index {
                Some(index) => first_difference(&left[index], &right[index], below(&index.to_string())),
                None => below(&left.len().min(right.len()).to_string()),
            }
        }
        _ => place,
    }
}
