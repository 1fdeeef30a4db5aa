//! The file with the cases: TOML or JSON.

#![allow(unreachable_pub, reason = "the macro of words makes public words, and these stay inside")]

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer};

use crate::axes::words;
use crate::{Axis, Channel, Isolation, PoliciesError, RefusalCode, Row, limits};

/// How a file with cases is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseFormat {
    /// TOML, for people.
    Toml,
    /// JSON, for programs.
    Json,
}

/// Cases, read and consistent.
#[derive(Debug, Clone)]
pub struct CaseFile {
    pub(crate) work_unit: TermsText,
    pub(crate) worker: WorkerText,
    pub(crate) verifiers: BTreeMap<String, VerifierText>,
    pub(crate) cases: Vec<(usize, CaseText)>,
    policy: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    schema_version: String,
    policy: Option<String>,
    #[serde(default)]
    work_unit: TermsText,
    #[serde(default)]
    worker: WorkerText,
    verifiers: BTreeMap<String, VerifierText>,
    case: Vec<CaseText>,
}

/// What the work unit asks; what is absent is what the file says for all cases, or the default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TermsText {
    pub(crate) strategy: Option<StrategyWord>,
    pub(crate) quorum: Option<u64>,
    pub(crate) minimum_independent_verifiers: Option<u64>,
    pub(crate) independent_from_worker: Option<bool>,
    pub(crate) sandbox_required: Option<bool>,
    pub(crate) minimum_worker_trust: Option<TrustWord>,
}

impl TermsText {
    /// These terms, and where they say nothing those.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self {
            strategy: self.strategy.or(other.strategy),
            quorum: self.quorum.or(other.quorum),
            minimum_independent_verifiers: self.minimum_independent_verifiers.or(other.minimum_independent_verifiers),
            independent_from_worker: self.independent_from_worker.or(other.independent_from_worker),
            sandbox_required: self.sandbox_required.or(other.sandbox_required),
            minimum_worker_trust: self.minimum_worker_trust.or(other.minimum_worker_trust),
        }
    }
}

words! {
    /// A work unit's strategy.
    StrategyWord {
        /// No objection is borne.
        AllRequired => "all_required",
        /// A count.
        Quorum => "quorum",
        /// A share.
        Threshold => "threshold",
        /// Groups.
        Custom => "custom",
    }
}

words! {
    /// How well the work unit wants to know its worker.
    TrustWord {
        /// Not at all.
        Untrusted => "untrusted",
        /// By a key.
        Identified => "identified",
        /// By a key that somebody trusts.
        Trusted => "trusted",
        /// By an attested key.
        Attested => "attested",
    }
}

/// Attributes as the trust root has them; an axis that is not here is unknown.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkerText {
    signed: Option<bool>,
    operator: Option<String>,
    organisation: Option<String>,
    model_family: Option<String>,
    host: Option<String>,
    runtime: Option<String>,
    engine: Option<String>,
}

impl WorkerText {
    pub(crate) fn signed(&self) -> bool {
        self.signed.unwrap_or(true)
    }

    pub(crate) fn attributes(&self) -> BTreeMap<String, String> {
        attributes([&self.operator, &self.organisation, &self.model_family, &self.host, &self.runtime, &self.engine])
    }
}

/// A verifier's entry. Times are durations before the decision.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerifierText {
    operator: Option<String>,
    organisation: Option<String>,
    model_family: Option<String>,
    host: Option<String>,
    runtime: Option<String>,
    engine: Option<String>,
    pub(crate) retired: Option<Ago>,
    pub(crate) revoked: Option<Ago>,
    pub(crate) compromised: Option<Ago>,
}

impl VerifierText {
    pub(crate) fn attributes(&self) -> BTreeMap<String, String> {
        attributes([&self.operator, &self.organisation, &self.model_family, &self.host, &self.runtime, &self.engine])
    }
}

fn attributes(values: [&Option<String>; 6]) -> BTreeMap<String, String> {
    Axis::ALL.iter().zip(values).filter_map(|(axis, value)| Some((axis.as_str().to_owned(), value.clone()?))).collect()
}

/// A duration before the decision, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ago(pub(crate) u64);

impl<'de> Deserialize<'de> for Ago {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        crate::policy::duration_seconds(&text)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no duration such as \"30m\"")))
    }
}

/// One case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseText {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) work_unit: TermsText,
    pub(crate) worker: Option<WorkerText>,
    /// On the mesh; absent off it, where there are no seats.
    pub(crate) when: Option<When>,
    #[serde(default)]
    pub(crate) evidence: Vec<EvidenceText>,
    pub(crate) expect: String,
    pub(crate) row: Option<String>,
    pub(crate) tally: Option<TallyText>,
    pub(crate) voices: Option<Vec<String>>,
    pub(crate) refused: Option<Vec<String>>,
}

