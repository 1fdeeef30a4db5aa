//! A real nats-server with JetStream on loopback.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quorum_mesh::{Mesh, MeshUser, ProvisionPlan, ServerSettings, UserRole, apply, server_config};

use crate::{Process, TestkitError, free_port, limits};

/// Finds the server binary: `$QUORUM_NATS_SERVER`, `<workspace>/.tools/nats-server`, the PATH.
///
/// # Errors
/// `nats_server_missing`, with the line that installs it.
pub fn find_nats_server() -> Result<PathBuf, TestkitError> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
    let named = std::env::var_os("QUORUM_NATS_SERVER").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|dir| dir.join("nats-server")).collect::<Vec<_>>();
    named
        .into_iter()
        .chain([tools.join("nats-server")])
        .chain(on_path)
        .find(|candidate| candidate.is_file())
        .ok_or(TestkitError::NatsServerMissing { tools })
}

/// A running server; dropping it kills and reaps it.
#[derive(Debug)]
pub struct NatsServer {
    binary: PathBuf,
    dir: PathBuf,
    port: u16,
    http_port: u16,
    users: Vec<MeshUser>,
    process: Process,
}

impl NatsServer {
    /// Starts a server with these users; configuration, log and store are in `dir`.
    ///
    /// # Errors
    /// `system`, `not_ready`.
    pub fn start(binary: &Path, dir: &Path, users: &[MeshUser]) -> Result<Self, TestkitError> {
        let mut last = None;
        for _ in 0..limits::PORT_ATTEMPTS {
            let (port, http_port) = (free_port()?, free_port()?);
            write_config(dir, port, http_port, users)?;
            match launch(binary, dir, http_port) {
                Ok(process) => {
                    let (binary, dir, users) = (binary.to_owned(), dir.to_owned(), users.to_vec());
                    return Ok(Self { binary, dir, port, http_port, users, process });
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or(TestkitError::NatsServerMissing { tools: binary.to_owned() }))
    }

    /// Makes streams and consumers as the provisioner among the users.
    ///
    /// # Errors
    /// Those of [`apply`]; `nats` errors if there is no provisioner.
    pub async fn provision(&self, verifiers: &[&str]) -> Result<Vec<String>, TestkitError> {
        let mesh = self.connect(UserRole::Provisioner, "provisioner").await?;
        let verifiers = verifiers.iter().map(|id| (*id).to_owned()).collect();
        let made = apply(&mesh, &ProvisionPlan { verifiers, replicas: 1 }).await?;
        mesh.close().await?;
        Ok(made)
    }

    /// A connection as one of the users.
    ///
    /// # Errors
    /// `not_found` for a user that the server was not started with, and those of [`Mesh::connect`].
    pub async fn connect(&self, role: UserRole, id: &str) -> Result<Mesh, TestkitError> {
        let user = self.users.iter().find(|user| user.role == role && user.id == id);
        let user = user.ok_or_else(|| quorum_mesh::MeshError::NotFound(format!("user {} {id}", role.as_str())))?;
        Ok(Mesh::connect(&self.url(), &user.credentials, limits::READY).await?)
    }

    /// Address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The directory of configuration, log and store.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Kills it with -9.
    ///
    /// # Errors
    /// `system`.
    pub fn kill9(&mut self) -> Result<(), TestkitError> {
        self.process.kill9().map(drop)
    }

    /// Starts it again on the same store and ports, after [`NatsServer::kill9`] or as a plain restart.
    ///
    /// # Errors
    /// `system`, `not_ready`.
    pub fn restart(&mut self) -> Result<(), TestkitError> {
        self.process.kill9()?;
        self.process = launch(&self.binary, &self.dir, self.http_port)?;
        Ok(())
    }
}

fn write_config(dir: &Path, port: u16, http_port: u16, users: &[MeshUser]) -> Result<(), TestkitError> {
    let settings = ServerSettings::local(port, Some(http_port), dir.join("store"));
    let text = server_config(&settings, users)?;
    let path = dir.join("nats.conf");
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(TestkitError::system(format!("write {}", path.display())))
}

fn launch(binary: &Path, dir: &Path, http_port: u16) -> Result<Process, TestkitError> {
    let log = dir.join("nats.log");
    let config = dir.join("nats.conf");
    let mut process = Process::spawn("nats-server", binary, [Path::new("-c"), &config], &[], &log)?;
    let deadline = Instant::now() + limits::READY;
    let mut reason = "no answer from /healthz".to_owned();
    while Instant::now() < deadline {
        if let Some(status) = process.ended()? {
            reason = format!("it ended: {status}");
            break;
        }
        match healthy(http_port) {
            Ok(true) => return Ok(process),
            Ok(false) => {}
            Err(error) => reason = format!("no answer from /healthz: {error}"),
        }
        std::thread::sleep(limits::POLL);
    }
    Err(TestkitError::NotReady { what: "nats-server".into(), reason, log })
}

fn healthy(http_port: u16) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(("127.0.0.1", http_port))?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.contains(r#""status":"ok""#))
}
