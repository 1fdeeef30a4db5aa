//! DSSE envelopes, in-toto statements, keys and the trust root.
//!
//! Everything here is pure: no clock, no randomness, no files; they are arguments. An [`Envelope`] is bytes in our own
//! form that nobody has believed yet. [`authenticate`] turns it into an [`Authentic`] statement of an entry of a
//! [`TrustRoot`], or into a typed refusal. Nothing else builds an [`Authentic`].

mod authenticate;
mod authorise;
mod dsse;
mod error;
mod keys;
pub mod limits;
mod roles;
mod statement;
mod trust;

pub use authenticate::{Authentic, authenticate};
pub use authorise::sign_statement;
pub use dsse::{Envelope, PAYLOAD_TYPE, TRUST_PAYLOAD_TYPE, pae, sign};
pub use error::AttestError;
pub use keys::{KeyId, PublicKey, SigningKey};
pub use roles::{PredicateType, Role};
pub use statement::{STATEMENT_TYPE, Statement, Subject};
pub use trust::{Entry, Revocation, TrustDraft, TrustRoot};
