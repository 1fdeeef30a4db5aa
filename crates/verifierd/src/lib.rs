//! The verifier's daemon loop.
