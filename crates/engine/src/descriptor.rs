//! Tool descriptors, `vyges-tool-descriptor/1.0` and `/1.1`.

use crate::EngineError;

/// What an engine declares about itself.
#[derive(Debug, Clone)]
pub struct Descriptor {}

impl Descriptor {
    /// Reads the output of `ENGINE --describe`.
    ///
    /// # Errors
    /// [`EngineError::Descriptor`] with the place.
    pub fn parse(_bytes: &[u8]) -> Result<Self, EngineError> {
        todo!()
    }
    /// The tool's short name.
    #[must_use]
    pub fn name(&self) -> &str {
        todo!()
    }
}
