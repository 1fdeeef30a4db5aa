//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use quorum_schemas::Timestamp;

/// Now, on this machine's clock.
pub(crate) fn now() -> Timestamp {
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros());
    Timestamp::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}
