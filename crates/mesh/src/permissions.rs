//! Static roles and the generated server configuration.

use std::path::PathBuf;

use crate::{Credentials, MeshError, token};

/// What a user of the broker may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UserRole {
    /// Publishes its manifests and candidates.
    Worker,
    /// Takes offers, claims leases, publishes its evidence and bundles.
    Verifier,
    /// Publishes handoffs, offers, decisions and audit records; owns the leases.
    Coordinator,
    /// Publishes WorkUnits and baselines.
    Author,
    /// Makes streams and consumers; runs `quorum mesh apply` and nothing else.
    Provisioner,
    /// Reads everything, writes nothing.
    Auditor,
}

impl UserRole {
    /// The name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Verifier => "verifier",
            Self::Coordinator => "coordinator",
            Self::Author => "author",
            Self::Provisioner => "provisioner",
            Self::Auditor => "auditor",
        }
    }
}

/// One user of the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshUser {
    /// What it may do.
    pub role: UserRole,
    /// Trust-root id of worker, verifier, coordinator and author; any name for the others.
    pub id: String,
    /// User name and password.
    pub credentials: Credentials,
}

impl MeshUser {
    /// A user with the given password; its name is `<role>-<token of id>`.
    ///
    /// # Errors
    /// `id_empty`, `id_too_long`.
    pub fn new(role: UserRole, id: &str, password: &str) -> Result<Self, MeshError> {
        let user = user_name(role, id)?;
        Ok(Self { role, id: id.to_owned(), credentials: Credentials::new(user, password) })
    }

    /// A user with a fresh random password of 256 bits.
    ///
    /// # Errors
    /// Those of [`MeshUser::new`]; `broker` if the system has no randomness.
    pub fn generate(role: UserRole, id: &str) -> Result<Self, MeshError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| MeshError::broker("random password", error))?;
        Self::new(role, id, &quorum_schemas::Digest::from_bytes(bytes).hex())
    }
}

/// The broker's user name of a role and id; its replies go to `_INBOX.<user>.>`.
///
/// # Errors
/// `id_empty`, `id_too_long`.
pub fn user_name(role: UserRole, id: &str) -> Result<String, MeshError> {
    Ok(format!("{}-{}", role.as_str(), token::encode(id)?))
}

/// Where the server listens and stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Port on 127.0.0.1; 0 lets the server choose.
    pub port: u16,
    /// Monitoring port on 127.0.0.1.
    pub http_port: Option<u16>,
    /// Directory of the store.
    pub store_dir: PathBuf,
    /// Server name.
    pub name: String,
    /// Bytes of file store; at least [`crate::streams::reserved_bytes`].
    pub max_file: i64,
}

/// The configuration file of a loopback nats-server with exactly these users.
///
/// # Errors
/// `id_empty`, `id_too_long`.
pub fn server_config(settings: &ServerSettings, users: &[MeshUser]) -> Result<String, MeshError> {
    todo!("{settings:?} {users:?}")
}