words! {
    /// On the mesh: whether open seats are still waited for.
    When {
        /// They are.
        BeforeDeadline => "before_deadline",
        /// They are not.
        AfterDeadline => "after_deadline",
    }
}

/// The counts that a case expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TallyText {
    pub(crate) s: u64,
    pub(crate) o: u64,
    pub(crate) a: u64,
    pub(crate) n: u64,
}

words! {
    /// What one verifier says.
    Says {
        /// Every required check passed.
        Supports => "supports",
        /// A required check failed.
        Rejects => "rejects",
        /// It looked and could not tell.
        Abstains => "abstains",
        /// It did not come to look.
        Absent => "absent",
        /// The candidate ran into a limit that the baseline keeps.
        TimedOut => "timed_out",
    }
}

words! {
    /// What is wrong with an envelope.
    FaultWord {
        /// Bytes that are no envelope.
        Malformed => "malformed",
        /// A key that the trust root does not name.
        UnknownSigner => "unknown_signer",
        /// The worker's key.
        WrongRole => "wrong_role",
        /// The signature of other bytes.
        BadSignature => "bad_signature",
        /// Evidence for another handoff.
        WrongHandoff => "wrong_handoff",
        /// Evidence for another candidate.
        WrongCandidate => "wrong_candidate",
    }
}

words! {
    /// What a verifier says against its own independence.
    DeclaresWord {
        /// It shares the worker's model family.
        SharedModelFamily => "shared_model_family",
        /// It shares the worker's runtime.
        SharedRuntime => "shared_runtime",
        /// It is not independent from the worker.
        NotIndependent => "not_independent",
    }
}

/// One envelope: `"a supports"`, or a table.
#[derive(Debug, Clone)]
pub(crate) struct EvidenceText {
    pub(crate) by: String,
    pub(crate) says: Says,
    pub(crate) channel: Channel,
    pub(crate) isolation: Isolation,
    /// Seconds before the decision at which it was received and, as it says, finished.
    pub(crate) age: u64,
    pub(crate) bundle: bool,
    pub(crate) declares: Vec<DeclaresWord>,
    pub(crate) stale: bool,
    pub(crate) fault: Option<FaultWord>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceTable {
    by: String,
    says: Says,
    channel: Option<Channel>,
    isolation: Option<Isolation>,
    age: Option<Ago>,
    bundle: Option<bool>,
    #[serde(default)]
    declares: Vec<DeclaresWord>,
    #[serde(default)]
    stale: bool,
    fault: Option<FaultWord>,
}

impl From<EvidenceTable> for EvidenceText {
    fn from(table: EvidenceTable) -> Self {
        Self {
            by: table.by,
            says: table.says,
            channel: table.channel.unwrap_or(Channel::Data),
            isolation: table.isolation.unwrap_or(Isolation::NotApplicable),
            age: table.age.map_or(60, |age| age.0),
            bundle: table.bundle.unwrap_or(true),
            declares: table.declares,
            stale: table.stale,
            fault: table.fault,
        }
    }
}

impl<'de> Deserialize<'de> for EvidenceText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EvidenceVisitor)
    }
}

struct EvidenceVisitor;

impl<'de> serde::de::Visitor<'de> for EvidenceVisitor {
    type Value = EvidenceText;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("\"NAME supports\", or a table with `by` and `says`")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<EvidenceText, E> {
        let (by, says) =
            text.split_once(' ').ok_or_else(|| E::custom(format!("`{text}` is not of the form \"NAME supports\"")))?;
        let says = Says::from_word(says).ok_or_else(|| {
            let words: Vec<&str> = Says::ALL.iter().map(|word| word.as_str()).collect();
            E::custom(format!("`{says}` is none of {}", words.join(", ")))
        })?;
        let by = by.to_owned();
        Ok(EvidenceTable {
            by,
            says,
            channel: None,
            isolation: None,
            age: None,
            bundle: None,
            declares: Vec::new(),
            stale: false,
            fault: None,
        }
        .into())
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<EvidenceText, A::Error> {
        EvidenceTable::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Into::into)
    }
}

