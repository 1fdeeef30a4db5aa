//! The configuration file and everything that it names.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use quorum_attest::{Entry, Role, SigningKey, TrustRoot};
use quorum_gate::TrustStore;
use quorum_mesh::NatsConfig;
use quorum_policies::Policy;
use quorum_schemas::{Digest, Timestamp, with_nearest_key};
use serde::{Deserialize, Deserializer};

use crate::{CoordinatorError, clock, limits};

/// The configuration of a coordinator (TOML). Relative paths start at the file's directory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The signing key, PKCS#8 PEM, mode 0600.
    pub key: PathBuf,
    /// The trust root: the file of its newest version, with earlier ones as `trust.<version>.json` beside it, or the
    /// directory of both.
    pub trust: PathBuf,
    /// SHA-256 of version 1 of the trust root; without it the first one seen is pinned in the state directory.
    #[serde(default)]
    pub trust_pin: Option<Digest>,
    /// The policy file that new handoffs are issued under.
    pub policy: PathBuf,
    /// 32 random bytes, raw or as 64 hex digits, mode 0600, the same at all replicas.
    pub seat_secret_file: PathBuf,
    /// What must survive a restart beside the streams: the highest trust root seen.
    pub state_dir: PathBuf,
    /// The broker.
    pub nats: NatsConfig,
    /// Leases and offers.
    #[serde(default)]
    pub timing: Timing,
}

/// The times of leases and offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    /// How long a lease lasts; written like `"15s"` or `"500ms"`.
    #[serde(rename = "lease", deserialize_with = "duration")]
    pub lease_micros: i64,
    /// How long an offer waits before the next verifier is asked.
    #[serde(rename = "offer", deserialize_with = "duration")]
    pub offer_micros: i64,
}

impl Default for Timing {
    fn default() -> Self {
        Self { lease_micros: 15_000_000, offer_micros: 10_000_000 }
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = || serde::de::Error::custom(format!("`{text}` is not a duration; write it like \"15s\" or \"500ms\""));
    let (number, unit) = text
        .strip_suffix("ms")
        .map(|n| (n, 1_000))
        .or_else(|| {
            let seconds = text.strip_suffix('s').map(|n| (n, 1_000_000));
            seconds.or_else(|| text.strip_suffix('m').map(|n| (n, 60_000_000)))
        })
        .ok_or_else(wrong)?;
    let number: i64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|micros| *micros > 0).ok_or_else(wrong)
}

/// Everything that the configuration names, read and checked.
pub struct Loaded {
    /// The coordinator's id in the trust root.
    pub id: String,
    /// The trust root.
    pub trust: TrustRoot,
    /// The policy for new handoffs.
    pub policy: Policy,
    /// The policy's bytes.
    pub policy_bytes: Vec<u8>,
    pub(crate) key: SigningKey,
    pub(crate) secret: [u8; 32],
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("id", &self.id).field("policy", &self.policy.id).finish_non_exhaustive()
    }
}

impl Loaded {
    /// Goes under another trust root, which must admit the policy and have the key, in force at `now`.
    pub(crate) fn put_under(&mut self, trust: &TrustRoot, now: Timestamp) -> Result<(), CoordinatorError> {
        self.trust = trust.clone();
        self.id = self.own_entry(now)?.id.clone();
        if !trust.admits_policy(&self.policy.digest()) {
            return Err(CoordinatorError::PolicyNotAdmitted { digest: self.policy.digest() });
        }
        Ok(())
    }

    /// The coordinator's own entry, whose key must be in force at `now`.
    pub(crate) fn own_entry(&self, now: Timestamp) -> Result<&Entry, CoordinatorError> {
        let public = self.key.public();
        let entry = self.trust.by_key(&public).filter(|entry| entry.role == Role::Coordinator);
        let key_id = public.key_id().to_string();
        let entry = entry.ok_or(CoordinatorError::KeyNotCoordinator { key_id })?;
        entry.check_valid(now).map_err(CoordinatorError::OwnKey)?;
        Ok(entry)
    }

    /// Whether the other one was read from other files.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        self.policy.digest() != other.policy.digest() || self.key.public() != other.key.public()
    }
}

