//! DSSE envelopes, in-toto statements, keys and the trust root.
//!
//! Everything here is pure: no clock, no randomness, no files; they are arguments. An [`Envelope`] is bytes in our own
//! form that nobody has believed yet. [`authenticate`] turns it into an [`Authentic`] statement of an entry of a
//! [`TrustRoot`], or into a typed refusal. Nothing else builds an [`Authentic`].
//! Envelopes of other tools are another type, [`ForeignEnvelope`], and never become one of ours.

mod authenticate;
mod authorise;
mod dsse;
mod error;
mod foreign;
mod keys;
pub mod limits;
mod roles;
mod statement;
mod trust;
mod urn;

pub use authenticate::{Authentic, authenticate};
pub use authorise::sign_statement;
pub use dsse::{Envelope, Hashed, PAYLOAD_TYPE, TRUST_PAYLOAD_TYPE, pae, sign};
pub use error::{AttestError, errors};
pub use foreign::{ForeignEnvelope, ForeignStatement, ForeignSubject, Verified, verify_foreign};
pub use keys::{KeyId, PublicKey, SigningKey};
pub use roles::{PredicateType, Role};
pub use statement::{STATEMENT_TYPE, Statement, Subject};
pub use trust::{Entry, Lacking, Revocation, TrustChange, TrustDraft, TrustHistory, TrustProposal, TrustRoot};
pub use urn::{signer_uri, urn};
