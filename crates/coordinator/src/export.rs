//! The record of a decision, put together from the mesh alone: what `quorum show HANDOFF --out DIR` writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quorum_attest::{Envelope, Statement};
use quorum_mesh::{BlobRole, Mesh, MeshError, Place, StreamName};
use quorum_policies::{Decision, Recommendation};
use quorum_schemas::{C1Digest, Digest, c1};

use crate::evidence::named_bundle;
use crate::{CoordinatorError, record};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The handoff.
    pub handoff: C1Digest,
    /// The newest revision, which the record is of.
    pub revision: u32,
    /// What it recommends.
    pub recommendation: Recommendation,
    /// Every file, relative to the directory.
    pub files: Vec<PathBuf>,
}

/// Collects the newest decision of a handoff and every file that it lists, and writes them to `directory`, which must
/// be absent or empty. Every file is held against the digest in the decision before anything is written. The signatures
/// are not checked here: `quorum audit` does that, on the files.
///
/// # Errors
/// `record_incomplete` (not decided, or a part is not on the mesh), `output`, and those of the mesh.
pub async fn export(mesh: &Mesh, handoff: C1Digest, directory: &Path) -> Result<Exported, CoordinatorError> {
    let collector = Collector { mesh, handoff };
    let (decision, envelope) = collector.decision().await?;
    let mut files = collector.files(&decision).await?;
    for entry in &decision.files {
        let found = files.get(&entry.path).map(|bytes| Digest::of(bytes));
        if found != Some(entry.sha256) {
            return Err(collector.lacks(format!("{} with digest {}", entry.path, entry.sha256)));
        }
    }
    files.insert(record::SIGNED_DECISION.to_owned(), envelope);
    write(directory, &files)?;
    Ok(Exported {
        handoff,
        revision: decision.revision,
        recommendation: decision.recommendation,
        files: files.into_keys().map(PathBuf::from).collect(),
    })
}

struct Collector<'a> {
    mesh: &'a Mesh,
    handoff: C1Digest,
}

impl Collector<'_> {
    fn lacks(&self, what: impl Into<String>) -> CoordinatorError {
        CoordinatorError::RecordIncomplete { handoff: self.handoff, what: what.into() }
    }

    /// The newest revision. Revisions have no gaps, since each names the one before.
    async fn decision(&self) -> Result<(Decision, Vec<u8>), CoordinatorError> {
        let mut newest = None;
        for revision in 1..=crate::limits::REVISIONS {
            match self.mesh.read(&Place::Decision { handoff: self.handoff, revision }).await? {
                Some(stored) => newest = Some(stored),
                None => break,
            }
        }
        let stored = newest.ok_or_else(|| self.lacks("a decision"))?;
        let statement = Statement::parse(Envelope::parse(&stored.body)?.payload())?;
        Ok((Decision::parse(&statement.predicate)?, stored.body.to_vec()))
    }

    async fn files(&self, decision: &Decision) -> Result<BTreeMap<String, Vec<u8>>, CoordinatorError> {
        let mut files = BTreeMap::from([(record::FACTS.to_owned(), c1(&decision.facts.to_value()))]);
        let work = Place::Work { work: decision.work_unit.id.clone(), version: decision.work_unit.version };
        let handoff = Place::Handoff { handoff: self.handoff };
        for (name, place) in [(record::work_unit(), work), (record::SIGNED_HANDOFF.to_owned(), handoff)] {
            let stored = self.mesh.read(&place).await?.ok_or_else(|| self.lacks(name.as_str()))?;
            files.insert(name, stored.body.to_vec());
        }
        let listed = |name: &str| decision.files.iter().find(|file| file.path == name).map(|file| file.sha256);
        let name = record::result_manifest();
        let manifest = listed(&name).ok_or_else(|| self.lacks(name.as_str()))?;
        files.insert(name, self.manifest(decision, manifest).await?);
        for (name, digest) in [(record::POLICY, decision.policy.digest), (record::TRUST, decision.trust.digest)] {
            files.insert(name.to_owned(), self.control_file(name, digest).await?);
        }
        if let Some(digest) = listed(record::SIGNED_VSA) {
            files.insert(record::SIGNED_VSA.to_owned(), self.control_file(record::SIGNED_VSA, digest).await?);
        }
        self.evidence(decision, &mut files).await?;
        Ok(files)
    }

    /// A subject may hold a second, conflicting manifest; the one that was decided on is named by its digest.
    async fn manifest(&self, decision: &Decision, digest: Digest) -> Result<Vec<u8>, CoordinatorError> {
        let place = Place::Result {
            worker: decision.worker_id.clone(),
            work: decision.work_unit.id.clone(),
            version: decision.work_unit.version,
            attempt: decision.result_manifest.version,
        };
        let stored = self.mesh.scan(StreamName::Results, Some(&place.subject()?), 1).await?;
        let found = stored.into_iter().find(|stored| stored.digest() == digest);
        Ok(found.ok_or_else(|| self.lacks(record::result_manifest()))?.body.to_vec())
    }

    /// Coordinators publish their trust roots, policies and verification summaries as blobs; which of them did is all the same.
    async fn control_file(&self, name: &str, digest: Digest) -> Result<Vec<u8>, CoordinatorError> {
        let filter = format!("idkmesh.v1.blob.{}.*.{}.0", BlobRole::Coordinator.as_str(), digest.hex());
        for stored in self.mesh.scan(StreamName::Blobs, Some(&filter), 1).await? {
            if let Some(bytes) = self.blob(&stored.place()?).await? {
                return Ok(bytes);
            }
        }
        Err(self.lacks(name))
    }

    async fn blob(&self, place: &Place) -> Result<Option<Vec<u8>>, CoordinatorError> {
        let Place::Blob { role, publisher, sha256, .. } = place else { return Ok(None) };
        match self.mesh.find_blob(*role, publisher, *sha256).await? {
            Some(blob) => Ok(Some(self.mesh.get_blob(&blob).await?)),
            None => Ok(None),
        }
    }

    async fn evidence(
        &self,
        decision: &Decision,
        files: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<(), CoordinatorError> {
        let filter = format!("idkmesh.v1.evidence.*.{}.>", self.handoff.hex());
        for stored in self.mesh.scan(StreamName::Evidence, Some(&filter), 1).await? {
            let Some(fact) = decision.facts.facts.received.get(&stored.digest()) else { continue };
            files.insert(record::evidence(&stored.digest()), stored.body.to_vec());
            let Ok(Place::Evidence { verifier, .. }) = stored.place() else { continue };
            if !fact.bundle_checked {
                continue;
            }
            let Some(digest) = named_bundle(&stored.body) else { continue };
            let blob = Place::Blob { role: BlobRole::Verifier, publisher: verifier, sha256: digest, chunk: 0 };
            match self.blob(&blob).await {
                Ok(Some(bytes)) => {
                    files.insert(record::bundle(&digest), bytes);
                }
                // Another message with the same bytes may have been published where the bundle is.
                Ok(None) | Err(CoordinatorError::Mesh(MeshError::NotFound(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn write(directory: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), CoordinatorError> {
    let output = |path: &Path, reason: String| CoordinatorError::Output { path: path.to_owned(), reason };
    let occupied = std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
    if occupied {
        return Err(output(directory, "the directory is not empty; name another one".into()));
    }
    for (name, bytes) in files {
        let path = directory.join(name);
        let folder = path.parent().unwrap_or(directory);
        std::fs::create_dir_all(folder).map_err(|error| output(folder, error.to_string()))?;
        std::fs::write(&path, bytes).map_err(|error| output(&path, error.to_string()))?;
    }
    Ok(())
}
