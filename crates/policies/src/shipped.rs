//! The policies that ship with the program.

use crate::policy::nearest;
use crate::{PoliciesError, Policy};

const FILES: &[(&str, &str)] = &[
    ("local", include_str!("../files/local.toml")),
    ("one-verifier", include_str!("../files/one-verifier.toml")),
    ("two-of-three", include_str!("../files/two-of-three.toml")),
    ("three-operators", include_str!("../files/three-operators.toml")),
    ("strict-all", include_str!("../files/strict-all.toml")),
];

impl Policy {
    /// Names of the shipped policies, most lenient first.
    #[must_use]
    pub fn shipped_names() -> Vec<&'static str> {
        FILES.iter().map(|(name, _)| *name).collect()
    }

    /// The text of a shipped policy; its bytes are what [`Policy::digest`] is taken over.
    #[must_use]
    pub fn shipped(name: &str) -> Option<&'static str> {
        FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// The text of a shipped policy.
    ///
    /// # Errors
    /// [`PoliciesError::UnknownName`] with the nearest name.
    pub fn shipped_text(name: &str) -> Result<&'static str, PoliciesError> {
        let names = Self::shipped_names();
        Self::shipped(name).ok_or_else(|| PoliciesError::UnknownName {
            name: name.to_owned(),
            suggestion: nearest(name, &names),
            names: names.join(", "),
        })
    }
}
