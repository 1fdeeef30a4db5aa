//! References, paths and the address of a run.

use std::fmt;

use quorum_schemas::Value;

use crate::limits::{CODE_CHARS, KEY_CHARS, PATH_CHARS, REF_CHARS};
use crate::{RefusalCode, WorkbenchError};

macro_rules! text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&$name> for Value {
            fn from(text: &$name) -> Self {
                Self::String(text.0.clone())
            }
        }
    };
}

text! {
    /// A reference: 1 to 512 characters without NUL.
    Ref
}

impl Ref {
    /// Reads a reference.
    ///
    /// # Errors
    /// [`WorkbenchError::RefForm`].
    pub fn new(text: &str) -> Result<Self, WorkbenchError> {
        if text.is_empty() || text.contains('\0') || text.chars().count() > REF_CHARS {
            return Err(WorkbenchError::RefForm { found: Value::from(text).shown() });
        }
        Ok(Self(text.to_owned()))
    }
}

/// Why a text is no relative path; the words of upstream's golden vectors, and `empty`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// No characters, or more than [`PATH_CHARS`].
    Length,
    /// Contains NUL.
    NulByte,
    /// Starts with `/`.
    Absolute,
    /// Has a component `..`.
    ParentTraversal,
    /// Has a component `.` or an empty one, or a backslash, which another system takes for a separator.
    CurrentDir,
}

impl PathFault {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::NulByte => "nul-byte",
            Self::Absolute => "absolute-path",
            Self::ParentTraversal => "parent-traversal",
            Self::CurrentDir => "current-dir-component",
        }
    }
}

text! {
    /// A path below a workspace root: `.`, or components that are neither empty nor `.` nor `..` (W-036).
    RelativePath
}

impl RelativePath {
    /// Reads a path.
    ///
    /// # Errors
    /// [`WorkbenchError::RelativePath`] with the fault.
    pub fn new(text: &str) -> Result<Self, WorkbenchError> {
        match fault(text) {
            None => Ok(Self(text.to_owned())),
            Some(fault) => Err(WorkbenchError::RelativePath { path: Value::from(text).shown(), fault }),
        }
    }

    /// The whole root.
    #[must_use]
    pub fn root() -> Self {
        Self(".".to_owned())
    }
}

fn fault(text: &str) -> Option<PathFault> {
    if text.is_empty() || text.chars().count() > PATH_CHARS {
        return Some(PathFault::Length);
    }
    if text.contains('\0') {
        return Some(PathFault::NulByte);
    }
    if text.starts_with('/') {
        return Some(PathFault::Absolute);
    }
    if text.split('/').any(|component| component == "..") {
        return Some(PathFault::ParentTraversal);
    }
    let unclear = text != "." && (text.contains('\\') || text.split('/').any(|part| part.is_empty() || part == "."));
    unclear.then_some(PathFault::CurrentDir)
}

/// Where a command runs: below which root of which workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The workspace.
    pub workspace: Ref,
    /// One of its roots.
    pub root: Ref,
    /// The working directory below it.
    pub path: RelativePath,
}

text! {
    /// A code of a result: `[a-z0-9][a-z0-9.-]{0,127}`. Foreign results have codes that we do not know.
    Code
}

impl Code {
    /// Reads a code.
    ///
    /// # Errors
    /// [`WorkbenchError::CodeForm`].
    pub fn new(text: &str) -> Result<Self, WorkbenchError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let rest = |byte: u8| plain(byte) || byte == b'.' || byte == b'-';
        match text.as_bytes() {
            [first, others @ ..] if plain(*first) && others.len() < CODE_CHARS && others.iter().all(|b| rest(*b)) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(WorkbenchError::CodeForm { found: Value::from(text).shown() }),
        }
    }
}

impl From<RefusalCode> for Code {
    fn from(code: RefusalCode) -> Self {
        Self(code.code().to_owned())
    }
}

text! {
    /// An idempotency key: 1 to 128 characters of `A-Z a-z 0-9 . _ : / -`, the first a letter or a digit.
    Key
}

impl Key {
    /// Reads a key; `None` for what is malformed (W-062).
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let rest = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:/-".contains(byte);
        let well = text.len() <= KEY_CHARS
            && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
            && text.as_bytes().iter().all(rest);
        well.then(|| Self(text.to_owned()))
    }
}
