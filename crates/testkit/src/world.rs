//! A whole mesh on this machine: a real server, and daemons of a given `quorum` binary with their own keys and files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quorum_attest::{Role, SigningKey, TrustRoot};
use quorum_mesh::{Mesh, MeshUser, UserRole};

use crate::world_files as files;
use crate::{NatsServer, Process, TestkitError};

/// What a world is made of.
#[derive(Debug, Clone)]
pub struct WorldPlan {
    /// The `quorum` binary.
    pub quorum: PathBuf,
    /// The nats-server binary.
    pub nats_server: PathBuf,
    /// An existing directory; everything that the world writes is in it.
    pub dir: PathBuf,
    /// The policy file's text; the trust root admits it.
    pub policy: String,
    /// The verifiers.
    pub verifiers: Vec<VerifierSpec>,
    /// The workers.
    pub workers: Vec<Party>,
    /// Isolation in the verifiers' configuration.
    pub isolation: String,
    /// `lease` and `offer` of the coordinator, like `"15s"`.
    pub timing: (String, String),
    /// Extra environment of every daemon.
    pub env: Vec<(String, String)>,
}

/// An entry of the trust root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    /// Its id.
    pub id: String,
    /// Its attributes.
    pub attributes: BTreeMap<String, String>,
}

impl Party {
    /// A party that shares no attribute with any other one: its operator and host are its own.
    #[must_use]
    pub fn alone(id: &str) -> Self {
        let attributes = ["operator", "host"].map(|axis| (axis.to_owned(), format!("{axis}-of-{id}")));
        Self { id: id.to_owned(), attributes: attributes.into() }
    }
}

/// A verifier and the plan template that it answers every work unit with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierSpec {
    /// The party.
    pub party: Party,
    /// The plan file; used where it stands, since harness paths start there.
    pub plan: PathBuf,
}

/// Ids of the parties that every world has once.
pub const COORDINATOR: &str = "coordinator";
/// See [`COORDINATOR`].
pub const AUTHOR: &str = "author";
/// See [`COORDINATOR`]; holds no key of the trust root.
pub const AUDITOR: &str = "auditor";
/// See [`COORDINATOR`]; holds no key of the trust root.
pub const PROVISIONER: &str = "provisioner";

/// A running world; dropping it kills and reaps every process.
#[derive(Debug)]
pub struct World {
    pub(crate) plan: WorldPlan,
    pub(crate) keys: BTreeMap<(Role, String), SigningKey>,
    pub(crate) trust: TrustRoot,
    // Dropped before the server, so that no daemon logs its death.
    daemons: BTreeMap<String, Process>,
    /// The server.
    pub server: NatsServer,
}

impl World {
    /// Makes keys, trust root, configurations, starts the server and provisions it. No daemon runs yet.
    ///
    /// # Errors
    /// [`TestkitError`].
    pub async fn start(plan: WorldPlan) -> Result<Self, TestkitError> {
        let keys = files::keys(&plan)?;
        let users = users(&plan)?;
        let server_dir = plan.dir.join("nats");
        files::directory(&server_dir)?;
        let server = NatsServer::start(&plan.nats_server, &server_dir, &users)?;
        let ids: Vec<&str> = plan.verifiers.iter().map(|verifier| verifier.party.id.as_str()).collect();
        server.provision(&ids).await?;
        let trust = files::write(&plan, &keys, &users, &server.url())?;
        Ok(Self { plan, keys, trust, server, daemons: BTreeMap::new() })
    }

    /// Starts the coordinator and every verifier.
    ///
    /// # Errors
    /// `system`.
    pub fn start_daemons(&mut self) -> Result<(), TestkitError> {
        self.start_coordinator(&[])?;
        let ids: Vec<String> = self.plan.verifiers.iter().map(|verifier| verifier.party.id.clone()).collect();
        ids.iter().try_for_each(|id| self.start_verifier(id, &[]))
    }

    /// Starts (again) the coordinator, with these variables on top.
    ///
    /// # Errors
    /// `system`.
    pub fn start_coordinator(&mut self, env: &[(String, String)]) -> Result<(), TestkitError> {
        self.start_daemon("coordinator", COORDINATOR, env)
    }

