//! Why documents are refused.

use std::fmt;

use quorum_schemas::{ErrorEntry, ParseError, SchemaViolation, Value, error_codes};
use thiserror::Error;

use crate::{BuildRule, DerivationRule, ExportRule, ReferenceRule, Rule, SourceRule, Violation};

/// Which document a refusal speaks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Document {
    /// The WorkUnit.
    WorkUnit,
    /// The ResultManifest.
    ResultManifest,
    /// The VerificationHandoff.
    Handoff,
    /// The manifest binding.
    ManifestBinding,
    /// The CandidateReference inside a manifest or alone.
    CandidateReference,
    /// The binding of a work unit to a git revision.
    SourceBinding,
    /// The arguments of the manifest builder.
    BuildArguments,
    /// The record of a run, from which its report is made.
    RunRecord,
    /// The RunEvidenceReport.
    RunReport,
    /// The HumanDecisionRecord.
    HumanDecision,
    /// The EvidenceReport, for import.
    EvidenceReport,
}

impl Document {
    /// The name that messages use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WorkUnit => "work unit",
            Self::ResultManifest => "result manifest",
            Self::Handoff => "handoff",
            Self::ManifestBinding => "manifest binding",
            Self::CandidateReference => "candidate reference",
            Self::SourceBinding => "source binding",
            Self::BuildArguments => "manifest arguments",
            Self::RunRecord => "run record",
            Self::RunReport => "run report",
            Self::HumanDecision => "human decision",
            Self::EvidenceReport => "evidence report",
        }
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One refused place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The document.
    pub document: Document,
    /// JSON Pointer; empty for the root.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// Why a document of the handoff was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HandoffError {
    /// Not admissible JSON.
    #[error("{document}: {error}")]
    Parse {
        /// The document.
        document: Document,
        /// Code and place.
        error: ParseError,
    },
    /// The document does not follow its schema.
    #[error("schema_invalid {document}: {}", join(.violations))]
    Schema {
        /// The document.
        document: Document,
        /// Every violation, never empty.
        violations: Vec<SchemaViolation>,
    },
    /// The derivation refuses the pair.
    #[error("{rule} {document} {}: {message}", at(.pointer))]
    Derivation {
        /// The numbered rule.
        rule: DerivationRule,
        /// The document that breaks it.
        document: Document,
        /// JSON Pointer into that document.
        pointer: String,
        /// What is wrong, naming the value.
        message: String,
    },
    /// A binding rule between documents is broken.
    #[error("{document}: {violation}")]
    Binding {
        /// The document that breaks it.
        document: Document,
        /// The rule and the place.
        violation: Violation,
    },
    /// A work unit and a git revision do not belong together.
    #[error("{rule} {document} {}: {message}", at(.pointer))]
    Source {
        /// The numbered rule.
        rule: SourceRule,
        /// The document that breaks it.
        document: Document,
        /// JSON Pointer into that document.
        pointer: String,
        /// What is wrong, naming the value.
        message: String,
    },
    /// The candidate reference is malformed.
    #[error("{rule} {document} {}: {message}", at(.pointer))]
    Reference {
        /// The numbered rule.
        rule: ReferenceRule,
        /// The document that holds the reference.
        document: Document,
        /// JSON Pointer into that document.
        pointer: String,
        /// What is wrong, naming the value.
        message: String,
    },
    /// The manifest builder refuses its arguments.
    #[error("{rule} {document} {}: {message}", at(.pointer))]
    Build {
        /// The numbered rule.
        rule: BuildRule,
        /// The document that breaks it.
        document: Document,
        /// JSON Pointer into that document.
        pointer: String,
        /// What is wrong, naming the value.
        message: String,
    },
    /// An exported or imported document does not belong to what it speaks of, or contradicts itself.
    #[error("{rule} {document} {}: {message}", at(.pointer))]
    Export {
        /// The rule.
        rule: ExportRule,
        /// The document that breaks it.
        document: Document,
        /// JSON Pointer into that document.
        pointer: String,
        /// What is wrong, naming the value.
        message: String,
    },
    /// The C6 candidate reference does not belong to the candidate.
    #[error("candidate_reference_invalid {document} {}: {message}", at(.pointer))]
    CandidateReference {
        /// The document.
        document: Document,
        /// JSON Pointer into that document.
        pointer: String,
        /// What is wrong, naming the value.
        message: String,
    },
    /// An integer that the schema admits is beyond what can be counted.
    #[error("integer_out_of_range {document} {}: {found} is above {}; use a smaller number", at(.pointer), u64::MAX)]
    OutOfRange {
        /// The document.
        document: Document,
        /// JSON Pointer into that document.
        pointer: String,
        /// The number as it stands.
        found: String,
    },
    /// An argument of the manifest builder is unusable, by none of the numbered rules.
    #[error("manifest_argument_invalid {argument}: {message}")]
    Argument {
        /// Which argument.
        argument: &'static str,
        /// What is wrong with it.
        message: String,
    },
}

