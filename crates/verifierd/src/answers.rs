//! Signed answers on disk: one directory for each handoff, seat and try, complete or absent.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use quorum_mesh::{BlobRole, Mesh, MeshError, Place, fault};
use quorum_schemas::{C1Digest, Digest};

use crate::VerifierdError;

const EVIDENCE: &str = "evidence.dsse.json";
const BUNDLE: &str = "bundle.zip";
const SEALED: &str = "sealed.zip";
const PUBLISHED: &str = "published";

/// A signed answer: what is stored and published.
pub(crate) struct Signed<'a> {
    pub(crate) evidence: &'a [u8],
    pub(crate) bundle: &'a [u8],
    /// What a hidden plan shows to coordinator and auditor only.
    pub(crate) sealed: Option<&'a [u8]>,
}

/// Which question an answer is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Question {
    pub(crate) handoff: C1Digest,
    pub(crate) seat: u32,
    pub(crate) try_no: u32,
}

impl Question {
    fn name(&self) -> String {
        format!("{}.{}.{}", self.handoff.hex(), self.seat, self.try_no)
    }

    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('.');
        let handoff = Digest::from_hex(parts.next()?).ok()?;
        let question = Self { handoff, seat: parts.next()?.parse().ok()?, try_no: parts.next()?.parse().ok()? };
        (question.name() == name).then_some(question)
    }
}

/// The store; holds the lock on the state directory.
pub(crate) struct Answers {
    dir: PathBuf,
    verifier: String,
    _lock: File,
}

impl Answers {
    /// Opens the store of a state directory.
    pub(crate) fn open(state_dir: &Path, verifier: &str) -> Result<Self, VerifierdError> {
        let dir = state_dir.join("answers");
        let failed = |error: std::io::Error| unwritable(&dir, &error);
        fs::create_dir_all(&dir).map_err(failed)?;
        let lock = File::create(state_dir.join("lock")).map_err(failed)?;
        lock.try_lock().map_err(|_| VerifierdError::StateLocked { path: state_dir.to_owned() })?;
        // Drafts of a crash: nothing of them was ever published.
        for name in names(&dir)?.iter().filter(|name| name.ends_with(".draft")) {
            fs::remove_dir_all(dir.join(name)).map_err(failed)?;
        }
        Ok(Self { dir, verifier: verifier.to_owned(), _lock: lock })
    }

    /// Whether this question was answered before, published or not.
    pub(crate) fn holds(&self, question: &Question) -> bool {
        self.dir.join(question.name()).is_dir()
    }

    /// Answers that may not have been published in full.
    pub(crate) fn unpublished(&self) -> Result<Vec<Question>, VerifierdError> {
        let questions = names(&self.dir)?.into_iter().filter_map(|name| Question::parse(&name));
        Ok(questions.filter(|question| !self.dir.join(question.name()).join(PUBLISHED).exists()).collect())
    }

    /// Stores a signed answer before anybody sees it; refuses a second one to the same question.
    pub(crate) fn store(&self, question: &Question, answer: &Signed<'_>) -> Result<(), VerifierdError> {
        let target = self.dir.join(question.name());
        let draft = self.dir.join(format!("{}.draft", question.name()));
        let write = || -> std::io::Result<()> {
            if target.exists() {
                return Err(std::io::Error::from(ErrorKind::AlreadyExists));
            }
            fs::create_dir(&draft)?;
            let files = [(BUNDLE, answer.bundle), (EVIDENCE, answer.evidence)];
            for (name, bytes) in files.into_iter().chain(answer.sealed.map(|bytes| (SEALED, bytes))) {
                let mut file = File::create(draft.join(name))?;
                file.write_all(bytes)?;
                file.sync_all()?;
            }
            File::open(&draft)?.sync_all()?;
            fs::rename(&draft, &target)?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(|error| unwritable(&target, &error))
    }

    /// Publishes a stored answer, bundle first. Publishing it again is harmless.
    pub(crate) async fn publish(&self, mesh: &Mesh, question: &Question) -> Result<(), VerifierdError> {
        let dir = self.dir.join(question.name());
        let read = |name: &str| fs::read(dir.join(name)).map_err(|error| unwritable(&dir, &error));
        let (bundle, evidence) = (read(BUNDLE)?, read(EVIDENCE)?);
        mesh.put_blob(BlobRole::Verifier, &self.verifier, &bundle).await?;
        if dir.join(SEALED).exists() {
            mesh.put_blob(BlobRole::Verifier, &self.verifier, &read(SEALED)?).await?;
        }
        fault::point("after_blob");
        let Question { handoff, seat, try_no } = *question;
        let place = Place::Evidence { verifier: self.verifier.clone(), handoff, seat, try_no };
        match mesh.publish(&place, &evidence).await {
            Ok(published) => tracing::info!(%handoff, seat, try_no, evidence = %published.digest, "evidence published"),
            // Somebody else has this key, or the state directory was set back: say so, and never sign another one.
            Err(MeshError::AlreadyPublished { stored, .. }) => {
                tracing::error!(%handoff, seat, try_no, %stored, "other evidence of this verifier stands there");
            }
            Err(error) => return Err(error.into()),
        }
        let mark = File::create(dir.join(PUBLISHED)).and_then(|file| file.sync_all());
        mark.map_err(|error| unwritable(&dir, &error))
    }
}

fn names(dir: &Path) -> Result<Vec<String>, VerifierdError> {
    let listing = fs::read_dir(dir).map_err(|error| unwritable(dir, &error))?;
    let mut names = Vec::new();
    for item in listing {
        names.push(item.map_err(|error| unwritable(dir, &error))?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn unwritable(path: &Path, error: &std::io::Error) -> VerifierdError {
    VerifierdError::StateUnwritable { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn design_7_an_answer_is_stored_once_and_drafts_of_a_crash_vanish() {
        let dir = tempfile::tempdir().unwrap();
        let question = Question { handoff: C1Digest::c1(&"h".into()), seat: 1, try_no: 2 };
        let answers = Answers::open(dir.path(), "v").unwrap();
        assert!(!answers.holds(&question));
        let answer = Signed { evidence: b"evidence", bundle: b"bundle", sealed: None };
        answers.store(&question, &answer).unwrap();
        assert!(answers.holds(&question));
        assert_eq!(answers.unpublished().unwrap(), [question]);
        assert_eq!(answers.store(&question, &answer).unwrap_err().code(), "state_unwritable");
        assert_eq!(Answers::open(dir.path(), "v").err().map(|error| error.code()), Some("state_locked"));
        drop(answers);
        let draft = dir.path().join("answers").join(format!("{}.0.1.draft", question.handoff.hex()));
        fs::create_dir(&draft).unwrap();
        let answers = Answers::open(dir.path(), "v").unwrap();
        assert!(!draft.exists());
        fs::write(dir.path().join("answers").join(question.name()).join(PUBLISHED), b"").unwrap();
        assert_eq!(answers.unpublished().unwrap(), []);
        assert!(answers.holds(&question));
    }
}
