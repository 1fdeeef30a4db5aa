//! From recorded attempts to upstream's run report. What an audit would not confirm is not reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use quorum_attest::{Envelope, Statement};
use quorum_handoff::{
    AttemptOutcome, ExportRule, HandoffError, Manifest, Run, RunAttempt, WorkUnit, run_evidence_report, run_record,
};
use quorum_policies::{Decision, HeardEvidence, Refusal, RefusalCode, RefusalKind, Standing, Verdict};
use quorum_schemas::{C1Digest, Digest, Timestamp, Value, c1};
use serde_json::json;

use crate::decision::Files;
use crate::documents::{Documents, admit, refused, work_unit};
use crate::{GateCode, GateError, audit, clock, record};

/// What `quorum export run-report` is asked.
#[derive(Debug, Clone)]
pub struct ExportRequest {
    /// Directories in the order of the attempts: records that `gate`, `decide` or `show` wrote, or the bare documents of
    /// an attempt that came to no decision.
    pub directories: Vec<PathBuf>,
    /// The run's id; made from what the run consists of if absent.
    pub run_id: Option<String>,
}

/// A run and its report, as C1 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The run record: the report is a function of it.
    pub run: Vec<u8>,
    /// The RunEvidenceReport.
    pub report: Vec<u8>,
}

/// Makes the report of recorded attempts.
///
/// # Errors
/// Exit 2: `record_differs` for a record that an audit does not confirm, `export_without_decision`,
/// `export_of_several_policies`, and the codes of the run record.
pub fn export_run(request: &ExportRequest) -> Result<Exported, GateError> {
    let now = clock::now()?;
    let read = |directory: &PathBuf| Attempted::read(directory, now);
    let attempted = request.directories.iter().map(read).collect::<Result<Vec<_>, GateError>>()?;
    let decided: Vec<&Decided> = attempted.iter().filter_map(Attempted::decided).collect();
    let policies: BTreeSet<Digest> = decided.iter().map(|decided| decided.decision.policy.digest).collect();
    let mut policies = policies.into_iter();
    let (Some(policy_digest), None, Some(first)) = (policies.next(), policies.next(), attempted.first()) else {
        return Err(several_policies(decided.is_empty()));
    };
    let unit = first.work_unit();
    if let Some(other) = attempted.iter().map(Attempted::work_unit).find(|other| other.digest() != unit.digest()) {
        let message = format!("one attempt is at work unit {}, another at {}", unit.digest(), other.digest());
        return Err(GateError::control(ExportRule::OtherWorkUnit.as_str(), message));
    }
    let attempts: Vec<RunAttempt<'_>> =
        attempted.iter().enumerate().flat_map(|(index, attempted)| attempted.attempts(index + 1)).collect();
    let config_digest = config_digest(&decided);
    let run = Run {
        id: request.run_id.clone().unwrap_or_else(|| run_id(config_digest, &attempts)),
        work_unit: unit,
        orchestrator_version: format!("quorum {}", env!("CARGO_PKG_VERSION")),
        config_digest,
        policy_digest,
        attempts,
    };
    let run = run_record(&run).map_err(unusable)?;
    let report = run_evidence_report(&run).map_err(unusable)?;
    Ok(Exported { run: c1(&run), report: c1(&report) })
}

/// Whatever is wrong with what was put together here came from the directories that the caller named.
fn unusable(error: HandoffError) -> GateError {
    match refused(&[error]) {
        GateError::WorkerDocument { code, message } => GateError::Control { code, message },
        other => other,
    }
}

fn several_policies(none: bool) -> GateError {
    if none {
        let message = "none of the directories holds a decision, so no policy is known; name one that does";
        return GateError::control(GateCode::ExportWithoutDecision, message);
    }
    let message = "the records were decided by several policies, and a run report names one; export them apart";
    GateError::control(GateCode::ExportOfSeveralPolicies, message)
}

/// What the run was configured with: policy and trust root of every decision, in the order of the attempts.
fn config_digest(decided: &[&Decided]) -> C1Digest {
    let records = decided.iter().map(|decided| {
        json!({
            "policy_digest": decided.decision.policy.digest.to_string(),
            "trust_digest": decided.decision.trust.digest.to_string(),
            "panel": decided.decision.facts.panel,
        })
    });
    let records: Vec<serde_json::Value> = records.collect();
    Digest::c1(&json!({"schema_version": "0.1", "kind": "quorum-run-config", "records": records}).into())
}

