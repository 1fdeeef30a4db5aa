//! Evidence that came as files, and the bundles beside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quorum_attest::{Envelope, Statement};
use quorum_schemas::{Digest, Value};
use quorum_verifier::bundle::{self, Bundle};

use crate::control::{ControlFiles, read_disk};
use crate::{GateCode, GateError, limits};

/// Evidence envelopes, with the bundles that belong to them.
#[derive(Debug, Default)]
pub(crate) struct EvidenceSet {
    /// Envelope bytes by their digest: repetition does not matter.
    pub(crate) envelopes: BTreeMap<Digest, Vec<u8>>,
    /// Bundles that were recomputed, by their digest.
    pub(crate) bundles: BTreeMap<Digest, Vec<u8>>,
}

impl EvidenceSet {
    /// Adds an envelope and, if it is the right one, its bundle.
    pub(crate) fn add(&mut self, envelope: Vec<u8>, bundle: Option<Vec<u8>>) {
        if let (Some(predicate), Some(bundle)) = (predicate(&envelope), bundle)
            && bundle::check(&bundle, &predicate).is_ok()
        {
            self.bundles.insert(Digest::of(&bundle), bundle);
        }
        self.envelopes.insert(Digest::of(&envelope), envelope);
    }

    /// Adds what a hidden plan keeps from workers: the record is for who decides and who audits.
    pub(crate) fn seal(&mut self, sealed: Option<Bundle>) {
        self.bundles.extend(sealed.map(|bundle| (bundle.digest, bundle.bytes)));
    }

    /// Reads `--evidence FILE`s. A bundle is sought in `bundles`, or beside its evidence.
    ///
    /// # Errors
    /// `too_much_evidence`, and those of [`ControlFiles::read`]. Evidence that is not even an envelope is no error: the
    /// decision lists it as refused.
    pub(crate) fn read(
        control: &mut ControlFiles,
        files: &[PathBuf],
        bundles: Option<&Path>,
    ) -> Result<Self, GateError> {
        if files.len() > limits::EVIDENCE_FILES {
            return Err(GateError::control(
                GateCode::TooMuchEvidence,
                format!("{} evidence files, the limit is {}", files.len(), limits::EVIDENCE_FILES),
            ));
        }
        let mut set = Self::default();
        for file in files {
            let envelope = control.read("--evidence", file, limits::ENVELOPE)?;
            let bundle = match predicate(&envelope).as_ref().and_then(bundle_digest) {
                Some(digest) => find_bundle(control, file, bundles, digest)?,
                None => None,
            };
            set.add(envelope, bundle);
        }
        Ok(set)
    }

    /// Whether the bundle of this envelope was recomputed.
    pub(crate) fn bundle_checked(&self, envelope: &[u8]) -> bool {
        let Some(predicate) = predicate(envelope) else { return false };
        bundle_digest(&predicate)
            .and_then(|digest| self.bundles.get(&digest))
            .is_some_and(|bundle| bundle::check(bundle, &predicate).is_ok())
    }
}

/// The predicate of an envelope whose signature nobody has checked: good for finding its bundle, nothing else.
fn predicate(envelope: &[u8]) -> Option<Value> {
    let envelope = Envelope::parse(envelope).ok()?;
    Statement::parse(envelope.payload()).ok().map(|statement| statement.predicate)
}

fn bundle_digest(predicate: &Value) -> Option<Digest> {
    predicate.get("bundle_digest")?.as_str()?.parse().ok()
}

fn find_bundle(
    control: &ControlFiles,
    evidence: &Path,
    folder: Option<&Path>,
    digest: Digest,
) -> Result<Option<Vec<u8>>, GateError> {
    let name = format!("bundle-{}.zip", digest.hex());
    let beside = evidence.parent().unwrap_or(Path::new(""));
    // The second place is that of a recorded decision.
    let folders =
        folder.map_or_else(|| vec![beside.to_owned(), beside.join("../bundles")], |named| vec![named.to_owned()]);
    for folder in folders {
        let path = folder.join(&name);
        // Its digest is signed, so it matters little where it lies; a candidate's links are still not followed.
        if control.outside(&path) && path.is_file() {
            return read_disk(&path, limits::RECORD_FILE).map(Some);
        }
    }
    Ok(None)
}

/// The plan that an envelope claims to be made under.
pub(crate) fn plan_digest(envelope: &[u8]) -> Option<String> {
    predicate(envelope)?.get("plan_digest")?.as_str().map(str::to_owned)
}
