//! Time and randomness: the two things that the rooms below take as arguments.

use std::time::{SystemTime, UNIX_EPOCH};

use quorum_attest::SigningKey;
use quorum_schemas::Timestamp;
use zeroize::Zeroizing;

use crate::{GateCode, GateError};

/// The wall clock.
///
/// # Errors
/// `clock_unusable`.
pub fn now() -> Result<Timestamp, GateError> {
    let micros = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_micros()).ok())
        .ok_or_else(|| {
            GateError::infrastructure(GateCode::ClockUnusable, "this machine's clock is before 1970; set it")
        })?;
    Ok(Timestamp::from_micros(micros))
}

/// A new key from the system's randomness.
///
/// # Errors
/// `no_randomness`.
pub(crate) fn new_key() -> Result<SigningKey, GateError> {
    Ok(SigningKey::from_seed(&*random()?))
}

/// 32 bytes of the system's randomness, erased after use.
///
/// # Errors
/// `no_randomness`.
pub fn random() -> Result<Zeroizing<[u8; 32]>, GateError> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *bytes).map_err(|error| {
        GateError::infrastructure(GateCode::NoRandomness, format!("the system gives none: {error}"))
    })?;
    Ok(bytes)
}
