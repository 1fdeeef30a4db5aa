//! One connection as one user.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::{ConnectErrorKind, ConnectOptions, Event, ServerError};
use serde::Deserialize;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use crate::{MeshError, UserRole, limits};

/// Denials kept for callers that have not looked yet.
const DENIALS: usize = 64;

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
        let unreadable =
            |error: std::io::Error| MeshError::FileUnreadable { path: path.into(), reason: error.to_string() };
        let found = std::fs::metadata(path).map_err(unreadable)?;
        let malformed = |reason: String| MeshError::CredentialsMalformed { path: path.into(), reason };
        // A pipe that nobody writes to would be waited for without end.
        if !found.is_file() && !found.is_dir() {
            return Err(malformed("it is not a regular file".to_owned()));
        }
        if found.len() > limits::CREDENTIALS_BYTES {
            return Err(malformed(format!("{} bytes, the limit is {}", found.len(), limits::CREDENTIALS_BYTES)));
        }
        let mode = found.permissions().mode() & 0o777;
        if mode & 0o077 != 0 && found.is_file() {
            return Err(MeshError::CredentialsExposed { path: path.into(), mode });
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(&text).map_err(malformed)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (mut user, mut password) = (None, None);
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            // The reason never repeats the line: it may hold the password.
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            let (key, value) = line.split_once('=').ok_or_else(|| wrong("no `=`"))?;
            let value = value.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            let value = value
                .filter(|v| !v.is_empty() && !v.contains(['"', '\\']))
                .ok_or_else(|| wrong("not a plain quoted text"))?;
            let slot = match key.trim() {
                "user" => &mut user,
                "password" => &mut password,
                _ => return Err(wrong("unknown key")),
            };
            if slot.replace(value.to_owned()).is_some() {
                return Err(wrong("the key stands twice"));
            }
        }
        let user = user.ok_or("`user` is missing")?;
        Ok(Self { user, password: password.ok_or("`password` is missing")? })
    }

    /// Writes a credentials file, mode 0600; replaces nothing.
    ///
    /// # Errors
    /// `file_unreadable` if it cannot be created.
    pub fn save(&self, path: &Path) -> Result<(), MeshError> {
        let failed = |error: std::io::Error| MeshError::FileUnreadable { path: path.into(), reason: error.to_string() };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
        let text = format!("user = \"{}\"\npassword = \"{}\"\n", self.user, self.password);
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
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
    user: String,
    /// Whether messages are read as JSON: see [`crate::read`].
    pub(crate) reads_all: bool,
    /// The server's texts of refused subjects, as they arrive.
    pub(crate) denials: broadcast::Sender<String>,
    /// How often the connection was made; a change means that what was in flight may be lost.
    pub(crate) connections: watch::Receiver<u64>,
}

impl Mesh {
    /// Connects, waiting at most `patience` for the server to appear.
    ///
    /// # Errors
    /// `connect_failed`, `server_too_old`.
    pub async fn connect(url: &str, credentials: &Credentials, patience: Duration) -> Result<Self, MeshError> {
        let (denials, _) = broadcast::channel(DENIALS);
        let (counter, connections) = watch::channel(0);
        let deadline = Instant::now() + patience;
        let client = loop {
            match options(credentials, denials.clone(), counter.clone()).connect(url).await {
                Ok(client) => break client,
                Err(error) => {
                    let final_answer = matches!(
                        error.kind(),
                        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation
                    );
                    if final_answer || Instant::now() >= deadline {
                        return Err(MeshError::ConnectFailed { url: url.to_owned(), reason: error.to_string() });
                    }
                    tokio::time::sleep(limits::RECONNECT).await;
                }
            }
        };
        check_version(url, &client.server_info().version)?;
        // The event of this very connection must not look like a later reconnection.
        let mut connections = connections;
        let made = tokio::time::timeout(limits::ACK_TIMEOUT, connections.wait_for(|count| *count > 0)).await;
        if made.is_err() {
            return Err(MeshError::ConnectFailed { url: url.to_owned(), reason: "no event of the connection".into() });
        }
        drop(made);
        let reads_all = UserRole::reads_all(&credentials.user);
        Ok(Self { client, user: credentials.user.clone(), reads_all, denials, connections })
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
        self.client.drain().await.map_err(|error| MeshError::broker("close", error))
    }
}

fn options(
    credentials: &Credentials,
    denials: broadcast::Sender<String>,
    counter: watch::Sender<u64>,
) -> ConnectOptions {
    ConnectOptions::with_user_and_password(credentials.user.clone(), credentials.password.clone())
        .name(format!("quorum {}", credentials.user))
        .custom_inbox_prefix(format!("_INBOX.{}", credentials.user))
        .connection_timeout(limits::ACK_TIMEOUT)
        .max_reconnects(None)
        .reconnect_delay_callback(|_| limits::RECONNECT)
        .event_callback(move |event| {
            match &event {
                Event::Connected => counter.send_modify(|count| *count += 1),
                // Nobody waiting for a denial is not an error.
                Event::ServerError(ServerError::Other(text)) => drop(denials.send(text.clone())),
                _ => {}
            }
            tracing::debug!(%event, "broker");
            std::future::ready(())
        })
}

fn check_version(url: &str, version: &str) -> Result<(), MeshError> {
    let mut numbers = version.split(['.', '-', '+']).map(|part| part.parse::<u64>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found >= limits::MINIMUM_SERVER {
        return Ok(());
    }
    Err(MeshError::ServerTooOld {
        url: url.to_owned(),
        found: version.to_owned(),
        minimum: limits::MINIMUM_SERVER_TEXT,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_6_servers_below_2_12_are_refused() {
        for (version, admitted) in [
            ("2.9.10", false),
            ("2.11.11", false),
            ("2.12.0", true),
            ("2.15.1-beta.1", true),
            ("3.0.0", true),
            ("", false),
        ] {
            assert_eq!(check_version("nats://x", version).is_ok(), admitted, "{version}");
        }
    }

    #[test]
    fn design_11_credentials_file_is_strict_and_its_errors_never_repeat_it() {
        let good = Credentials::parse("user = \"worker-a\"\npassword = \"p=q\"\n").unwrap();
        assert_eq!((good.user(), good.password()), ("worker-a", "p=q"));
        for bad in [
            "",
            "user = \"a\"",
            "user = \"a\"\npassword = secret",
            "user = \"a\"\npassword = \"secret\"\npassword = \"secret\"",
            "user = \"a\"\npassword = \"secret\"\nhost = \"secret\"",
        ] {
            let reason = Credentials::parse(bad).unwrap_err();
            assert!(!reason.contains("secret"), "{reason}");
        }
        assert!(!format!("{good:?}").contains("p=q"));
    }

    #[test]
    fn design_4_credentials_file_is_written_0600_and_read_only_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.credentials");
        Credentials::new("u", "p").save(&path).unwrap();
        assert_eq!(Credentials::load(&path).unwrap().password(), "p");
        assert_eq!(Credentials::new("u", "q").save(&path).unwrap_err().code(), "file_unreadable");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(Credentials::load(&path).unwrap_err().code(), "credentials_exposed");
    }
}
