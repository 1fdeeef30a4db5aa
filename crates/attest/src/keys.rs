//! Ed25519 keys. The DER and PEM that are read are the library's; what we add is refusing keys that two people could not
//! agree on.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::pkcs8::{self, DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _};
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use quorum_schemas::Digest;
use zeroize::Zeroizing;

use crate::{AttestError, limits};

/// A public key that decodes, is in canonical encoding and has not small order. Equal keys have equal bytes, whatever
/// text they came from; votes are counted by these bytes. It is kept decoded, as each signature needs it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(VerifyingKey);

/// DER of a SubjectPublicKeyInfo of Ed25519 (RFC 8410) up to the 32 bytes of the key. A test holds it against the library's.
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

impl PublicKey {
    /// From the 32 bytes of RFC 8032.
    ///
    /// # Errors
    /// [`AttestError::KeyMalformed`] for bytes that are no point, [`AttestError::KeyNotCanonical`] and
    /// [`AttestError::WeakKey`].
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, AttestError> {
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| AttestError::KeyMalformed {
            form: "an Ed25519 public key",
            reason: "the bytes are not a point of the curve",
        })?;
        if key.to_edwards().compress().to_bytes() != bytes {
            return Err(AttestError::KeyNotCanonical { hex: hex(&bytes) });
        }
        if key.is_weak() {
            return Err(AttestError::WeakKey { hex: hex(&bytes) });
        }
        Ok(Self(key))
    }

    /// From the base64 of the SubjectPublicKeyInfo, in one line, as trust roots carry it.
    ///
    /// # Errors
    /// As [`PublicKey::from_bytes`]; [`AttestError::KeyMalformed`] for other base64 or other DER than we write.
    pub fn from_spki_base64(text: &str) -> Result<Self, AttestError> {
        const FORM: &str = "an Ed25519 public key as SPKI in base64";
        let malformed = |reason| AttestError::KeyMalformed { form: FORM, reason };
        let der = STANDARD.decode(text).map_err(|_| malformed("the text is not standard base64 in one line"))?;
        let not_spki = || malformed("the bytes are not a SubjectPublicKeyInfo of Ed25519");
        if let Some(Ok(bytes)) = der.strip_prefix(&SPKI_PREFIX).map(<[u8; 32]>::try_from) {
            // The one form, of which the library would decompress the point once more.
            return Self::from_bytes(bytes).map_err(|error| match error {
                AttestError::KeyMalformed { .. } => not_spki(),
                other => other,
            });
        }
        let key = VerifyingKey::from_public_key_der(&der).map_err(|_| not_spki())?;
        Self::from_bytes(key.to_bytes())?;
        Err(malformed("the bytes are not the one DER form of this key"))
    }

    /// From a `PUBLIC KEY` PEM, as `openssl pkey -pubout` writes it.
    ///
    /// # Errors
    /// As [`PublicKey::from_bytes`]; [`AttestError::KeyMalformed`] for other text.
    pub fn from_spki_pem(text: &str) -> Result<Self, AttestError> {
        let malformed = |reason| AttestError::KeyMalformed { form: "an Ed25519 public key as PEM", reason };
        if text.len() > limits::KEY_FILE_BYTES {
            return Err(malformed("the file is too large for a key"));
        }
        if text.contains("PRIVATE KEY-----") {
            return Err(malformed("this is a private key; `quorum keys show` prints its public half"));
        }
        let key = VerifyingKey::from_public_key_pem(text.trim())
            .map_err(|_| malformed("expected one block `-----BEGIN PUBLIC KEY-----` with an Ed25519 key"))?;
        Self::from_bytes(key.to_bytes())
    }

    /// The SubjectPublicKeyInfo in base64, one line.
    #[must_use]
    pub fn spki_base64(&self) -> String {
        STANDARD.encode(self.spki_der())
    }

    /// The SubjectPublicKeyInfo as PEM, with `\n` line ends.
    #[must_use]
    pub fn spki_pem(&self) -> String {
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", self.spki_base64())
    }

    /// SHA-256 of the SubjectPublicKeyInfo.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        KeyId(Digest::of(&self.spki_der()))
    }

    /// The 32 bytes of RFC 8032.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Whether `signature` is one of this key over `message`, by `verify_strict`. No other verification exists here:
    /// the others accept signatures that are nobody's.
    ///
    /// # Errors
    /// [`AttestError::BadSignature`], also for a signature that has not 64 bytes.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), AttestError> {
        let bad = || AttestError::BadSignature { key_id: self.key_id() };
        let signature = Signature::from_slice(signature).map_err(|_| bad())?;
        self.0.verify_strict(message, &signature).map_err(|_| bad())
    }

    fn spki_der(&self) -> [u8; 44] {
        let mut der = [0; 44];
        der[..SPKI_PREFIX.len()].copy_from_slice(&SPKI_PREFIX);
        der[SPKI_PREFIX.len()..].copy_from_slice(self.as_bytes());
        der
    }
}

