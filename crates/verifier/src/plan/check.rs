//! One check of a plan.

use std::collections::BTreeMap;
use std::time::Duration;

use quorum_schemas::{SchemaName, Value};

use super::fields::{Fields, nearest};
use crate::evaluator::ImportedCheck;
use crate::tree::check_path;
use crate::{VerifierError, limits};

/// How a result can reach the verifier, from forgeable to not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// Candidate code runs in the process that reports: it can forge the result.
    InProcess,
    /// The candidate is another process, behind pipes, another user and another mount namespace.
    BlackBox,
    /// The candidate is only read.
    Data,
}

impl Channel {
    /// The word in plans and evidence.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProcess => "in_process",
            Self::BlackBox => "black_box",
            Self::Data => "data",
        }
    }
}

/// A check: which validator it serves and what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    id: String,
    spec: CheckSpec,
    value: Value,
}

/// What a check does.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckSpec {
    /// The candidate's bytes have the digest that the manifest declares.
    ArtifactIntegrity,
    /// Handoff, binding and work unit belong together.
    Binding,
    /// A document follows a schema of ours.
    Schema(SchemaCheck),
    /// Only what may be written was written.
    Scope {
        /// Exactly these files; `None`: the WorkUnit's paths against the baseline.
        allowed_files: Option<Vec<String>>,
    },
    /// A JSON file of the candidate equals this value.
    RequiredJson {
        /// The value; compared by C1 bytes.
        required: Value,
        /// The file; `None`: the candidate artifact.
        file: Option<String>,
        /// Larger files fail.
        max_bytes: u64,
    },
    /// A patch of the candidate is a well-formed diff in scope, with these texts.
    UnifiedDiff(UnifiedDiffCheck),
    /// A check of an imported EvaluatorPlan; no plan of ours has one.
    Imported(ImportedCheck),
    /// A command's exit status or report.
    Command(CommandCheck),
    /// An engine's own verdict.
    Engine(EngineCheck),
}

/// Settings of `schema`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaCheck {
    /// Which document.
    pub of: SchemaOf,
    /// Name of the schema; `None` for the manifest, which has only one.
    pub schema: Option<SchemaName>,
    /// The candidate's file; `None`: the candidate artifact.
    pub file: Option<String>,
    /// Larger files fail.
    pub max_bytes: u64,
}

/// Which document a `schema` check reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaOf {
    /// A JSON file of the candidate.
    Candidate,
    /// The manifest, as the intake of the parent found it.
    Manifest,
}

/// Settings of `unified_diff`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnifiedDiffCheck {
    /// The patch; `None`: the candidate artifact.
    pub file: Option<String>,
    /// Larger files fail.
    pub max_bytes: u64,
    /// What the patch must add and remove.
    pub text: PatchText,
}

/// Texts that the lines of a diff must have, each in at least one line; bytes are compared, nothing spans lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchText {
    /// Each equals one complete added line.
    pub added_lines: Vec<String>,
    /// Each is part of one added line.
    pub added_substrings: Vec<String>,
    /// Each equals one complete removed line.
    pub removed_lines: Vec<String>,
    /// Each is part of one removed line.
    pub removed_substrings: Vec<String>,
}

/// Settings of `command`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandCheck {
    /// Program and arguments; `{candidate} {baseline} {harness} {report}` are replaced.
    pub argv: Vec<String>,
    /// Argv of the candidate's own process; exactly with [`Channel::BlackBox`].
    pub candidate_argv: Option<Vec<String>>,
    /// The environment beside `PATH`.
    pub env: BTreeMap<String, String>,
    /// `PATH`.
    pub path: String,
    /// Time limit of one run.
    pub timeout: Duration,
    /// The channel that the plan claims.
    pub channel: Channel,
    /// The verifier's own read-only folder, relative to the plan's.
    pub harness: Option<String>,
    /// Whether a JUnit report is read.
    pub junit: bool,
    /// Test ids that must pass exactly once; empty: judged by the exit status.
    pub expect: Vec<String>,
    /// Exit statuses that mean "failed" when nothing is expected.
    pub fail_exit: Vec<i32>,
}

