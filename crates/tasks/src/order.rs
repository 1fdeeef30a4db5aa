//! The order in which verifiers are offered seats.

use hmac::{Hmac, KeyInit, Mac};
use quorum_schemas::C1Digest;
use sha2::Sha256;

/// The place of a verifier in the order: HMAC-SHA256(secret, handoff id || public key), compared as bytes.
///
/// Keyed, so that nobody outside the coordinators can submit work until a friend comes first.
#[must_use]
pub fn offer_order(secret: &[u8; 32], handoff: &C1Digest, key: &[u8; 32]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes a key of any length");
    mac.update(handoff.as_bytes());
    mac.update(key);
    mac.finalize().into_bytes().into()
}
