//! File names in the header lines of a diff.

use super::DiffReason;
use crate::tree::check_path;

/// One side of a file: a path, or nothing (`/dev/null`).
pub(super) type Side = Option<String>;

/// The two names of `diff --git A B`. Unquoted names with spaces can only be told apart when both are the same; with a
/// rename the other header lines name them, and the caller compares.
pub(super) fn git_line(rest: &str) -> Result<(String, String), DiffReason> {
    if let Some((left, tail)) = quoted(rest)? {
        let right = tail.strip_prefix(' ').ok_or(DiffReason::Name)?;
        return Ok((below(&left, "a/")?, below(&whole(right)?, "b/")?));
    }
    // A quoted right name starts with the only quote that an unquoted left name could not hold.
    if let Some(at) = rest.find(" \"") {
        let right = whole(&rest[at + 1..])?;
        return Ok((below(&rest[..at], "a/")?, below(&right, "b/")?));
    }
    let same = (rest.len() >= 5 && (rest.len() - 1).is_multiple_of(2)).then(|| rest.split_at_checked(rest.len() / 2));
    if let Some(Some((left, right))) = same
        && let (Some(left), Some(right)) = (left.strip_prefix("a/"), right.strip_prefix(" b/"))
        && left == right
    {
        return Ok((checked(left)?, checked(right)?));
    }
    let mut splits = rest.match_indices(" b/");
    match (splits.next(), splits.next()) {
        (Some((at, _)), None) => Ok((below(&rest[..at], "a/")?, below(&rest[at + 1..], "b/")?)),
        _ => Err(DiffReason::Name),
    }
}

/// The name in a `---` or `+++` line. Git ends a name with a space in it by a tab.
pub(super) fn side(rest: &str, prefix: &str) -> Result<Side, DiffReason> {
    let bare = match rest.strip_suffix('\t') {
        Some(name) if name.contains(' ') => name,
        _ => rest,
    };
    if bare == "/dev/null" {
        return Ok(None);
    }
    below(&whole(bare)?, prefix).map(Some)
}

/// The name in a rename or copy line, which has no prefix.
pub(super) fn plain(rest: &str) -> Result<String, DiffReason> {
    checked(&whole(rest)?)
}

fn whole(text: &str) -> Result<String, DiffReason> {
    match quoted(text)? {
        Some((name, "")) => Ok(name),
        Some(_) => Err(DiffReason::Name),
        None => Ok(text.to_owned()),
    }
}

fn below(name: &str, prefix: &str) -> Result<String, DiffReason> {
    checked(name.strip_prefix(prefix).ok_or(DiffReason::Name)?)
}

fn checked(path: &str) -> Result<String, DiffReason> {
    let plain = check_path(path).is_ok() && !path.chars().any(char::is_control);
    if plain { Ok(path.to_owned()) } else { Err(DiffReason::UnsafePath) }
}

/// A name in git's C quoting and what follows it; `None` when it is not quoted.
fn quoted(text: &str) -> Result<Option<(String, &str)>, DiffReason> {
    let Some(inner) = text.strip_prefix('"') else { return Ok(None) };
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes();
    loop {
        match rest {
            [b'"', tail @ ..] => {
                let name = String::from_utf8(bytes).map_err(|_| DiffReason::Name)?;
                // The tail begins after an ASCII byte, so it is whole.
                return Ok(Some((name, &inner[inner.len() - tail.len()..])));
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = tail;
            }
            [b'\\', escape, tail @ ..] => {
                bytes.push(unescaped(*escape).ok_or(DiffReason::Name)?);
                rest = tail;
            }
            [byte, tail @ ..] => {
                bytes.push(*byte);
                rest = tail;
            }
            [] => return Err(DiffReason::Name),
        }
    }
}

fn unescaped(escape: u8) -> Option<u8> {
    Some(match escape {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        b'"' | b'\\' => escape,
        _ => return None,
    })
}
