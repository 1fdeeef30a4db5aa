//! What authors and workers do in a world: publish work units, candidates and manifests, and wait for decisions.

use std::time::Duration;

use quorum_attest::{Envelope, PAYLOAD_TYPE, PredicateType, Role, Statement, Subject, sign};
use quorum_handoff::{WorkUnit, candidate_subject, intake_values};
use quorum_mesh::{BlobRole, Mesh, Place, Stored, UserRole};
use quorum_schemas::{C1Digest, Digest, Value};
use tokio::time::{Instant, sleep};

use crate::world::{AUDITOR, AUTHOR, World};
use crate::{TestkitError, limits};

/// A manifest on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// The id of the handoff that follows from it.
    pub handoff: C1Digest,
    /// The digest of the manifest's envelope.
    pub envelope: Digest,
}

impl World {
    /// Publishes a work unit as the author.
    ///
    /// # Errors
    /// `document`, and those of [`Mesh::publish`].
    pub async fn publish_work_unit(&self, work_unit: &Value) -> Result<WorkUnit, TestkitError> {
        let unit =
            WorkUnit::from_value(work_unit.clone()).map_err(|error| TestkitError::Document(error.to_string()))?;
        let statement = Statement {
            subject: vec![Subject::sha256(unit.id(), unit.digest())],
            predicate_type: PredicateType::WorkUnit,
            predicate: work_unit.clone(),
        };
        let envelope = sign(PAYLOAD_TYPE, &statement.to_bytes(), self.key(Role::Author, AUTHOR)?);
        let mesh = self.connect(UserRole::Author, AUTHOR).await?;
        let place = Place::Work { work: unit.id().to_owned(), version: unit.version() };
        mesh.publish(&place, &envelope).await?;
        mesh.close().await?;
        Ok(unit)
    }

    /// Publishes a candidate and its signed manifest as the worker that the manifest names.
    ///
    /// # Errors
    /// `document` if no handoff follows from the manifest, and those of [`Mesh::publish`].
    pub async fn submit(&self, unit: &WorkUnit, manifest: &Value, candidate: &[u8]) -> Result<Submitted, TestkitError> {
        let intake = intake_values(unit.value().clone(), manifest.clone(), None).map_err(|errors| {
            TestkitError::Document(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
        })?;
        let about = candidate_subject(&intake.binding);
        let digest = [(about.algorithm().to_owned(), about.hex())].into();
        let envelope = self.sign_manifest(manifest, Subject { name: about.name().to_owned(), digest })?;
        let worker = intake.manifest.worker_id();
        let mesh = self.connect(UserRole::Worker, worker).await?;
        mesh.put_blob(BlobRole::Worker, worker, candidate).await?;
        let published = mesh.publish(&result_place(unit, worker, intake.manifest.attempt()), &envelope).await?;
        mesh.close().await?;
        Ok(Submitted { handoff: intake.handoff.id(), envelope: published.digest })
    }

    /// A manifest in the envelope of the worker that it names.
    ///
    /// # Errors
    /// `unknown_party`.
    pub fn sign_manifest(&self, manifest: &Value, subject: Subject) -> Result<Vec<u8>, TestkitError> {
        let worker = manifest.at(&["worker", "id"]).and_then(Value::as_str).unwrap_or_default();
        let (subject, predicate_type) = (vec![subject], PredicateType::ResultManifest);
        let statement = Statement { subject, predicate_type, predicate: manifest.clone() };
        Ok(sign(PAYLOAD_TYPE, &statement.to_bytes(), self.key(Role::Worker, worker)?))
    }

    /// Waits for a revision of a decision and returns it with its predicate, read as the auditor.
    ///
    /// # Errors
    /// `nothing_came` after `patience`; `document` if it is not a decision.
    pub async fn decision(
        &self,
        handoff: C1Digest,
        revision: u32,
        patience: Duration,
    ) -> Result<(Stored, Value), TestkitError> {
        let mesh = self.connect(UserRole::Auditor, AUDITOR).await?;
        let stored = wait_for(&mesh, &Place::Decision { handoff, revision }, patience).await?;
        mesh.close().await?;
        let statement = Envelope::parse(&stored.body).and_then(|envelope| Statement::parse(envelope.payload()));
        let predicate = statement.map_err(|error| TestkitError::Document(error.to_string()))?.predicate;
        Ok((stored, predicate))
    }
}

/// The subject of a manifest.
pub(crate) fn result_place(unit: &WorkUnit, worker: &str, attempt: u64) -> Place {
    Place::Result { worker: worker.to_owned(), work: unit.id().to_owned(), version: unit.version(), attempt }
}

async fn wait_for(mesh: &Mesh, place: &Place, patience: Duration) -> Result<Stored, TestkitError> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(stored) = mesh.read(place).await? {
            return Ok(stored);
        }
        if Instant::now() >= deadline {
            return Err(TestkitError::NothingCame(format!("{} within {} ms", place.subject()?, patience.as_millis())));
        }
        sleep(limits::POLL).await;
    }
}
