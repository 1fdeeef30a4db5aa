//! The reader: admits exactly what the writer writes.
//!
//! Nothing is ever inflated, sizes are checked against the bytes at hand before anything is copied, and what was read is
//! written again and compared: two readers can never see two different archives in one file.

use std::collections::BTreeMap;

use super::write::{CENTRAL, CENTRAL_BYTES, END, END_BYTES, LOCAL, LOCAL_BYTES, Writer, bound};
use crate::tree::{Mode, check_path};
use crate::{VerifierError, limits};

/// One entry, borrowed from the ZIP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Raw<'a> {
    pub(super) path: &'a str,
    pub(super) mode: Mode,
    pub(super) bytes: &'a [u8],
}

/// The files of an evidence bundle.
///
/// # Errors
/// [`VerifierError::BundleTooLarge`], [`VerifierError::BundleMalformed`] for every other form than our own, symlinks
/// included, [`VerifierError::PathUnsafe`].
pub fn read(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, VerifierError> {
    bound("bytes", bytes.len() as u64, limits::BUNDLE_BYTES as u64)?;
    let entries = entries(bytes, limits::BUNDLE_FILES)?;
    if let Some(entry) = entries.iter().find(|entry| entry.mode != Mode::File) {
        return Err(malformed(format!("`{}` is not a plain file of mode 644", entry.path)));
    }
    Ok(entries.into_iter().map(|entry| (entry.path.to_owned(), entry.bytes.to_vec())).collect())
}

/// The entries of any ZIP of our form, in ascending order, none above another.
pub(super) fn entries(bytes: &[u8], most: usize) -> Result<Vec<Raw<'_>>, VerifierError> {
    let end_at = bytes.len().checked_sub(END_BYTES).ok_or_else(|| malformed("too short for a ZIP"))?;
    let end = &bytes[end_at..];
    if !end.starts_with(END) {
        return Err(malformed("no end record at the end (a comment or trailing bytes are refused)"));
    }
    let count = usize::from(u16_at(end, 10));
    bound("files", count as u64, most as u64)?;
    let central_at = u32_at(end, 16) as usize;
    if central_at.checked_add(u32_at(end, 12) as usize) != Some(end_at) {
        return Err(malformed("the central directory does not end where the end record starts"));
    }
    let (mut local, mut central) = (0, central_at);
    let mut found: Vec<Raw<'_>> = Vec::with_capacity(count);
    for _ in 0..count {
        let (entry, next_local, next_central) = entry(bytes, local, central, central_at, end_at)?;
        ascends(found.last(), &entry)?;
        found.push(entry);
        (local, central) = (next_local, next_central);
    }
    refuse_nesting(&found)?;
    let mut writer = Writer::new(Vec::with_capacity(bytes.len()));
    for entry in &found {
        writer.add(entry.path, entry.mode, entry.bytes);
    }
    if writer.finish() != bytes {
        return Err(malformed("not in the one form (stored, 1980-01-01, modes 644 and 755, no extra fields, no gaps)"));
    }
    Ok(found)
}

type Step<'a> = (Raw<'a>, usize, usize);

fn entry(
    bytes: &[u8],
    local: usize,
    central: usize,
    local_end: usize,
    central_end: usize,
) -> Result<Step<'_>, VerifierError> {
    let header = record(bytes, local, LOCAL_BYTES, local_end, LOCAL)?;
    let listed = record(bytes, central, CENTRAL_BYTES, central_end, CENTRAL)?;
    let (name_bytes, size) = (usize::from(u16_at(header, 26)), u32_at(header, 18) as usize);
    let name_at = local + LOCAL_BYTES;
    let data_at = name_at + name_bytes;
    let next =
        data_at.checked_add(size).filter(|next| *next <= local_end).ok_or_else(|| malformed("an entry is cut off"))?;
    let path = std::str::from_utf8(&bytes[name_at..data_at]).map_err(|_| malformed("a name is not UTF-8"))?;
    check_path(path)?;
    let mode = match u32_at(listed, 38) >> 16 {
        0o100_644 => Mode::File,
        0o100_755 => Mode::Executable,
        0o120_777 => Mode::Symlink,
        other => return Err(malformed(format!("`{path}` has the mode {other:o}"))),
    };
    // Only the length of the listed name is used to step; the comparison with our own form covers the rest.
    let next_central = central + CENTRAL_BYTES + usize::from(u16_at(listed, 28));
    Ok((Raw { path, mode, bytes: &bytes[data_at..next] }, next, next_central))
}

fn record<'a>(bytes: &'a [u8], at: usize, size: usize, end: usize, magic: &[u8; 4]) -> Result<&'a [u8], VerifierError> {
    let record = at.checked_add(size).filter(|stop| *stop <= end).map(|stop| &bytes[at..stop]);
    record.filter(|record| record.starts_with(magic)).ok_or_else(|| malformed(format!("no record at byte {at}")))
}

fn ascends(last: Option<&Raw<'_>>, entry: &Raw<'_>) -> Result<(), VerifierError> {
    match last {
        Some(last) if last.path == entry.path => Err(malformed(format!("`{}` stands twice", entry.path))),
        Some(last) if last.path.as_bytes() > entry.path.as_bytes() => {
            Err(malformed(format!("`{}` is out of order", entry.path)))
        }
        _ => Ok(()),
    }
}

// A file or symlink that is also a directory of another entry would be written through on extraction.
fn refuse_nesting(entries: &[Raw<'_>]) -> Result<(), VerifierError> {
    let names: std::collections::BTreeSet<&str> = entries.iter().map(|entry| entry.path).collect();
    for name in &names {
        let mut rest = *name;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            if names.contains(folder) {
                return Err(malformed(format!("`{folder}` is an entry and a directory of `{name}`")));
            }
            rest = folder;
        }
    }
    Ok(())
}

pub(super) fn malformed(why: impl Into<String>) -> VerifierError {
    VerifierError::BundleMalformed(why.into())
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
