//! The files of a world: keys, trust root, credentials, configurations.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use quorum_attest::{Entry, Role, SigningKey, TrustDraft, TrustRoot};
use quorum_mesh::{MeshUser, UserRole, token};
use quorum_schemas::{Digest, Timestamp};

use crate::world::{AUTHOR, COORDINATOR, Party, WorldPlan};
use crate::{TestkitError, limits};

type Keys = BTreeMap<(Role, String), SigningKey>;

/// A name that is one path component.
pub(crate) fn file_name(id: &str) -> String {
    token::encode(id).unwrap_or_else(|_| Digest::of(id.as_bytes()).hex())
}

pub(crate) fn config_path(dir: &Path, command: &str, id: &str) -> PathBuf {
    dir.join(format!("{command}-{}.toml", file_name(id)))
}

pub(crate) fn key_path(dir: &Path, role: Role, id: &str) -> PathBuf {
    dir.join(format!("{}-{}.pem", role.as_str(), file_name(id)))
}

pub(crate) fn credentials_path(dir: &Path, role: UserRole, id: &str) -> PathBuf {
    dir.join(format!("{}-{}.credentials", role.as_str(), file_name(id)))
}

pub(crate) fn directory(path: &Path) -> Result<(), TestkitError> {
    std::fs::create_dir_all(path).map_err(TestkitError::system(format!("create {}", path.display())))
}

fn random() -> Result<[u8; 32], TestkitError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| TestkitError::system("randomness")(std::io::Error::other(error)))?;
    Ok(bytes)
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

fn parties(plan: &WorldPlan) -> Vec<(Role, Party)> {
    let bare = |id: &str| Party { id: id.to_owned(), attributes: BTreeMap::new() };
    let fixed = [(Role::Coordinator, bare(COORDINATOR)), (Role::Author, bare(AUTHOR))];
    let verifiers = plan.verifiers.iter().map(|verifier| (Role::Verifier, verifier.party.clone()));
    let workers = plan.workers.iter().map(|worker| (Role::Worker, worker.clone()));
    fixed.into_iter().chain(verifiers).chain(workers).collect()
}

/// Fresh keys of all parties.
pub(crate) fn keys(plan: &WorldPlan) -> Result<Keys, TestkitError> {
    let party_keys = parties(plan).into_iter().map(|(role, party)| {
        let key = SigningKey::from_seed(&random()?);
        Ok(((role, party.id), key))
    });
    party_keys.collect()
}

/// Writes every file of the world and returns its trust root.
pub(crate) fn write(plan: &WorldPlan, keys: &Keys, users: &[MeshUser], url: &str) -> Result<TrustRoot, TestkitError> {
    let dir = &plan.dir;
    for ((role, id), key) in keys {
        secret(&key_path(dir, *role, id), key.to_pkcs8_pem().as_bytes())?;
    }
    for user in users {
        user.credentials.save(&credentials_path(dir, user.role, &user.id))?;
    }
    secret(&dir.join("seat-secret"), <Digest>::from_bytes(random()?).hex().as_bytes())?;
    plain(&dir.join("policy.toml"), plan.policy.as_bytes())?;
    let trust = trust_root(plan, keys)?;
    plain(&dir.join("trust.json"), trust.bytes())?;
    plain(&config_path(dir, "coordinator", COORDINATOR), coordinator_config(plan, url).as_bytes())?;
    for verifier in &plan.verifiers {
        let text = verifier_config(plan, &verifier.party.id, &verifier.plan, url);
        plain(&config_path(dir, "verifier", &verifier.party.id), text.as_bytes())?;
    }
    Ok(trust)
}

fn trust_root(plan: &WorldPlan, keys: &Keys) -> Result<TrustRoot, TestkitError> {
    let root = SigningKey::from_seed(&random()?);
    secret(&plan.dir.join("root.pem"), root.to_pkcs8_pem().as_bytes())?;
    let issued = now().plus_seconds(-limits::TRUST_BACKDATED);
    let expires = now().plus_seconds(limits::TRUST_LIFETIME);
    let mut draft = TrustDraft::new(issued, expires, 1, vec![root.public()]);
    let mut entries = Vec::new();
    for (role, party) in parties(plan) {
        let Some(key) = keys.get(&(role, party.id.clone())) else { continue };
        let mut entry = Entry::new(role, party.id, key.public(), issued, expires);
        entry.attributes = party.attributes;
        entries.push(entry);
    }
    draft.add_all(entries)?;
    draft.admit_policy(Digest::of(plan.policy.as_bytes()))?;
    Ok(TrustRoot::load(&draft.sign(&[&root])?)?)
}

fn coordinator_config(plan: &WorldPlan, url: &str) -> String {
    let key = key_path(&plan.dir, Role::Coordinator, COORDINATOR);
    let credentials = credentials_path(&plan.dir, UserRole::Coordinator, COORDINATOR);
    let (lease, offer) = &plan.timing;
    format!(
        "key = {}\ntrust = \"trust.json\"\npolicy = \"policy.toml\"\nseat_secret_file = \"seat-secret\"\n\
         state_dir = \"state-coordinator\"\n\n[nats]\nurl = {}\ncredentials = {}\n\n[timing]\nlease = {}\noffer = {}\n",
        quoted(&key.to_string_lossy()),
        quoted(url),
        quoted(&credentials.to_string_lossy()),
        quoted(lease),
        quoted(offer),
    )
}

fn verifier_config(plan: &WorldPlan, id: &str, template: &Path, url: &str) -> String {
    let key = key_path(&plan.dir, Role::Verifier, id);
    let credentials = credentials_path(&plan.dir, UserRole::Verifier, id);
    let template = std::path::absolute(template).unwrap_or_else(|_| template.to_owned());
    format!(
        "verifier = {}\nkey = {}\ntrust = \"trust.json\"\nstate_dir = {}\nisolation = {}\n\n[nats]\nurl = {}\n\
         credentials = {}\n\n[[plan]]\nwork_unit = \"**\"\nfile = {}\n",
        quoted(id),
        quoted(&key.to_string_lossy()),
        quoted(&format!("state-{}", file_name(id))),
        quoted(&plan.isolation),
        quoted(url),
        quoted(&credentials.to_string_lossy()),
        quoted(&template.to_string_lossy()),
    )
}

/// A TOML basic string; control characters do not occur in the paths and ids of a world.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn secret(path: &Path, bytes: &[u8]) -> Result<(), TestkitError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(TestkitError::system(format!("write {}", path.display())))
}

fn plain(path: &Path, bytes: &[u8]) -> Result<(), TestkitError> {
    std::fs::write(path, bytes).map_err(TestkitError::system(format!("write {}", path.display())))
}
