//! Points in time as documents carry them.

use std::fmt;
use std::str::FromStr;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::{SchemasError, Value};

/// A point in time: microseconds since 1970-01-01T00:00:00Z. Written in UTC with `Z`, without a fraction when it is zero.
///
/// Reading is RFC 3339 with any offset; digits beyond the microsecond are cut (towards the past). The range is the
/// years 0 to 9999 in UTC, since nothing else can be written; arithmetic stops at its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 0000-01-01T00:00:00Z.
    pub const MIN: Self = Self(-62_167_219_200_000_000);
    /// The last microsecond of 9999.
    pub const MAX: Self = Self(253_402_300_799_999_999);

    /// From microseconds since the epoch; values outside the range become its nearest end.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        if micros < Self::MIN.0 {
            Self::MIN
        } else if micros > Self::MAX.0 {
            Self::MAX
        } else {
            Self(micros)
        }
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This time moved by `seconds`, which may be negative; saturates at the ends of the range.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_micros(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// Microseconds from `earlier` to `self`; negative if `self` is the earlier one.
    #[must_use]
    pub const fn micros_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .map_err(|_| fmt::Error)?
            .format(&Rfc3339)
            .map_err(|_| fmt::Error)?;
        f.write_str(&time)
    }
}

impl FromStr for Timestamp {
    type Err = SchemasError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || SchemasError::TimestampMalformed(text.to_owned());
        let time = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| malformed())?;
        let micros = i64::try_from(time.unix_timestamp_nanos().div_euclid(1_000)).map_err(|_| malformed())?;
        // An offset can carry the first and last hours beyond the years that can be written.
        if Self::from_micros(micros).0 == micros { Ok(Self(micros)) } else { Err(malformed()) }
    }
}

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Value::String(time.to_string())
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
