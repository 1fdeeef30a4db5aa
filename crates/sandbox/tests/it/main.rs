//! Real commands in the real sandbox.

mod basics;
mod support;
