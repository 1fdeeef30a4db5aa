//! The files of a diff.

use std::collections::BTreeSet;

use super::header::Header;
use super::hunk::{Hunks, Lines};
use super::name::{self, Side};
use super::{DiffError, DiffReason};

/// A diff that was read to its last byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The changed files, in the order of the diff; never empty.
    pub files: Vec<FileChange>,
}

/// What a diff does to one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChange {
    /// Its path before; `None` for a new file.
    pub old: Option<String>,
    /// Its path after; `None` for a deleted file.
    pub new: Option<String>,
    /// Whether `old` stays as it is (a copy).
    pub copy: bool,
    /// The modes before and after, where the diff changes the mode.
    pub mode_change: Option<(String, String)>,
    /// The added lines, without `+` and without the end of the line.
    pub added: Vec<String>,
    /// The removed lines, without `-` and without the end of the line.
    pub removed: Vec<String>,
}

impl Diff {
    /// Every path that a header names, sorted: what is written, and the source of a copy.
    #[must_use]
    pub fn paths(&self) -> BTreeSet<&str> {
        self.files.iter().flat_map(|file| [&file.old, &file.new]).flatten().map(String::as_str).collect()
    }

    /// Every added line.
    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|file| &file.added).map(String::as_str)
    }

    /// Every removed line.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|file| &file.removed).map(String::as_str)
    }
}

impl FileChange {
    /// The paths that are written.
    fn writes(&self) -> impl Iterator<Item = &String> {
        let moved = self.old.as_ref().filter(|old| !self.copy && self.new.as_ref() != Some(*old));
        moved.into_iter().chain(&self.new)
    }
}

/// Reads a diff.
///
/// # Errors
/// [`DiffError`] with the first line that is not exactly what `git diff` writes for text files.
pub fn parse(bytes: &[u8]) -> Result<Diff, DiffError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        DiffError { line, reason: DiffReason::NotUtf8 }
    })?;
    if text.is_empty() {
        return Err(DiffError { line: 1, reason: DiffReason::Empty });
    }
    check_line_ends(text)?;
    let mut lines = Lines::new(text);
    let (mut files, mut written) = (Vec::new(), BTreeSet::new());
    while lines.peek().is_some() {
        let start = lines.here(DiffReason::WrittenTwice);
        let file = file(&mut lines)?;
        if !file.writes().all(|path| written.insert(path.clone())) {
            return Err(start);
        }
        files.push(file);
    }
    Ok(Diff { files })
}

/// Every reader must see the same lines: `\n` ends a line, `\r` only stands in front of it, and the other characters at
/// which Python's `splitlines` breaks do not occur.
fn check_line_ends(text: &str) -> Result<(), DiffError> {
    let mut line = 1;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let hidden = match character {
            '\n' => {
                line += 1;
                false
            }
            '\r' => rest.peek() != Some(&'\n'),
            other => {
                matches!(other, '\0' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
            }
        };
        if hidden {
            return Err(DiffError { line, reason: DiffReason::HiddenLineBreak });
        }
    }
    if text.ends_with('\n') { Ok(()) } else { Err(DiffError { line, reason: DiffReason::Unterminated }) }
}

fn file(lines: &mut Lines<'_>) -> Result<FileChange, DiffError> {
    let first = lines.take().unwrap_or_default();
    let rest = first.strip_prefix("diff --git ").ok_or_else(|| lines.last(DiffReason::Stray))?;
    let named = name::git_line(rest).map_err(|reason| lines.last(reason))?;
    let start = lines.last(DiffReason::NamesDiffer);
    let mut header = Header::default();
    while let Some(line) = lines.peek() {
        if !header.take(line).map_err(|reason| lines.here(reason))? {
            break;
        }
        lines.take();
    }
    let mut change = header.change(named).map_err(|reason| DiffError { reason, ..start })?;
    let has_text = sides(lines, &header, &change)?;
    let mut hunks = Hunks::default();
    if has_text {
        hunks.read(lines)?;
    }
    let changed = hunks.added.len() + hunks.removed.len() > 0;
    if has_text && !changed {
        return Err(lines.here(DiffReason::NoChange));
    }
    // Git writes an empty new or deleted file without any `---` line.
    let without_text = change.old != change.new || change.mode_change.is_some();
    if !changed && !without_text {
        return Err(DiffError { reason: DiffReason::NoChange, ..start });
    }
    // A new file has no old lines, a deleted one no new ones.
    let two_sided = (header.creates() && !(hunks.removed.is_empty() && hunks.context == 0))
        || (header.deletes() && !(hunks.added.is_empty() && hunks.context == 0));
    if two_sided {
        return Err(DiffError { reason: DiffReason::HunkCount, ..start });
    }
    (change.added, change.removed) = (hunks.added, hunks.removed);
    Ok(change)
}

/// The `---` and `+++` lines, if there are any, against what the header said.
fn sides(lines: &mut Lines<'_>, header: &Header, change: &FileChange) -> Result<bool, DiffError> {
    let Some(rest) = lines.peek().and_then(|line| line.strip_prefix("--- ")) else { return Ok(false) };
    let old: Side = name::side(rest, "a/").map_err(|reason| lines.here(reason))?;
    let differ = |lines: &Lines<'_>, found: &Side, named: &Side, absent: bool| {
        let fits = if absent { found.is_none() } else { found == named };
        if fits { Ok(()) } else { Err(lines.here(DiffReason::NamesDiffer)) }
    };
    differ(lines, &old, &change.old, header.creates())?;
    lines.take();
    let rest = lines.peek().and_then(|line| line.strip_prefix("+++ "));
    let rest = rest.ok_or_else(|| lines.here(DiffReason::Header))?;
    let new: Side = name::side(rest, "b/").map_err(|reason| lines.here(reason))?;
    differ(lines, &new, &change.new, header.deletes())?;
    lines.take();
    Ok(true)
}
