//! The configuration file and everything that it names.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use quorum_attest::{Entry, SigningKey};
use quorum_gate::TrustStore;
use quorum_mesh::NatsConfig;
use quorum_sandbox::Isolation;
use quorum_schemas::{Digest, with_nearest_key};
use quorum_verifier::{PlanFile, glob};
use serde::Deserialize;

use crate::trust::{now, own_entry};
use crate::{VerifierdError, limits};

/// The configuration of a verifier (TOML). Relative paths start at the file's directory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The verifier's id in the trust root.
    pub verifier: String,
    /// The signing key, PKCS#8 PEM, mode 0600.
    pub key: PathBuf,
    /// The trust root: the file of its newest version, with earlier ones as `trust.<version>.json` beside it, or the
    /// directory of both.
    pub trust: PathBuf,
    /// SHA-256 of version 1 of the trust root; without it the first one seen is pinned in the state directory.
    #[serde(default)]
    pub trust_pin: Option<Digest>,
    /// Signed answers and the highest trust root seen; must survive restarts.
    pub state_dir: PathBuf,
    /// The isolation that commands and engines must have; `none` only by this very word.
    #[serde(default = "default_isolation")]
    pub isolation: String,
    /// The broker.
    pub nats: NatsConfig,
    /// Which plan answers which work units; the first match counts.
    #[serde(rename = "plan")]
    pub plans: Vec<PlanRule>,
}

/// One line of the map from work units to plans.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRule {
    /// Work unit ids: `*` within a segment, `**` any depth.
    pub work_unit: String,
    /// The plan: a template (TOML) or a bound plan (JSON).
    pub file: PathBuf,
}

fn default_isolation() -> String {
    Isolation::ProcessSandbox.as_str().to_owned()
}

/// A plan in memory.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) pattern: String,
    pub(crate) file: PlanFile,
    pub(crate) folder: PathBuf,
}

/// Everything that the configuration names, read and checked.
pub struct Loaded {
    /// This verifier in the trust root.
    pub entry: Entry,
    pub(crate) key: SigningKey,
    pub(crate) key_file: PathBuf,
    pub(crate) trust: TrustStore,
    pub(crate) plans: Vec<Plan>,
    pub(crate) isolation: Isolation,
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded")
            .field("entry", &self.entry.id)
            .field("plans", &self.plans.len())
            .finish_non_exhaustive()
    }
}

impl Config {
    /// Reads a configuration file; touches nothing that it names.
    ///
    /// # Errors
    /// `file_unreadable`, `config_malformed`.
    pub fn load(path: &Path) -> Result<Self, VerifierdError> {
        let malformed = |reason: String| VerifierdError::ConfigMalformed { path: path.to_owned(), reason };
        let bytes = read("configuration", path, limits::CONFIG_BYTES)?;
        if bytes.starts_with(b"\xef\xbb\xbf") {
            return Err(malformed("it starts with a byte order mark; remove it".to_owned()));
        }
        let text = String::from_utf8(bytes).map_err(|error| malformed(error.to_string()))?;
        let mut config: Self =
            toml::from_str(&text).map_err(|error| malformed(with_nearest_key(&error.to_string())))?;
        let absolute = std::path::absolute(path).map_err(|error| malformed(error.to_string()))?;
        let base = absolute.parent().unwrap_or(Path::new("/"));
        let named = [&mut config.key, &mut config.trust, &mut config.state_dir, &mut config.nats.credentials];
        for path in named.into_iter().chain(config.plans.iter_mut().map(|rule| &mut rule.file)) {
            *path = base.join(&*path);
        }
        if config.plans.is_empty() {
            return Err(malformed("at least one [[plan]] with `work_unit` and `file` is needed".into()));
        }
        Ok(config)
    }

    /// Reads and checks everything that the configuration names: what `--check-config` does, and the first thing that
    /// [`crate::serve`] does. Writes nothing and does not talk to the broker.
    ///
    /// # Errors
    /// [`VerifierdError`]: files, permissions, the trust root's validity and succession, the key's entry, the plans.
    pub fn check(&self) -> Result<Loaded, VerifierdError> {
        let key = read_key(&self.key)?;
        quorum_mesh::Credentials::load(&self.nats.credentials)?;
        let now = now();
        let trust = TrustStore::open(&self.trust, &self.state_dir, self.trust_pin, now)?;
        let entry = own_entry(trust.root(), &key, &self.verifier, now)?;
        let isolation = self.isolation.parse().map_err(|_| VerifierdError::ConfigMalformed {
            path: self.key.clone(),
            reason: format!(
                "isolation = `{}`; use process-sandbox, shared-kernel-container, hardware-vm or none",
                self.isolation
            ),
        })?;
        let plans = self.plans.iter().map(|rule| self.plan(rule)).collect::<Result<_, _>>()?;
        Ok(Loaded { entry, key, key_file: self.key.clone(), trust, plans, isolation })
    }

    fn plan(&self, rule: &PlanRule) -> Result<Plan, VerifierdError> {
        let file = PlanFile::parse(&read("plan", &rule.file, limits::FILE_BYTES)?)?.run_by(&self.verifier);
        if file.reads_worker_status() {
            return Err(VerifierdError::PlanNeedsManifest(rule.file.clone()));
        }
        if file.verifier_id() != self.verifier {
            return Err(VerifierdError::PlanWrongVerifier {
                path: rule.file.clone(),
                found: file.verifier_id().to_owned(),
                wanted: self.verifier.clone(),
            });
        }
        let folder = rule.file.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Plan { pattern: rule.work_unit.clone(), file, folder })
    }
}

impl Loaded {
    /// The plan of a work unit: the first whose pattern matches its id.
    pub(crate) fn plan(&self, work_unit: &str) -> Option<&Plan> {
        self.plans.iter().find(|plan| glob::matches(&plan.pattern, work_unit))
    }
}

pub(crate) fn read(what: &'static str, path: &Path, limit: u64) -> Result<Vec<u8>, VerifierdError> {
    let unreadable = |reason: String| VerifierdError::FileUnreadable { what, path: path.to_owned(), reason };
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

pub(crate) fn read_key(path: &Path) -> Result<SigningKey, VerifierdError> {
    let key = secret_file("key", path)?;
    Ok(SigningKey::from_pkcs8_pem(std::str::from_utf8(&key).unwrap_or_default())?)
}

fn secret_file(what: &'static str, path: &Path) -> Result<Vec<u8>, VerifierdError> {
    let bytes = read(what, path, limits::FILE_BYTES)?;
    let mode = std::fs::metadata(path).map(|data| data.permissions().mode() & 0o777).unwrap_or(0o777);
    if mode & 0o077 != 0 {
        return Err(VerifierdError::FileExposed { what, path: path.to_owned(), mode });
    }
    Ok(bytes)
}
