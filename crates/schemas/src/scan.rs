//! Reads what has one plain meaning, in one pass, and leaves everything else to the library.
//!
//! Every `None` of this module means: let `serde_json` judge. So the grammar, the reasons and the places of a refusal stay
//! the library's; what is read here must be what the library reads. Builds with debug assertions read everything both
//! ways (see `parse`), and so do all tests (docs/decisions/0014).

use std::ops::Range;

use crate::limits::{INTEGER_DIGITS, Limits};

/// A place in a document that is valid UTF-8 and not too large.
pub(crate) struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// How many more containers may be open.
    room: usize,
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
        let text = std::str::from_utf8(bytes).ok()?;
        Some(Self { text, bytes, at: 0, room: limits.depth })
    }

    /// A part of the document.
    pub(crate) fn text(&self, range: Range<usize>) -> &'a str {
        &self.text[range]
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
            // Eight blanks of an indent at a time.
            if let Some(eight) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) {
                let others = u64::from_le_bytes(*eight) ^ (LOW * 0x20);
                self.at += (others.trailing_zeros() / 8) as usize;
            }
        }
    }

    /// The next byte that is no white space, consumed.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u8> {
        self.space();
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// Consumes the next byte if it closes a container.
    #[inline]
    pub(crate) fn closes(&mut self, closing: u8) -> bool {
        self.space();
        let closed = self.bytes.get(self.at) == Some(&closing);
        self.at += usize::from(closed);
        closed
    }

    /// `None` where something follows the document.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.space();
        (self.at == self.bytes.len()).then_some(())
    }

    /// Enters a container whose opening byte is consumed.
    #[inline]
    pub(crate) fn open(&mut self) -> Option<()> {
        self.room = self.room.checked_sub(1)?;
        Some(())
    }

    /// Leaves a container.
    #[inline]
    pub(crate) fn close(&mut self) {
        self.room += 1;
    }

    /// The rest of a literal whose first byte is consumed.
    pub(crate) fn word(&mut self, word: &str) -> Option<()> {
        let start = self.at - 1;
        self.bytes[start..].starts_with(word.as_bytes()).then(|| self.at = start + word.len())
    }

    /// A key and its colon. A key with an escape is left to the library.
    #[inline]
    pub(crate) fn key(&mut self) -> Option<Range<usize>> {
        if self.next()? != b'"' {
            return None;
        }
        let key = self.string()?;
        (!key.escaped && self.next()? == b':').then_some(key.start..key.end)
    }

    /// A string whose opening quote is consumed.
    #[inline]
    pub(crate) fn string(&mut self) -> Option<Text> {
        let start = self.at;
        let (mut escaped, mut shortest) = (false, true);
        loop {
            self.at += plain_run(&self.bytes[self.at..]);
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(Text { start, end: self.at - 1, escaped, shortest });
                }
                b'\\' => {
                    escaped = true;
                    shortest &= matches!(self.bytes.get(self.at + 1)?, b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't');
                    self.at += 2;
                }
                _ => return None,
            }
        }
    }

    /// A number whose first byte is consumed; `None` for every byte that starts none.
    pub(crate) fn number(&mut self) -> Option<Number<'a>> {
        let start = self.at - 1;
        let mut at = start + usize::from(self.bytes[start] == b'-');
        let whole = digits(self.bytes, &mut at);
        if whole == 0 || (whole > 1 && self.bytes[at - whole] == b'0') {
            return None;
        }
        if !matches!(self.bytes.get(at), Some(b'.' | b'e' | b'E')) {
            self.at = at;
            return (whole <= INTEGER_DIGITS).then(|| Number::Integer(&self.text[start..at]));
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
        self.at = at;
        let token = &self.text[start..at];
        if decimal && is_repr(token, whole, part) {
            return Some(Number::Repr(token));
        }
        token.parse().ok().filter(|number: &f64| number.is_finite()).map(Number::Float)
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
