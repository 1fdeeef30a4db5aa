//! `mesh apply`: makes streams, the lease bucket and durable consumers, and reads every configuration back.

use crate::{Mesh, MeshError};

/// What to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvisionPlan {
    /// Verifier ids; each gets its own consumer of offers.
    pub verifiers: Vec<String>,
    /// Replicas of every stream: 1, or 3 in a cluster.
    pub replicas: usize,
}

/// Applies the plan with a provisioner's connection; repeating it is harmless. Returns what now stands, by name.
///
/// # Errors
/// `config_differs` with the first field that the server dropped or keeps otherwise, `permission_denied`,
/// `timed_out`, `broker`.
pub async fn apply(mesh: &Mesh, plan: &ProvisionPlan) -> Result<Vec<String>, MeshError> {
    todo!("{mesh:?} {plan:?}")
}
