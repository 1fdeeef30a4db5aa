//! `sensorium-command-profile.v1`: what may be run, with what limits, and its content address.

use std::collections::{BTreeMap, BTreeSet};

use quorum_schemas::{Object, SchemaName, Value, parse, validate};

use crate::limits::{ENV_NAMES, OUTPUT_BYTES, TIMEOUT_MS};
use crate::{ContentDigest, Ref, Refusal, RefusalCode, WorkbenchError};

/// What a profile declares about its effect. A declaration: it counts only where it is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectMode {
    /// It changes nothing.
    Observation,
    /// It may change the workspace.
    Mutation,
}

impl EffectMode {
    /// The word of the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::Mutation => "mutation",
        }
    }
}

/// Where the variables of a command come from. Nothing is ever inherited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvPolicy {
    /// No variables at all: the contract has no place for defaults in this mode.
    DefaultsOnly,
    /// `defaults`, of which a request may replace and extend those in `keys`.
    Allowlisted {
        /// Names that a request may set.
        keys: BTreeSet<String>,
        /// Values that stand without a request. The empty text is a value.
        defaults: BTreeMap<String, String>,
    },
}

/// Bounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileLimits {
    /// Milliseconds of a run whose request names no time.
    pub default_timeout_ms: u64,
    /// Most milliseconds that a request may name.
    pub max_timeout_ms: u64,
    /// Bytes of standard output that a result carries.
    pub stdout_bytes: u64,
    /// Bytes of standard error that a result carries.
    pub stderr_bytes: u64,
}

/// A profile whose document was held against the whole schema before anything was read from it (W-002).
#[derive(Debug, Clone, PartialEq)]
pub struct CommandProfile {
    document: Value,
    digest: ContentDigest,
    reference: Ref,
    executable: String,
    fixed_args: Vec<String>,
    allowed_arg_prefixes: Vec<String>,
    allowed_workspace_roots: Vec<Ref>,
    env: EnvPolicy,
    limits: ProfileLimits,
    effect: EffectMode,
}

impl CommandProfile {
    /// Reads a profile from bytes.
    ///
    /// # Errors
    /// What is no strict JSON, breaks the schema, or can never be run: see [`CommandProfile::from_value`].
    pub fn read(bytes: &[u8]) -> Result<Self, WorkbenchError> {
        Self::from_value(parse(bytes)?)
    }

    /// Reads a parsed profile.
    ///
    /// # Errors
    /// [`WorkbenchError::Schema`]; [`WorkbenchError::Refused`] with `credential-env-denied` for a variable that is named
    /// like a credential, and with `command-profile-denied` for limits that contradict one another or fit no result.
    pub fn from_value(document: Value) -> Result<Self, WorkbenchError> {
        let checked = Addressed::new(document)?;
        checked.into_profile()
    }

    /// The document as it was read.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// The content address of the whole document.
    #[must_use]
    pub fn digest(&self) -> ContentDigest {
        self.digest
    }

    /// Its name.
    #[must_use]
    pub fn reference(&self) -> &Ref {
        &self.reference
    }

    /// The program as the profile names it.
    #[must_use]
    pub fn executable(&self) -> &str {
        &self.executable
    }

    /// The roots below which it may run.
    #[must_use]
    pub fn allowed_workspace_roots(&self) -> &[Ref] {
        &self.allowed_workspace_roots
    }

    /// Its bounds.
    #[must_use]
    pub fn limits(&self) -> ProfileLimits {
        self.limits
    }

    /// The declared effect; absent is [`EffectMode::Mutation`].
    #[must_use]
    pub fn effect(&self) -> EffectMode {
        self.effect
    }