impl CaseFile {
    /// Reads a file with cases.
    ///
    /// # Errors
    /// [`PoliciesError::CasesTooLarge`], [`PoliciesError::CasesSyntax`] and [`PoliciesError::CasesValue`], each naming
    /// the line.
    pub fn parse(bytes: &[u8], format: CaseFormat) -> Result<Self, PoliciesError> {
        if bytes.len() > limits::CASES_BYTES {
            return Err(PoliciesError::CasesTooLarge { found: bytes.len(), limit: limits::CASES_BYTES });
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            let reason = "it starts with a byte order mark; remove it".to_owned();
            return Err(PoliciesError::CasesSyntax { line: 1, reason });
        }
        let text = std::str::from_utf8(bytes).map_err(|error| PoliciesError::CasesSyntax {
            line: line_at(bytes, error.valid_up_to()),
            reason: "not UTF-8".to_owned(),
        })?;
        let (file, lines) = match format {
            CaseFormat::Toml => from_toml(text)?,
            CaseFormat::Json => from_json(text)?,
        };
        if file.schema_version != "0.1" {
            let message = format!("`schema_version` is {:?}, the only version is \"0.1\"", file.schema_version);
            return Err(PoliciesError::CasesValue { line: 1, message });
        }
        let cases: Vec<(usize, CaseText)> = lines.into_iter().zip(file.case).collect();
        let parsed = Self {
            work_unit: file.work_unit,
            worker: file.worker,
            verifiers: file.verifiers,
            cases,
            policy: file.policy,
        };
        parsed.check()?;
        Ok(parsed)
    }

    /// The policy that the file names: a shipped one, or a file beside it.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        self.policy.as_deref()
    }

    /// Names of the cases, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.cases.iter().map(|(_, case)| case.name.as_str()).collect()
    }

    /// Everything that a case names is there, and every expected word is one that can come.
    fn check(&self) -> Result<(), PoliciesError> {
        if self.cases.is_empty() || self.cases.len() > limits::CASES {
            let message = format!("{} cases; a file has 1 to {}", self.cases.len(), limits::CASES);
            return Err(PoliciesError::CasesValue { line: 1, message });
        }
        let mut names = BTreeSet::new();
        for (line, case) in &self.cases {
            let wrong = |message: String| PoliciesError::CasesValue {
                line: *line,
                message: format!("case {:?}: {message}", case.name),
            };
            if !names.insert(&case.name) {
                return Err(wrong("the name stands twice".to_owned()));
            }
            if case.evidence.len() > limits::CASE_EVIDENCE {
                return Err(wrong(format!("more than {} evidence", limits::CASE_EVIDENCE)));
            }
            let by = case.evidence.iter().map(|said| &said.by).chain(case.voices.iter().flatten());
            if let Some(stranger) = by.into_iter().find(|name| !self.verifiers.contains_key(*name)) {
                return Err(wrong(format!("there is no verifier `{stranger}`")));
            }
            if case.row.as_ref().is_some_and(|row| row != "pending" && Row::from_word(row).is_none()) {
                return Err(wrong(format!("there is no row `{}`", case.row.as_deref().unwrap_or_default())));
            }
            for refused in case.refused.iter().flatten() {
                let known = refused.split_once(' ').is_some_and(|(by, code)| {
                    self.verifiers.contains_key(by) && RefusalCode::from_word(code).is_some()
                });
                if !known {
                    return Err(wrong(format!("`{refused}` is not of the form \"NAME refusal_code\"")));
                }
            }
        }
        Ok(())
    }
}

/// The line of a byte, from 1.
fn line_at(text: &[u8], offset: usize) -> usize {
    1 + text.iter().take(offset).filter(|byte| **byte == b'\n').count()
}

fn from_toml(text: &str) -> Result<(FileText, Vec<usize>), PoliciesError> {
    let wrong = |error: &toml::de::Error| PoliciesError::CasesSyntax {
        line: error.span().map_or(1, |span| line_at(text.as_bytes(), span.start)),
        reason: error.message().replace('\n', " "),
    };
    #[derive(Deserialize)]
    struct Places {
        case: Vec<toml::Spanned<toml::Table>>,
    }
    let file: FileText = toml::from_str(text).map_err(|error| wrong(&error))?;
    let places: Places = toml::from_str(text).map_err(|error| wrong(&error))?;
    Ok((file, places.case.iter().map(|case| line_at(text.as_bytes(), case.span().start)).collect()))
}

fn from_json(text: &str) -> Result<(FileText, Vec<usize>), PoliciesError> {
    let wrong =
        |error: &serde_json::Error| PoliciesError::CasesSyntax { line: error.line(), reason: error.to_string() };
    #[derive(Deserialize)]
    struct Places<'a> {
        #[serde(borrow)]
        case: Vec<&'a serde_json::value::RawValue>,
    }
    let file: FileText = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let places: Places<'_> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let offset = |raw: &str| raw.as_ptr().addr() - text.as_ptr().addr();
    Ok((file, places.case.iter().map(|case| line_at(text.as_bytes(), offset(case.get()))).collect()))
}
