//! One connection as one user.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream;
use serde::Deserialize;
use tokio::sync::broadcast;

use crate::{MeshError, limits};

/// The `[nats]` table of every daemon's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatsConfig {
    /// Address, for example `nats://127.0.0.1:4222`.
    pub url: String,
    /// File with `user` and `password`, mode 0600.
    pub credentials: PathBuf,
}

/// A user and its password; the password never reaches a log, an argument or `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    user: String,
    password: String,
}

impl Credentials {
    /// Credentials from memory.
    #[must_use]
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { user: user.into(), password: password.into() }
    }

    /// The user.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The password, for the generated server configuration only.
    pub(crate) fn password(&self) -> &str {
        &self.password
    }

    /// Reads a credentials file: the lines `user = "..."` and `password = "..."`.
    ///
    /// # Errors
    /// `file_unreadable`, `credentials_exposed` (others may read it), `credentials_malformed`.
    pub fn load(path: &Path) -> Result<Self, MeshError> {
        todo!("{path:?}")
    }

    /// Writes a credentials file, mode 0600; replaces nothing.
    ///
    /// # Errors
    /// `file_unreadable` if it cannot be created.
    pub fn save(&self, path: &Path) -> Result<(), MeshError> {
        todo!("{path:?}")
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A connection to the mesh as one user. Cheap to clone; reconnects by itself for ever.
#[derive(Debug, Clone)]
pub struct Mesh {
    pub(crate) client: async_nats::Client,
    pub(crate) js: jetstream::Context,
    pub(crate) user: String,
    pub(crate) url: String,
    pub(crate) denials: broadcast::Sender<String>,
}

impl Mesh {
    /// Connects, waiting at most `patience` for the server to appear.
    ///
    /// # Errors
    /// `connect_failed`, `server_too_old`.
    pub async fn connect(url: &str, credentials: &Credentials, patience: Duration) -> Result<Self, MeshError> {
        todo!("{url} {credentials:?} {patience:?}")
    }

    /// Connects as the `[nats]` table says.
    ///
    /// # Errors
    /// Those of [`Credentials::load`] and [`Mesh::connect`].
    pub async fn open(config: &NatsConfig, patience: Duration) -> Result<Self, MeshError> {
        Self::connect(&config.url, &Credentials::load(&config.credentials)?, patience).await
    }

    /// The user of this connection.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Whether the connection stands at this moment.
    #[must_use]
    pub fn connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Sends what is buffered and closes.
    ///
    /// # Errors
    /// `broker` if the server did not take the rest.
    pub async fn close(self) -> Result<(), MeshError> {
        todo!()
    }
}
