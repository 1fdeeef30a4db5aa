//! Verifier keys of signed notes (c2sp.org/signed-note): `<name>+<key id>+<base64 of type and key>`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quorum_attest::PublicKey;
use quorum_schemas::Digest;

/// Ed25519 signatures of a log.
pub(super) const ED25519: u8 = 0x01;
/// Timestamped Ed25519 cosignatures of a witness.
pub(super) const COSIGNATURE: u8 = 0x04;

/// A verifier key. Two are duplicates when they wrap the same key, whatever they are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vkey {
    /// The key's name, in octets.
    pub name: Vec<u8>,
    /// The first four bytes of the key id.
    pub id: [u8; 4],
    /// The signature type.
    pub kind: u8,
    /// The public key in the encoding of its type.
    pub key: Vec<u8>,
}

impl Vkey {
    /// The vkey of a witness's key.
    #[must_use]
    pub fn cosigner(name: &str, key: &PublicKey) -> Self {
        let (name, key) = (name.as_bytes().to_vec(), key.as_bytes().to_vec());
        Self { id: key_id(&name, COSIGNATURE, &key), name, kind: COSIGNATURE, key }
    }

    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let shape = || "a vkey has the form NAME+KEYID+BASE64".to_owned();
        let mut parts = text.splitn(3, |byte| *byte == b'+');
        let (Some(name), Some(id), Some(data)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(shape());
        };
        if name.is_empty() {
            return Err("the vkey has no name".to_owned());
        }
        let id = hex4(id).ok_or_else(|| "the vkey's key id is not eight hex digits".to_owned())?;
        let data =
            STANDARD.decode(data).map_err(|error| format!("the vkey's key is not base64 with padding: {error}"))?;
        let Some((kind, key)) = data.split_first() else { return Err(shape()) };
        let (kind, key) = (*kind, key.to_vec());
        if matches!(kind, ED25519 | COSIGNATURE) {
            if key.len() != 32 {
                return Err(format!("an Ed25519 key has 32 bytes, this one {}", key.len()));
            }
            if id != key_id(name, kind, &key) {
                return Err("the vkey's key id is not that of its name and key".to_owned());
            }
        }
        if key.is_empty() {
            return Err("the vkey has no key".to_owned());
        }
        Ok(Self { name: name.to_vec(), id, kind, key })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut data = vec![self.kind];
        data.extend_from_slice(&self.key);
        let id: String = self.id.iter().map(|byte| format!("{byte:02x}")).collect();
        [&self.name, &b"+"[..], id.as_bytes(), b"+", STANDARD.encode(&data).as_bytes()].concat()
    }
}

/// SHA-256 of name, newline, type and key: the first four bytes.
fn key_id(name: &[u8], kind: u8, key: &[u8]) -> [u8; 4] {
    let digest = Digest::of(&[name, b"\n", &[kind], key].concat());
    let bytes = digest.as_bytes();
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}

fn hex4(text: &[u8]) -> Option<[u8; 4]> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() == 8)?;
    let plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(text, 16).ok().filter(|_| plain).map(u32::to_be_bytes)
}