    /// The whole argv for admitted arguments: executable, fixed arguments, arguments (W-001).
    ///
    /// # Errors
    /// `argv-invalid` for an argument that the profile does not admit, is no atom, or is one too many.
    pub fn argv(&self, arguments: &[String]) -> Result<Vec<String>, Refusal> {
        let fixed = std::iter::once(&self.executable).chain(&self.fixed_args);
        let argv: Vec<String> = fixed.chain(arguments).cloned().collect();
        if argv.len() > crate::limits::ARGV_ATOMS {
            return Err(Refusal::new(
                RefusalCode::ArgvInvalid,
                format!("argv has {} atoms, at most {} can be carried", argv.len(), crate::limits::ARGV_ATOMS),
            ));
        }
        for argument in arguments {
            if let Some(why) = atom_fault(argument) {
                return Err(Refusal::new(RefusalCode::ArgvInvalid, format!("{} {why}", shown(argument))));
            }
            if !self.allowed_arg_prefixes.iter().any(|prefix| argument.starts_with(prefix.as_str())) {
                let why = format!("{} starts with no prefix that the profile allows", shown(argument));
                return Err(Refusal::new(RefusalCode::ArgvInvalid, why));
            }
        }
        Ok(argv)
    }

    /// The whole environment for the overrides of a request (W-003).
    ///
    /// # Errors
    /// `credential-env-denied` for a name like a credential's; `env-override-denied` for one that is not on the list.
    pub fn environment(&self, overrides: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Refusal> {
        let none = BTreeSet::new();
        let (keys, mut env) = match &self.env {
            EnvPolicy::DefaultsOnly => (&none, BTreeMap::new()),
            EnvPolicy::Allowlisted { keys, defaults } => (keys, defaults.clone()),
        };
        for (name, value) in overrides {
            refuse_credential(name)?;
            if !keys.contains(name) || value.contains('\0') {
                let why = format!("the profile does not let a request set {}", shown(name));
                return Err(Refusal::new(RefusalCode::EnvOverrideDenied, why));
            }
            env.insert(name.clone(), value.clone());
        }
        Ok(env)
    }

    /// The milliseconds of a run (W-004). Nothing is shortened.
    ///
    /// # Errors
    /// `timeout-above-profile` and `timeout-above-channel`.
    pub fn timeout_ms(&self, requested: Option<u64>) -> Result<u64, Refusal> {
        let wanted = requested.unwrap_or(self.limits.default_timeout_ms);
        if wanted > self.limits.max_timeout_ms {
            let why = format!("{wanted} ms is asked for, the profile allows {} ms", self.limits.max_timeout_ms);
            return Err(Refusal::new(RefusalCode::TimeoutAboveProfile, why));
        }
        if wanted > TIMEOUT_MS {
            let why = format!("{wanted} ms is asked for, a run can have {TIMEOUT_MS} ms");
            return Err(Refusal::new(RefusalCode::TimeoutAboveChannel, why));
        }
        Ok(wanted)
    }
}

/// A document that is valid and has its address, and of which nothing else was read: what a pin is held against.
pub(crate) struct Addressed {
    document: Value,
    pub(crate) digest: ContentDigest,
}

impl Addressed {
    pub(crate) fn new(document: Value) -> Result<Self, WorkbenchError> {
        validate(SchemaName::CommandProfile, &document)
            .map_err(|violations| WorkbenchError::Schema { document: "command profile", violations })?;
        let digest = ContentDigest::of(&document)?;
        Ok(Self { document, digest })
    }

    pub(crate) fn into_profile(self) -> Result<CommandProfile, WorkbenchError> {
        let Self { document, digest } = self;
        let profile = CommandProfile {
            digest,
            reference: Ref::new(text(&document, "command.profile/ref"))?,
            executable: text(&document, "executable").to_owned(),
            fixed_args: texts(document.get("fixed_args")),
            allowed_arg_prefixes: texts(document.get("allowed_arg_prefixes")),
            allowed_workspace_roots: texts(document.get("allowed_workspace_roots"))
                .iter()
                .map(|root| Ref::new(root))
                .collect::<Result<_, _>>()?,
            env: env_policy(&document),
            limits: limits(&document),
            effect: match document.get("effect/mode").and_then(Value::as_str) {
                Some("observation") => EffectMode::Observation,
                _ => EffectMode::Mutation,
            },
            document,
        };
        profile.can_be_run()?;
        Ok(profile)
    }
}

impl CommandProfile {
    /// What the schema cannot say.
    fn can_be_run(&self) -> Result<(), Refusal> {
        let denied = |why: String| Err(Refusal::new(RefusalCode::CommandProfileDenied, why));
        if let EnvPolicy::Allowlisted { keys, defaults } = &self.env {
            if keys.len() + defaults.len() > ENV_NAMES {
                return denied(format!("env names more than {ENV_NAMES} variables"));
            }
            if let Some(name) = defaults.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
                return denied(format!("env.defaults: {} is no name of a variable", shown(name)));
            }
            keys.iter().chain(defaults.keys()).try_for_each(|name| refuse_credential(name))?;
        }
        let ProfileLimits { default_timeout_ms, max_timeout_ms, stdout_bytes, stderr_bytes } = self.limits;
        if default_timeout_ms > max_timeout_ms {
            return denied(format!("default_timeout_ms {default_timeout_ms} is above max_timeout_ms {max_timeout_ms}"));
        }
        if stdout_bytes.saturating_add(stderr_bytes) > OUTPUT_BYTES as u64 {
            return denied(format!("stdout_bytes and stderr_bytes are above the {OUTPUT_BYTES} bytes of a result"));
        }
        Ok(())
    }
}

