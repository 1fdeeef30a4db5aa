//! One `git cat-file --batch` process, and object ids computed again from what it says.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;

use quorum_schemas::Sha256;
use sha1_checked::{Digest as _, Sha1};

use crate::{GateCode, GateError, limits};

/// The id of a git object, lower-case hex: 40 digits (SHA-1) or 64 (SHA-256).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(String);

impl ObjectId {
    /// From the raw bytes that a tree object holds.
    pub(crate) fn from_raw(raw: &[u8]) -> Self {
        Self(raw.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Bytes of an id in a tree object of the same repository.
    pub(crate) fn raw_len(&self) -> usize {
        self.0.len() / 2
    }

    /// The hex digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ObjectId {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let hex = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if hex && matches!(text.len(), 40 | 64) {
            return Ok(Self(text.to_owned()));
        }
        Err(GateError::control(
            GateCode::GitObjectId,
            format!("`{text}` is not a full commit id (40 or 64 lower-case hex digits); `git rev-parse REF` prints it"),
        ))
    }
}

/// What a git object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Commit,
    Tree,
    Blob,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
        }
    }
}

/// A running `git cat-file --batch`.
pub(crate) struct Objects {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Objects {
    pub(super) fn start(mut command: Command) -> Result<Self, GateError> {
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(super::missing)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.expect("both ends were asked for as pipes");
        Ok(Self { child, requests, answers: BufReader::with_capacity(1 << 16, answers) })
    }

    /// The whole content of one object.
    ///
    /// # Errors
    /// `git_object_missing`, `git_object_kind`, `git_object_too_large`, `git_object_corrupt`.
    pub(crate) fn read(&mut self, id: &ObjectId, kind: Kind, limit: u64) -> Result<Vec<u8>, GateError> {
        let mut content = Vec::new();
        self.copy(id, kind, limit, &mut content)?;
        Ok(content)
    }

    /// Copies the content of one object and gives its size.
    ///
    /// # Errors
    /// As [`Objects::read`]; also `cannot_write` of the sink as `git_copy_failed`.
    pub(crate) fn copy(
        &mut self,
        id: &ObjectId,
        kind: Kind,
        limit: u64,
        sink: &mut impl Write,
    ) -> Result<u64, GateError> {
        writeln!(self.requests, "{id}").and_then(|()| self.requests.flush()).map_err(stopped)?;
        let size = self.header(id, kind)?;
        if size > limit {
            return Err(GateError::control(
                GateCode::GitObjectTooLarge,
                format!("the {} {id} has {size} bytes, the limit is {limit}", kind.as_str()),
            ));
        }
        let mut hasher = Hasher::new(id, kind, size);
        let mut left = size;
        let mut buffer = [0; 1 << 16];
        while left > 0 {
            let want = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let got = self.answers.read(&mut buffer[..want]).map_err(stopped)?;
            if got == 0 {
                return Err(stopped(io::ErrorKind::UnexpectedEof.into()));
            }
            hasher.update(&buffer[..got]);
            sink.write_all(&buffer[..got]).map_err(|error| {
                GateError::infrastructure(GateCode::GitCopyFailed, format!("cannot copy {id}: {error}"))
            })?;
            left -= got as u64;
        }
        let mut newline = [0];
        self.answers.read_exact(&mut newline).map_err(stopped)?;
        hasher.check(id)?;
        Ok(size)
    }

    fn header(&mut self, id: &ObjectId, kind: Kind) -> Result<u64, GateError> {
        let mut line = String::new();
        (&mut self.answers).take(256).read_line(&mut line).map_err(stopped)?;
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        match words[..] {
            [found, what, size] if found == id.as_str() && what == kind.as_str() => size
                .parse()
                .map_err(|_| GateError::infrastructure(GateCode::GitFailed, format!("git cat-file answered `{line}`"))),
            [_, "missing"] => Err(GateError::control(
                GateCode::GitObjectMissing,
                format!("the repository has no {} {id}", kind.as_str()),
            )),
            _ => Err(GateError::control(
                GateCode::GitObjectKind,
                format!("{id} should be a {}; git cat-file says `{}`", kind.as_str(), line.trim_end()),
            )),
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // It holds no state, and killing a finished process is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn stopped(error: io::Error) -> GateError {
    GateError::infrastructure(GateCode::GitFailed, format!("git cat-file stopped answering: {error}"))
}

/// SHA-1 with collision detection, or SHA-256, over `<kind> <size>\0<content>`.
enum Hasher {
    Sha1(Box<Sha1>),
    Sha256(Sha256),
}

impl Hasher {
    fn new(id: &ObjectId, kind: Kind, size: u64) -> Self {
        let mut hasher = if id.raw_len() == 20 { Self::Sha1(Box::default()) } else { Self::Sha256(Sha256::default()) };
        hasher.update(format!("{} {size}\0", kind.as_str()).as_bytes());
        hasher
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    fn check(self, id: &ObjectId) -> Result<(), GateError> {
        let found = match self {
            Self::Sha1(hasher) => {
                let result = hasher.try_finalize();
                if result.has_collision() {
                    return Err(GateError::control(
                        GateCode::GitObjectCorrupt,
                        format!("the content of {id} is one half of a SHA-1 collision"),
                    ));
                }
                ObjectId::from_raw(result.hash())
            }
            Self::Sha256(hasher) => ObjectId(hasher.finish().hex()),
        };
        if found == *id {
            return Ok(());
        }
        Err(GateError::control(GateCode::GitObjectCorrupt, format!("the object {id} has the content of {found}")))
    }
}

/// A commit's tree, from the commit object.
pub(super) fn tree_of(objects: &mut Objects, commit: &ObjectId) -> Result<ObjectId, GateError> {
    let content = objects.read(commit, Kind::Commit, limits::COMMIT_OBJECT)?;
    let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.strip_prefix("tree ")
        .ok_or_else(|| GateError::control(GateCode::GitObjectCorrupt, format!("the commit {commit} names no tree")))?
        .parse()
}
