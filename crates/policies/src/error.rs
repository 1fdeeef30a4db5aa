//! Why a policy file or a case cannot be used. Evidence never ends here: what is wrong with evidence is a refusal.

use quorum_schemas::{Digest, ErrorEntry, SchemaViolation, error_codes};
use thiserror::Error;

use crate::RefusalCode;

/// Every error of this crate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PoliciesError {
    /// More bytes than [`crate::limits::POLICY_BYTES`].
    #[error("policy_too_large: the policy has {found} bytes, the limit is {limit}")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Not UTF-8 or not TOML.
    #[error("policy_syntax: {0}")]
    Syntax(String),
    /// A key that no policy has.
    #[error("policy_unknown_key: `{key}` is not a key of a policy{}; remove it", suggest(.suggestion))]
    UnknownKey {
        /// The key, with its table.
        key: String,
        /// The nearest key that exists.
        suggestion: Option<String>,
    },
    /// A key that every policy needs.
    #[error("policy_missing_key: `{0}` is missing; add it")]
    MissingKey(&'static str),
    /// A key with a value that it cannot have.
    #[error("policy_value: `{key}` = {found}: {expected}")]
    Value {
        /// The key, with its table.
        key: String,
        /// The value as the file has it.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// No shipped policy of that name.
    #[error("policy_unknown_name: no shipped policy is called `{name}`{}; the names are {names}", suggest(.suggestion))]
    UnknownName {
        /// The name asked for.
        name: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
        /// All names.
        names: String,
    },
    /// The trust root does not list this policy.
    #[error(
        "policy_not_admitted: the trust root version {trust_version} does not admit policy {policy}; add its digest with `quorum trust` or use a listed one"
    )]
    NotAdmitted {
        /// Digest of the policy's raw bytes.
        policy: Digest,
        /// Version of the trust root asked.
        trust_version: u64,
    },
    /// The parts of a case do not belong together.
    #[error("case_inconsistent: {what} is {found}, the handoff says {expected}")]
    CaseInconsistent {
        /// Which part.
        what: &'static str,
        /// What the part says.
        found: String,
        /// What the handoff binds.
        expected: String,
    },
    /// A panel of no seats, or of more than [`crate::limits::PANEL`].
    #[error("panel_out_of_range: a panel of {0} seats; it must be 1 to {limit}", limit = crate::limits::PANEL)]
    PanelOutOfRange(u32),
    /// More supporters than voices can be counted over.
    #[error("too_many_supporters: {0} keys support, voices are counted over at most {limit}; give fewer evidence files", limit = crate::limits::PANEL)]
    TooManySupporters(usize),
    /// Nobody signed the manifest, and somebody asks for that.
    #[error(
        "worker_unauthenticated: the manifest is not signed by its worker, {asked_by} asks for that; sign it with `manifest --key` or `submit --key`"
    )]
    WorkerUnauthenticated {
        /// `the work unit` or `the policy`.
        asked_by: &'static str,
    },
    /// An envelope of which the facts do not say when it was received.
    #[error("fact_missing: the facts do not say when envelope {0} was received")]
    FactMissing(Digest),
    /// Facts about an envelope that is not there: something was withheld.
    #[error("envelope_missing: the facts name envelope {0}, which was not given")]
    EnvelopeMissing(Digest),
    /// Facts of rules that this program does not have.
    #[error("rules_unknown: the facts are of rules version {found}, this program has {known}")]
    RulesUnknown {
        /// Version in the facts.
        found: u64,
        /// The only version known.
        known: u64,
    },
    /// More bytes than [`crate::limits::CASES_BYTES`].
    #[error("cases_too_large: the cases have {found} bytes, the limit is {limit}; split the file")]
    CasesTooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// A file with cases that cannot be read.
    #[error("cases_syntax: line {line}: {reason}")]
    CasesSyntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A case that says what it cannot say.
    #[error("cases_value: line {line}: {message}")]
    CasesValue {
        /// The line of the case, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// Not a C2SP tlog-policy.
    #[error("tlog_syntax: line {line}: {reason}")]
    TlogSyntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// What the other side cannot say.
    #[error("tlog_no_twin: {what} has no twin in {other}{}", leave_out(.kind))]
    TlogNoTwin {
        /// What cannot be said.
        what: String,
        /// `a tlog-policy` or `a policy of ours`.
        other: &'static str,
        /// The kind that `--leave-out` takes, if it may be left out.
        kind: Option<crate::LeaveOut>,
    },
    /// A document of ours does not follow its schema.
    #[error("{document}_schema_invalid: {}", list(.violations))]
    SchemaInvalid {
        /// `decision` or `facts`.
        document: &'static str,
        /// Every violation.
        violations: Vec<SchemaViolation>,
    },
    /// A document of ours cannot be read.
    #[error("{document}_malformed: {reason}")]
    Malformed {
        /// `decision` or `facts`.
        document: &'static str,
        /// What is wrong and where.
        reason: String,
    },
}

