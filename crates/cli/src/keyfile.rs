//! Key files and the clock as `keys`, `trust` and `sign` use them; the gate reads keys and the clock for all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use quorum_attest::{AttestError, PublicKey, SigningKey, TrustRoot, limits};
use quorum_schemas::Timestamp;
use zeroize::Zeroizing;

use crate::codes::CliCode;
use crate::error::CliError;
use crate::input;

/// The wall clock, in whole seconds: times in files are for people too.
pub(crate) fn now() -> Result<Timestamp, CliError> {
    const SECOND: i64 = 1_000_000;
    Ok(Timestamp::from_micros(quorum_gate::now()?.micros() / SECOND * SECOND))
}

/// Writes a secret to a new file that only its owner can read. An existing file is never touched; half a file is never
/// left.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let wrong = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => CliError::control(
            CliCode::KeyExists,
            format!("{} exists and a key is never overwritten; name a new file", path.display()),
        ),
        _ => CliError::Write { path: path.to_owned(), source },
    };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(wrong)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| sync_parent(path));
    written.map_err(|source| {
        // The error that is reported is the first; a leftover without content harms nobody.
        let _ = fs::remove_file(path);
        wrong(source)
    })
}

fn sync_parent(path: &Path) -> io::Result<()> {
    let absolute = std::path::absolute(path)?;
    File::open(absolute.parent().unwrap_or(Path::new("/")))?.sync_all()
}

/// Reads a private key. One that others may read is refused: it is no secret.
pub(crate) fn private(path: &Path) -> Result<SigningKey, CliError> {
    Ok(quorum_gate::private_key(path)?)
}

/// Reads a public key: its PEM, the PEM of its private key, or the base64 of its SPKI as the argument itself.
pub(crate) fn public(argument: &str) -> Result<PublicKey, CliError> {
    if argument.starts_with("MC") && !Path::new(argument).exists() {
        return PublicKey::from_spki_base64(argument).map_err(|error| refused_change(&error));
    }
    let path = Path::new(argument);
    let text = text(path)?;
    let key = if text.contains("PRIVATE KEY-----") {
        SigningKey::from_pkcs8_pem(&text).map(|key| key.public())
    } else {
        PublicKey::from_spki_pem(&text)
    };
    key.map_err(|error| refused(path, &error))
}

/// The text of a key file.
fn text(path: &Path) -> Result<Zeroizing<String>, CliError> {
    let bytes = Zeroizing::new(input::read(path, limits::KEY_FILE_BYTES as u64 + 1)?);
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(_) => Err(CliError::control(CliCode::KeyMalformed, format!("{} is not a PEM file", path.display()))),
    }
}

/// Reads a trust root, current or not.
pub(crate) fn trust(path: &Path) -> Result<TrustRoot, CliError> {
    Ok(quorum_gate::load_trust(path)?)
}

/// What a file was refused for.
pub(crate) fn refused(path: &Path, error: &AttestError) -> CliError {
    input::refused(path, error.code(), &error.words())
}

/// What a change was refused for.
pub(crate) fn refused_change(error: &AttestError) -> CliError {
    CliError::control(error.code(), error.words())
}
