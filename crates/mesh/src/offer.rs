//! Work offered to one verifier.

use crate::{BlobRef, MeshError};

/// The body of an offer: C1 of {handoff, work_unit: envelopes; candidate, baseline?, seat, try}.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Bytes of the signed handoff's envelope.
    pub handoff: Vec<u8>,
    /// Bytes of the signed WorkUnit's envelope.
    pub work_unit: Vec<u8>,
    /// The candidate.
    pub candidate: BlobRef,
    /// The baseline, where the WorkUnit has one.
    pub baseline: Option<BlobRef>,
    /// The seat.
    pub seat: u32,
    /// The try.
    pub try_no: u32,
}

impl Offer {
    /// The body.
    ///
    /// # Errors
    /// `message_malformed` if an envelope is not C1 JSON (it could not be given back byte for byte).
    pub fn to_bytes(&self) -> Result<Vec<u8>, MeshError> {
        todo!()
    }

    /// Reads a body strictly.
    ///
    /// # Errors
    /// `message_malformed`.
    pub fn parse(body: &[u8]) -> Result<Self, MeshError> {
        todo!("{}", body.len())
    }
}
