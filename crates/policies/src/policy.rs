//! Policy files: the operator's TOML, which can only tighten what a work unit asks.

use std::str::FromStr;

use quorum_schemas::{Digest, Object, Value};
use serde::{Deserialize, Serialize};

use crate::axes::{Axis, Channel, Isolation};
use crate::groups::Groups;
use crate::{PoliciesError, limits};

const KEYS: &[&str] = &[
    "schema_version",
    "id",
    "quorum",
    "panel",
    "tolerate",
    "reject_quorum",
    "deadline",
    "max_age",
    "independent_on",
    "min_isolation",
    "min_channel",
    "max_tries",
    "reverify",
    "require_signed_worker",
    "fraction",
    "groups",
];

/// A share of the panel, compared in integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    /// The upper term; at most the lower.
    pub numerator: u64,
    /// The lower term; at least 1.
    pub denominator: u64,
}

impl Fraction {
    /// Whether `part / whole >= self`, without division.
    #[must_use]
    pub fn holds(self, part: u64, whole: u64) -> bool {
        u128::from(part) * u128::from(self.denominator) >= u128::from(self.numerator) * u128::from(whole)
    }
}

impl FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let term = |text: &str| {
            let plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
            if plain { text.parse().ok().filter(|term| (1..=limits::FRACTION_TERM).contains(term)) } else { None }
        };
        text.split_once('/')
            .and_then(|(upper, lower)| Some(Self { numerator: term(upper)?, denominator: term(lower)? }))
            .filter(|fraction| fraction.numerator <= fraction.denominator)
            .ok_or_else(|| "a share of the panel above 0 and at most 1, such as \"2/3\"".to_owned())
    }
}

impl Serialize for Fraction {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

/// An operator's policy with every default filled in (design section 10).
///
/// Its identity is the SHA-256 of the raw bytes: a comment more is another policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The operator's name for it.
    pub id: String,
    /// Independent voices that must support.
    pub quorum: u64,
    /// Seats; abstentions stay in the denominator.
    pub panel: u32,
    /// Objections borne, unless the work unit's strategy is `all_required`.
    pub tolerate: u64,
    /// Objections that reject when nobody supports.
    pub reject_quorum: u64,
    /// Seconds from the handoff until open seats are no longer waited for.
    pub deadline_seconds: u64,
    /// Oldest evidence that may support, in seconds.
    pub max_age_seconds: u64,
    /// Axes on which two voices must differ, and differ from the worker; sorted.
    pub independent_on: Vec<Axis>,
    /// Weakest isolation that may support.
    pub min_isolation: Isolation,
    /// Most forgeable channel that may support.
    pub min_channel: Channel,
    /// Tries of one seat.
    pub max_tries: u32,
    /// Whether a candidate may be verified again beyond the work unit's attempts.
    pub reverify: bool,
    /// Whether a manifest without a trusted signature is refused.
    pub require_signed_worker: bool,
    /// Share of the panel that must support; strategy `threshold` needs it.
    pub fraction: Option<Fraction>,
    /// Operators that must be among the supporters; strategy `custom` needs it.
    pub groups: Option<Groups>,
    digest: Digest,
    /// One bit for each of [`KEYS`] that the file gives.
    given: u32,
}