fn limits(document: &Value) -> ProfileLimits {
    // What is beyond 64 bits is beyond every bound that it is held against.
    let number = |name| document.at(&["limits", name]).and_then(Value::as_u64).unwrap_or(u64::MAX);
    ProfileLimits {
        default_timeout_ms: number("default_timeout_ms"),
        max_timeout_ms: number("max_timeout_ms"),
        stdout_bytes: number("stdout_bytes"),
        stderr_bytes: number("stderr_bytes"),
    }
}

fn env_policy(document: &Value) -> EnvPolicy {
    match document.at(&["env", "mode"]).and_then(Value::as_str) {
        Some("allowlisted") => EnvPolicy::Allowlisted {
            keys: texts(document.at(&["env", "keys"])).into_iter().collect(),
            defaults: pairs(document.at(&["env", "defaults"])),
        },
        _ => EnvPolicy::DefaultsOnly,
    }
}

pub(crate) fn text<'a>(document: &'a Value, name: &str) -> &'a str {
    document.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

pub(crate) fn pairs(object: Option<&Value>) -> BTreeMap<String, String> {
    let none = Object::new();
    let members = object.and_then(Value::as_object).unwrap_or(&none);
    members.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn shown(text: &str) -> String {
    Value::from(text).shown()
}

/// Why a text is no atom of an argv.
fn atom_fault(atom: &str) -> Option<&'static str> {
    if atom.is_empty() {
        return Some("is empty");
    }
    if atom.contains(['\0', '\r', '\n']) {
        return Some("contains NUL or a line end");
    }
    (atom.chars().count() > crate::limits::ATOM_CHARS).then_some("has more characters than an atom may have")
}

/// `credential-env-denied` for a name that people give to credentials, in whatever case.
fn refuse_credential(name: &str) -> Result<(), Refusal> {
    if names_a_credential(name) {
        let why = format!("{} is named like a credential, and no command gets one", shown(name));
        return Err(Refusal::new(RefusalCode::CredentialEnvDenied, why));
    }
    Ok(())
}

/// Whole names that hold or lead to credentials without saying so.
const CREDENTIAL_NAMES: [&str; 9] = [
    "DATABASE_URL",
    "DOCKER_CONFIG",
    "GNUPGHOME",
    "KUBECONFIG",
    "MYSQL_PWD",
    "NETRC",
    "PGPASSFILE",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
];
/// Parts of a name that say so wherever they stand.
const CREDENTIAL_PARTS: [&str; 7] = ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "ASKPASS", "APIKEY"];
/// Ends of a word of a name: `GITHUB_TOKEN` and `NPMTOKEN`, not `TOKENIZERS_PARALLELISM`.
const CREDENTIAL_ENDS: [&str; 2] = ["TOKEN", "TOKENS"];
/// Whole words of a name.
const CREDENTIAL_WORDS: [&str; 5] = ["AUTH", "BEARER", "COOKIE", "KEY", "PAT"];

fn names_a_credential(name: &str) -> bool {
    let name = name.to_uppercase();
    CREDENTIAL_NAMES.contains(&name.as_str())
        || CREDENTIAL_PARTS.iter().any(|part| name.contains(part))
        || name
            .split(|character: char| !character.is_alphanumeric())
            .any(|word| CREDENTIAL_WORDS.contains(&word) || CREDENTIAL_ENDS.iter().any(|end| word.ends_with(end)))
}
