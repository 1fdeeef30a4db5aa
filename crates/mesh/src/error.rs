//! Every way in which the mesh can refuse or fail.

use std::path::PathBuf;

use quorum_schemas::{Digest, ErrorEntry, error_codes};
use thiserror::Error;

/// An error of this room; [`MeshError::code`] is stable.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// An identity too long for a subject token.
    #[error("id_too_long: `{id}` has {found} bytes, the limit is {limit}; choose a shorter id")]
    IdTooLong {
        /// The identity, cut for display.
        id: String,
        /// Bytes found.
        found: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// An empty identity has no subject token.
    #[error("id_empty: an identity of a subject must not be empty")]
    IdEmpty,
    /// A subject token that no identity encodes to.
    #[error("token_malformed: `{0}` is not a subject token of this mesh ([a-z0-9-], other bytes as =xx)")]
    TokenMalformed(String),
    /// A subject outside the layout of the streams.
    #[error("subject_unknown: `{0}` is not a subject of this mesh")]
    SubjectUnknown(String),
    /// A file that cannot be read.
    #[error("file_unreadable: {path}: {reason}", path = .path.display())]
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A credentials file that others may read.
    #[error("credentials_exposed: {path} has mode {mode:o}; run `chmod 600` on it", path = .path.display())]
    CredentialsExposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A credentials file without `user` and `password`.
    #[error("credentials_malformed: {path} must hold the lines `user = \"...\"` and `password = \"...\"`: {reason}", path = .path.display())]
    CredentialsMalformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// No connection.
    #[error("connect_failed: {url}: {reason}")]
    ConnectFailed {
        /// The address.
        url: String,
        /// What the client library said.
        reason: String,
    },
    /// A server that silently drops fields which this mesh relies on.
    #[error("server_too_old: nats-server {found} at {url}, the minimum is {minimum}; upgrade it")]
    ServerTooOld {
        /// The address.
        url: String,
        /// Its version.
        found: String,
        /// The oldest admissible version.
        minimum: &'static str,
    },
    /// The server refused the subject to this user.
    #[error("permission_denied: {subject}: the server says: {server}")]
    PermissionDenied {
        /// The subject.
        subject: String,
        /// The server's own text.
        server: String,
    },
    /// The subject already holds another message.
    #[error("already_published: {subject} holds {stored}, not {offered}; a subject is written once")]
    AlreadyPublished {
        /// The subject.
        subject: String,
        /// Digest of the offered bytes.
        offered: Digest,
        /// Digest of the stored bytes.
        stored: Digest,
    },
    /// What the stream holds is not what was acknowledged.
    #[error("read_back_differs: {subject}: published {offered}, the stream holds {stored}")]
    ReadBackDiffers {
        /// The subject.
        subject: String,
        /// Digest of the published bytes.
        offered: Digest,
        /// Digest of the stored bytes.
        stored: Digest,
    },
    /// The cap of messages, or the size of the stream, is reached; nothing was lost.
    #[error("stream_full: {subject}: {reason}")]
    StreamFull {
        /// The subject.
        subject: String,
        /// The server's text.
        reason: String,
    },
    /// The message is larger than the broker takes.
    #[error("too_large: {what} has {found} bytes, the limit is {limit}")]
    TooLarge {
        /// What was measured.
        what: String,
        /// Bytes found.
        found: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// No answer in time: the outcome is unknown.
    #[error("timed_out: {subject}: no answer within {millis} ms; the outcome is unknown, ask again")]
    TimedOut {
        /// The subject.
        subject: String,
        /// How long it waited.
        millis: u64,
    },
    /// Nothing stands at the subject.
    #[error("not_found: nothing is published at {0}")]
    NotFound(String),
    /// A blob whose bytes are not those of its name.
    #[error("blob_corrupt: {blob}: {reason}")]
    BlobCorrupt {
        /// The blob.
        blob: String,
        /// What differs.
        reason: String,
    },
    /// A message whose body is not what its subject promises.
    #[error("message_malformed: {place}: {reason}")]
    MessageMalformed {
        /// Subject or place in it.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A compare-and-set on another revision.
    #[error("lease_conflict: {key} is not at revision {expected}; read it again")]
    LeaseConflict {
        /// The key.
        key: String,
        /// The expected revision.
        expected: u64,
    },
    /// The server keeps another configuration than the one applied.
    #[error("config_differs: {object}: `{field}` should be {wanted}, the server has {found}; run `quorum mesh apply`")]
    ConfigDiffers {
        /// Stream or consumer.
        object: String,
        /// The first differing field.
        field: String,
        /// The wanted value.
        wanted: String,
        /// The value read back.
        found: String,
    },
    /// Anything else that the server or the client library reported.
    #[error("broker: {operation}: {reason}")]
    Broker {
        /// What was tried.
        operation: String,
        /// What was said.
        reason: String,
    },
    /// The connection was closed.
    #[error("closed: the connection to the broker is closed")]
    Closed,
}

error_codes! {
    impl MeshError in "mesh" {
        Self::IdTooLong { .. } => "id_too_long", "An identity is too long for a subject.", "Choose a shorter id.";
        Self::IdEmpty => "id_empty", "An empty identity.", "Give an id.";
        Self::TokenMalformed(_) => "token_malformed", "The text is not a subject token of this mesh.",
            "Use a subject that quorum printed.";
        Self::SubjectUnknown(_) => "subject_unknown", "The subject is not one of this mesh.",
            "Use a subject below idkmesh.v1.";
        Self::FileUnreadable { .. } => "file_unreadable", "A file cannot be read.",
            "Correct the path or the permissions.";
        Self::CredentialsExposed { .. } => "credentials_exposed", "Others may read the credentials.",
            "Run `chmod 600` on the file.";
        Self::CredentialsMalformed { .. } => "credentials_malformed",
            "The credentials file does not hold a user and a password.",
            "Use the file that `quorum mesh config` wrote.";
        Self::ConnectFailed { .. } => "connect_failed", "There is no connection to the broker.",
            "Start the server, or correct --nats and the credentials.";
        Self::ServerTooOld { .. } => "server_too_old",
            "The server would silently drop settings on which the mesh relies.",
            "Upgrade nats-server to the version that the message names.";
        Self::PermissionDenied { .. } => "permission_denied", "The server refused the subject to this user.",
            "Use the credentials of the role that may do this.";
        Self::AlreadyPublished { .. } => "already_published",
            "The subject already holds another message, and a subject is written once.",
            "Hand in a new attempt instead of changing the old one.";
        Self::ReadBackDiffers { .. } => "read_back_differs", "The stream does not hold what was acknowledged.",
            "Look at the server's store before going on.";
        Self::StreamFull { .. } => "stream_full", "A stream or a subject is full; nothing was lost.",
            "Give the stream more room.";
        Self::TooLarge { .. } => "too_large", "A message is larger than the broker takes.",
            "Hand in something smaller.";
        Self::TimedOut { .. } => "timed_out", "No answer came in time, so the outcome is unknown.",
            "Ask again: publishing twice is harmless.";
        Self::NotFound(_) => "not_found", "Nothing is published there.",
            "Check the id; it may not have been published yet.";
        Self::BlobCorrupt { .. } => "blob_corrupt", "The bytes of a blob are not those of its name.",
            "Publish it again; look at the server's store.";
        Self::MessageMalformed { .. } => "message_malformed", "A message is not what its subject promises.",
            "Find out who published it.";
        Self::LeaseConflict { .. } => "lease_conflict", "Somebody else changed the lease first.",
            "Nothing: it is read again.";
        Self::ConfigDiffers { .. } => "config_differs", "The server keeps another configuration than the one applied.",
            "Run `quorum mesh apply`.";
        Self::Broker { .. } => "broker", "The server or its client library reported something else.",
            "Look at the message and the server's log.";
        Self::Closed => "closed", "The connection to the broker is closed.", "Start the command again.";
    }
}

impl MeshError {
    pub(crate) fn broker(operation: impl Into<String>, reason: impl ToString) -> Self {
        Self::Broker { operation: operation.into(), reason: reason.to_string() }
    }
}

/// The part of the error catalogue that belongs to this crate.
#[must_use]
pub fn errors() -> Vec<ErrorEntry> {
    MeshError::ENTRIES.to_vec()
}
