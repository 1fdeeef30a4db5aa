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
    // Once for the form and once for the members of its outermost object while they are put in order.
    let out = Buffer { bytes: vec![0; 2 * bytes.len() + 2 * STEP], at: 0 };
    let mut writer = Writer { scan, out, members: Vec::with_capacity(64) };
    let at = writer.value(0, limits.depth)?;
    scan.end(at)?;
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

    /// Writes a part of what was written once more.
    #[inline(always)]
    fn again(&mut self, range: Range<usize>) {
        let length = range.len();
        self.room(length.max(STEP));
        match self.bytes.get(range.start..).and_then(|rest| rest.first_chunk::<STEP>()).copied() {
            Some(step) if length <= STEP => self.bytes[self.at..self.at + STEP].copy_from_slice(&step),
            _ => self.bytes.copy_within(range, self.at),
        }
        self.at += length;
    }
}

struct Writer<'a> {
    scan: Scan<'a>,
    out: Buffer,
    /// The members of all objects that are open, innermost last.
    members: Vec<Member>,
}

impl Writer<'_> {
    /// Writes the value at `at`, in which `room` more containers may be open; the place after it.
    fn value(&mut self, at: usize, room: usize) -> Option<usize> {
        let (byte, at) = self.scan.next(at)?;
        match byte {
            b'"' => {
                let string = self.scan.string(at)?;
                // Every escape that is taken is the one that C1 writes.
                string.shortest.then(|| {
                    self.out.part(self.scan.bytes(), string.start - 1..string.end + 1);
                    string.end + 1
                })
            }
            b'{' => self.object(at, room.checked_sub(1)?),
            b'[' => self.array(at, room.checked_sub(1)?),
            b't' => self.word(at, "true"),
            b'f' => self.word(at, "false"),
            b'n' => self.word(at, "null"),
            _ => self.number(at),
        }
    }

    fn word(&mut self, at: usize, word: &str) -> Option<usize> {
        let after = self.scan.word(at, word)?;
        self.out.all(word.as_bytes());
        Some(after)
    }

    fn number(&mut self, at: usize) -> Option<usize> {
        let (number, after) = self.scan.number(at)?;
        match number {
            Number::Integer("-0") => self.out.push(b'0'),
            Number::Integer(token) | Number::Repr(token) => self.out.all(token.as_bytes()),
            Number::Float(number) => {
                let mut written = String::new();
                write_float(number, &mut written);
                self.out.all(written.as_bytes());
            }
        }
        Some(after)
    }

    fn array(&mut self, mut at: usize, room: usize) -> Option<usize> {
        self.out.push(b'[');
        let mut closed = self.scan.closes(at, b']');
        while closed.is_none() {
            let (byte, after) = self.scan.next(self.value(at, room)?)?;
            match byte {
                b',' => self.out.push(b','),
                b']' => closed = Some(after),
                _ => return None,
            }
            at = after;
        }
        self.out.push(b']');
        closed
    }

    fn object(&mut self, mut at: usize, room: usize) -> Option<usize> {
        self.out.push(b'{');
        let first = self.members.len();
        let mut closed = self.scan.closes(at, b'}');
        while closed.is_none() {
            let (byte, after) = self.scan.next(self.member(at, room)?)?;
            match byte {
                b',' => self.out.push(b','),
                b'}' => closed = Some(after),
                _ => return None,
            }
            at = after;
        }
        self.order(first)?;
        self.out.push(b'}');
        closed
    }

    #[inline]
    fn member(&mut self, at: usize, room: usize) -> Option<usize> {
        let (key, at) = self.scan.key(at)?;
        let bytes = self.scan.bytes();
        let begin = self.out.at;
        self.out.part(bytes, key.start - 1..key.end + 1);
        self.out.push(b':');
        let after = self.value(at, room)?;
        let offset = |at: usize| u32::try_from(at).ok();
        self.members.push(Member {
            head: head(bytes, &key),
            key: (offset(key.start)?, offset(key.end)?),
            written: (offset(begin)?, offset(self.out.at)?),
        });
        Some(after)
    }

    /// Puts the members from `first` on into the order of their keys; `None` where two keys are equal.
    fn order(&mut self, first: usize) -> Option<()> {
        let bytes = self.scan.bytes();
        let members = &mut self.members[first..];
        if !members.is_sorted_by(|a, b| a.compare(b, bytes).is_lt()) {
            let begin = members[0].written().start;
            members.sort_unstable_by(|a, b| a.compare(b, bytes));
            if !members.is_sorted_by(|a, b| a.compare(b, bytes).is_lt()) {
                return None;
            }
            // They are written once more behind everything, in order, and then moved to where they began.
            let behind = self.out.at;
            for member in &*members {
                self.out.again(member.written());
                self.out.push(b',');
            }
            self.out.bytes.copy_within(behind..self.out.at - 1, begin);
            self.out.at = begin + (self.out.at - 1 - behind);
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
