//! The control files of one run, read once and before anything else happens.

use std::fs;
use std::path::{Path, PathBuf};

use quorum_attest::{Entry, Role, SigningKey, TrustHistory, TrustRoot};
use quorum_policies::Policy;
use quorum_schemas::{Digest, Timestamp};

use crate::control::{ControlFiles, read_disk};
use crate::documents::{Documents, admit};
use crate::trust_file::Fault;
use crate::{GateCode, GateError, earlier_trust, keys, limits, newest_trust};

/// A policy and its bytes.
pub(crate) struct PolicyFile {
    pub(crate) policy: Policy,
    pub(crate) bytes: Vec<u8>,
}

impl PolicyFile {
    /// A shipped policy by its name, or a file. A name wins: `./local` is a file called `local`.
    ///
    /// # Errors
    /// `policy_*`, and those of [`ControlFiles::read`].
    pub(crate) fn read(control: &mut ControlFiles, named: &str) -> Result<Self, GateError> {
        let refused = |error: quorum_policies::PoliciesError| {
            GateError::control(error.code(), format!("--policy {named}: {error}"))
        };
        let bytes = match Policy::shipped(named) {
            Some(text) => text.as_bytes().to_vec(),
            None => {
                let path = Path::new(named);
                // A bare word that names no file was meant as a shipped policy.
                if path.components().count() == 1 && path.extension().is_none() && !path.exists() {
                    return Err(Policy::shipped_text(named).map(|_| ()).map_err(refused).err().unwrap_or_else(|| {
                        GateError::control(GateCode::PolicyUnknownName, format!("--policy {named}"))
                    }));
                }
                control.read("--policy", path, limits::CONTROL_FILE)?
            }
        };
        let policy = Policy::parse(&bytes).map_err(refused)?;
        Ok(Self { policy, bytes })
    }
}

/// A private key and its entry.
pub(crate) type KeyEntry = (SigningKey, Entry);

/// Reads the options that name keys.
///
/// # Errors
/// As [`keys::signing_key`].
pub(crate) fn key(
    control: &mut ControlFiles,
    option: &'static str,
    path: Option<&PathBuf>,
    role: Role,
    trust: &TrustRoot,
    now: Timestamp,
) -> Result<Option<KeyEntry>, GateError> {
    path.map(|path| keys::signing_key(control, option, path, role, trust, now)).transpose()
}

/// Reads `--trust`; with a pin also the versions beside it, under the same rules.
///
/// # Errors
/// As [`keys::trust_root`], [`TrustHistory::follow`] and [`ControlFiles::read`].
pub(crate) fn trust(
    control: &mut ControlFiles,
    path: &Path,
    (at_least, pin): (Option<u64>, Option<Digest>),
    now: Timestamp,
) -> Result<TrustRoot, GateError> {
    let path = newest_trust(path);
    let bytes = control.read("--trust", &path, limits::ENVELOPE)?;
    let root = keys::trust_root(&bytes, at_least, now)?;
    if pin.is_none() {
        return Ok(root);
    }
    let history = TrustHistory::new(pin, None);
    let followed = history.follow(&root, now, |version| {
        match control.read("--trust", &earlier_trust(&path, version), limits::ENVELOPE) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(GateError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.code() == GateCode::ControlFileNotInRef.code() => Ok(None),
            Err(error) => Err(Fault::File(error)),
        }
    });
    followed.map_err(|fault| fault.at(&path))
}

/// Reads `--work-unit` and `--result`.
///
/// # Errors
/// As [`admit`] and [`ControlFiles::read`].
pub(crate) fn documents(
    control: &mut ControlFiles,
    work_unit: &Path,
    result: &Path,
    trust: Option<&TrustRoot>,
    now: Timestamp,
) -> Result<Documents, GateError> {
    let work_unit = control.read("--work-unit", work_unit, limits::ENVELOPE)?;
    let result = workers_document(result)?;
    admit(work_unit, result, trust, now)
}

/// Reads `--result`. The worker's own document may lie in the worker's own tree, so what is there may be hostile.
pub(crate) fn workers_document(path: &Path) -> Result<Vec<u8>, GateError> {
    let wrong = |source| GateError::Read { path: path.to_owned(), source };
    let found = fs::metadata(path).map_err(wrong)?;
    let refused =
        |code, why: String| Err(GateError::worker(code, format!("result manifest {}: {why}", path.display())));
    if found.len() > limits::ENVELOPE {
        return refused(GateCode::ResultTooLarge, format!("{} bytes, the limit is {}", found.len(), limits::ENVELOPE));
    }
    // A pipe that nobody writes to would be waited for without end.
    if !found.is_file() && !found.is_dir() {
        return refused(GateCode::ResultNotAFile, "it is not a regular file".to_owned());
    }
    read_disk(path, limits::ENVELOPE)
}

/// A policy that the trust root admits.
///
/// # Errors
/// `policy_not_admitted`.
pub(crate) fn admitted(policy: &Policy, trust: &TrustRoot) -> Result<(), GateError> {
    if trust.admits_policy(&policy.digest()) {
        return Ok(());
    }
    Err(GateError::control(
        GateCode::PolicyNotAdmitted,
        format!(
            "the trust root (version {}) does not list the policy `{}` ({}); add it with `quorum trust`, or use a listed one",
            trust.version(),
            policy.id,
            policy.digest()
        ),
    ))
}
