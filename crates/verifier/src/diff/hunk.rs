//! The hunks of one file.

use super::{DiffError, DiffReason};

/// The lines of a diff with their numbers.
pub(super) struct Lines<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { lines: text.split('\n').collect(), at: 0 }
    }

    /// The next line, not yet taken; the text ends with a newline, so the last piece is none.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied().filter(|_| self.at + 1 < self.lines.len())
    }

    pub(super) fn take(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    /// An error at the next line.
    pub(super) fn here(&self, reason: DiffReason) -> DiffError {
        DiffError { line: self.at + 1, reason }
    }

    /// An error at the line that was taken last.
    pub(super) fn last(&self, reason: DiffReason) -> DiffError {
        DiffError { line: self.at.max(1), reason }
    }
}

/// One range of a hunk header.
#[derive(Debug, Clone, Copy)]
struct Range {
    start: u32,
    count: u32,
}

impl Range {
    /// Where it begins, as the number of lines in front of it. An empty range names the line before it.
    fn begin(self) -> u64 {
        u64::from(self.start) - u64::from(self.count > 0)
    }

    fn end(self) -> u64 {
        self.begin() + u64::from(self.count)
    }
}

/// What the hunks of one file add and remove.
#[derive(Debug, Default)]
pub(super) struct Hunks {
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) context: usize,
    old: Progress,
    new: Progress,
}

/// How far one side of the file has been read.
#[derive(Debug, Default)]
struct Progress {
    next: u64,
    ended: bool,
}

impl Hunks {
    /// Reads all hunks that follow.
    pub(super) fn read(&mut self, lines: &mut Lines<'_>) -> Result<(), DiffError> {
        while lines.peek().is_some_and(|line| line.starts_with("@@")) {
            self.one(lines)?;
        }
        Ok(())
    }

    fn one(&mut self, lines: &mut Lines<'_>) -> Result<(), DiffError> {
        let header = lines.take().unwrap_or_default();
        let (old, new) = ranges(header).ok_or_else(|| lines.last(DiffReason::HunkHeader))?;
        if !self.old.advance(old) || !self.new.advance(new) {
            return Err(lines.last(DiffReason::HunkOrder));
        }
        let (mut old_left, mut new_left) = (old.count, new.count);
        let before = self.added.len() + self.removed.len();
        while old_left > 0 || new_left > 0 {
            let line = lines.peek().ok_or_else(|| lines.here(DiffReason::HunkCount))?;
            let (takes_old, takes_new) = match line.as_bytes().first() {
                Some(b' ') => (true, true),
                Some(b'-') => (true, false),
                Some(b'+') => (false, true),
                Some(b'@' | b'd') => return Err(lines.here(DiffReason::HunkCount)),
                _ => return Err(lines.here(DiffReason::HunkLine)),
            };
            if (takes_old && old_left == 0) || (takes_new && new_left == 0) {
                return Err(lines.here(DiffReason::HunkCount));
            }
            if (takes_old && self.old.ended) || (takes_new && self.new.ended) {
                return Err(lines.here(DiffReason::Marker));
            }
            lines.take();
            self.keep(line);
            old_left -= u32::from(takes_old);
            new_left -= u32::from(takes_new);
            if lines.peek().is_some_and(|line| line.starts_with('\\')) {
                self.marker(lines, takes_old, takes_new)?;
            }
        }
        if self.added.len() + self.removed.len() == before {
            return Err(lines.last(DiffReason::NoChange));
        }
        match lines.peek().and_then(|line| line.bytes().next()) {
            Some(b' ' | b'+' | b'-') => Err(lines.here(DiffReason::HunkCount)),
            _ => Ok(()),
        }
    }

    /// A line's text. The carriage return of a CRLF file is part of the line's end, not of its text.
    fn keep(&mut self, line: &str) {
        let text = &line[1..];
        let text = text.strip_suffix('\r').unwrap_or(text).to_owned();
        match line.as_bytes()[0] {
            b'+' => self.added.push(text),
            b'-' => self.removed.push(text),
            _ => self.context += 1,
        }
    }

    fn marker(&mut self, lines: &mut Lines<'_>, old: bool, new: bool) -> Result<(), DiffError> {
        if lines.take() != Some("\\ No newline at end of file") {
            return Err(lines.last(DiffReason::Marker));
        }
        self.old.ended |= old;
        self.new.ended |= new;
        Ok(())
    }
}

impl Progress {
    /// Whether a range may come next on this side.
    fn advance(&mut self, range: Range) -> bool {
        let fits = range.begin() >= self.next && !(self.ended && range.count > 0);
        self.next = range.end();
        fits
    }
}

/// `@@ -1,2 +3,4 @@`, perhaps with the heading of a function behind it.
fn ranges(header: &str) -> Option<(Range, Range)> {
    let (ranges, heading) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    if !heading.is_empty() && !heading.starts_with(' ') {
        return None;
    }
    let (old, new) = ranges.split_once(" +")?;
    Some((range(old)?, range(new)?))
}

fn range(text: &str) -> Option<Range> {
    let (start, count) = text.split_once(',').map_or((text, None), |(start, count)| (start, Some(count)));
    let range = Range { start: number(start)?, count: count.map_or(Some(1), number)? };
    // Lines count from 1; only an empty range may lie in front of the first.
    (range.start > 0 || range.count == 0).then_some(range)
}

/// Decimal digits without a sign or leading zeros.
fn number(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok())?
}