/// The same attempts under the same configuration are the same run.
fn run_id(config: C1Digest, attempts: &[RunAttempt<'_>]) -> String {
    let name = |attempt: &RunAttempt<'_>| {
        let digest = |digest: Option<String>| digest.map_or(Value::Null, Value::from);
        Value::Array(vec![
            attempt.id.as_str().into(),
            digest(attempt.decision.map(|digest| digest.to_string())),
            digest(attempt.evidence.map(|digest| digest.to_string())),
        ])
    };
    let parts = std::iter::once(config.into()).chain(attempts.iter().map(name)).collect();
    let digest: C1Digest = Digest::c1(&Value::Array(parts));
    format!("run/{}", &digest.hex()[..32])
}

/// One directory.
enum Attempted {
    /// A record that holds.
    Decided(Box<Decided>),
    /// A manifest that stands, and no decision about it.
    Undecided(Box<Documents>),
    /// A manifest that was refused, or none.
    Failed { work_unit: Box<WorkUnit>, refused: Option<String> },
}

struct Decided {
    decision: Decision,
    documents: Documents,
    /// The results of the evidence that was heard, by envelope.
    results: BTreeMap<Digest, Value>,
}

impl Attempted {
    fn read(directory: &Path, now: Timestamp) -> Result<Self, GateError> {
        let differs = |difference: audit::Difference| {
            let message = format!(
                "{}: {}: {}; only a record that `quorum audit` confirms is reported",
                directory.display(),
                difference.file,
                difference.message
            );
            GateError::control(GateCode::RecordDiffers, message)
        };
        let files = audit::read_record(directory)?.map_err(differs)?;
        if files.contains_key(record::SIGNED_DECISION) || files.contains_key(record::UNSIGNED_DECISION) {
            let (decision, documents) = audit::confirmed(&files).map_err(differs)?;
            let results = results(&files, &decision);
            return Ok(Self::Decided(Box::new(Decided { decision, documents, results })));
        }
        let bare = |stem: &str| files.get(&quorum_policies::record::document(stem, false));
        let unit = bare(record::WORK_UNIT).ok_or_else(|| {
            let message = format!(
                "{} holds neither a decision nor a work unit (work-unit.json); name a record or an attempt's documents",
                directory.display()
            );
            GateError::control(GateCode::NotARecord, message)
        })?;
        let work_unit = Box::new(work_unit(unit, None, now)?);
        let Some(manifest) = bare(record::RESULT_MANIFEST) else {
            return Ok(Self::Failed { work_unit, refused: None });
        };
        match admit(unit.clone(), manifest.clone(), None, now) {
            Ok(documents) => Ok(Self::Undecided(Box::new(documents))),
            Err(GateError::WorkerDocument { code, message }) => {
                Ok(Self::Failed { work_unit, refused: Some(format!("{code}: {message}")) })
            }
            Err(other) => Err(other),
        }
    }

    fn decided(&self) -> Option<&Decided> {
        if let Self::Decided(decided) = self { Some(decided) } else { None }
    }

    fn work_unit(&self) -> &WorkUnit {
        match self {
            Self::Decided(decided) => &decided.documents.intake.work_unit,
            Self::Undecided(documents) => &documents.intake.work_unit,
            Self::Failed { work_unit, .. } => work_unit,
        }
    }

    /// The entries of the `number`th directory: one for each verifier that answered, else one that says why there is none.
    fn attempts(&self, number: usize) -> Vec<RunAttempt<'_>> {
        match self {
            Self::Decided(decided) => decided.attempts(),
            Self::Undecided(documents) => {
                let manifest = &documents.intake.manifest;
                let error = "nothing was decided about this manifest".to_owned();
                vec![entry(manifest.id().to_owned(), manifest, AttemptOutcome::VerificationError { manifest, error })]
            }
            Self::Failed { refused, .. } => {
                let outcome = match refused {
                    None => AttemptOutcome::WorkerError { error: "no result manifest was handed in".to_owned() },
                    Some(error) => AttemptOutcome::ManifestError { error: error.clone() },
                };
                let (id, worker_adapter) = (format!("attempt/{number}"), "unknown".to_owned());
                vec![RunAttempt { id, worker_adapter, decision: None, evidence: None, note: None, outcome }]
            }
        }
    }
}