impl PartialOrd for PublicKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PublicKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", hex(self.as_bytes()))
    }
}

/// The name of a public key: SHA-256 of its SubjectPublicKeyInfo, written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(Digest);

impl KeyId {
    /// The digest itself.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.hex())
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl FromStr for KeyId {
    type Err = AttestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Digest::from_hex(text).map(Self).map_err(|_| AttestError::KeyIdMalformed { found: text.to_owned() })
    }
}

/// A private key. Wiped when dropped; its `Debug` shows the key id only.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// From the 32 secret bytes of RFC 8032; the caller brings the randomness.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// From a `PRIVATE KEY` PEM (PKCS#8), as `quorum keys new` or `openssl genpkey -algorithm ed25519` writes it.
    ///
    /// # Errors
    /// [`AttestError::KeyMalformed`]; the message never has a part of the text.
    pub fn from_pkcs8_pem(text: &str) -> Result<Self, AttestError> {
        let malformed = |reason| AttestError::KeyMalformed { form: "an Ed25519 private key as PKCS#8 PEM", reason };
        if text.len() > limits::KEY_FILE_BYTES {
            return Err(malformed("the file is too large for a key"));
        }
        ed25519_dalek::SigningKey::from_pkcs8_pem(text.trim()).map(Self).map_err(|_| malformed(why_not_pkcs8(text)))
    }

    /// As PKCS#8 PEM, version 1 (without the public half), which every tool reads.
    #[must_use]
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        let pair = pkcs8::KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        pair.to_pkcs8_pem(pkcs8::spki::der::pem::LineEnding::LF)
            .expect("48 bytes of DER fit every limit of the encoder")
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(crate) fn sign_bytes(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public().key_id())
    }
}

fn why_not_pkcs8(text: &str) -> &'static str {
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") {
        "it is encrypted; keep it unencrypted with mode 0600"
    } else if text.contains("BEGIN OPENSSH PRIVATE KEY") {
        "it is an OpenSSH key; make one with `quorum keys new`"
    } else if text.contains("BEGIN PUBLIC KEY") {
        "it is a public key; the private one is needed"
    } else {
        "expected one block `-----BEGIN PRIVATE KEY-----` with an Ed25519 key"
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::pkcs8::EncodePublicKey as _;

    use super::*;

    #[test]
    fn the_der_of_a_key_is_that_of_the_library() {
        for seed in 0..=255 {
            let key = SigningKey::from_seed(&[seed; 32]).public();
            let library = key.0.to_public_key_der().unwrap();
            assert_eq!(key.spki_der(), library.as_bytes(), "seed {seed}");
        }
    }

    #[test]
    fn keys_are_ordered_as_their_bytes() {
        let mut keys: Vec<PublicKey> = (0..=255).map(|seed| SigningKey::from_seed(&[seed; 32]).public()).collect();
        keys.sort();
        assert!(keys.is_sorted_by(|left, right| left.as_bytes() < right.as_bytes()));
    }
}
