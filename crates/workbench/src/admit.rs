//! From a request to a run that may be started. The proposer names a profile, a place and arguments; effect mode, grant
//! and limits are the owner's.

use std::collections::{BTreeMap, BTreeSet};

use quorum_schemas::{JcsDigest, Object, SchemaName, Value, parse, validate};

use crate::profile::{Addressed, pairs, text, texts};
use crate::{Address, CommandProfile, ContentDigest, EffectMode, Key, Ref, Refusal, RefusalCode, WorkbenchError};

/// What a grant is worth. A request only names it; the owner knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grant {
    /// Enough for an observation.
    Plain,
    /// Needed for a mutation (W-020).
    OperatorConfirmed,
}

/// The owner's side of an admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The workspace.
    pub workspace: Ref,
    /// Its roots.
    pub roots: BTreeSet<Ref>,
    /// The profiles that the owner admitted.
    pub profiles: BTreeSet<ContentDigest>,
    /// The grants that the owner gave.
    pub grants: BTreeMap<Ref, Grant>,
    /// The digest of whatever else of the owner's rules a run depends on (W-061).
    pub policy: JcsDigest,
}

/// A request of which the schema was held and the pin compared, in this order and before anything else (W-021).
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    document: Value,
    profile: CommandProfile,
    address: Address,
    arguments: Vec<String>,
    env: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    generation: Ref,
    grant: Ref,
    key: Key,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// What is no strict JSON or breaks the schema; [`WorkbenchError::Refused`] with `command-profile-digest-mismatch`,
    /// then with what [`CommandProfile::from_value`] refuses, then with `idempotency-key-required` and
    /// `idempotency-key-invalid`.
    pub fn read(bytes: &[u8]) -> Result<Self, WorkbenchError> {
        let document = parse(bytes)?;
        validate(SchemaName::ProcessRunRequest, &document)
            .map_err(|violations| WorkbenchError::Schema { document: "process run request", violations })?;
        let addressed = Addressed::new(document.get("command/profile").cloned().unwrap_or(Value::Null))?;
        let pin: ContentDigest = text(&document, "command-profile/digest").parse()?;
        if pin != addressed.digest {
            let why = format!("the request pins {pin}, its profile is {}", addressed.digest);
            return Err(Refusal::new(RefusalCode::CommandProfileDigestMismatch, why).into());
        }
        let profile = addressed.into_profile()?;
        let Some(key) = document.get("idempotency/key").and_then(Value::as_str) else {
            return Err(
                Refusal::new(RefusalCode::IdempotencyKeyRequired, "idempotency/key is missing".to_owned()).into()
            );
        };
        let key = Key::new(key).ok_or_else(|| {
            Refusal::new(RefusalCode::IdempotencyKeyInvalid, format!("{} is no key", Value::from(key).shown()))
        })?;
        Ok(Self {
            address: Address::read(document.get("address").unwrap_or(&Value::Null))?,
            arguments: texts(document.get("arguments")),
            env: pairs(document.get("env/overrides")),
            timeout_ms: document.get("timeout/ms").and_then(Value::as_u64),
            generation: Ref::new(text(&document, "source/generation-ref"))?,
            grant: Ref::new(text(&document, "grant/ref"))?,
            key,
            profile,
            document,
        })
    }

    /// The profile that it carries.
    #[must_use]
    pub fn profile(&self) -> &CommandProfile {
        &self.profile
    }

    /// Where it wants to run.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Its idempotency key.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The generation that it names.
    #[must_use]
    pub fn generation(&self) -> &Ref {
        &self.generation
    }

    /// What its key is bound to: the whole request and the owner's rules (W-061).
    ///
    /// # Errors
    /// None for a request that was read; the form is RFC 8785's.
    pub fn digest(&self, policy: JcsDigest) -> Result<ContentDigest, WorkbenchError> {
        let members = [("policy/digest", Value::from(policy)), ("request", self.document.clone())];
        let bound: Object = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        ContentDigest::of(&Value::Object(bound))
    }
}

/// A run that may be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// Executable, fixed arguments, arguments.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: BTreeMap<String, String>,
    /// Milliseconds until it is ended.
    pub timeout_ms: u64,
    /// What it must be held to.
    pub effect: EffectMode,
    /// What the key is bound to.
    pub request: ContentDigest,
}

/// Holds a request against the owner's rules.
///
/// # Errors
/// A [`Refusal`] of the stage [`crate::Stage::Admission`]: nothing was written, nothing ran, the key is not used up.
pub fn admit(request: &Request, host: &Host) -> Result<Admitted, WorkbenchError> {
    let refuse = |code, why: String| Err(Refusal::new(code, why).into());
    let profile = &request.profile;
    if !host.profiles.contains(&profile.digest()) {
        return refuse(
            RefusalCode::CommandProfileMissing,
            format!("the owner admitted no profile {}", profile.digest()),
        );
    }
    let Address { workspace, root, .. } = &request.address;
    if *workspace != host.workspace || !host.roots.contains(root) {
        return refuse(RefusalCode::WorkspaceRootUnknown, format!("there is no root {root} of {workspace} here"));
    }
    if !profile.allowed_workspace_roots().contains(root) {
        return refuse(RefusalCode::CommandProfileDenied, format!("the profile may not run below {root}"));
    }
    match (host.grants.get(&request.grant), profile.effect()) {
        (None, _) => return refuse(RefusalCode::GrantRequired, format!("the owner gave no grant {}", request.grant)),
        (Some(Grant::Plain), EffectMode::Mutation) => {
            let why = format!("{} is a plain grant, and the profile is a mutation", request.grant);
            return refuse(RefusalCode::OperatorConfirmationRequired, why);
        }
        (Some(_), _) => {}
    }
    Ok(Admitted {
        argv: profile.argv(&request.arguments)?,
        env: profile.environment(&request.env)?,
        timeout_ms: profile.timeout_ms(request.timeout_ms)?,
        effect: profile.effect(),
        request: request.digest(host.policy)?,
    })
}
