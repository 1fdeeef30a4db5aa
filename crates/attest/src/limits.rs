//! All limits of this crate, each with its reason.

use quorum_schemas::limits::Limits;

/// Entries of one trust root. A mesh of a few hundred identities is large; ten times that still loads in a blink.
pub const TRUST_ENTRIES: usize = 4096;

/// Root keys, and therefore signatures of one trust root: more people than ever meet for a key ceremony.
pub const ROOT_KEYS: usize = 16;

/// Signatures of a trust root file: a rotation carries those of the old keys beside those of the new.
pub const TRUST_SIGNATURES: usize = 16;

/// Admissible policies of one trust root.
pub const TRUST_POLICIES: usize = 1024;

/// Bytes of an id: the mesh writes it into subject tokens, where one byte may become three characters.
pub const ID_BYTES: usize = 96;

/// Attributes of one entry. The design names six axes; operators may add their own.
pub const ATTRIBUTES: usize = 32;

/// Bytes of the name of an axis.
pub const AXIS_BYTES: usize = 64;

/// Bytes of the value of an attribute.
pub const ATTRIBUTE_BYTES: usize = 256;

/// Largest version of a trust root: the largest integer that every JSON reader holds exactly.
pub const TRUST_VERSION: u64 = (1 << 53) - 1;

/// Versions of a trust root that are followed at once: years of weekly versions; who is further behind starts anew from
/// a pin or follows in steps.
pub const TRUST_STEPS: u64 = 256;

/// The payload of a trust root: 4096 entries of a kilobyte each.
pub const TRUST_PAYLOAD: Limits = Limits { bytes: 4 << 20, depth: 8 };

/// The file of a trust root: its payload in base64 (4/3) and the block of signatures.
pub const TRUST_FILE: Limits = Limits { bytes: (4 << 20) * 4 / 3 + 16 * 1024, depth: 8 };

/// Subjects of one statement: ours have one, the candidate; foreign tools' statements have a few.
pub const SUBJECTS: usize = 16;

/// Bytes of a subject's name: a repository, a path or a handoff id.
pub const SUBJECT_NAME_BYTES: usize = 4096;

/// Signatures of one foreign envelope: as many as the largest set of maintainers that sign one release.
pub const FOREIGN_SIGNATURES: usize = 64;

/// Keys that one foreign envelope is held against. Every signature is tried with every key that has not signed yet, so
/// the two bounds together keep one envelope below 4096 verifications, a quarter of a second.
pub const FOREIGN_KEYS: usize = 64;

/// Subjects of one foreign statement: a release with an artifact for every platform.
pub const FOREIGN_SUBJECTS: usize = 1024;

/// A key file in PEM: an Ed25519 key needs 120 bytes; the rest is room for headers that tools write around it.
pub const KEY_FILE_BYTES: usize = 16 * 1024;

/// Foreign text is cut in messages, so that a hostile document cannot flood a log.
const SHOWN_CHARS: usize = 64;

pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
