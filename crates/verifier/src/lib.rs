//! Verifier-owned plans, checks, evidence and bundles.
