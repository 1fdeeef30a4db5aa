//! Why the daemon cannot do its work. None of these is a verdict about a candidate.

use std::path::PathBuf;

use quorum_attest::AttestError;
use quorum_gate::{ExitCode, GateError};
use quorum_mesh::MeshError;
use quorum_schemas::{ErrorEntry, error_codes};
use quorum_verifier::VerifierError;
use thiserror::Error;

/// An error of this room; [`VerifierdError::code`] is stable.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VerifierdError {
    /// A file that cannot be read.
    #[error("file_unreadable: {what} {path}: {reason}", path = .path.display())]
    FileUnreadable {
        /// What it is for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file that others may read.
    #[error("file_exposed: {what} {path} has mode {mode:o}; run `chmod 600` on it", path = .path.display())]
    FileExposed {
        /// What it is for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A configuration that is not one.
    #[error("config_malformed: {path}: {reason}", path = .path.display())]
    ConfigMalformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// An imported plan that judges the worker's own words, which no verifier on the mesh may read.
    #[error(
        "plan_needs_manifest: plan {}: EvaluatorPlan 0.2 to 0.4 judges the worker's status and logs; \
         use `quorum gate` or `quorum verify` for it, or a plan of kind unified_diff here",
        .0.display()
    )]
    PlanNeedsManifest(PathBuf),
    /// A plan of another verifier.
    #[error("plan_wrong_verifier: {path} is a plan of `{found}`, this daemon is `{wanted}`", path = .path.display())]
    PlanWrongVerifier {
        /// The plan.
        path: PathBuf,
        /// Whom it names.
        found: String,
        /// Who we are.
        wanted: String,
    },
    /// A key that the trust root does not give to this verifier.
    #[error("key_not_verifier: the key {key_id} is not that of verifier `{verifier}` in the trust root")]
    KeyNotVerifier {
        /// The key.
        key_id: String,
        /// The configured id.
        verifier: String,
    },
    /// This verifier's own key is not in force.
    #[error("{code}: this verifier's own key: {words}", code = .0.code(), words = .0.words())]
    OwnKey(AttestError),
    /// Another daemon works on this state directory.
    #[error("state_locked: another verifier uses {path}; one key has one daemon", path = .path.display())]
    StateLocked {
        /// The directory.
        path: PathBuf,
    },
    /// The state directory cannot be written.
    #[error("state_unwritable: {path}: {reason}", path = .path.display())]
    StateUnwritable {
        /// The file or directory.
        path: PathBuf,
        /// What was said.
        reason: String,
    },
    /// An offer that this verifier must not act on.
    #[error("offer_refused: {0}")]
    OfferRefused(String),
    /// The lease was lost while the checks ran.
    #[error("lease_lost: {0}")]
    LeaseLost(String),
    /// Threads or signals are not to be had.
    #[error("runtime: {0}")]
    Runtime(String),
    /// Documents, keys, trust root.
    #[error(transparent)]
    Attest(#[from] AttestError),
    /// Trust roots on disk.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The broker.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Plans and checks.
    #[error(transparent)]
    Verifier(#[from] VerifierError),
}

error_codes! {
    impl VerifierdError in "verifierd" {
        Self::FileUnreadable { .. } => "file_unreadable", "A file of the configuration cannot be read.",
            "Correct the path or the permissions.", exit 2;
        Self::FileExposed { .. } => "file_exposed", "Others may read a secret file.", "Run `chmod 600` on it.", exit 2;
        Self::ConfigMalformed { .. } => "config_malformed", "The configuration is not one.",
            "Correct the place that the message names; docs/operating.md describes it.", exit 2;
        Self::PlanNeedsManifest(_) => "plan_needs_manifest",
            "The plan judges the worker's status and logs, which no verifier on the mesh may read.",
            "Run it with `quorum gate` or `quorum verify`, or give the daemon a plan with `unified_diff`.", exit 2;
        Self::PlanWrongVerifier { .. } => "plan_wrong_verifier", "The plan names another verifier.",
            "Give the daemon its own plan.", exit 2;
        Self::KeyNotVerifier { .. } => "key_not_verifier", "The key is not that of this verifier in the trust root.",
            "Correct `key` or `id`, or have the key added.", exit 2;
        Self::StateLocked { .. } => "state_locked", "Another daemon works on this state directory.",
            "Run one daemon a key; stop the other.", exit 5;
        Self::StateUnwritable { .. } => "state_unwritable", "The state directory cannot be written.",
            "Make room, or correct its permissions.", exit 5;
        Self::OfferRefused(_) => "offer_refused", "An offer that this verifier must not act on.",
            "Nothing, unless it should: the message says what does not fit.", exit 5;
        Self::LeaseLost(_) => "lease_lost", "The lease was lost while the checks ran.",
            "Nothing: the seat is offered again; look for a slow machine if it repeats.", exit 5;
        Self::Runtime(_) => "runtime", "Threads or signals are not to be had.", "Look at the system's limits.", exit 5;
    }
    passes {
        Self::Attest(error) | Self::OwnKey(error) => error.code();
        Self::Gate(error) => error.code();
        Self::Mesh(error) => error.code();
        Self::Verifier(error) => error.code();
    }
}

impl VerifierdError {
    /// Whether a file of the operator's is at fault, not the machine or the broker.
    #[must_use]
    pub fn is_control_file(&self) -> bool {
        match self {
            Self::StateLocked { .. }
            | Self::StateUnwritable { .. }
            | Self::OfferRefused(_)
            | Self::LeaseLost(_)
            | Self::Runtime(_) => false,
            Self::Mesh(error) => error.code().starts_with("credentials_") || error.code() == "file_unreadable",
            Self::Verifier(error) => error.is_control_file(),
            Self::Gate(error) => error.exit_code() == ExitCode::Usage,
            _ => true,
        }
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    VerifierdError::ENTRIES.to_vec()
}
