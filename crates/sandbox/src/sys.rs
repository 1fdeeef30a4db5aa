//! System calls that no crate wraps.
