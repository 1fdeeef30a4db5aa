//! Serde of types that are written as their text.

use quorum_attest::KeyId;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A key id as text.
pub(crate) mod key {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(key: &KeyId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(key)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KeyId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Key ids as texts.
pub(crate) mod keys {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(keys: &[KeyId], serializer: S) -> Result<S::Ok, S::Error> {
        keys.iter().map(ToString::to_string).collect::<Vec<_>>().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<KeyId>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
    }
}

/// A key id as text, where one is known.
pub(crate) mod maybe_key {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(key: &Option<KeyId>, serializer: S) -> Result<S::Ok, S::Error> {
        key.as_ref().map(ToString::to_string).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<KeyId>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}