/// Settings of `engine`.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineCheck {
    /// `json-rules` (shipped) or a program, relative to the plan's folder.
    pub engine: String,
    /// Arguments by the descriptor's names; placeholders in texts are replaced.
    pub args: BTreeMap<String, Value>,
    /// The environment beside `PATH`.
    pub env: BTreeMap<String, String>,
    /// `PATH`.
    pub path: String,
    /// Time limit.
    pub timeout: Duration,
    /// The channel that the plan claims.
    pub channel: Channel,
    /// The verifier's own read-only folder, relative to the plan's.
    pub harness: Option<String>,
}

const KINDS: [&str; 8] =
    ["artifact_integrity", "binding", "schema", "scope", "required_json", "unified_diff", "command", "engine"];
/// Kinds of the design that later versions bring.
const LATER: [(&str, &str); 2] = [("container", "0.3"), ("reproduction", "0.3")];
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const CHANNELS: [(&str, Channel); 3] =
    [("in_process", Channel::InProcess), ("black_box", Channel::BlackBox), ("data", Channel::Data)];
const PLACEHOLDERS: [&str; 4] = ["candidate", "baseline", "harness", "report"];

impl Check {
    /// Reads one check, from a template or a bound plan.
    pub(super) fn parse(value: &Value, index: usize) -> Result<Self, VerifierError> {
        let id = value.get("id").and_then(Value::as_str).filter(|id| !id.trim().is_empty());
        let nth = format!("check number {}", index + 1);
        let id = id.ok_or(VerifierError::PlanMissingKey { place: nth, key: "id" })?.to_owned();
        let place = format!("check `{id}`");
        let kind = value.get("kind").and_then(Value::as_str);
        let kind = kind.ok_or_else(|| VerifierError::PlanMissingKey { place: place.clone(), key: "kind" })?;
        let spec = match kind {
            "artifact_integrity" => Fields::of(&place, value, &["id", "kind"]).map(|_| CheckSpec::ArtifactIntegrity),
            "binding" => Fields::of(&place, value, &["id", "kind"]).map(|_| CheckSpec::Binding),
            "schema" => schema(&place, value),
            "scope" => scope(&place, value),
            "required_json" => required_json(&place, value),
            "unified_diff" => unified_diff(&place, value),
            "command" => command(&place, value),
            "engine" => engine(&place, value),
            _ => Err(unknown_kind(&id, kind)),
        }?;
        Ok(Self { id, spec, value: value.clone() })
    }

    /// A check of an imported plan, which has no value of its own in it.
    pub(crate) fn imported(id: &str, check: ImportedCheck) -> Self {
        Self { id: id.to_owned(), spec: CheckSpec::Imported(check), value: Value::Null }
    }

    /// The validator that this check serves.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it does.
    #[must_use]
    pub fn spec(&self) -> &CheckSpec {
        &self.spec
    }

    /// As it stands in the plan; null in an imported one.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The word for its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.spec {
            CheckSpec::ArtifactIntegrity => "artifact_integrity",
            CheckSpec::Binding => "binding",
            CheckSpec::Schema(_) => "schema",
            CheckSpec::Scope { .. } => "scope",
            CheckSpec::RequiredJson { .. } => "required_json",
            CheckSpec::UnifiedDiff(_) | CheckSpec::Imported(ImportedCheck::Review(_)) => "unified_diff",
            CheckSpec::Imported(ImportedCheck::ArtifactDigest) => "artifact_integrity",
            CheckSpec::Imported(ImportedCheck::FileList(_)) => "scope",
            CheckSpec::Imported(ImportedCheck::Json { .. }) => "required_json",
            CheckSpec::Imported(ImportedCheck::ManifestSchema) => "schema",
            CheckSpec::Command(_) => "command",
            CheckSpec::Engine(_) => "engine",
        }
    }

    /// The verifier's own folder that it names, as it stands.
    #[must_use]
    pub fn harness(&self) -> Option<&str> {
        match &self.spec {
            CheckSpec::Command(command) => command.harness.as_deref(),
            CheckSpec::Engine(engine) => engine.harness.as_deref(),
            _ => None,
        }
    }

    /// The channel of its result.
    #[must_use]
    pub fn channel(&self) -> Channel {
        match &self.spec {
            CheckSpec::Command(command) => command.channel,
            CheckSpec::Engine(engine) => engine.channel,
            _ => Channel::Data,
        }
    }
}