error_codes! {
    impl HandoffError in "handoff" {
        Self::Schema { .. } => "schema_invalid", "The document does not follow its schema.",
            "Correct the places that the message names; `quorum schema show` prints schemas.";
        Self::CandidateReference { .. } => "candidate_reference_invalid",
            "The candidate reference is missing, or does not belong to the candidate.",
            "Make the manifest anew with `quorum manifest`.";
        Self::OutOfRange { .. } => "integer_out_of_range", "An integer is beyond what can be counted.",
            "Use a smaller number.";
        Self::Argument { .. } => "manifest_argument_invalid",
            "An argument from which a manifest should be built is unusable.",
            "Correct the argument that the message names.", exit 2;
    }
    passes {
        Self::Parse { error, .. } => error.reason.code();
        Self::Derivation { rule, .. } => rule.as_str();
        Self::Source { rule, .. } => rule.as_str();
        Self::Reference { rule, .. } => rule.as_str();
        Self::Build { rule, .. } => rule.as_str();
        Self::Export { rule, .. } => rule.as_str();
        Self::Binding { violation, .. } => violation.rule.as_str();
    }
}

impl HandoffError {
    /// The document at fault; `None` when it is an argument of the builder.
    #[must_use]
    pub fn document(&self) -> Option<Document> {
        match self {
            Self::Parse { document, .. }
            | Self::Schema { document, .. }
            | Self::Derivation { document, .. }
            | Self::Source { document, .. }
            | Self::Reference { document, .. }
            | Self::Build { document, .. }
            | Self::Export { document, .. }
            | Self::Binding { document, .. }
            | Self::CandidateReference { document, .. }
            | Self::OutOfRange { document, .. } => Some(*document),
            Self::Argument { .. } => None,
        }
    }

    /// Every refused place; empty when an argument of the builder is at fault.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let Some(document) = self.document() else { return Vec::new() };
        let one = |pointer: &str, message: String| vec![Place { document, pointer: pointer.to_owned(), message }];
        match self {
            Self::Parse { error, .. } => one(&error.pointer, error.to_string()),
            Self::Schema { violations, .. } => violations
                .iter()
                .map(|v| Place { document, pointer: v.pointer.clone(), message: v.message.clone() })
                .collect(),
            Self::Derivation { pointer, message, .. }
            | Self::Source { pointer, message, .. }
            | Self::Reference { pointer, message, .. }
            | Self::Build { pointer, message, .. }
            | Self::Export { pointer, message, .. }
            | Self::CandidateReference { pointer, message, .. } => one(pointer, message.clone()),
            Self::Binding { violation, .. } => one(&violation.pointer, violation.message.clone()),
            Self::OutOfRange { pointer, .. } => one(pointer, self.to_string()),
            Self::Argument { .. } => Vec::new(),
        }
    }
}

impl HandoffError {
    /// The same refusal of a part, told as one of the document that holds the part at `at`.
    pub(crate) fn moved(mut self, holder: Document, at: &str) -> Self {
        if let Self::Source { document, pointer, .. }
        | Self::Reference { document, pointer, .. }
        | Self::Export { document, pointer, .. }
        | Self::OutOfRange { document, pointer, .. } = &mut self
        {
            *document = holder;
            pointer.insert_str(0, at);
        }
        self
    }
}

fn join(violations: &[SchemaViolation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn at(pointer: &str) -> &str {
    if pointer.is_empty() { "/" } else { pointer }
}

/// A member as messages show it.
pub(crate) fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "missing".to_owned(), Value::shown)
}

/// A string as messages show it.
pub(crate) fn shown_text(text: &str) -> String {
    shown(Some(&Value::from(text)))
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    [
        HandoffError::ENTRIES,
        DerivationRule::entries().as_slice(),
        SourceRule::entries().as_slice(),
        ReferenceRule::entries().as_slice(),
        BuildRule::entries().as_slice(),
        ExportRule::entries().as_slice(),
        Rule::entries().as_slice(),
    ]
    .concat()
}
