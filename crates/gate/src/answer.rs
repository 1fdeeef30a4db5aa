//! From a report of checks to the statement that the verifier signs.

use quorum_attest::{KeyId, Role, TrustRoot};

use crate::GateError;
use crate::checks::Checked;
use crate::documents::Documents;

/// Who the verifier is.
pub(crate) struct Identity {
    pub(crate) id: String,
    pub(crate) key_id: Option<KeyId>,
}

impl Identity {
    /// The verifier of this id, as the trust root knows it.
    pub(crate) fn of(id: &str, trust: Option<&TrustRoot>) -> Self {
        let entry = trust.and_then(|trust| trust.by_id(Role::Verifier, id));
        Self { id: id.to_owned(), key_id: entry.map(|entry| entry.public_key.key_id()) }
    }
}

pub(crate) struct Answer {
    pub(crate) statement: Vec<u8>,
    pub(crate) bundle: quorum_verifier::bundle::Bundle,
    pub(crate) verdict: String,
}

/// Seat 0, try 1, epoch 0: off the mesh every key has its own seat.
pub(crate) fn assemble(
    _checked: &Checked,
    _documents: &Documents,
    _identity: &Identity,
    _trust: Option<&TrustRoot>,
) -> Result<Answer, GateError> {
    todo!()
}
