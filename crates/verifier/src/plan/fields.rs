//! Reading the members of a plan with the place in every error.

use std::time::Duration;

use quorum_schemas::{Object, Value};

use crate::VerifierError;

/// An object of a plan and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) place: &'a str,
    members: &'a Object,
}

impl<'a> Fields<'a> {
    /// The members of an object that has no keys but these.
    pub(super) fn of(place: &'a str, value: &'a Value, known: &[&str]) -> Result<Self, VerifierError> {
        let members = value.as_object().ok_or_else(|| bad(place, value.kind(), "a table"))?;
        match members.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(Self { place, members }),
            Some(key) => Err(VerifierError::PlanUnknownKey {
                place: place.to_owned(),
                key: key.clone(),
                suggestion: nearest(key, known),
            }),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.members.get(key)
    }

    pub(super) fn need(&self, key: &'static str) -> Result<&'a Value, VerifierError> {
        self.get(key).ok_or_else(|| VerifierError::PlanMissingKey { place: self.place.to_owned(), key })
    }

    pub(super) fn bad(&self, key: &str, found: impl Into<String>, wanted: impl Into<String>) -> VerifierError {
        bad(&format!("`{key}` of {}", self.place), found, wanted)
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, VerifierError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text)),
            Some(Value::String(_)) => Err(self.bad(key, "blank", "a text")),
            Some(other) => Err(self.bad(key, other.kind(), "a text")),
        }
    }

    pub(super) fn need_text(&self, key: &'static str) -> Result<&'a str, VerifierError> {
        self.need(key)?;
        self.text(key)?.ok_or_else(|| self.bad(key, "blank", "a text"))
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, VerifierError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        let wanted = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found.map(Some).ok_or_else(|| self.bad(key, format!("`{text}`"), format!("one of {wanted}")))
    }

    pub(super) fn texts(&self, key: &str) -> Result<Option<Vec<String>>, VerifierError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let items = value.as_array().ok_or_else(|| self.bad(key, value.kind(), "a list of texts"))?;
        let text = |item: &Value| item.as_str().map(str::to_owned);
        let texts: Option<Vec<String>> = items.iter().map(text).collect();
        texts.map(Some).ok_or_else(|| self.bad(key, "a list with other things", "a list of texts"))
    }

    /// A list of texts without repetition, none blank.
    pub(super) fn names(&self, key: &str) -> Result<Option<Vec<String>>, VerifierError> {
        let Some(names) = self.texts(key)? else { return Ok(None) };
        let distinct: std::collections::BTreeSet<&str> = names.iter().map(String::as_str).collect();
        if distinct.len() != names.len() || distinct.iter().any(|name| name.trim().is_empty()) {
            return Err(self.bad(key, "a list with a blank or repeated text", "distinct texts"));
        }
        Ok(Some(names))
    }

    pub(super) fn count(&self, key: &str, default: u64, most: u64) -> Result<u64, VerifierError> {
        let Some(value) = self.get(key) else { return Ok(default) };
        let wanted = || format!("an integer from 1 to {most}");
        match value.as_u64() {
            Some(count) if (1..=most).contains(&count) => Ok(count),
            Some(count) => Err(self.bad(key, count.to_string(), wanted())),
            None => Err(self.bad(key, value.kind(), wanted())),
        }
    }

    /// A time like `500ms`, `30s`, `5m`.
    pub(super) fn duration(&self, key: &str, default: Duration, most: Duration) -> Result<Duration, VerifierError> {
        let Some(text) = self.text(key)? else { return Ok(default) };
        let wanted = || format!("a time up to {}s like \"500ms\", \"30s\" or \"5m\"", most.as_secs());
        parse_duration(text)
            .filter(|time| !time.is_zero() && *time <= most)
            .ok_or_else(|| self.bad(key, format!("`{text}`"), wanted()))
    }
}

fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        "h" => Some(Duration::from_secs(number.checked_mul(3600)?)),
        _ => None,
    }
}

/// The known name that a slip of the pen may have meant.
pub(super) fn nearest(word: &str, known: &[&str]) -> Option<String> {
    let best = known.iter().map(|name| (strsim::damerau_levenshtein(word, name), *name)).min()?;
    (best.0 <= 1 + word.chars().count() / 3).then(|| best.1.to_owned())
}

fn bad(place: &str, found: impl Into<String>, wanted: impl Into<String>) -> VerifierError {
    VerifierError::PlanBadValue { place: place.to_owned(), found: found.into(), wanted: wanted.into() }
}
