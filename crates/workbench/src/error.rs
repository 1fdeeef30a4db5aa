//! Why a document is not read or not written.

use std::io;
use std::path::PathBuf;

use quorum_schemas::{ErrorEntry, ParseError, SchemaViolation, SchemasError, error_codes};

use crate::{PathFault, Refusal, RefusalCode};

/// A document that is none of this contract, or a refusal of what it asks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkbenchError {
    /// No strict JSON.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// No RFC 8785 form.
    #[error(transparent)]
    Form(#[from] SchemasError),
    /// The schema is broken.
    #[error("{document}: {}", .violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Schema {
        /// Which document.
        document: &'static str,
        /// Every place.
        violations: Vec<SchemaViolation>,
    },
    /// Neither spelling of a digest.
    #[error(
        "{found} is no digest; write `sha256:` and 43 characters of base64url, or 64 of hex where the field says so"
    )]
    DigestForm {
        /// As found.
        found: String,
    },
    /// No reference.
    #[error("{found} is no reference; use 1 to 512 characters without NUL")]
    RefForm {
        /// As found.
        found: String,
    },
    /// No code.
    #[error("{found} is no code; use a-z 0-9 . - and begin with a letter or a digit")]
    CodeForm {
        /// As found.
        found: String,
    },
    /// No relative path.
    #[error("{path} is no path below a root ({}); name it from the root down, such as src/bin", .fault.as_str())]
    RelativePath {
        /// As found.
        path: String,
        /// The fault.
        fault: PathFault,
    },
    /// A result says something that its other members exclude, beyond what a schema can say.
    #[error("process run result ({rule}): {why}")]
    Inconsistent {
        /// The rule, such as `W-035`.
        rule: &'static str,
        /// The values.
        why: String,
    },
    /// Results are kept for less time than somebody may still ask for them.
    #[error("results are kept for {keep_s} s, and a request may come again for {horizon_s} s; keep them longer")]
    RetentionTooShort {
        /// Seconds of keeping.
        keep_s: u64,
        /// Seconds of the longest lease and redelivery together.
        horizon_s: u64,
    },
    /// The store cannot be read or written.
    #[error("workbench store {path}: {source}")]
    Store {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// What is stored under a key is nothing that a workbench wrote.
    #[error("workbench store {path}: {why}; nothing runs under this key until somebody has looked at it")]
    Stored {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

error_codes! {
    impl WorkbenchError in "workbench" {
        Self::Schema { .. } => "workbench_schema_invalid", "A profile, a request or a result does not follow its schema.",
            "Correct it at the place that the message names.";
        Self::DigestForm { .. } => "content_digest_malformed", "A digest has neither spelling of this contract.",
            "Copy it whole.";
        Self::RefForm { .. } => "reference_malformed", "A reference is empty, too long or holds NUL.",
            "Use 1 to 512 characters.";
        Self::CodeForm { .. } => "code_malformed", "A code of a result has a form that results cannot carry.",
            "Use a-z 0-9 . - and at most 128 characters.";
        Self::RelativePath { .. } => "relative_path_malformed", "A path is not one below a root.",
            "Name it from the root down, without . and .. and backslashes.";
        Self::Inconsistent { .. } => "process_result_inconsistent",
            "A result says something that its other members exclude.", "Do not use it; ask who wrote it.";
        Self::RetentionTooShort { .. } => "retention_too_short",
            "Results are kept for less time than somebody may still ask for them.", "Keep them longer.";
        Self::Store { .. } => "workbench_store", "The store of results cannot be read or written.",
            "Look at the system's error; give the folder back to its owner.", exit 5;
        Self::Stored { .. } => "workbench_store_malformed", "What is stored under a key is nothing that a workbench wrote.",
            "Find out who wrote it; use a new key.", exit 5;
    }
    passes {
        Self::Parse(error) => error.reason.code();
        Self::Form(error) => error.code();
        Self::Refused(refusal) => refusal.code.code();
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    [WorkbenchError::ENTRIES, RefusalCode::ENTRIES].concat()
}
