//! The published vectors.