impl Config {
    /// Reads a configuration file; touches nothing that it names.
    ///
    /// # Errors
    /// `file_unreadable`, `config_malformed`.
    pub fn load(path: &Path) -> Result<Self, CoordinatorError> {
        let bytes = read("configuration", path, limits::CONFIG_BYTES)?;
        let malformed = |reason: String| CoordinatorError::ConfigMalformed { path: path.to_owned(), reason };
        if bytes.starts_with(b"\xef\xbb\xbf") {
            return Err(malformed("it starts with a byte order mark; remove it".to_owned()));
        }
        let text = String::from_utf8(bytes).map_err(|error| malformed(error.to_string()))?;
        let mut config: Self =
            toml::from_str(&text).map_err(|error| malformed(with_nearest_key(&error.to_string())))?;
        let base = path.parent().unwrap_or(Path::new("."));
        let named = [
            &mut config.key,
            &mut config.trust,
            &mut config.policy,
            &mut config.seat_secret_file,
            &mut config.state_dir,
            &mut config.nats.credentials,
        ];
        for path in named {
            *path = base.join(&*path);
        }
        Ok(config)
    }

    /// Reads and checks everything that the configuration names: what `--check-config` does, and the first thing that
    /// [`crate::run`] does. Writes nothing and does not talk to the broker.
    ///
    /// # Errors
    /// [`CoordinatorError`]: files, permissions, the trust root's validity and succession, the key's validity, the
    /// policy's admission.
    pub fn check(&self) -> Result<Loaded, CoordinatorError> {
        let now = clock::now();
        self.files(self.trust_store(now)?.root(), now)
    }

    /// The trust root, held against the newest one that was used before.
    pub(crate) fn trust_store(&self, now: Timestamp) -> Result<TrustStore, CoordinatorError> {
        Ok(TrustStore::open(&self.trust, &self.state_dir, self.trust_pin, now)?)
    }

    /// Reads everything but the trust root, and holds it against this one.
    pub(crate) fn files(&self, trust: &TrustRoot, now: Timestamp) -> Result<Loaded, CoordinatorError> {
        let key = secret_file("key", &self.key)?;
        let key = SigningKey::from_pkcs8_pem(std::str::from_utf8(&key).unwrap_or_default())?;
        let secret = self.seat_secret()?;
        quorum_mesh::Credentials::load(&self.nats.credentials)?;
        let policy_bytes = read("policy", &self.policy, limits::FILE_BYTES)?;
        let policy = Policy::parse(&policy_bytes)?;
        let mut loaded = Loaded { id: String::new(), trust: trust.clone(), policy, policy_bytes, key, secret };
        loaded.put_under(trust, now)?;
        Ok(loaded)
    }

    fn seat_secret(&self) -> Result<[u8; 32], CoordinatorError> {
        let bytes = secret_file("seat_secret_file", &self.seat_secret_file)?;
        let from_hex = || {
            let text = std::str::from_utf8(&bytes).ok()?.trim_end();
            <Digest>::from_hex(text).ok().map(|digest| *digest.as_bytes())
        };
        let secret: Option<[u8; 32]> = bytes.as_slice().try_into().ok().or_else(from_hex);
        secret.ok_or_else(|| CoordinatorError::SecretMalformed { path: self.seat_secret_file.clone() })
    }
}

pub(crate) fn read(what: &'static str, path: &Path, limit: u64) -> Result<Vec<u8>, CoordinatorError> {
    let unreadable = |reason: String| CoordinatorError::FileUnreadable { what, path: path.to_owned(), reason };
    let found = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if found.len() > limit {
        return Err(unreadable(format!("{} bytes, the limit is {limit}", found.len())));
    }
    // A pipe that nobody writes to would be waited for without end.
    if !found.is_file() && !found.is_dir() {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    std::fs::read(path).map_err(|error| unreadable(error.to_string()))
}

fn secret_file(what: &'static str, path: &Path) -> Result<Vec<u8>, CoordinatorError> {
    let bytes = read(what, path, limits::FILE_BYTES)?;
    let mode = std::fs::metadata(path).map(|data| data.permissions().mode() & 0o777).unwrap_or(0o777);
    if mode & 0o077 != 0 {
        return Err(CoordinatorError::FileExposed { what, path: path.to_owned(), mode });
    }
    Ok(bytes)
}