    /// Starts (again) a verifier, with these variables on top.
    ///
    /// # Errors
    /// `system`, `unknown_party`.
    pub fn start_verifier(&mut self, id: &str, env: &[(String, String)]) -> Result<(), TestkitError> {
        if self.plan.verifiers.iter().any(|verifier| verifier.party.id == id) {
            return self.start_daemon("verifier", id, env);
        }
        Err(TestkitError::UnknownParty(format!("verifier {id}")))
    }

    fn start_daemon(&mut self, command: &str, id: &str, env: &[(String, String)]) -> Result<(), TestkitError> {
        let name = format!("{command}-{id}");
        let config = files::config_path(&self.plan.dir, command, id);
        let log = self.plan.dir.join(format!("{}.log", files::file_name(&name)));
        let env = [self.plan.env.as_slice(), env].concat();
        // The old one, if any, must be gone before its successor takes the lock.
        drop(self.daemons.remove(&name));
        let args = [Path::new(command), Path::new("--config"), &config];
        let process = Process::spawn(&name, &self.plan.quorum, args, &env, &log)?;
        self.daemons.insert(name, process);
        Ok(())
    }

    /// The coordinator's process.
    ///
    /// # Errors
    /// `unknown_party` if it was not started.
    pub fn coordinator(&mut self) -> Result<&mut Process, TestkitError> {
        self.daemon(format!("coordinator-{COORDINATOR}"))
    }

    /// A verifier's process.
    ///
    /// # Errors
    /// `unknown_party` if it was not started.
    pub fn verifier(&mut self, id: &str) -> Result<&mut Process, TestkitError> {
        self.daemon(format!("verifier-{id}"))
    }

    fn daemon(&mut self, name: String) -> Result<&mut Process, TestkitError> {
        self.daemons.get_mut(&name).ok_or(TestkitError::UnknownParty(format!("running {name}")))
    }

    /// Every process of the world by name, the server among them.
    #[must_use]
    pub fn pids(&self) -> BTreeMap<String, u32> {
        let daemons = self.daemons.iter().map(|(name, process)| (name.clone(), process.pid()));
        daemons.chain([("nats-server".to_owned(), self.server.process().pid())]).collect()
    }

    /// Ends every daemon with SIGTERM, then the server.
    ///
    /// # Errors
    /// `not_ready` for one that had to be killed.
    pub fn stop(mut self) -> Result<(), TestkitError> {
        for process in self.daemons.values_mut() {
            process.stop()?;
        }
        self.server.kill9()
    }

    /// A connection as one of the parties.
    ///
    /// # Errors
    /// Those of [`NatsServer::connect`].
    pub async fn connect(&self, role: UserRole, id: &str) -> Result<Mesh, TestkitError> {
        self.server.connect(role, id).await
    }

    /// A signing key of the trust root.
    ///
    /// # Errors
    /// `unknown_party`.
    pub fn key(&self, role: Role, id: &str) -> Result<&SigningKey, TestkitError> {
        let key = self.keys.get(&(role, id.to_owned()));
        key.ok_or_else(|| TestkitError::UnknownParty(format!("key of {} {id}", role.as_str())))
    }

    /// The trust root.
    #[must_use]
    pub fn trust(&self) -> &TrustRoot {
        &self.trust
    }

    /// The directory of everything.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.plan.dir
    }

    /// The credentials file of a user, for `--credentials`.
    #[must_use]
    pub fn credentials(&self, role: UserRole, id: &str) -> PathBuf {
        files::credentials_path(&self.plan.dir, role, id)
    }

    /// The key file of a party, for `--key`.
    #[must_use]
    pub fn key_file(&self, role: Role, id: &str) -> PathBuf {
        files::key_path(&self.plan.dir, role, id)
    }
}

fn users(plan: &WorldPlan) -> Result<Vec<MeshUser>, TestkitError> {
    let verifiers = plan.verifiers.iter().map(|verifier| (UserRole::Verifier, verifier.party.id.as_str()));
    let workers = plan.workers.iter().map(|worker| (UserRole::Worker, worker.id.as_str()));
    let fixed = [
        (UserRole::Coordinator, COORDINATOR),
        (UserRole::Author, AUTHOR),
        (UserRole::Auditor, AUDITOR),
        (UserRole::Provisioner, PROVISIONER),
    ];
    let all = fixed.into_iter().chain(verifiers).chain(workers);
    Ok(all.map(|(role, id)| MeshUser::generate(role, id)).collect::<Result<_, _>>()?)
}