error_codes! {
    impl PoliciesError in "policies" {
        Self::TooLarge { .. } => "policy_too_large", "The policy has more bytes than a policy may have.",
            "Make it smaller.", exit 2;
        Self::Syntax(_) => "policy_syntax", "The policy is not UTF-8 or not TOML.",
            "Correct it at the place that the message names.", exit 2;
        Self::UnknownKey { .. } => "policy_unknown_key", "A key that no policy has.",
            "Correct the spelling, or remove the key.", exit 2;
        Self::MissingKey(_) => "policy_missing_key", "A key that every policy needs is missing.",
            "Add it; `quorum policy show local` shows a whole policy.", exit 2;
        Self::Value { .. } => "policy_value", "A key has a value that it cannot have.",
            "Write one of the values that the message names.", exit 2;
        Self::UnknownName { .. } => "policy_unknown_name", "No shipped policy has this name.",
            "`quorum policy list` prints the names; a path holds a slash or a dot.", exit 2;
        Self::NotAdmitted { .. } => "policy_not_admitted", "The trust root does not list this policy.",
            "Use a listed policy, or have this one added with `quorum trust admit-policy`.", exit 2;
        Self::CaseInconsistent { .. } => "case_inconsistent", "The parts of a case do not belong together.",
            "Give the documents of one handoff.";
        Self::PanelOutOfRange(_) => "panel_out_of_range",
            "The panel has no seats, or more than voices can be counted over.",
            "Choose a panel of 1 to 32.", exit 2;
        Self::TooManySupporters(_) => "too_many_supporters", "More keys support than voices can be counted over.",
            "Give fewer evidence files.", exit 2;
        Self::WorkerUnauthenticated { .. } => "worker_unauthenticated",
            "The work unit or the policy asks for a signed manifest, and nobody signed it.",
            "Sign it with `manifest --key` or `submit --key`.", exit 6;
        Self::FactMissing(_) => "fact_missing", "The facts do not say when an envelope was received.",
            "Give the facts of this record, unchanged.";
        Self::EnvelopeMissing(_) => "envelope_missing",
            "The facts name an envelope that was not given: something was withheld.",
            "Bring the whole record.";
        Self::RulesUnknown { .. } => "rules_unknown",
            "The decision was made under rules that this program does not have.",
            "Use the version of quorum that knows these rules.";
        Self::CasesTooLarge { .. } => "cases_too_large", "The file with cases has more bytes than it may have.",
            "Split the file.", exit 2;
        Self::CasesSyntax { .. } => "cases_syntax", "A file with cases cannot be read, or has a member that no case has.",
            "Repair the line that the message names; `docs/policies.md` has every key.", exit 2;
        Self::CasesValue { .. } => "cases_value", "A case says what it cannot say, or names what the file does not have.",
            "Repair the case at the line that the message names.", exit 2;
        Self::TlogSyntax { .. } => "tlog_syntax", "The file is no C2SP tlog-policy.",
            "Repair the line that the message names.", exit 2;
        Self::TlogNoTwin { .. } => "tlog_no_twin", "One side of an import or export has something that the other cannot say.",
            "Change it, or leave it out on purpose with --leave-out.", exit 2;
        Self::SchemaInvalid { .. } => "document_schema_invalid", "A decision or its facts do not follow their schema.",
            "Bring the record as it was written.";
        Self::Malformed { .. } => "document_malformed", "A decision or its facts cannot be read.",
            "Bring the record as it was written.";
    }
}

fn suggest(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

fn leave_out(kind: &Option<crate::LeaveOut>) -> String {
    kind.as_ref().map_or_else(String::new, |kind| format!("; leave it out with --leave-out {kind}"))
}

fn list(violations: &[SchemaViolation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    [PoliciesError::ENTRIES, RefusalCode::entries().as_slice()].concat()
}