fn unknown_kind(id: &str, kind: &str) -> VerifierError {
    let (id, kind) = (id.to_owned(), kind.to_owned());
    match LATER.iter().find(|(name, _)| *name == kind) {
        Some((_, version)) => VerifierError::PlanKindUnsupported { id, kind, version },
        None => VerifierError::PlanUnknownKind { id, suggestion: nearest(&kind, &KINDS), kind },
    }
}

fn schema(place: &str, value: &Value) -> Result<CheckSpec, VerifierError> {
    let fields = Fields::of(place, value, &["id", "kind", "of", "schema", "file", "max_bytes"])?;
    let of = fields.word("of", &[("candidate", SchemaOf::Candidate), ("manifest", SchemaOf::Manifest)])?;
    let of = of.ok_or_else(|| VerifierError::PlanMissingKey { place: place.to_owned(), key: "of" })?;
    let schema = match (of, fields.text("schema")?) {
        (SchemaOf::Candidate, None) => {
            return Err(VerifierError::PlanMissingKey { place: place.to_owned(), key: "schema" });
        }
        (SchemaOf::Manifest, Some(name)) => {
            return Err(fields.bad("schema", format!("`{name}`"), "nothing: a manifest has one schema"));
        }
        (_, name) => name,
    };
    let known = || SchemaName::ALL.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let schema = schema
        .map(|name| name.parse().map_err(|_| fields.bad("schema", format!("`{name}`"), format!("one of {}", known()))))
        .transpose()?;
    let file = file(&fields)?;
    if of == SchemaOf::Manifest && file.is_some() {
        return Err(fields.bad("file", "set", "nothing: the manifest is not a file of the candidate"));
    }
    let max_bytes = fields.count("max_bytes", limits::CANDIDATE_JSON_BYTES, limits::TREE_BYTES)?;
    Ok(CheckSpec::Schema(SchemaCheck { of, schema, file, max_bytes }))
}

fn scope(place: &str, value: &Value) -> Result<CheckSpec, VerifierError> {
    let fields = Fields::of(place, value, &["id", "kind", "allowed_files"])?;
    let allowed_files = fields.names("allowed_files")?;
    for file in allowed_files.iter().flatten() {
        check_path(file).map_err(|error| fields.bad("allowed_files", error.to_string(), "plain relative paths"))?;
    }
    Ok(CheckSpec::Scope { allowed_files })
}

fn required_json(place: &str, value: &Value) -> Result<CheckSpec, VerifierError> {
    let fields = Fields::of(place, value, &["id", "kind", "required", "file", "max_bytes"])?;
    Ok(CheckSpec::RequiredJson {
        required: fields.need("required")?.clone(),
        file: file(&fields)?,
        max_bytes: fields.count("max_bytes", limits::CANDIDATE_JSON_BYTES, limits::TREE_BYTES)?,
    })
}

fn unified_diff(place: &str, value: &Value) -> Result<CheckSpec, VerifierError> {
    let keys = ["added_lines", "added_substrings", "removed_lines", "removed_substrings"];
    let known: Vec<&str> = ["id", "kind", "file", "max_bytes"].into_iter().chain(keys).collect();
    let fields = Fields::of(place, value, &known)?;
    let texts = |key: &str| {
        let texts = fields.names(key)?.unwrap_or_default();
        let spans = texts.iter().any(|text| text.contains(['\n', '\r']));
        if spans { Err(fields.bad(key, "a text over lines", "texts of one line each")) } else { Ok(texts) }
    };
    Ok(CheckSpec::UnifiedDiff(UnifiedDiffCheck {
        file: file(&fields)?,
        max_bytes: fields.count("max_bytes", limits::PATCH_BYTES, limits::TREE_BYTES)?,
        text: PatchText {
            added_lines: texts(keys[0])?,
            added_substrings: texts(keys[1])?,
            removed_lines: texts(keys[2])?,
            removed_substrings: texts(keys[3])?,
        },
    }))
}

