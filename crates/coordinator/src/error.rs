//! What can stop a coordinator.

use std::path::PathBuf;

use quorum_attest::AttestError;
use quorum_gate::GateError;
use quorum_handoff::HandoffError;
use quorum_mesh::MeshError;
use quorum_policies::PoliciesError;
use quorum_schemas::{C1Digest, Digest, ErrorEntry, error_codes};
use quorum_tasks::TasksError;

use crate::RefusedCode;

/// A fault of the coordinator itself. What is wrong with a document of somebody else is a refusal, never an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinatorError {
    /// A file of the configuration cannot be read.
    #[error("{what} {} cannot be read: {reason}", path.display())]
    FileUnreadable {
        /// Which file.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A secret that others may read.
    #[error("{what} {} has mode {mode:o}, so others may read it; run `chmod 600` on it", path.display())]
    FileExposed {
        /// Which file.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The configuration is not what it should be.
    #[error("configuration {}: {reason}", path.display())]
    ConfigMalformed {
        /// Where.
        path: PathBuf,
        /// What and where.
        reason: String,
    },
    /// The seat secret has the wrong form.
    #[error("seat_secret_file {} does not hold 32 random bytes; make one with `quorum keys new --seat-secret`", path.display())]
    SecretMalformed {
        /// Where.
        path: PathBuf,
    },
    /// The key is not a coordinator's.
    #[error("key {key_id} is no coordinator of the trust root; add it with `quorum trust add --role coordinator`")]
    KeyNotCoordinator {
        /// The key's id.
        key_id: String,
    },
    /// The coordinator's own key is not in force.
    #[error("this coordinator's own key: {}", .0.words())]
    OwnKey(AttestError),
    /// Under the trust root in force the configuration cannot be used; see the error inside.
    #[error(transparent)]
    NotUsable(Box<CoordinatorError>),
    /// The trust root does not list the policy.
    #[error("policy {digest} is not admitted by the trust root; add it with `quorum trust add --policy`")]
    PolicyNotAdmitted {
        /// SHA-256 of the policy's bytes.
        digest: Digest,
    },
    /// This machine's clock is too far off.
    #[error("this machine's clock is {micros} microseconds off the stream's; synchronise it (5 s are borne)")]
    ClockSkew {
        /// Stream minus machine.
        micros: i64,
    },
    /// Trust root, policy or key were replaced while the coordinator ran.
    #[error("trust root, policy or key were replaced; starting again with the new ones")]
    ControlFilesChanged,
    /// A handoff uses a policy that is not in the state directory.
    #[error("handoff {handoff} was issued under policy {policy}, which is neither configured nor on the mesh")]
    PolicyUnknown {
        /// The handoff.
        handoff: C1Digest,
        /// The policy's digest.
        policy: Digest,
    },
    /// A document that the coordinators themselves published cannot be used.
    #[error("{place}: a coordinator published something unusable there: {reason}")]
    OwnDocument {
        /// The subject.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A part of a record is not on the mesh.
    #[error("the record of handoff {handoff} lacks {what}; is the handoff decided?")]
    RecordIncomplete {
        /// The handoff.
        handoff: C1Digest,
        /// What is missing.
        what: String,
    },
    /// The output directory is not empty or cannot be written.
    #[error("{}: {reason}", path.display())]
    Output {
        /// Where.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// See [`AttestError`].
    #[error(transparent)]
    Attest(#[from] AttestError),
    /// See [`GateError`]: trust roots on disk.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// See [`HandoffError`].
    #[error(transparent)]
    Handoff(#[from] HandoffError),
    /// See [`MeshError`].
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// See [`PoliciesError`].
    #[error(transparent)]
    Policies(#[from] PoliciesError),
    /// See [`TasksError`].
    #[error(transparent)]
    Tasks(#[from] TasksError),
}

error_codes! {
    impl CoordinatorError in "coordinator" {
        Self::FileUnreadable { .. } => "file_unreadable", "A file of the configuration cannot be read.",
            "Correct the path or the permissions.", exit 2;
        Self::FileExposed { .. } => "file_exposed", "Others may read a secret file.", "Run `chmod 600` on it.", exit 2;
        Self::ConfigMalformed { .. } => "config_malformed", "The configuration is not what it should be.",
            "Correct the place that the message names; docs/operating.md describes it.", exit 2;
        Self::SecretMalformed { .. } => "secret_malformed", "The seat secret does not have 32 bytes.",
            "Make one with `quorum keys new --seat-secret`.", exit 2;
        Self::KeyNotCoordinator { .. } => "key_not_coordinator", "The key is not a coordinator's in the trust root.",
            "Have it added with `quorum trust add --role coordinator`.", exit 2;
        Self::PolicyNotAdmitted { .. } => "policy_not_admitted", "The trust root does not list the policy.",
            "Have it added with `quorum trust admit-policy`.", exit 2;
        Self::ClockSkew { .. } => "clock_skew", "This machine's clock is too far off the stream's.",
            "Synchronise the clock.", exit 5;
        Self::ControlFilesChanged => "control_files_changed",
            "Trust root or policy were replaced while the coordinator ran.",
            "Nothing: it starts again with the new ones.", exit 5;
        Self::PolicyUnknown { .. } => "policy_unknown",
            "A handoff was issued under a policy that is neither configured nor on the mesh.",
            "Bring back the file of that policy.", exit 5;
        Self::OwnDocument { .. } => "own_document", "A coordinator published something that cannot be used.",
            "Use one version of quorum for all coordinators; find out who has the key.", exit 5;
        Self::RecordIncomplete { .. } => "record_incomplete", "A part of a handoff's record is not on the mesh.",
            "Wait until it is decided, or check the handoff's id.", exit 5;
        Self::Output { .. } => "output", "The output directory is not empty, or cannot be written.",
            "Name a new directory.", exit 5;
    }
    passes {
        Self::Attest(error) => error.code();
        Self::Gate(error) => error.code();
        Self::OwnKey(error) => error.code();
        Self::NotUsable(error) => error.code();
        Self::Handoff(error) => error.code();
        Self::Mesh(error) => error.code();
        Self::Policies(error) => error.code();
        Self::Tasks(error) => error.code();
    }
}

impl CoordinatorError {
    /// Whether it concerns one document only, and no retry helps.
    pub(crate) fn needs_a_person(&self) -> bool {
        match self {
            Self::Mesh(error) => matches!(error, MeshError::TooLarge { .. } | MeshError::MessageMalformed { .. }),
            Self::ClockSkew { .. } | Self::ControlFilesChanged | Self::OwnKey(_) | Self::NotUsable(_) => false,
            Self::Attest(error) => !awaits_new_trust(error),
            _ => true,
        }
    }

    /// Whether the broker or another replica caused it, so that building the actor again can help.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Mesh(error) => !matches!(error, MeshError::PermissionDenied { .. } | MeshError::ServerTooOld { .. }),
            // Of key, trust root and policy: not ready until somebody brings ones that go together.
            Self::ClockSkew { .. } | Self::ControlFilesChanged | Self::OwnKey(_) | Self::NotUsable(_) => true,
            // Not ready until somebody brings a trust root that is valid now.
            Self::Attest(error) => awaits_new_trust(error),
            _ => false,
        }
    }
}

fn awaits_new_trust(error: &AttestError) -> bool {
    matches!(error, AttestError::TrustRootExpired { .. } | AttestError::TrustRootNotYetValid { .. })
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    [CoordinatorError::ENTRIES, RefusedCode::ENTRIES].concat()
}
