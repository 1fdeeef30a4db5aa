//! A server with one user of each role.

use quorum_mesh::{Mesh, MeshUser, UserRole};
use quorum_testkit::{NatsServer, find_nats_server};
use tempfile::TempDir;

/// Ids are chosen so that their tokens need escaping.
pub(crate) const WORKER: &str = "acme/worker.1";
pub(crate) const VERIFIER: &str = "acme/verifier.1";
pub(crate) const OTHER: &str = "acme/verifier.2";

pub(crate) struct World {
    pub(crate) server: NatsServer,
    _dir: TempDir,
}

pub(crate) fn users() -> Vec<MeshUser> {
    [
        (UserRole::Worker, WORKER),
        (UserRole::Worker, "other"),
        (UserRole::Verifier, VERIFIER),
        (UserRole::Verifier, OTHER),
        (UserRole::Coordinator, "coordinator"),
        (UserRole::Author, "author"),
        (UserRole::Auditor, "auditor"),
        (UserRole::Provisioner, "provisioner"),
    ]
    .into_iter()
    .map(|(role, id)| MeshUser::generate(role, id).unwrap())
    .collect()
}

impl World {
    pub(crate) async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = NatsServer::start(&find_nats_server().unwrap(), dir.path(), &users()).unwrap();
        server.provision(&[VERIFIER, OTHER]).await.unwrap();
        Self { server, _dir: dir }
    }

    pub(crate) async fn user(&self, role: UserRole, id: &str) -> Mesh {
        self.server.connect(role, id).await.unwrap()
    }

    pub(crate) async fn worker(&self) -> Mesh {
        self.user(UserRole::Worker, WORKER).await
    }

    pub(crate) async fn verifier(&self) -> Mesh {
        self.user(UserRole::Verifier, VERIFIER).await
    }

    pub(crate) async fn coordinator(&self) -> Mesh {
        self.user(UserRole::Coordinator, "coordinator").await
    }
}