fn file(fields: &Fields<'_>) -> Result<Option<String>, VerifierError> {
    let Some(file) = fields.text("file")? else { return Ok(None) };
    check_path(file).map_err(|error| fields.bad("file", error.to_string(), "a plain relative path"))?;
    Ok(Some(file.to_owned()))
}

const COMMAND_KEYS: [&str; 12] = [
    "id",
    "kind",
    "argv",
    "candidate",
    "env",
    "path",
    "timeout",
    "channel",
    "harness",
    "report",
    "expect",
    "fail_exit",
];

fn command(place: &str, value: &Value) -> Result<CheckSpec, VerifierError> {
    let fields = Fields::of(place, value, &COMMAND_KEYS)?;
    fields.need("argv")?;
    let argv = argv(&fields, "argv")?.unwrap_or_default();
    let candidate_argv = argv_of_candidate(&fields)?;
    let channel = fields.word("channel", &CHANNELS)?.unwrap_or(Channel::InProcess);
    let junit = fields.word("report", &[("junit", true)])?.unwrap_or(false);
    let expect = fields.names("expect")?;
    if expect.as_ref().is_some_and(|ids| ids.is_empty() || ids.len() > limits::EXPECTED_IDS) {
        return Err(fields.bad("expect", "empty or too long", format!("1 to {} test ids", limits::EXPECTED_IDS)));
    }
    if expect.is_some() && !junit {
        return Err(fields.bad("expect", "set without a report", "`report = \"junit\"` beside it"));
    }
    let uses = |name: &str| argv.iter().any(|word| word.contains(name));
    if junit != uses("{report}") {
        return Err(fields.bad("argv", "at odds with `report`", "`{report}` exactly when `report` is set"));
    }
    if (channel == Channel::BlackBox) != candidate_argv.is_some() {
        let wanted = "an argv that starts the candidate, exactly when channel is \"black_box\"";
        return Err(fields.bad("candidate", "missing or superfluous", wanted));
    }
    if channel == Channel::BlackBox && uses("{candidate}") {
        let wanted = "no `{candidate}`: a black-box harness reaches the candidate through pipes only";
        return Err(fields.bad("argv", "`{candidate}`", wanted));
    }
    let harness = fields.text("harness")?.map(str::to_owned);
    if uses("{harness}") && harness.is_none() {
        return Err(fields.bad("argv", "`{harness}` without a harness", "`harness = \"DIR\"` beside it"));
    }
    Ok(CheckSpec::Command(CommandCheck {
        env: env(&fields)?,
        path: fields.text("path")?.unwrap_or(PATH).to_owned(),
        timeout: fields.duration("timeout", limits::CHECK_TIMEOUT, limits::CHECK_TIMEOUT_MAX)?,
        expect: expect.unwrap_or_default(),
        fail_exit: fail_exit(&fields)?,
        argv,
        candidate_argv,
        channel,
        harness,
        junit,
    }))
}

fn argv_of_candidate(fields: &Fields<'_>) -> Result<Option<Vec<String>>, VerifierError> {
    let Some(argv) = argv(fields, "candidate")? else { return Ok(None) };
    let foreign = |word: &String| ["{baseline}", "{harness}", "{report}"].iter().any(|name| word.contains(name));
    match argv.iter().find(|word| foreign(word)) {
        None => Ok(Some(argv)),
        Some(word) => {
            Err(fields.bad("candidate", format!("`{word}`"), "only `{candidate}`: the rest is hidden from it"))
        }
    }
}

