//! Names of the embedded JSON Schemas.

use std::str::FromStr;

use crate::SchemasError;

macro_rules! schema_names {
    ($($(#[$doc:meta])* $variant:ident => $name:literal;)*) => {
        /// A JSON Schema (2020-12) that this crate embeds from `schemas/<name>.schema.json`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum SchemaName { $($(#[$doc])* $variant,)* }

        impl SchemaName {
            /// Every embedded schema.
            pub const ALL: &'static [SchemaName] = &[$(SchemaName::$variant,)*];

            /// The name, as `quorum schema check NAME FILE` takes it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The text of the schema.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("../schemas/", $name, ".schema.json")),)*
                }
            }
        }
    };
}

schema_names! {
    /// What a worker is asked to do, version 0.1.
    WorkUnitV01 => "work-unit-v0.1";
    /// What a worker is asked to do, version 0.2.
    WorkUnitV02 => "work-unit-v0.2";
    /// A worker's self-report.
    ResultManifest => "result-manifest-v0.1";
    /// The immutable identity of a candidate.
    CandidateReference => "candidate-reference-v0.1";
    /// The exact binding of work unit, manifest, candidate and requirements.
    VerificationHandoff => "verification-handoff-v0.1";
    /// A verifier's bound plan.
    QuorumPlan => "quorum-plan-v0.1";
    /// A verifier's plan template (TOML on disk).
    PlanTemplate => "plan-template-v0.1";
    /// A verifier's evidence.
    VerificationResult => "verification-result-v0.1";
    /// The predicate of signed evidence: a result and where it came from.
    EvidencePredicate => "evidence-predicate-v0.1";
    /// The predicate of a signed handoff.
    HandoffPredicate => "handoff-predicate-v0.1";
    /// The recommendation and its why.
    Decision => "decision-v0.1";
    /// Everything that a decision was computed from beside the documents themselves.
    Facts => "facts-v0.1";
    /// The payload of a trust root.
    TrustRoot => "trust-root-v0.1";
    /// An operator's policy (TOML on disk).
    Policy => "policy-v0.1";
    /// An in-toto Statement v1 around one of our predicates.
    Statement => "statement-v1";
}

impl FromStr for SchemaName {
    type Err = SchemasError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|schema| schema.as_str() == name)
            .ok_or_else(|| SchemasError::SchemaUnknown(name.to_owned()))
    }
}
