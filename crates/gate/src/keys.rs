//! Keys and trust roots of one run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use quorum_attest::{Entry, Role, SigningKey, TrustDraft, TrustRoot};
use quorum_schemas::{Digest, Timestamp};
use zeroize::Zeroizing;

use crate::control::{ControlFiles, read_disk};
use crate::{GateCode, GateError, clock, limits};

/// Seconds that an ephemeral trust root is valid: its keys are gone when the run ends, so this bounds nothing but what
/// `quorum trust show` prints.
const EPHEMERAL_SECONDS: i64 = 24 * 3600;

/// Keys that one run makes for itself, after the last check child is gone.
pub(crate) struct Ephemeral {
    pub(crate) verifier: SigningKey,
    pub(crate) gate: SigningKey,
    pub(crate) trust: TrustRoot,
}

impl Ephemeral {
    /// Three new keys and the trust root that names them; the root key is forgotten here.
    ///
    /// # Errors
    /// `no_randomness`; those of a trust root, where the plan's verifier id cannot stand in one.
    pub(crate) fn new(verifier_id: &str, policy: Digest, now: Timestamp) -> Result<Self, GateError> {
        let (root, verifier, gate) = (clock::new_key()?, clock::new_key()?, clock::new_key()?);
        let until = now.plus_seconds(EPHEMERAL_SECONDS);
        let mut draft = TrustDraft::new(now, until, 1, vec![root.public()]);
        let signed = (|| {
            draft.add(Entry::new(Role::Verifier, verifier_id, verifier.public(), now, until))?;
            draft.add(Entry::new(Role::Gate, "local-gate", gate.public(), now, until))?;
            draft.admit_policy(policy)?;
            TrustRoot::load(&draft.sign(&[&root])?)
        })();
        let trust = signed.map_err(|error| GateError::control(error.code(), error))?;
        Ok(Self { verifier, gate, trust })
    }
}

/// Reads `--trust`, which must be current and not older than the caller knows.
///
/// # Errors
/// `trust_root_expired`, `trust_version_too_old`, and those of [`TrustRoot::load`].
pub(crate) fn trust_root(bytes: &[u8], at_least: Option<u64>, now: Timestamp) -> Result<TrustRoot, GateError> {
    let refused = |error: quorum_attest::AttestError| GateError::control(error.code(), format!("--trust: {error}"));
    let trust = TrustRoot::load(bytes).map_err(refused)?;
    trust.check_current(now).map_err(refused)?;
    if let Some(least) = at_least.filter(|least| trust.version() < *least) {
        return Err(GateError::control(
            GateCode::TrustVersionTooOld,
            format!(
                "--trust has version {}, --trust-min-version asks for {least}; fetch the current one",
                trust.version()
            ),
        ));
    }
    Ok(trust)
}

/// Reads a private key that the trust root names in `role`.
///
/// # Errors
/// `key_permissions`, `key_not_in_trust_root`, `wrong_role`, and those of [`SigningKey::from_pkcs8_pem`].
pub(crate) fn signing_key(
    control: &mut ControlFiles,
    option: &'static str,
    path: &Path,
    role: Role,
    trust: &TrustRoot,
    now: Timestamp,
) -> Result<(SigningKey, Entry), GateError> {
    let named = format!("{option} {}", path.display());
    private(&named, path)?;
    let bytes = Zeroizing::new(control.read_from_disk(option, path, limits::CONTROL_FILE)?);
    let key = parse_key(&named, &bytes)?;
    let refused = |error: quorum_attest::AttestError| {
        GateError::control(error.code(), format!("{option} {}: {error}", path.display()))
    };
    let entry = trust.by_key(&key.public()).ok_or_else(|| {
        GateError::control(
            GateCode::KeyNotInTrustRoot,
            format!("{option} {}: the trust root has no entry with the key {}", path.display(), key.public().key_id()),
        )
    })?;
    if entry.role != role {
        return Err(GateError::control(
            GateCode::WrongRole,
            format!("{option} {} is the key of {} `{}`, a {role} is needed", path.display(), entry.role, entry.id),
        ));
    }
    entry.check_valid(now).map_err(refused)?;
    Ok((key, entry.clone()))
}

/// Reads a private key of which no trust root speaks yet, as a worker has it.
///
/// # Errors
/// As [`private_key`].
pub(crate) fn unlisted_key(option: &'static str, path: &Path) -> Result<SigningKey, GateError> {
    read_key(&format!("{option} {}", path.display()), path)
}

/// Reads a private key (PKCS#8 PEM). One that others may read is refused: it is no secret.
///
/// # Errors
/// `key_permissions`, `key_malformed`, `cannot_read`, `control_file_too_large`.
pub fn private_key(path: &Path) -> Result<SigningKey, GateError> {
    read_key(&path.display().to_string(), path)
}

fn read_key(named: &str, path: &Path) -> Result<SigningKey, GateError> {
    private(named, path)?;
    let bytes = Zeroizing::new(read_disk(path, limits::CONTROL_FILE)?);
    parse_key(named, &bytes)
}

fn parse_key(named: &str, bytes: &[u8]) -> Result<SigningKey, GateError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| GateError::control(GateCode::KeyMalformed, format!("{named} is not a PEM file")))?;
    SigningKey::from_pkcs8_pem(text)
        .map_err(|error| GateError::control(error.code(), format!("{named}: {}", error.words())))
}

/// A key file that others may read is no secret.
fn private(named: &str, path: &Path) -> Result<(), GateError> {
    let found = fs::metadata(path).map_err(|source| GateError::Read { path: path.to_owned(), source })?;
    if found.is_file() && found.permissions().mode() & 0o077 != 0 {
        return Err(GateError::control(
            GateCode::KeyPermissions,
            format!("{named} can be read by others; run `chmod 600 {}`", path.display()),
        ));
    }
    Ok(())
}