impl Policy {
    /// Reads a policy file.
    ///
    /// # Errors
    /// [`PoliciesError`]: too large, not TOML, a key unknown (with the nearest known one), missing or with a value that
    /// it cannot have.
    pub fn parse(bytes: &[u8]) -> Result<Self, PoliciesError> {
        if bytes.len() > limits::POLICY_BYTES {
            return Err(PoliciesError::TooLarge { found: bytes.len(), limit: limits::POLICY_BYTES });
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            return Err(PoliciesError::Syntax("it starts with a byte order mark; remove it".to_owned()));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| PoliciesError::Syntax(format!("not UTF-8: {error}")))?;
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            PoliciesError::Syntax(error.to_string().trim_end().replace('\n', " | "))
        })?;
        known_keys(&table, "", KEYS)?;
        let policy = Self::from_table(&table, Digest::of(bytes))?;
        policy.check_consistent()?;
        Ok(policy)
    }

    fn from_table(table: &toml::Table, digest: Digest) -> Result<Self, PoliciesError> {
        match table.get("schema_version") {
            None => return Err(PoliciesError::MissingKey("schema_version")),
            Some(toml::Value::String(version)) if version == "0.1" => {}
            Some(other) => return Err(value_error("schema_version", other, "the only version is \"0.1\"")),
        }
        let id = match table.get("id") {
            None => return Err(PoliciesError::MissingKey("id")),
            Some(toml::Value::String(id)) if !id.is_empty() && id.len() <= 96 => id.clone(),
            Some(other) => return Err(value_error("id", other, "a name of 1 to 96 bytes")),
        };
        let quorum = count(table, "quorum", 1, limits::COUNT)?.unwrap_or(1);
        let panel = count(table, "panel", 1, limits::PANEL.into())?;
        let default_panel = quorum.min(u64::from(limits::PANEL) + 1);
        let panel = u32::try_from(panel.unwrap_or(default_panel)).unwrap_or(u32::MAX);
        Ok(Self {
            id,
            quorum,
            panel,
            tolerate: count(table, "tolerate", 0, limits::COUNT)?.unwrap_or(0),
            reject_quorum: count(table, "reject_quorum", 1, limits::COUNT)?.unwrap_or(1),
            deadline_seconds: duration(table, "deadline")?.unwrap_or(30 * 60),
            max_age_seconds: duration(table, "max_age")?.unwrap_or(24 * 3600),
            independent_on: axes(table)?.unwrap_or_else(|| vec![Axis::Operator, Axis::Host]),
            min_isolation: word(table, "min_isolation", &Isolation::ALL[..4], Isolation::as_str)?
                .unwrap_or(Isolation::ProcessSandbox),
            min_channel: word(table, "min_channel", Channel::ALL, Channel::as_str)?.unwrap_or(Channel::InProcess),
            max_tries: u32::try_from(count(table, "max_tries", 1, limits::TRIES.into())?.unwrap_or(3))
                .unwrap_or(limits::TRIES),
            reverify: flag(table, "reverify")?,
            require_signed_worker: flag(table, "require_signed_worker")?,
            fraction: fraction(table)?,
            groups: match table.get("groups") {
                None => None,
                Some(toml::Value::Table(groups)) => Some(Groups::parse(groups)?),
                Some(other) => return Err(value_error("groups", other, "a table with `k` and `of`")),
            },
            digest,
            given: KEYS
                .iter()
                .enumerate()
                .filter(|(_, key)| table.contains_key(**key))
                .fold(0, |all, (at, _)| all | 1 << at),
        })
    }

    /// A panel that can never reach its own quorum is a typing mistake, found before anyone works for it.
    fn check_consistent(&self) -> Result<(), PoliciesError> {
        if u64::from(self.panel) < self.quorum || self.panel > limits::PANEL {
            return Err(PoliciesError::Value {
                key: "panel".to_owned(),
                found: self.panel.to_string(),
                expected: format!(
                    "a panel has at least `quorum` = {} and at most {} seats",
                    self.quorum,
                    limits::PANEL
                ),
            });
        }
        Ok(())
    }

    /// SHA-256 of the raw bytes, as the trust root lists it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether the file gives this key; what it does not give has its default.
    #[must_use]
    pub fn gives(&self, key: &str) -> bool {
        KEYS.iter().position(|known| *known == key).is_some_and(|at| self.given & (1 << at) != 0)
    }

    /// The policy with all defaults, as data; follows the schema `policy-v0.1`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let axes: Vec<Value> = self.independent_on.iter().map(|axis| axis.as_str().into()).collect();
        let mut members: Object = [
            ("schema_version", "0.1".into()),
            ("id", self.id.as_str().into()),
            ("quorum", self.quorum.into()),
            ("panel", u64::from(self.panel).into()),
            ("tolerate", self.tolerate.into()),
            ("reject_quorum", self.reject_quorum.into()),
            ("deadline", format!("{}s", self.deadline_seconds).into()),
            ("max_age", format!("{}s", self.max_age_seconds).into()),
            ("independent_on", Value::Array(axes)),
            ("min_isolation", self.min_isolation.as_str().into()),
            ("min_channel", self.min_channel.as_str().into()),
            ("max_tries", u64::from(self.max_tries).into()),
            ("reverify", self.reverify.into()),
            ("require_signed_worker", self.require_signed_worker.into()),
        ]
        .into_iter()
        .map(|(key, value): (&str, Value)| (key.to_owned(), value))
        .collect();
        if let Some(fraction) = self.fraction {
            members.insert("fraction".to_owned(), fraction.to_string().into());
        }
        if let Some(groups) = &self.groups {
            members.insert("groups".to_owned(), groups.to_value());
        }
        Value::Object(members)
    }
}

