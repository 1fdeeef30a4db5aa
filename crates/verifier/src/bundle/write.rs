//! The writer of the one ZIP form.

use std::collections::BTreeMap;

use crate::tree::{Mode, check_path};
use crate::{VerifierError, limits};

pub(super) const LOCAL: &[u8; 4] = b"PK\x03\x04";
pub(super) const CENTRAL: &[u8; 4] = b"PK\x01\x02";
pub(super) const END: &[u8; 4] = b"PK\x05\x06";
pub(super) const LOCAL_BYTES: usize = 30;
pub(super) const CENTRAL_BYTES: usize = 46;
pub(super) const END_BYTES: usize = 22;

/// 1980-01-01 in the DOS notation; the time of day is 0.
const DATE: u16 = 0x0021;
/// Version 1.0: stored entries need no more.
const NEEDED: u16 = 10;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// Made by version 3.0 on Unix, so that readers take modes from the external attributes.
const MADE_BY: u16 = (3 << 8) | 30;

/// Where the writer puts bytes: memory, or only a digest.
pub(super) trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Sink for quorum_schemas::Sha256 {
    fn put(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

/// Writes entries in the order given; the caller sorts.
pub(super) struct Writer<S> {
    sink: S,
    offset: u64,
    entries: u64,
    central: Vec<u8>,
}

impl<S: Sink> Writer<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { sink, offset: 0, entries: 0, central: Vec::new() }
    }

    pub(super) fn add(&mut self, path: &str, mode: Mode, bytes: &[u8]) {
        let unix: u32 = match mode {
            Mode::File | Mode::Submodule => 0o100_644,
            Mode::Executable => 0o100_755,
            Mode::Symlink => 0o120_777,
        };
        let size = narrow(bytes.len() as u64);
        let mut common = Vec::with_capacity(26);
        for field in [NEEDED, FLAGS, 0, 0, DATE] {
            common.extend(field.to_le_bytes());
        }
        for field in [crc32fast::hash(bytes), size, size] {
            common.extend(field.to_le_bytes());
        }
        common.extend((path.len() as u16).to_le_bytes());
        common.extend(0_u16.to_le_bytes());

        self.central.extend(CENTRAL);
        self.central.extend(MADE_BY.to_le_bytes());
        self.central.extend(&common);
        // No comment, disk 0, no internal attributes.
        self.central.extend([0; 6]);
        self.central.extend((unix << 16).to_le_bytes());
        self.central.extend(narrow(self.offset).to_le_bytes());
        self.central.extend(path.as_bytes());

        for part in [LOCAL.as_slice(), &common, path.as_bytes(), bytes] {
            self.sink.put(part);
            self.offset += part.len() as u64;
        }
        self.entries += 1;
    }

    pub(super) fn finish(mut self) -> S {
        let count = u16::try_from(self.entries).expect("callers bound the number of files far below 65 536");
        let mut end = Vec::with_capacity(END_BYTES);
        end.extend(END);
        end.extend([0; 4]);
        end.extend(count.to_le_bytes());
        end.extend(count.to_le_bytes());
        end.extend(narrow(self.central.len() as u64).to_le_bytes());
        end.extend(narrow(self.offset).to_le_bytes());
        end.extend([0; 2]);
        self.sink.put(&self.central);
        self.sink.put(&end);
        self.sink
    }
}

fn narrow(size: u64) -> u32 {
    u32::try_from(size).expect("callers bound trees and bundles far below 4 GiB")
}

/// The ZIP of these files: a function of the names and bytes alone. All entries are regular, mode 644.
///
/// # Errors
/// [`VerifierError::PathUnsafe`] and [`VerifierError::BundleTooLarge`].
pub fn zip(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, VerifierError> {
    bound("files", files.len() as u64, limits::BUNDLE_FILES as u64)?;
    let total = files.values().map(|bytes| bytes.len() as u64).sum();
    bound("bytes", total, limits::BUNDLE_BYTES as u64)?;
    let mut writer = Writer::new(Vec::new());
    for (path, bytes) in files {
        check_path(path)?;
        writer.add(path, Mode::File, bytes);
    }
    let bytes = writer.finish();
    bound("bytes", bytes.len() as u64, limits::BUNDLE_BYTES as u64)?;
    Ok(bytes)
}

pub(super) fn bound(what: &'static str, found: u64, limit: u64) -> Result<(), VerifierError> {
    if found > limit { Err(VerifierError::BundleTooLarge { what, found, limit }) } else { Ok(()) }
}
