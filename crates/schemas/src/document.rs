//! The C1 form of a document straight from its bytes, for who needs the digest and not the value.
//!
//! The form is written while the bytes are read, without a tree. As in [`crate::scan`], only what has one plain meaning is
//! written; the rest is left to [`parse`].

use std::cmp::Ordering;
use std::ops::Range;

use crate::canonical::write_float;
use crate::digest::C1;
use crate::limits::{DOCUMENT, Limits};
use crate::scan::{Number, Scan};
use crate::{Digest, ParseError, c1, parse};

/// The C1 bytes of a document under [`DOCUMENT`] limits: what `c1(&parse(bytes)?)` gives, sooner.
///
/// # Errors
/// As [`crate::parse`].
pub fn c1_of_document(bytes: &[u8]) -> Result<Vec<u8>, ParseError> {
    match plain(bytes, DOCUMENT) {
        Some(written) => {
            debug_assert!(parse(bytes).is_ok_and(|value| c1(&value) == written), "two C1 forms of one document");
            Ok(written)
        }
        None => Ok(c1(&parse(bytes)?)),
    }
}

impl Digest<C1> {
    /// The digest of the C1 form of a document as received: what `C1Digest::c1(&parse(bytes)?)` gives, sooner.
    ///
    /// # Errors
    /// As [`crate::parse`].
    pub fn of_document(bytes: &[u8]) -> Result<Self, ParseError> {
        let written = c1_of_document(bytes)?;
        Ok(Self::from_bytes(*Digest::of(&written).as_bytes()))
    }
}

/// `None` leaves the document to [`parse`].
fn plain(bytes: &[u8], limits: Limits) -> Option<Vec<u8>> {
    let scan = Scan::new(bytes, limits)?;
    let buffer = || Buffer { bytes: vec![0; bytes.len() + 2 * STEP], at: 0 };
    let mut writer = Writer { bytes, scan, out: buffer(), members: Vec::with_capacity(64), spare: buffer() };
    writer.value()?;
    writer.scan.end()?;
    let Buffer { bytes: mut written, at } = writer.out;
    written.truncate(at);
    Some(written)
}

/// A member of an object that is being written: its key in the text (without quotes) and itself in the output. Offsets
/// fit, since a document has at most a megabyte; the head is what decides most comparisons.
#[derive(Clone, Copy)]
struct Member {
    head: u64,
    key: (u32, u32),
    written: (u32, u32),
}

impl Member {
    fn key(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.key.0 as usize..self.key.1 as usize]
    }

    fn written(self) -> Range<usize> {
        self.written.0 as usize..self.written.1 as usize
    }

    fn compare(&self, other: &Self, bytes: &[u8]) -> Ordering {
        // A key has no zero byte, so that one that ends within the head comes before its extensions.
        self.head.cmp(&other.head).then_with(|| self.key(bytes).cmp(other.key(bytes)))
    }
}

/// Short parts are copied in steps of this size, whatever their own: that needs no call.
const STEP: usize = 32;

/// Bytes that are written one after another into room that is there from the start.
struct Buffer {
    bytes: Vec<u8>,
    at: usize,
}

impl Buffer {
    /// Makes room for `length` more bytes. A document's C1 form is hardly ever longer than the document.
    #[inline]
    fn room(&mut self, length: usize) {
        if self.bytes.len() < self.at + length {
            self.bytes.resize(2 * (self.at + length), 0);
        }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.room(1);
        self.bytes[self.at] = byte;
        self.at += 1;
    }

    fn all(&mut self, from: &[u8]) {
        self.part(from, 0..from.len());
    }

    #[inline(always)]
    fn part(&mut self, from: &[u8], range: Range<usize>) {
        let length = range.len();
        self.room(length.max(STEP));
        let step = from.get(range.start..).and_then(|rest| rest.first_chunk::<STEP>());
        match step {
            Some(step) if length <= STEP => self.bytes[self.at..self.at + STEP].copy_from_slice(step),
            _ => self.bytes[self.at..self.at + length].copy_from_slice(&from[range]),
        }
        self.at += length;
    }
}