fn entry<'a>(id: String, manifest: &'a Manifest, outcome: AttemptOutcome<'a>) -> RunAttempt<'a> {
    let adapter = manifest.value().at(&["worker", "adapter"]).and_then(Value::as_str).unwrap_or("unknown");
    RunAttempt { id, worker_adapter: adapter.to_owned(), decision: None, evidence: None, note: None, outcome }
}

impl Decided {
    fn attempts(&self) -> Vec<RunAttempt<'_>> {
        let manifest = &self.documents.intake.manifest;
        let decision = Some(self.decision.digest());
        let failed = |id: String, evidence: Option<Digest>, error: String| RunAttempt {
            decision,
            evidence,
            ..entry(id, manifest, AttemptOutcome::VerificationError { manifest, error })
        };
        let mut attempts = Vec::new();
        for heard in &self.decision.heard {
            for (index, evidence) in heard.evidence.iter().enumerate() {
                let mut id = format!("{}@{}", manifest.id(), heard.id);
                if heard.evidence.len() > 1 {
                    id.push_str(&format!("#{}", index + 1));
                }
                let refused = self.refused_support(evidence);
                attempts.push(match self.results.get(&evidence.envelope) {
                    Some(result) if refused.is_empty() => RunAttempt {
                        decision,
                        evidence: Some(evidence.envelope),
                        note: no_voice(heard.standing, &heard.because),
                        ..entry(id, manifest, AttemptOutcome::Verified { manifest, result })
                    },
                    _ => failed(id, Some(evidence.envelope), format!("it cannot support: {}", words(&refused))),
                });
            }
        }
        for (envelope, refusals) in self.void() {
            let id = format!("{}@refused/{}", manifest.id(), &envelope.hex()[..16]);
            attempts.push(failed(id, Some(envelope), format!("refused: {}", words(&refusals))));
        }
        if attempts.is_empty() {
            attempts.push(failed(manifest.id().to_owned(), None, "no verifier answered".to_owned()));
        }
        attempts
    }

    /// Why evidence in favour has no weight. An objection keeps its own, whatever stands against it.
    fn refused_support(&self, evidence: &HeardEvidence) -> Vec<&Refusal> {
        if evidence.verdict != Verdict::Supports {
            return Vec::new();
        }
        self.decision.refusals.iter().filter(|refusal| refusal.envelope == evidence.envelope).collect()
    }

    /// Envelopes without effect. A duplicate is none of them: what it says stands already.
    fn void(&self) -> BTreeMap<Digest, Vec<&Refusal>> {
        let mut void: BTreeMap<Digest, Vec<&Refusal>> = BTreeMap::new();
        for refusal in &self.decision.refusals {
            if refusal.kind == RefusalKind::Authenticity && refusal.code != RefusalCode::Duplicate {
                void.entry(refusal.envelope).or_default().push(refusal);
            }
        }
        void
    }
}

/// What a supporter's answer is worth to the decision, where that is less than it seems.
fn no_voice(standing: Standing, because: &str) -> Option<String> {
    let shares = matches!(standing, Standing::SharesWithVoice | Standing::SharesWithWorker);
    shares.then(|| format!("it supports and is no voice of its own: it {because}"))
}

fn words(refusals: &[&Refusal]) -> String {
    let words: Vec<String> =
        refusals.iter().map(|refusal| format!("{}: {}", refusal.code.as_str(), refusal.message)).collect();
    words.join("; ")
}

/// The results of the envelopes that the decision heard; their signatures hold.
fn results(files: &Files, decision: &Decision) -> BTreeMap<Digest, Value> {
    let heard = decision.heard.iter().flat_map(|heard| &heard.evidence).map(|evidence| evidence.envelope);
    heard
        .filter_map(|digest| {
            let envelope = Envelope::parse(files.get(&record::evidence(&digest))?).ok()?;
            let statement = Statement::parse(envelope.payload()).ok()?;
            Some((digest, statement.predicate.get("result")?.clone()))
        })
        .collect()
}
