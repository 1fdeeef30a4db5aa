//! Reads what has one plain meaning, in one pass, and leaves everything else to the library.
//!
//! Every `None` of this module means: let `serde_json` judge. So the grammar, the reasons and the places of a refusal stay
//! the library's; what is read here must be what the library reads. Builds with debug assertions read everything both
//! ways (see `parse`), and so do all tests (docs/decisions/0014).

use std::ops::Range;

use crate::limits::{INTEGER_DIGITS, Limits};

/// A document that is valid UTF-8 and not too large. A place in it is handed in and out, never kept: so it stays in a
/// register.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
}

/// A string between its quotes.
pub(crate) struct Text {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether there is a backslash.
    pub(crate) escaped: bool,
    /// Whether every escape is one that C1 writes.
    pub(crate) shortest: bool,
}

/// A number, as far as it has been understood.
pub(crate) enum Number<'a> {
    /// An integer token.
    Integer(&'a str),
    /// A float token that is also what CPython's `repr` writes of it.
    Repr(&'a str),
    /// Any other float.
    Float(f64),
}

impl<'a> Scan<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: Limits) -> Option<Self> {
        if bytes.len() > limits.bytes {
            return None;
        }
        Some(Self { text: std::str::from_utf8(bytes).ok()?, bytes })
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// A part of the document.
    pub(crate) fn text(self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    #[inline]
    fn space(self, mut at: usize) -> usize {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(at) {
            at += 1;
            // Eight blanks of an indent at a time.
            if let Some(eight) = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
                let others = u64::from_le_bytes(*eight) ^ (LOW * 0x20);
                at += (others.trailing_zeros() / 8) as usize;
            }
        }
        at
    }

    /// The next byte that is no white space, and the place after it.
    #[inline]
    pub(crate) fn next(self, at: usize) -> Option<(u8, usize)> {
        let at = self.space(at);
        Some((*self.bytes.get(at)?, at + 1))
    }

    /// The place after the next byte, if that is `closing`.
    #[inline]
    pub(crate) fn closes(self, at: usize, closing: u8) -> Option<usize> {
        self.next(at).filter(|(byte, _)| *byte == closing).map(|(_, at)| at)
    }

    /// `None` where something follows the document.
    pub(crate) fn end(self, at: usize) -> Option<()> {
        (self.space(at) == self.bytes.len()).then_some(())
    }

    /// The place after a literal whose first byte lies before `at`.
    pub(crate) fn word(self, at: usize, word: &str) -> Option<usize> {
        let start = at - 1;
        self.bytes[start..].starts_with(word.as_bytes()).then_some(start + word.len())
    }

    /// A key, and the place after its colon. A key with an escape is left to the library.
    #[inline]
    pub(crate) fn key(self, at: usize) -> Option<(Range<usize>, usize)> {
        let (b'"', at) = self.next(at)? else { return None };
        let key = self.string(at)?;
        let (b':', at) = self.next(key.end + 1)? else { return None };
        (!key.escaped).then_some((key.start..key.end, at))
    }

    /// A string whose opening quote lies before `start`; its closing one is at `end`.
    #[inline]
    pub(crate) fn string(self, start: usize) -> Option<Text> {
        let (mut at, mut escaped, mut shortest) = (start, false, true);
        loop {
            at += plain_run(&self.bytes[at..]);
            match self.bytes.get(at)? {
                b'"' => return Some(Text { start, end: at, escaped, shortest }),
                b'\\' => {
                    escaped = true;
                    shortest &= matches!(self.bytes.get(at + 1)?, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't');
                    at += 2;
                }
                _ => return None,
            }
        }
    }

    /// A number whose first byte lies before `at`, and the place after it; `None` for every byte that starts none.
    pub(crate) fn number(self, at: usize) -> Option<(Number<'a>, usize)> {
        let start = at - 1;
        let mut at = start + usize::from(self.bytes[start] == b'-');
        let whole = digits(self.bytes, &mut at);
        if whole == 0 || (whole > 1 && self.bytes[at - whole] == b'0') {
            return None;
        }
        if !matches!(self.bytes.get(at), Some(b'.' | b'e' | b'E')) {
            return (whole <= INTEGER_DIGITS).then(|| (Number::Integer(&self.text[start..at]), at));
        }
        let mut part = 0;
        if self.bytes[at] == b'.' {
            at += 1;
            part = digits(self.bytes, &mut at);
            if part == 0 {
                return None;
            }
        }
        let decimal = !matches!(self.bytes.get(at), Some(b'e' | b'E'));
        if !decimal {
            at += 1;
            at += usize::from(matches!(self.bytes.get(at), Some(b'+' | b'-')));
            if digits(self.bytes, &mut at) == 0 {
                return None;
            }
        }
        let token = &self.text[start..at];
        if decimal && is_repr(token, whole, part) {
            return Some((Number::Repr(token), at));
        }
        let number = token.parse().ok().filter(|number: &f64| number.is_finite())?;
        Some((Number::Float(number), at))
    }
}

/// Moves over decimal digits and counts them.
fn digits(bytes: &[u8], at: &mut usize) -> usize {
    let start = *at;
    while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
    *at - start
}

/// Whether a decimal is already what CPython's `repr` writes of it. Two decimals of at most 15 digits are never the same
/// binary64 (its `DBL_DIG`), so such a one is the shortest that reads back, and it is written in fixed notation from
/// 1e-4 on.
fn is_repr(token: &str, whole: usize, part: usize) -> bool {
    let digits = token.trim_start_matches('-').as_bytes();
    let fraction = &digits[whole + 1..];
    let short = whole + part <= 15;
    let ends = part == 1 || fraction.last() != Some(&b'0');
    let fixed = digits[0] != b'0' || fraction == b"0" || !fraction.starts_with(b"0000");
    short && ends && fixed
}

const LOW: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// How many bytes from the start are neither a quote, a backslash nor a control character. Eight at a time.
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let mut run = 0;
    for eight in bytes.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*eight);
        let control = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
        // A borrow can only mark bytes after the first true mark, and the first is the one that is asked for.
        let marks = control | zero(word ^ (LOW * 0x22)) | zero(word ^ (LOW * 0x5c));
        if marks != 0 {
            return run + (marks.trailing_zeros() / 8) as usize;
        }
        run += 8;
    }
    run + bytes[run..].iter().take_while(|byte| **byte >= b' ' && **byte != b'"' && **byte != b'\\').count()
}
