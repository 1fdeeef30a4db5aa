//! Times, attributes and policies as people write them.

use std::path::Path;
use std::str::FromStr;

use quorum_policies::Policy;
use quorum_schemas::{Digest, Timestamp};

use crate::error::CliError;
use crate::input;

/// Largest policy file that is hashed: far above any policy, so that a wrong file name shows.
const POLICY_BYTES: u64 = 1 << 20;

/// A point in time: absolute, or so long from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    At(Timestamp),
    FromNow { seconds: i64 },
}

impl Point {
    pub(super) fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::FromNow { seconds } => now.plus_seconds(seconds),
        }
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(seconds) = span(text) {
            return Ok(Self::FromNow { seconds });
        }
        text.parse().map(Self::At).map_err(|_| {
            "expected a time such as 2027-01-31T12:00:00Z, or a span from now: a whole number of m, h or d".to_owned()
        })
    }
}

/// Up to a hundred years.
fn span(text: &str) -> Option<i64> {
    const LARGEST: i64 = 100 * 366 * 86_400;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<i64>().ok()?.checked_mul(unit).filter(|seconds| *seconds <= LARGEST)
}

/// `AXIS=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attribute {
    pub(super) axis: String,
    pub(super) value: String,
}

impl FromStr for Attribute {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (axis, value) = text.split_once('=').ok_or("expected AXIS=VALUE, such as operator=acme")?;
        Ok(Self { axis: axis.to_owned(), value: value.to_owned() })
    }
}

/// The digest of a policy: `sha256:...`, a file, or a shipped name.
pub(super) fn policy_digest(argument: &str) -> Result<Digest, CliError> {
    if argument.starts_with("sha256:") {
        return argument.parse().map_err(|error: quorum_schemas::SchemasError| CliError::control(error.code(), error));
    }
    let path = Path::new(argument);
    if !path.exists()
        && let Ok(text) = Policy::shipped_text(argument)
    {
        return Ok(Digest::of(text.as_bytes()));
    }
    let bytes = input::read(path, POLICY_BYTES)?;
    // A file that is no policy would be admitted for ever and never match.
    let policy = Policy::parse(&bytes).map_err(|error| input::refused(path, error.code(), &error))?;
    Ok(policy.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_time() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let cases = [
            ("0m", "2026-01-01T00:00:00Z"),
            ("90m", "2026-01-01T01:30:00Z"),
            ("24h", "2026-01-02T00:00:00Z"),
            ("365d", "2027-01-01T00:00:00Z"),
            ("2026-05-01T12:00:00+02:00", "2026-05-01T10:00:00Z"),
        ];
        for (text, should) in cases {
            assert_eq!(text.parse::<Point>().unwrap().resolve(now).to_string(), should, "{text}");
        }
        for text in
            ["", "d", "1", "-1d", "+1d", "1.5d", "1y", "d1", "99999999999d", "9223372036854775807d", "1é", "2026-01-01"]
        {
            assert!(text.parse::<Point>().is_err(), "{text}");
        }
    }

    #[test]
    fn attributes_split_at_the_first_equals() {
        let attribute: Attribute = "operator=a=b".parse().unwrap();
        assert_eq!((attribute.axis.as_str(), attribute.value.as_str()), ("operator", "a=b"));
        assert!("operator".parse::<Attribute>().is_err());
    }

    #[test]
    fn policies_by_digest_and_by_shipped_name() {
        let digest = Digest::of(b"x");
        assert_eq!(policy_digest(&digest.to_string()).unwrap(), digest);
        assert_eq!(policy_digest("sha256:12").unwrap_err().code(), "digest_malformed");
        let local = Policy::shipped_text("local").unwrap();
        assert_eq!(policy_digest("local").unwrap(), Digest::of(local.as_bytes()));
        assert_eq!(policy_digest("no-such-policy").unwrap_err().code(), "cannot_read");
    }
}