fn argv(fields: &Fields<'_>, key: &str) -> Result<Option<Vec<String>>, VerifierError> {
    let Some(argv) = fields.texts(key)? else { return Ok(None) };
    if argv.is_empty() || argv.len() > limits::ARGV_WORDS || argv[0].is_empty() {
        return Err(fields.bad(key, format!("{} words", argv.len()), format!("1 to {} words", limits::ARGV_WORDS)));
    }
    if argv.iter().any(|word| word.len() > limits::ARGV_WORD_BYTES || word.contains('\0')) {
        let wanted = format!("words up to {} bytes without NUL", limits::ARGV_WORD_BYTES);
        return Err(fields.bad(key, "a word that is too long or holds a NUL", wanted));
    }
    for name in argv.iter().flat_map(|word| placeholders(word)) {
        if !PLACEHOLDERS.contains(&name) {
            let wanted = nearest(name, &PLACEHOLDERS).unwrap_or_else(|| PLACEHOLDERS.join("}, {"));
            return Err(fields.bad(key, format!("the unknown placeholder `{{{name}}}`"), format!("{{{wanted}}}")));
        }
    }
    Ok(Some(argv))
}

// `{word}` of lower-case letters, unless a shell's `${word}`.
fn placeholders(word: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in word.match_indices('{') {
        let rest = &word[at + 1..];
        let Some(end) = rest.find('}') else { continue };
        let name = &rest[..end];
        let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if plain && !word[..at].ends_with('$') {
            found.push(name);
        }
    }
    found
}

fn env(fields: &Fields<'_>) -> Result<BTreeMap<String, String>, VerifierError> {
    let Some(value) = fields.get("env") else { return Ok(BTreeMap::new()) };
    let wanted = "a table of texts; PATH has its own key `path`";
    let members = value.as_object().ok_or_else(|| fields.bad("env", value.kind(), wanted))?;
    let mut env = BTreeMap::new();
    for (name, value) in members {
        let text = value.as_str().filter(|text| !text.contains('\0'));
        let good = !name.is_empty() && name != "PATH" && !name.contains(['=', '\0']);
        let text = text.filter(|_| good).ok_or_else(|| fields.bad("env", format!("wrong at `{name}`"), wanted))?;
        env.insert(name.clone(), text.to_owned());
    }
    Ok(env)
}

fn fail_exit(fields: &Fields<'_>) -> Result<Vec<i32>, VerifierError> {
    let Some(value) = fields.get("fail_exit") else { return Ok(vec![1]) };
    let status = |item: &Value| item.as_i64().and_then(|n| i32::try_from(n).ok()).filter(|n| (1..=255).contains(n));
    let statuses: Option<Vec<i32>> = value.as_array().and_then(|items| items.iter().map(status).collect());
    statuses.ok_or_else(|| fields.bad("fail_exit", value.kind(), "a list of exit statuses from 1 to 255"))
}

const ENGINE_KEYS: [&str; 10] =
    ["id", "kind", "engine", "args", "overlay", "env", "path", "timeout", "channel", "harness"];

fn engine(place: &str, value: &Value) -> Result<CheckSpec, VerifierError> {
    let fields = Fields::of(place, value, &ENGINE_KEYS)?;
    if fields.get("overlay").is_some() {
        return Err(fields.bad("overlay", "set", "nothing: overlays come with version 0.2"));
    }
    let channel = fields.word("channel", &CHANNELS)?.unwrap_or(Channel::InProcess);
    if channel == Channel::BlackBox {
        return Err(fields.bad(
            "channel",
            "`black_box`",
            "in_process or data: an engine has no pipes to the candidate",
        ));
    }
    let args = match fields.get("args") {
        None => BTreeMap::new(),
        Some(Value::Object(members)) => members.clone(),
        Some(other) => return Err(fields.bad("args", other.kind(), "a table")),
    };
    Ok(CheckSpec::Engine(EngineCheck {
        engine: fields.need_text("engine")?.to_owned(),
        args,
        env: env(&fields)?,
        path: fields.text("path")?.unwrap_or(PATH).to_owned(),
        timeout: fields.duration("timeout", limits::CHECK_TIMEOUT, limits::CHECK_TIMEOUT_MAX)?,
        channel,
        harness: fields.text("harness")?.map(str::to_owned),
    }))
}
