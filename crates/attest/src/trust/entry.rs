//! One identity of the trust root.

use std::collections::BTreeMap;

use quorum_schemas::Timestamp;

use crate::{AttestError, PublicKey, Role};

/// An identity: one key, in one role, for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What the key is for.
    pub role: Role,
    /// Its name; at any time it has one key within the role.
    pub id: String,
    /// The key.
    pub public_key: PublicKey,
    /// First instant at which what it signed may be received.
    pub valid_from: Timestamp,
    /// First instant at which it may no longer.
    pub valid_until: Timestamp,
    /// Laid down in good order: what was received before stays.
    pub retired_at: Option<Timestamp>,
    /// From when on somebody else may have had the key. Support received since then drops, objections stand.
    pub compromised_since: Option<Timestamp>,
    /// From when on nothing of it is admitted.
    pub revoked_at: Option<Timestamp>,
    /// Axis (operator, organisation, model_family, host, runtime, engine, ...) to value. Values compare as exact bytes.
    pub attributes: BTreeMap<String, String>,
}

impl Entry {
    /// An entry without attributes that is neither retired nor revoked.
    #[must_use]
    pub fn new(
        role: Role,
        id: impl Into<String>,
        public_key: PublicKey,
        valid_from: Timestamp,
        valid_until: Timestamp,
    ) -> Self {
        Self {
            role,
            id: id.into(),
            public_key,
            valid_from,
            valid_until,
            retired_at: None,
            compromised_since: None,
            revoked_at: None,
            attributes: BTreeMap::new(),
        }
    }

    /// The same entry with one attribute more.
    #[must_use]
    pub fn with_attribute(mut self, axis: impl Into<String>, value: impl Into<String>) -> Self {
        self.attributes.insert(axis.into(), value.into());
        self
    }

    /// The first instant after the key was in force: the earliest of `valid_until`, `retired_at` and `revoked_at`.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        [self.retired_at, self.revoked_at].into_iter().flatten().fold(self.valid_until, Timestamp::min)
    }

    /// Whether something received at `received_at` counts: valid_from <= t < valid_until, t < retired_at,
    /// t < revoked_at.
    ///
    /// # Errors
    /// [`AttestError::KeyNotValidThen`], then [`AttestError::KeyRevoked`].
    pub fn check_valid(&self, received_at: Timestamp) -> Result<(), AttestError> {
        let bound = if received_at < self.valid_from {
            Some(format!("valid from {}", self.valid_from))
        } else if received_at >= self.valid_until {
            Some(format!("valid until {}", self.valid_until))
        } else {
            self.retired_at.filter(|retired| received_at >= *retired).map(|retired| format!("retired at {retired}"))
        };
        if let Some(bound) = bound {
            return Err(AttestError::KeyNotValidThen { role: self.role, id: self.id.clone(), received_at, bound });
        }
        match self.revoked_at {
            Some(revoked_at) if received_at >= revoked_at => {
                Err(AttestError::KeyRevoked { role: self.role, id: self.id.clone(), revoked_at, received_at })
            }
            _ => Ok(()),
        }
    }
}
