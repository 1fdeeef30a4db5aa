//! The header lines between `diff --git` and the hunks.

use super::{DiffReason, FileChange, name};

/// What the header lines of one file say.
#[derive(Debug, Default)]
pub(super) struct Header {
    old_mode: Option<String>,
    new_mode: Option<String>,
    deleted: Option<String>,
    created: Option<String>,
    similarity: Option<String>,
    copy: (Option<String>, Option<String>),
    rename: (Option<String>, Option<String>),
    index: Option<String>,
    /// How far in git's own order of these lines.
    rank: usize,
}

/// How the rest of a header line is checked.
type Check = fn(&str) -> Result<String, DiffReason>;

impl Header {
    /// Takes a header line; `false` when the line is none.
    pub(super) fn take(&mut self, line: &str) -> Result<bool, DiffReason> {
        if line.starts_with("GIT binary patch") || (line.starts_with("Binary files ") && line.ends_with(" differ")) {
            return Err(DiffReason::Binary);
        }
        // In the order in which git writes them.
        let known: [(&str, Check, &mut Option<String>); 11] = [
            ("old mode ", mode, &mut self.old_mode),
            ("new mode ", mode, &mut self.new_mode),
            ("deleted file mode ", mode, &mut self.deleted),
            ("new file mode ", mode, &mut self.created),
            ("similarity index ", percent, &mut self.similarity),
            ("copy from ", name::plain, &mut self.copy.0),
            ("copy to ", name::plain, &mut self.copy.1),
            ("rename from ", name::plain, &mut self.rename.0),
            ("rename to ", name::plain, &mut self.rename.1),
            ("dissimilarity index ", percent, &mut None),
            ("index ", index, &mut self.index),
        ];
        for (rank, (prefix, check, slot)) in known.into_iter().enumerate() {
            let Some(rest) = line.strip_prefix(prefix) else { continue };
            // A repeated line has a lower rank than what comes next, too.
            if rank < self.rank {
                return Err(DiffReason::Header);
            }
            *slot = Some(check(rest)?);
            self.rank = rank + 1;
            return Ok(true);
        }
        Ok(false)
    }

    /// What the header says about the file that `diff --git` names.
    pub(super) fn change(&self, (left, right): (String, String)) -> Result<FileChange, DiffReason> {
        let mut change =
            FileChange { mode_change: self.modes()?, copy: self.copy.0.is_some(), ..FileChange::default() };
        let moved = match (&self.rename, &self.copy) {
            ((None, None), (None, None)) => None,
            ((Some(from), Some(to)), (None, None)) | ((None, None), (Some(from), Some(to))) => Some((from, to)),
            _ => return Err(DiffReason::Header),
        };
        let once = usize::from(self.created.is_some())
            + usize::from(self.deleted.is_some())
            + usize::from(change.mode_change.is_some() || moved.is_some());
        if once > 1 || moved.is_some() != self.similarity.is_some() {
            return Err(DiffReason::Header);
        }
        let fits = moved.map_or(left == right, |(from, to)| from != to && *from == left && *to == right);
        if !fits {
            return Err(DiffReason::NamesDiffer);
        }
        change.old = self.created.is_none().then_some(left);
        change.new = self.deleted.is_none().then_some(right);
        Ok(change)
    }

    /// Whether the file appears.
    pub(super) fn creates(&self) -> bool {
        self.created.is_some()
    }

    /// Whether the file goes.
    pub(super) fn deletes(&self) -> bool {
        self.deleted.is_some()
    }

    fn modes(&self) -> Result<Option<(String, String)>, DiffReason> {
        match (&self.old_mode, &self.new_mode) {
            (None, None) => Ok(None),
            (Some(old), Some(new)) if old != new => Ok(Some((old.clone(), new.clone()))),
            _ => Err(DiffReason::Header),
        }
    }
}

fn mode(text: &str) -> Result<String, DiffReason> {
    if matches!(text, "100644" | "100755") { Ok(text.to_owned()) } else { Err(DiffReason::Mode) }
}

fn percent(text: &str) -> Result<String, DiffReason> {
    let number = text.strip_suffix('%').filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let fits = number.and_then(|number| number.parse::<u8>().ok()).is_some_and(|number| number <= 100);
    if fits { Ok(text.to_owned()) } else { Err(DiffReason::Header) }
}

/// `OLD..NEW`, perhaps with the mode of a file that keeps it.
fn index(text: &str) -> Result<String, DiffReason> {
    let (ids, kept) = text.split_once(' ').map_or((text, None), |(ids, kept)| (ids, Some(kept)));
    kept.map(mode).transpose()?;
    let id = |id: &str| (4..=64).contains(&id.len()) && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let fits = ids.split_once("..").is_some_and(|(old, new)| id(old) && id(new));
    if fits { Ok(text.to_owned()) } else { Err(DiffReason::Header) }
}
