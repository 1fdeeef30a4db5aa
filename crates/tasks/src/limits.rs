//! Limits of this crate, each with its reason.

/// Seats of one panel: the voices are counted exactly on a 32-bit mask (`policies`).
pub const SEATS: u32 = 32;

/// Tries of one seat. A verifier that fails this often will not be cured by another try.
pub const TRIES: u32 = 100;

/// Bytes of a record as stored: [`SEATS`] seats of at most 400 bytes each, and room for long ids.
pub const RECORD_BYTES: usize = 32 * 1024;
