//! What every part of the coordinator works with and nobody changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorum_attest::Role;
use quorum_mesh::{AuditRecord, BlobRole, LeaseStore, Mesh, MeshError};
use quorum_policies::Policy;
use quorum_schemas::{C1Digest, Digest};

use crate::config::{Loaded, Timing};
use crate::{CoordinatorError, clock, limits};

/// The desk.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) mesh: Mesh,
    pub(crate) leases: LeaseStore,
    pub(crate) loaded: Loaded,
    pub(crate) timing: Timing,
    pub(crate) policies: BTreeMap<Digest, Arc<Policy>>,
}

impl Context {
    pub(crate) fn new(mesh: Mesh, loaded: Loaded, timing: Timing) -> Self {
        let policy = Arc::new(loaded.policy.clone());
        let policies = BTreeMap::from([(policy.digest(), policy)]);
        Self { leases: mesh.lease_store(), mesh, loaded, timing, policies }
    }

    /// Goes on with other files.
    pub(crate) fn reload(&mut self, loaded: Loaded) {
        let policy = Arc::new(loaded.policy.clone());
        self.policies = BTreeMap::from([(policy.digest(), policy)]);
        self.loaded = loaded;
    }

    /// Puts trust root and policy on the mesh, so that a record can be put together from it alone.
    pub(crate) async fn publish_control_files(&self) -> Result<(), CoordinatorError> {
        for bytes in [self.loaded.trust.bytes(), &self.loaded.policy_bytes] {
            self.mesh.put_blob(BlobRole::Coordinator, &self.loaded.id, bytes).await?;
        }
        Ok(())
    }

    /// The policy that a handoff was issued under.
    pub(crate) async fn policy(&mut self, handoff: C1Digest, digest: Digest) -> Result<Arc<Policy>, CoordinatorError> {
        if let Some(policy) = self.policies.get(&digest) {
            return Ok(policy.clone());
        }
        let bytes = control_file(&self.mesh, &self.loaded.trust, digest).await?;
        let bytes = bytes.ok_or(CoordinatorError::PolicyUnknown { handoff, policy: digest })?;
        let policy = Arc::new(Policy::parse(&bytes)?);
        self.policies.insert(digest, policy.clone());
        Ok(policy)
    }

    /// Publishes a record; a record that stands there already is fine.
    pub(crate) async fn audit(&self, record: &AuditRecord) -> Result<(), CoordinatorError> {
        tracing::info!(
            kind = record.kind,
            code = record.code,
            place = record.place,
            publisher = record.publisher,
            "audit"
        );
        self.mesh.audit(record).await?;
        Ok(())
    }

    /// Whether this coordinator may act: its clock runs with the stream's and its trust root is valid.
    pub(crate) async fn readiness(&self) -> Result<(), CoordinatorError> {
        let before = clock::now();
        let server = self.mesh.server_time().await?;
        let after = clock::now();
        // Where the answer took long the server's clock was read somewhere in between.
        let micros = if server < before {
            server.micros_since(before)
        } else if server > after {
            server.micros_since(after)
        } else {
            0
        };
        if micros.abs() > limits::CLOCK_SKEW_MICROS {
            return Err(CoordinatorError::ClockSkew { micros });
        }
        self.loaded.trust.check_current(after)?;
        Ok(())
    }
}

/// A trust root or policy that some coordinator put on the mesh.
pub(crate) async fn control_file(
    mesh: &Mesh,
    trust: &quorum_attest::TrustRoot,
    digest: Digest,
) -> Result<Option<Vec<u8>>, MeshError> {
    for entry in trust.entries().iter().filter(|entry| entry.role == Role::Coordinator) {
        if let Some(blob) = mesh.find_blob(BlobRole::Coordinator, &entry.id, digest).await? {
            return mesh.get_blob(&blob).await.map(Some);
        }
    }
    Ok(None)
}
