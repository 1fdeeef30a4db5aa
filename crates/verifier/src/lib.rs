//! Verifier-owned plans, checks, evidence and bundles: a library that knows no mesh and holds no key.

pub mod bundle;
mod error;
pub mod glob;
pub mod limits;
pub mod tree;

pub use error::VerifierError;
