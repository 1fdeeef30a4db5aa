//! The hash of an invocation and of produced files.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::limits;

/// What was run, as far as it could be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryIdentity<'a> {
    /// A canonical path.
    Path(&'a str),
    /// A container image digest.
    Image(&'a str),
    /// It could not be found (loom_h6): never equal to a hash of something that ran.
    Unresolved(&'a str),
}

/// `input_hash` of the envelope: the invocation, not the contents of the files that it names (loom_h1 to loom_h6).
///
/// `argv` is as run, with the program's name first. An unknown version is not an empty one.
#[must_use]
pub fn input_hash(
    binary: BinaryIdentity<'_>,
    version: Option<&str>,
    env: &BTreeMap<String, String>,
    argv: &[String],
) -> String {
    let mut hasher = blake3::Hasher::new();
    frame(&mut hasher, "loom-input-hash/1");
    let (kind, identity) = match binary {
        BinaryIdentity::Path(path) => ("path", path),
        BinaryIdentity::Image(digest) => ("image", digest),
        BinaryIdentity::Unresolved(name) => ("unresolved", name),
    };
    let environment: Vec<&str> = env.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]).collect();
    section(&mut hasher, "binary", 2, &[kind, identity]);
    section(&mut hasher, "version", u64::from(version.is_some()), version.as_slice());
    section(&mut hasher, "env", env.len() as u64, &environment);
    let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
    section(&mut hasher, "argv", argv.len() as u64, &argv);
    format!("blake3:{}", hasher.finalize().to_hex())
}

fn section(hasher: &mut blake3::Hasher, tag: &str, count: u64, items: &[&str]) {
    frame(hasher, tag);
    hasher.update(&count.to_le_bytes());
    for item in items {
        frame(hasher, item);
    }
}

/// Length first, so that `["a", "bc"]` and `["ab", "c"]` differ.
fn frame(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

/// BLAKE3 of a regular file through one descriptor; no link, pipe or device is followed (loom_a12).
pub(crate) fn file_hash(path: &Path) -> io::Result<String> {
    let flags = nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() > limits::ARTIFACT_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file, or too large"));
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file.take(limits::ARTIFACT_BYTES))?;
    Ok(format!("blake3:{}", hasher.finalize().to_hex()))
}
