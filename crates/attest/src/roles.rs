//! Who may sign what (design section 4).

use std::fmt;
use std::str::FromStr;

use crate::AttestError;

/// What a key of the trust root is for. Root keys are apart: they sign trust roots and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Writes WorkUnits.
    Author,
    /// Offers candidates in ResultManifests.
    Worker,
    /// Binds handoffs and writes decisions on the mesh.
    Coordinator,
    /// Signs evidence.
    Verifier,
    /// Writes decisions off the mesh.
    Gate,
}

impl Role {
    /// Every role, in the order in which a trust root lists its entries.
    pub const ALL: [Self; 5] = [Self::Author, Self::Worker, Self::Coordinator, Self::Verifier, Self::Gate];

    /// The name in trust roots and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Author => "author",
            Self::Worker => "worker",
            Self::Coordinator => "coordinator",
            Self::Verifier => "verifier",
            Self::Gate => "gate",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = AttestError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|role| role.as_str() == name)
            .ok_or_else(|| AttestError::RoleUnknown { found: name.to_owned() })
    }
}

/// What a signed statement says. The type is inside the signature, so that a statement of one kind can never be read
/// as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PredicateType {
    /// A WorkUnit.
    WorkUnit,
    /// A worker's ResultManifest.
    ResultManifest,
    /// A signed handoff.
    Handoff,
    /// A verifier's evidence.
    Evidence,
    /// A recommendation.
    Decision,
    /// The same recommendation as a SLSA Verification Summary Attestation v1.
    Vsa,
}

impl PredicateType {
    /// Every predicate type.
    pub const ALL: [Self; 6] =
        [Self::WorkUnit, Self::ResultManifest, Self::Handoff, Self::Evidence, Self::Decision, Self::Vsa];

    /// The `predicateType` of the statement.
    #[must_use]
    pub fn uri(self) -> &'static str {
        match self {
            Self::WorkUnit => "urn:idkmesh-quorum:work-unit:v0.1",
            Self::ResultManifest => "urn:idkmesh-quorum:result-manifest:v0.1",
            Self::Handoff => "urn:idkmesh-quorum:handoff:v0.1",
            Self::Evidence => "urn:idkmesh-quorum:evidence:v0.1",
            Self::Decision => "urn:idkmesh-quorum:decision:v0.1",
            Self::Vsa => "https://slsa.dev/verification_summary/v1",
        }
    }

    /// Reads a `predicateType`; `None` for a type that this version does not know.
    #[must_use]
    pub fn from_uri(uri: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|predicate_type| predicate_type.uri() == uri)
    }

    /// The roles whose keys may sign it.
    #[must_use]
    pub fn allowed_roles(self) -> &'static [Role] {
        match self {
            Self::WorkUnit => &[Role::Author],
            Self::ResultManifest => &[Role::Worker],
            Self::Handoff => &[Role::Coordinator],
            Self::Evidence => &[Role::Verifier],
            Self::Decision | Self::Vsa => &[Role::Coordinator, Role::Gate],
        }
    }
}

impl fmt::Display for PredicateType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.uri())
    }
}