/// Refuses keys outside `known`, naming the nearest known one.
pub(crate) fn known_keys(table: &toml::Table, place: &str, known: &[&str]) -> Result<(), PoliciesError> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(PoliciesError::UnknownKey {
            key: if place.is_empty() { key.clone() } else { format!("{place}.{key}") },
            suggestion: nearest(key, known),
        }),
    }
}

/// The known word nearest to `word`, if one is near enough to be meant.
pub(crate) fn nearest(word: &str, known: &[&str]) -> Option<String> {
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), *candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate.to_owned())
}

fn value_error(key: &str, found: &toml::Value, expected: &str) -> PoliciesError {
    PoliciesError::Value { key: key.to_owned(), found: found.to_string(), expected: expected.to_owned() }
}

fn count(table: &toml::Table, key: &str, least: u64, most: u64) -> Result<Option<u64>, PoliciesError> {
    match table.get(key) {
        None => Ok(None),
        Some(found) => found
            .as_integer()
            .and_then(|number| u64::try_from(number).ok())
            .filter(|number| (least..=most).contains(number))
            .map(Some)
            .ok_or_else(|| value_error(key, found, &format!("a count from {least} to {most}"))),
    }
}

fn flag(table: &toml::Table, key: &str) -> Result<bool, PoliciesError> {
    match table.get(key) {
        None => Ok(false),
        Some(found) => found.as_bool().ok_or_else(|| value_error(key, found, "true or false")),
    }
}

/// A whole number and one of the units s, m, h, d.
fn duration(table: &toml::Table, key: &str) -> Result<Option<u64>, PoliciesError> {
    let Some(found) = table.get(key) else { return Ok(None) };
    found.as_str().and_then(duration_seconds).map(Some).ok_or_else(|| {
        value_error(key, found, "a duration: a whole number of s, m, h or d, such as \"30m\", up to ten years")
    })
}

/// The seconds of a duration such as `30m`.
pub(crate) fn duration_seconds(text: &str) -> Option<u64> {
    let factor = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = digits.parse::<u64>().ok()?.checked_mul(factor)?;
    Some(seconds).filter(|seconds| (1..=limits::DURATION_SECONDS).contains(seconds))
}

fn word<T: Copy>(
    table: &toml::Table,
    key: &str,
    all: &[T],
    as_str: fn(T) -> &'static str,
) -> Result<Option<T>, PoliciesError> {
    let Some(found) = table.get(key) else { return Ok(None) };
    let known: Vec<&str> = all.iter().map(|value| as_str(*value)).collect();
    let text = found.as_str().unwrap_or_default();
    match all.iter().find(|value| as_str(**value) == text) {
        Some(value) => Ok(Some(*value)),
        None => Err(value_error(key, found, &one_of(text, &known))),
    }
}

fn one_of(text: &str, known: &[&str]) -> String {
    let near = nearest(text, known).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    format!("one of {}{near}", known.join(", "))
}

fn axes(table: &toml::Table) -> Result<Option<Vec<Axis>>, PoliciesError> {
    let Some(found) = table.get("independent_on") else { return Ok(None) };
    let known: Vec<&str> = Axis::ALL.iter().map(|axis| axis.as_str()).collect();
    let Some(items) = found.as_array() else {
        return Err(value_error("independent_on", found, "a list of axes"));
    };
    let mut axes = Vec::with_capacity(items.len());
    for item in items {
        let text = item.as_str().unwrap_or_default();
        let axis = Axis::from_word(text).ok_or_else(|| value_error("independent_on", item, &one_of(text, &known)))?;
        if axes.contains(&axis) {
            return Err(value_error("independent_on", item, "each axis at most once"));
        }
        axes.push(axis);
    }
    axes.sort_unstable();
    Ok(Some(axes))
}

fn fraction(table: &toml::Table) -> Result<Option<Fraction>, PoliciesError> {
    let Some(found) = table.get("fraction") else { return Ok(None) };
    match Fraction::from_str(found.as_str().unwrap_or_default()) {
        Ok(fraction) => Ok(Some(fraction)),
        Err(expected) => Err(value_error("fraction", found, &expected)),
    }
}
