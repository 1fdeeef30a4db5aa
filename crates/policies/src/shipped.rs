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

/// The cases of each shipped policy: what it makes of what verifiers say.
const CASES: &[(&str, &str)] = &[
    ("local", include_str!("../../../examples/policies/local.cases.toml")),
    ("one-verifier", include_str!("../../../examples/policies/one-verifier.cases.toml")),
    ("two-of-three", include_str!("../../../examples/policies/two-of-three.cases.toml")),
    ("three-operators", include_str!("../../../examples/policies/three-operators.cases.toml")),
    ("strict-all", include_str!("../../../examples/policies/strict-all.cases.toml")),
];

/// Every key with what it says, in the order in which a template has them.
const EXPLAINED: &[(&str, &str)] = &[
    ("schema_version", "The version of this format."),
    ("id", "Your name for it; decisions carry it. The policy's identity is the SHA-256 of this file."),
    ("quorum", "Independent voices that must support. A work unit may ask for more, never for less."),
    ("panel", "Seats that are offered. Who abstains stays in the denominator. At least quorum, at most 32."),
    ("tolerate", "Objections borne. Strategy all_required bears none, whatever stands here."),
    ("reject_quorum", "Objections that reject when nobody supports."),
    ("deadline", "From the handoff on; then open seats are not waited for."),
    ("max_age", "Older evidence does not support; a reject in it still objects."),
    (
        "independent_on",
        "Axes on which no two voices may be the same, and none the same as the worker:\n\
      operator, organisation, model_family, host, runtime, engine. What the trust root does not know is the same.",
    ),
    (
        "min_isolation",
        "Weakest isolation that may support: none, process-sandbox, shared-kernel-container, hardware-vm.",
    ),
    ("min_channel", "Most forgeable channel that may support: in_process, black_box, data."),
    ("max_tries", "Tries of one seat before it is closed."),
    ("reverify", "Whether a candidate may be verified again beyond the work unit's attempts."),
    ("require_signed_worker", "Whether a manifest without a trusted signature is refused."),
    ("fraction", "Least share of all heard seats that must support, such as \"2/3\". Strategy threshold needs it."),
    (
        "groups",
        "Operators that must be among the supporters, k of n, nested. Strategy custom needs it:\n\
      groups = { k = 2, of = [\"acme\", \"globex\", { k = 1, of = [\"initech\", \"umbrella\"] }] }",
    ),
];

impl Policy {
    /// A policy file to change: the values of a shipped one, every key explained; and its cases, as a function of the
    /// name of the policy's file beside them.
    ///
    /// # Errors
    /// [`PoliciesError::UnknownName`] with the nearest name.
    pub fn template(name: &str) -> Result<(String, impl Fn(&str) -> String), PoliciesError> {
        let shipped = Self::shipped_text(name)?;
        let table: toml::Table =
            shipped.parse().map_err(|error: toml::de::Error| PoliciesError::Syntax(error.message().to_owned()))?;
        let mut text = format!(
            "# Begun from the shipped policy `{name}`. A trust root lists the digest of the policies that it admits:\n\
             # `quorum policy check FILE` prints this one's. `quorum policy explain FILE` says what it asks.\n"
        );
        for (key, explained) in EXPLAINED {
            text.push('\n');
            explained.lines().for_each(|line| text.push_str(&format!("# {}\n", line.trim_start())));
            match table.get(*key) {
                Some(_) if *key == "id" => text.push_str(&format!("id = \"my-{name}\"\n")),
                Some(value) => text.push_str(&format!("{key} = {value}\n")),
                None => text.push_str(&format!("# {key} is not set\n")),
            }
        }
        let cases = CASES.iter().find(|(known, _)| *known == name).map_or("", |(_, cases)| *cases);
        let (of, own) = (format!("policy = \"{name}\""), name.to_owned());
        Ok((text, move |file: &str| {
            let named = format!("policy = {}", toml::Value::from(file));
            let rest = cases.split_once('\n').map_or(cases, |(_, rest)| rest);
            let rest = rest.replacen(&of, &named, 1);
            format!(
                "# Cases of the shipped policy `{own}`, to be changed with the policy. `quorum policy test` runs them.\n{rest}"
            )
        }))
    }

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