struct Writer<'a> {
    bytes: &'a [u8],
    scan: Scan<'a>,
    out: Buffer,
    /// The members of all objects that are open, innermost last.
    members: Vec<Member>,
    /// Where the members of one object are put in order.
    spare: Buffer,
}

impl Writer<'_> {
    fn value(&mut self) -> Option<()> {
        match self.scan.next()? {
            b'"' => {
                let string = self.scan.string()?;
                // Every escape that is taken is the one that C1 writes.
                string.shortest.then(|| self.out.part(self.bytes, string.start - 1..string.end + 1))
            }
            b'{' => self.object(),
            b'[' => self.array(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.scan.word(word)?;
        self.out.all(word.as_bytes());
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        match self.scan.number()? {
            Number::Integer("-0") => self.out.push(b'0'),
            Number::Integer(token) | Number::Repr(token) => self.out.all(token.as_bytes()),
            Number::Float(number) => {
                let mut written = String::new();
                write_float(number, &mut written);
                self.out.all(written.as_bytes());
            }
        }
        Some(())
    }

    fn array(&mut self) -> Option<()> {
        self.scan.open()?;
        self.out.push(b'[');
        if !self.scan.closes(b']') {
            loop {
                self.value()?;
                match self.scan.next()? {
                    b',' => self.out.push(b','),
                    b']' => break,
                    _ => return None,
                }
            }
        }
        self.scan.close();
        self.out.push(b']');
        Some(())
    }

    fn object(&mut self) -> Option<()> {
        self.scan.open()?;
        self.out.push(b'{');
        let first = self.members.len();
        if !self.scan.closes(b'}') {
            loop {
                self.member()?;
                match self.scan.next()? {
                    b',' => self.out.push(b','),
                    b'}' => break,
                    _ => return None,
                }
            }
        }
        self.order(first)?;
        self.scan.close();
        self.out.push(b'}');
        Some(())
    }

    fn member(&mut self) -> Option<()> {
        let key = self.scan.key()?;
        let begin = self.out.at;
        self.out.part(self.bytes, key.start - 1..key.end + 1);
        self.out.push(b':');
        self.value()?;
        let offset = |at: usize| u32::try_from(at).ok();
        self.members.push(Member {
            head: head(self.bytes, &key),
            key: (offset(key.start)?, offset(key.end)?),
            written: (offset(begin)?, offset(self.out.at)?),
        });
        Some(())
    }

    /// Puts the members from `first` on into the order of their keys; `None` where two keys are equal.
    fn order(&mut self, first: usize) -> Option<()> {
        let bytes = self.bytes;
        let members = &mut self.members[first..];
        if !members.is_sorted_by(|a, b| a.compare(b, bytes).is_lt()) {
            let begin = members[0].written().start;
            members.sort_unstable_by(|a, b| a.compare(b, bytes));
            if !members.is_sorted_by(|a, b| a.compare(b, bytes).is_lt()) {
                return None;
            }
            self.spare.at = 0;
            for member in &*members {
                self.spare.part(&self.out.bytes, member.written());
                self.spare.push(b',');
            }
            self.out.at = begin;
            self.out.all(&self.spare.bytes[..self.spare.at - 1]);
        }
        self.members.truncate(first);
        Some(())
    }
}

/// The first eight bytes of a key, the first of them on top, filled up with zeros.
#[inline]
fn head(bytes: &[u8], key: &Range<usize>) -> u64 {
    match bytes.get(key.start..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(_) if key.is_empty() => 0,
        // What follows the key is shifted out.
        Some(eight) => u64::from_be_bytes(*eight) & (u64::MAX << (64 - 8 * key.len().min(8))),
        None => bytes[key.clone()].iter().rev().fold(0, |head, byte| (head >> 8) | (u64::from(*byte) << 56)),
    }
}
