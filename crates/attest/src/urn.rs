//! The names that we give to things which have no address: `urn:idkmesh-quorum:` and parts.

use std::fmt::Write as _;

use crate::Role;

/// `urn:idkmesh-quorum:` and the parts, separated by colons. Everything in a part but the unreserved characters of
/// RFC 3986 is percent-encoded, so that two lists of parts never give one name.
#[must_use]
pub fn urn(parts: &[&str]) -> String {
    let mut name = "urn:idkmesh-quorum".to_owned();
    for part in parts {
        name.push(':');
        for byte in part.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                name.push(char::from(byte));
            } else {
                write!(name, "%{byte:02X}").expect("writing to a String never fails");
            }
        }
    }
    name
}

/// The URI of an entry of a trust root: what a verification summary calls its verifier.
#[must_use]
pub fn signer_uri(role: Role, id: &str) -> String {
    urn(&[role.as_str(), id])
}
